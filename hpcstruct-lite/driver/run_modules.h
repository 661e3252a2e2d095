/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the binaries with samples in a measurement directory, and the GPU code objects that the
 * directory contains. Tests: tests/cli/struct/struct_jobs.sh, tests/cli/struct/struct_gpubins.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_RUN_MODULES_H
#define HPCSTRUCT_LITE_DRIVER_RUN_MODULES_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rundir_module {
	char *path;            /* owned; file to read: for the vdso, its image in the directory */
	uint8_t build_id[32];
	size_t build_id_bytes; /* 0: none */
	uint64_t file_bytes, file_mtime_ns; /* 0: unknown */
	char key[80];          /* structure_key(); for a GPU code object, the hash of its content */
	/* the run time saved it in gpubins/; it has no build id, size and time */
	bool is_code_object;
	uint64_t n_nodes;      /* context nodes with an address in it */
};

struct rundir {
	struct rundir_module *modules; /* one for each key, sorted by path and key */
	size_t n_modules;
	size_t n_files;        /* number of measurement files read */
	size_t n_not_kept;     /* GPU code objects that the run time could not save */
};

/*
 * Reads all measurement files in `path`. Logs damaged files and uses their undamaged part. Logs
 * errors; returns STATUS_NOT_FOUND if there are no measurement files.
 */
enum status rundir_read(const char *path, struct rundir *run);
void rundir_free(struct rundir *run);

#endif
