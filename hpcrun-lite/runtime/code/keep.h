/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps copies of binaries that will be gone when the report is made, in <directory>/binaries/: of
 * programs that run from a memfd, libraries that are removed after they were loaded, bundles that
 * unpack themselves and clean up, containers. doc/troubleshooting.md says which files these are. At
 * most 64 MiB a process are copied, by a process of its own (runtime/beside.h). Must not
 * use libc. Test: tests/cli/run/run_gone.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_KEEP_H
#define HPCRUN_LITE_RUNTIME_CODE_KEEP_H

#include <stdbool.h>
#include <sys/stat.h>

/* At the start, before modules are known. Reads TMPDIR. Not signal-safe. */
void keep_start(void);
/* At the start, when they are: keeps the program if its file is gone already, or is a bundle's. */
void keep_program(void);
/* In a forked child: what its parent has sampled is left to the parent. */
void keep_forked(void);

/* Returns true if the file was made or changed since the run began. Signal-safe. */
bool keep_is_new(const struct stat *st);

/* Before libraries are unloaded: keeps what has samples and may soon be gone. */
void keep_unloaded(void);
/*
 * At the end: keeps what has samples and may be gone when the report is made. keep_at_signal does
 * not wait for other threads, keep_at_end does, with a bound. Signal-safe, but not for handlers of
 * samples.
 */
void keep_at_end(void);
void keep_at_signal(void);

#endif
