/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answer to an OpenCL loader that asks for its layers; see hook_getenv.c. Test: tests/cli/ocl_entrance.sh, tests/unit/test_getenv.c.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_GETENV_H
#define HPCRUN_LITE_HOOKS_HOOK_GETENV_H

/* Finds libc's functions. Before it, and without it, the hooks answer by themselves. Not signal-safe. */
void hook_getenv_start(void);

#endif
