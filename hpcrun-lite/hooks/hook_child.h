/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for children: the parent learns how a child ended and what CPU time it took, and so do
 * we. Test: tests/cli/run_children.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_CHILD_H
#define HPCRUN_LITE_HOOKS_HOOK_CHILD_H

/* Once, not signal-safe. */
void hook_child_start(void);

#endif
