/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks for calls that remove or rename files; see hook_remove.c. Test: tests/cli/run/run_gone.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_REMOVE_H
#define HPCRUN_LITE_HOOKS_HOOK_REMOVE_H

/* Finds the functions that the hooks replace. Call once. Not signal-safe. */
void hook_remove_start(void);
/* `fd` is about to be closed. Keeps errno. Signal-safe. */
void hook_remove_descriptor(int fd);

#endif
