/* SPDX-License-Identifier: BSD-3-Clause */
/* See hook_user.c. */
#ifndef HPCRUN_LITE_HOOKS_HOOK_USER_H
#define HPCRUN_LITE_HOOKS_HOOK_USER_H

void hook_user_start(void);

#endif
