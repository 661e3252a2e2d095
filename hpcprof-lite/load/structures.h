/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structure files of the modules that have samples: those in structs/ of a measurement, as archives
 * have it, else those that hpcstruct-lite keeps in the user's cache. Nothing is written into a
 * measurement. A module whose structure cannot be made goes without one.
 * Test: tests/unit/test_expand.c, tests/cli/prof_structs.sh.
 */
#ifndef HPCPROF_LOAD_STRUCTURES_H
#define HPCPROF_LOAD_STRUCTURES_H

#include "common/base/mapfile.h"
#include "common/format/measurement.h"
#include "common/format/structure.h"
#include "hpcprof-lite/model/model.h"

/* In msr_module.flags of a record that was made up for a code object of a GPU: its build id is the hash of its content. No file holds this flag. */
#define LOAD_MODULE_GPU 0x8000u

struct load_structure {
	/* in */
	const struct msr_module *module;
	const char *path;
	/* out */
	struct structure *structure; /* NULL: none */
	enum model_structure state;
	struct mapfile map;
};

struct load_structures_options {
	char *const *directories; /* measurement directories */
	size_t n_directories;
	unsigned n_workers;       /* for hpcstruct-lite -j */
	bool make;                /* run hpcstruct-lite for what no measurement has in structs/ */
	bool quiet;               /* tell it so */
	/*
	 * Makes a directory for structures that have no place in the cache; it is no longer needed
	 * when they are open. NULL: none, or returned on failure
	 */
	const char *(*make_scratch)(void);
};

/* Fills the out fields of list[0 .. n-1]. Never fails; logs what is amiss. */
void load_structures_open(const struct load_structures_options *o, struct load_structure *list, size_t n);
void load_structures_close(struct load_structure *list, size_t n);
/* The name of its file, without suffix. */
void load_structure_key(const struct load_structure *l, char key[STRUCTURE_KEY_BYTES]);

/* Path of hpcstruct-lite: beside this program, or in the same build tree. False when there is none. */
bool load_find_hpcstruct(char *path, size_t path_bytes);

/* Whether the binary on disk is the one that ran. */
enum load_binary {
	LOAD_BINARY_SAME,
	LOAD_BINARY_CHANGED, /* another build id, or without one another size or time */
	LOAD_BINARY_MISSING  /* not there, not readable, or no way to tell */
};
enum load_binary load_check_binary(const struct msr_module *m, const char *path);

#endif
