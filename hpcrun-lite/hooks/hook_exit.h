/* SPDX-License-Identifier: BSD-3-Clause */
/* _exit, _Exit and quick_exit: the ends of a process that exit handlers do not see. Test: tests/cli/sacred_exit.sh. */
#ifndef HPCRUN_LITE_HOOKS_HOOK_EXIT_H
#define HPCRUN_LITE_HOOKS_HOOK_EXIT_H

/* Finds the functions behind the hooks. Once, not signal-safe. */
void hook_exit_start(void);

#endif
