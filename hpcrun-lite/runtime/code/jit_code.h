/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the names of code that the program generates at run time (JIT). The program writes them
 * into its own files: a perf map, /tmp/perf-PID.map, and a jitdump, which it also maps as
 * executable memory so that profilers find it. We only find these files and copy them beside the
 * measurement file; hpcprof-lite reads them. Test: tests/cli/jit/jit_files.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_JIT_CODE_H
#define HPCRUN_LITE_RUNTIME_CODE_JIT_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Remembers the directory for temporary files. Not signal-safe. */
void jit_start(void);
/* In a forked child: it has generated no code yet. */
void jit_forked(void);

/*
 * Looks at the `n` packed addresses of a path. At the first path with an address outside all
 * modules, and occasionally later, searches for the jitdump and records its path (INFO "jitdump"),
 * so that hpcprof-lite finds it even if the process is killed. Signal-safe.
 */
void jit_look_at(const uint64_t *addr, uint32_t n);

/* At the end of the process: copies the files if there was JIT code. Not in handlers. */
void jit_keep(void);

#endif
