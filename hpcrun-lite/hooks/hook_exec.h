/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks for the exec family, posix_spawn, system and popen. Test: tests/cli/sacred/sacred_exec.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_EXEC_H
#define HPCRUN_LITE_HOOKS_HOOK_EXEC_H

#include "hpcrun-lite/runtime/runtime.h"

#include <stdbool.h>

/* Finds the functions that the hooks replace. Call once. Not signal-safe. */
void hook_exec_start(void);
void hook_shell_start(void);

/*
 * Returns why a program that another process will start cannot be measured. VOID: nothing is known
 * to prevent it. Searches for `file` as execvp does, and writes its path to `path`, which has
 * PATH_MAX bytes. Sets *takes if our entries may be in the program's environment. Signal-safe.
 */
enum msr_unmeasured_reason hook_exec_examine(const char *file, char *path, bool *takes);

#endif
