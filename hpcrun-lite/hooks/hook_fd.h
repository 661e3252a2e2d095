/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors of ours can be neither closed nor overwritten by the program, which sees them as not open. Test: tests/cli/sacred_fd.sh. */
#ifndef HPCRUN_LITE_HOOKS_HOOK_FD_H
#define HPCRUN_LITE_HOOKS_HOOK_FD_H

/* Finds the functions behind the hooks. Once, not signal-safe. */
void hook_fd_start(void);

#endif
