/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks for calls with which a process gives up privileges; see hook_user.c. Test:
 * tests/cli/run/run_forks.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_USER_H
#define HPCRUN_LITE_HOOKS_HOOK_USER_H

void hook_user_start(void);

#endif
