/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of code that the program makes while it runs (JIT). The program writes them into files of
 * its own: a perf map, /tmp/perf-PID.map, and a jitdump, which it also maps as executable memory so
 * that profilers find it. The run time only finds these files and copies them beside the
 * measurement file; hpcprof-lite reads them. Test: tests/cli/jit_files.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_JIT_CODE_H
#define HPCRUN_LITE_RUNTIME_CODE_JIT_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Remembers where temporary files go. Not signal-safe. */
void jit_start(void);
/* In the child of fork: nothing has been seen in it. */
void jit_forked(void);

/*
 * Looks at n packed addresses of a path. At the first path with one that is in no module, and now
 * and then later, looks for the jitdump and notes where it is (INFO "jitdump"), so that it is found
 * even if the process is killed. Signal-safe.
 */
void jit_look_at(const uint64_t *addr, uint32_t n);

/* At the end of the process: copies the files, if there was such code. Not in handlers. */
void jit_keep(void);

#endif
