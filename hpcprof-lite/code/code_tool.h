/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and runs programs that print the code of a binary. Test: as code.h. */
#ifndef HPCPROF_LITE_CODE_CODE_TOOL_H
#define HPCPROF_LITE_CODE_CODE_TOOL_H

#include "common/base/vec.h"

#include <limits.h>
#include <stdint.h>

/*
 * Finds an executable file in $PATH. With `is_cuda`, also in bin/ of $CUDA_HOME and of
 * /usr/local/cuda*. Relative directories do not count.
 */
bool code_tool_find(const char *name, bool is_cuda, char path[PATH_MAX]);

struct code_output {
	VEC(char); /* with a NUL behind it */
};
/*
 * Runs a program without a shell, with nothing to read, and collects what it prints. Takes the time
 * from *left_ms; at 0, kills the program. False: it cannot be run, failed, printed more than 16
 * MiB, or was killed. Processes that it started and that are in its process group end with it. The
 * caller frees *out in all cases. One thread at a time.
 */
bool code_tool_run(const char *path, char *const argv[], int64_t *left_ms, struct code_output *out);

/* Kills a program that runs, and lets none start. For any thread, when this process is to end. */
void code_tool_end(void);

#endif
