/* SPDX-License-Identifier: BSD-3-Clause */
/* The binaries that a measurement directory has samples in, and the GPU code objects it keeps. Tests: tests/cli/struct_jobs.sh, tests/cli/struct_gpubins.sh. */
#ifndef HPCSTRUCT_LITE_DRIVER_RUN_MODULES_H
#define HPCSTRUCT_LITE_DRIVER_RUN_MODULES_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rundir_module {
	char *path;            /* owned; of the file to read: for the vdso its image in the directory */
	uint8_t build_id[32];
	size_t build_id_bytes; /* 0: none */
	uint64_t file_bytes, file_mtime_ns; /* 0: unknown */
	char key[80];          /* structure_key(); of a code object the hash of its content */
	bool is_code_object;   /* the run time kept it in gpubins/: build id, size and time are not set */
	uint64_t n_nodes;      /* context nodes with an address in it */
};

struct rundir {
	struct rundir_module *modules; /* one for each key, sorted by path and key */
	size_t n_modules;
	size_t n_files;        /* measurement files read */
	size_t n_not_kept;     /* GPU code objects that the run time could not keep */
};

/*
 * Reads all measurement files in `path`. Damaged ones are said and used as far as they go. Logs; STATUS_NOT_FOUND when there are none.
 */
enum status rundir_read(const char *path, struct rundir *run);
void rundir_free(struct rundir *run);

#endif
