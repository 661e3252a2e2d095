/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls that programs make by syscall() and prctl(). Test: tests/cli/sacred_syscall.sh. */
#ifndef HPCRUN_LITE_HOOKS_HOOK_SYSCALL_H
#define HPCRUN_LITE_HOOKS_HOOK_SYSCALL_H

/* Finds the functions behind the hooks. Once, not signal-safe. */
void hook_syscall_start(void);

#endif
