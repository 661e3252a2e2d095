/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the binaries with samples in a measurement directory, and the GPU code objects in it of
 * which a function was launched or sampled. Tests: tests/cli/struct/struct_jobs.sh,
 * tests/cli/struct/struct_gpubins.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_RUN_MODULES_H
#define HPCSTRUCT_LITE_DRIVER_RUN_MODULES_H

#include "common/base/status.h"
#include "common/base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rundir_module {
	char *path;            /* owned; file to read: for the vdso, its image in the directory */
	char *kept;            /* owned; NULL, or the copy that the measurement has of it */
	uint32_t flags;        /* MSR_MODULE_* */
	uint8_t build_id[32];
	size_t build_id_bytes; /* 0: none */
	uint64_t file_bytes, file_mtime_ns, content; /* 0: unknown */
	char key[80];          /* structure_key(); for a GPU code object, the hash of its content */
	/* the run time saved it in gpubins/; it has no build id, size and time */
	bool is_code_object;
	bool is_inside;        /* the path is in a folder of the directory */
	/* context nodes with an address in it; of a code object: functions that ran */
	uint64_t n_nodes;
	/* link addresses that records name, in ascending order; only of big files */
	VEC(uint64_t) link_addrs;
};

struct rundir {
	struct rundir_module *modules; /* one for each key, sorted by path and key */
	size_t n_modules;
	uint32_t owner;        /* of the directory, user id */
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
