/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this process has used so far, from getrusage(2) and /proc/self/io, with system calls. No
 * allocation; signal-safe. Test: tests/unit/common/test_usage.c.
 */
#ifndef COMMON_SAFE_USAGE_H
#define COMMON_SAFE_USAGE_H

#include <stdint.h>

struct usage {
	uint64_t system_ns;     /* CPU time in the kernel */
	uint64_t page_faults;   /* without I/O */
	uint64_t reads, writes; /* system calls that read and wrote files, pipes, sockets */
	uint64_t read_bytes, written_bytes;
};

/* Since the process began. What cannot be read is 0. Keeps errno. */
void usage_read(struct usage *u);
/* Since `start`. All 0 if a number became less. */
void usage_since(const struct usage *start, struct usage *u);

#endif
