/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structure files of the modules that have samples: found beside the measurements, made by hpcstruct-lite where they are missing. What cannot be had is said and
 * its module goes without. Test: tests/unit/test_expand.c, tests/cli/prof_structs.sh.
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
	bool refused;                /* there is a file, but it is damaged, or of another version or binary */
};

struct load_structures_options {
	char *const *directories; /* measurement directories: <directory>/structs/<key>.hpcstruct */
	size_t n_directories;
	unsigned n_workers;       /* for hpcstruct-lite -j */
	bool make;                /* run hpcstruct-lite for what is missing */
	bool quiet;               /* tell it so */
	const char *(*make_scratch)(void); /* makes a directory for structures of measurements that cannot be written to, a colleague's or an archive's; it is no longer needed when they are open. NULL: none, or returned on failure */
};

/* Fills the out fields of list[0 .. n-1]. Never fails; logs what is amiss. */
void load_structures_open(const struct load_structures_options *o, struct load_structure *list, size_t n);
void load_structures_close(struct load_structure *list, size_t n);

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
