/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the structure files of the modules that have samples. The first choice is structs/ in a
 * measurement, where archives keep them. The second is the user's cache of hpcstruct-lite. A
 * structure that lacks some of the functions with samples is used if there is no better one.
 * Nothing is written into a measurement. If a structure cannot be made, the module has none. Test:
 * tests/unit/prof/test_expand.c, tests/cli/prof/prof_structs.sh, prof_structs_parts.sh.
 */
#ifndef HPCPROF_LOAD_STRUCTURES_H
#define HPCPROF_LOAD_STRUCTURES_H

#include "common/base/mapfile.h"
#include "common/format/measurement.h"
#include "common/format/structure.h"
#include "hpcprof-lite/model/model.h"

#include <limits.h>

struct load_file;
struct load_module;
struct rights;

/*
 * A bit in msr_module.flags of a record that we made for a GPU code object. Its build id is the
 * hash of its content. No file contains this bit.
 */
#define LOAD_MODULE_GPU 0x8000u

struct load_structure {
	/* in */
	const struct msr_module *module; /* its path follows it in memory, as in the file */
	const char *path;
	const uint64_t *link_addrs; /* with samples, in ascending order; borrowed */
	size_t n_link_addrs;
	/* out */
	struct structure *structure; /* NULL: none */
	enum model_structure state;
	struct mapfile map;
	/* private: the users who may know what the binary is */
	const struct rights *readers;
	/* the partial structure file that covers the most addresses with samples */
	struct structure *part;
	struct mapfile part_map;
	size_t n_in_part; /* addresses that it covers */
};

struct load_structures_options {
	char *const *directories; /* measurement directories */
	size_t n_directories;
	unsigned n_workers;       /* for hpcstruct-lite -j */
	bool make; /* run hpcstruct-lite for modules that no measurement has in structs/ */
	bool quiet;               /* run hpcstruct-lite quietly */
	/*
	 * Makes a directory for structures that cannot go into the cache. It is no longer needed
	 * once they are open. Returns NULL on failure. If the pointer is NULL, there is no such
	 * directory.
	 */
	const char *(*make_scratch)(void);
};

/* Fills the out fields of list[0 .. n-1]. Never fails; logs problems. */
void load_structures_open(const struct load_structures_options *o, struct load_structure *list,
	size_t n);
void load_structures_close(struct load_structure *list, size_t n);
/* The name of the module's structure file, without suffix. */
void load_structure_key(const struct load_structure *l, char key[STRUCTURE_KEY_BYTES]);

/*
 * Finds the path of hpcstruct-lite: beside this program, or in the same build tree. False if it is
 * not there.
 */
bool load_find_hpcstruct(char *path, size_t path_bytes);

/* Whether the binary on disk is the one that ran. */
enum load_binary {
	LOAD_BINARY_SAME,
	/* the build id differs; without a build id: the size, time or content differs */
	LOAD_BINARY_CHANGED,
	LOAD_BINARY_MISSING, /* missing, unreadable, or impossible to compare */
	LOAD_BINARY_PRIVATE  /* we are root, and the owners of the measurement may not read it */
};
/* readers: the owners of the measurement */
enum load_binary load_check_binary(const struct rights *readers, const struct msr_module *m,
	const char *path);
/*
 * Finds the copy of the binary in a measurement directory (MSR_KEPT_DIRECTORY). Returns false if
 * there is none.
 */
bool load_find_kept(const struct msr_module *m, const char *directory, char path[PATH_MAX]);
/*
 * Opens the binary of a module of a measurement file if it is the one that ran, or else the copy in
 * the directory of that file. Returns false if there is neither. The caller closes it.
 */
bool load_open_binary(const struct load_file *f, const struct load_module *m,
	struct mapfile *binary);
/*
 * Opens a module's binary if it is the one that ran, or else the copy in one of the measurement
 * directories, or a GPU code object that is kept in one. All owners of the measurements must be
 * able to open it. Sets *is_private if not everyone may read it. Returns false if there is none.
 * The caller closes it.
 */
bool load_open_code(const struct rights *readers, const struct msr_module *m, const char *path,
	char *const *directories, size_t n_directories, struct mapfile *binary, bool *is_private);

#endif
