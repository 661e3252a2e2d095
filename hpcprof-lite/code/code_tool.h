/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and runs programs that print the code of a binary. Test: as code.h. */
#ifndef HPCPROF_LITE_CODE_CODE_TOOL_H
#define HPCPROF_LITE_CODE_CODE_TOOL_H

#include "common/base/vec.h"

#include <limits.h>

/*
 * Finds an executable file in $PATH. With `is_cuda`, also in bin/ of $CUDA_HOME and of
 * /usr/local/cuda*. Relative directories do not count.
 */
bool code_tool_find(const char *name, bool is_cuda, char path[PATH_MAX]);

struct code_output {
	VEC(char); /* with a NUL behind it */
};
/*
 * Runs a program without a shell, with nothing to read, and collects what it prints. False: it
 * cannot be run, failed, printed more than 16 MiB, or was killed after ten seconds. The caller
 * frees *out in all cases.
 */
bool code_tool_run(const char *path, char *const argv[], struct code_output *out);

#endif
