/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory shared by the two processes that keep binaries: keep.c chooses files in the program, and
 * keep_copy.c copies them in the process beside it. Test: tests/cli/run/run_gone.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_KEEP_INTERNAL_H
#define HPCRUN_LITE_RUNTIME_CODE_KEEP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

/* for each process; forked children count separately */
#define KEEP_MOST_BYTES (UINT64_C(64) << 20)
enum { KEEP_MOST_FILES = 64 };                /* at once */

enum keep_result { KEEP_FAILED, KEEP_KEPT, KEEP_TOO_LARGE };

struct keep_file {
	uint32_t module;
	int fd;           /* descriptor of the program that is open for the file; -1: unknown */
	/* out */
	enum keep_result result;
	uint64_t content; /* hash of a file without build id; 0: unknown */
};

extern struct keep_list {
	struct keep_file file[KEEP_MOST_FILES];
	uint32_t n;
	uint64_t n_bytes; /* copied so far */
} keep_list;

/* The function that the process beside the program runs. */
void keep_copy(void);

#endif
