/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks for system calls that programs make with syscall() and prctl(). Test:
 * tests/cli/sacred/sacred_syscall.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_SYSCALL_H
#define HPCRUN_LITE_HOOKS_HOOK_SYSCALL_H

/* Finds the functions that the hooks replace. Call once. Not signal-safe. */
void hook_syscall_start(void);

#endif
