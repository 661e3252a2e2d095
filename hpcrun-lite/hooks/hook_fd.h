/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks that keep the program from closing or overwriting our descriptors. The program sees them as
 * not open. Test: tests/cli/sacred/sacred_fd.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_FD_H
#define HPCRUN_LITE_HOOKS_HOOK_FD_H

/* Finds the functions that the hooks replace. Call once. Not signal-safe. */
void hook_fd_start(void);

#endif
