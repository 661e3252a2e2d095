/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structures that the model of some measurements needs, for attribute_run(). Test:
 * tests/cli/prof/prof_structs.sh.
 */
#ifndef HPCPROF_NEEDED_STRUCTURES_H
#define HPCPROF_NEEDED_STRUCTURES_H

#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/load/structures.h"

struct needed_structures {
	/* in */
	char *const *directories;
	size_t n_directories;
	unsigned n_workers;
	bool make, quiet; /* as in struct load_structures_options */
	/*
	 * all: the processes that need the same structures; the first one makes them. comm: those
	 * among them that attribute_run() works with. NULL: none.
	 */
	struct comm *all, *comm;
	/* out */
	struct load_structure *list; /* n, open */
	size_t n;
	uint64_t *link_addrs; /* of the list, owned */
	enum status status; /* of the search */
};

/* The find_structures() of attribute_run(); `arg` is a struct needed_structures. Logs. */
void needed_structures_find(void *arg, const struct merge_modules *all, const bool *needed,
			    const struct attribute_frame *frames, size_t n_frames,
			    const struct structure **structures, enum model_structure *states);
/* Always allowed. The model must not need them any more, or be complete. */
void needed_structures_close(struct needed_structures *s);

#endif
