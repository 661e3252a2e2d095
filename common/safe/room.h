/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits how much address space the measurement takes if the process has a limit (RLIMIT_AS, ulimit
 * -v). All mappings that grow with the measurement together stay below one eighth of what the
 * program leaves free. Signal-safe; errno is unchanged. Test: tests/cli/run/run_space.sh.
 */
#ifndef COMMON_SAFE_ROOM_H
#define COMMON_SAFE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#define ROOM_SHARE 8u

/* Returns true if `n` bytes may be mapped. They count as ours until room_give(). */
bool room_take(size_t n);
void room_give(size_t n);

#endif
