/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks that make an OpenCL loader and CUDA's driver load our modules; see hook_getenv.c. Tests:
 * tests/cli/opencl/ocl_entrance.sh, tests/cli/gpu/cupti_trace.sh, tests/unit/run/test_getenv.c.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_GETENV_H
#define HPCRUN_LITE_HOOKS_HOOK_GETENV_H

/*
 * Finds libc's functions. Until then the hooks search the environment themselves. Not signal-safe.
 */
void hook_getenv_start(void);

#endif
