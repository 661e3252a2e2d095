/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks for _exit, _Exit and quick_exit, which end a process without calling exit handlers. Test:
 * tests/cli/sacred/sacred_exit.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_EXIT_H
#define HPCRUN_LITE_HOOKS_HOOK_EXIT_H

/* Finds the functions that the hooks replace. Call once. Not signal-safe. */
void hook_exit_start(void);

#endif
