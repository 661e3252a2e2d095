/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies binaries that will be gone when the report is made to <directory>/binaries/: programs that
 * run from a memfd, libraries that are removed after they were loaded, bundles that unpack
 * themselves and clean up, and binaries of containers. doc/troubleshooting.md lists these files. A
 * separate process (runtime/beside.h) copies at most 64 MiB for each process. Must not use libc.
 * Test: tests/cli/run/run_gone.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_KEEP_H
#define HPCRUN_LITE_RUNTIME_CODE_KEEP_H

#include <stdbool.h>
#include <sys/stat.h>

/* At the start, before modules are known. Reads TMPDIR. Not signal-safe. */
void keep_start(void);
/*
 * At the start, when modules are known: keeps the program if its file is already gone or belongs to
 * a bundle.
 */
void keep_program(void);
/* In a forked child: the parent keeps the binaries that it has sampled. */
void keep_forked(void);

/* Returns true if the file was made or changed since the run began. Signal-safe. */
bool keep_is_new(const struct stat *st);

/* Before libraries are unloaded: keeps binaries that have samples and may soon be gone. */
void keep_unloaded(void);
/*
 * At the end: keeps binaries that have samples and may be gone when the report is made. keep_at_end
 * waits for other threads for a limited time; keep_at_signal does not wait. Signal-safe, but not
 * for handlers of samples.
 */
void keep_at_end(void);
void keep_at_signal(void);

#endif
