/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the two processes that keep binaries: keep.c chooses files in the program, keep_copy.c
 * copies them in the process beside it. They share this memory. Test: tests/cli/run/run_gone.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_KEEP_INTERNAL_H
#define HPCRUN_LITE_RUNTIME_CODE_KEEP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#define KEEP_MOST_BYTES (UINT64_C(64) << 20) /* of a process, and of its children of fork each */
enum { KEEP_MOST_FILES = 64 };                /* at once */

enum keep_result { KEEP_FAILED, KEEP_KEPT, KEEP_TOO_LARGE };

struct keep_file {
	uint32_t module;
	int fd;           /* of the program, open for the file; -1: unknown */
	/* out */
	enum keep_result result;
	uint64_t content; /* of a file without build id; 0: unknown */
};

extern struct keep_list {
	struct keep_file file[KEEP_MOST_FILES];
	uint32_t n;
	uint64_t n_bytes; /* that were copied so far */
} keep_list;

/* What the process beside the program runs. */
void keep_copy(void);

#endif
