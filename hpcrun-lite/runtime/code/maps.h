/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the mappings of this process from /proc/self/maps, which costs 9 ns per byte in the kernel.
 * Uses only system calls: signal-safe. Tests: tests/cli/run/run_modules.sh,
 * tests/cli/jit/jit_files.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_MAPS_H
#define HPCRUN_LITE_RUNTIME_CODE_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end;
	bool is_code;      /* may be executed */
	uint64_t offset, inode;
	uint32_t major, minor; /* of the device */
	const char *path;  /* valid until the next line; "" if it does not begin with a slash */
};

/* Buffers for one call; calls at the same time need one each. */
struct maps_room {
	char line[PATH_MAX + 128];
	char buffer[4096];
};

/*
 * Calls `visit` for each mapping until it returns false, or until it has read most_bytes plus one
 * buffer. Skips lines that are too long.
 */
void maps_each(struct maps_room *room, uint64_t most_bytes,
	       bool (*visit)(const struct maps_line *line, void *arg), void *arg);

#endif
