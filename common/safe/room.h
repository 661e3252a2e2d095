/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address space of the measured process, where it is limited (RLIMIT_AS, ulimit -v): what grows with the measurement asks here first, and all of it together stays
 * below an eighth of what the program does not use. Signal-safe; errno is as it was. Test: tests/cli/run_space.sh.
 */
#ifndef COMMON_SAFE_ROOM_H
#define COMMON_SAFE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#define ROOM_SHARE 8u

/* True: n bytes may be mapped, and count as ours until room_give. */
bool room_take(size_t n);
void room_give(size_t n);

#endif
