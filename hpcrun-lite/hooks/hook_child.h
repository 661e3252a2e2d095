/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks for waiting for children. They return to the parent how a child ended and what CPU time it
 * used, and we record it. Test: tests/cli/run/run_children.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_CHILD_H
#define HPCRUN_LITE_HOOKS_HOOK_CHILD_H

/* Call once. Not signal-safe. */
void hook_child_start(void);

#endif
