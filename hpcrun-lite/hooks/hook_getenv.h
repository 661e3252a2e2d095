/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers an OpenCL loader that asks for its layers; see hook_getenv.c. Tests:
 * tests/cli/opencl/ocl_entrance.sh, tests/unit/run/test_getenv.c.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_GETENV_H
#define HPCRUN_LITE_HOOKS_HOOK_GETENV_H

/*
 * Finds libc's functions. Until then the hooks search the environment themselves. Not signal-safe.
 */
void hook_getenv_start(void);

#endif
