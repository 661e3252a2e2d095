/* SPDX-License-Identifier: BSD-3-Clause */
/* Hooks for the exec family, posix_spawn, system and popen.
 * Test: tests/cli/sacred/sacred_exec.sh. */
#ifndef HPCRUN_LITE_HOOKS_HOOK_EXEC_H
#define HPCRUN_LITE_HOOKS_HOOK_EXEC_H

/* Finds the functions that the hooks replace. Call once. Not signal-safe. */
void hook_exec_start(void);
void hook_shell_start(void);

#endif
