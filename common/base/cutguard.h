/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles input files that another process truncates while we have them mapped. The next read past
 * the new end raises SIGBUS. The tools then name the file and exit, instead of dying with a bare
 * "Bus error". Tests: tests/unit/common/test_base.c, tests/cli/prof/prof_cli.sh.
 */
#ifndef COMMON_BASE_CUTGUARD_H
#define COMMON_BASE_CUTGUARD_H

/*
 * From now on, a read past the end of a truncated file prints one line, calls `end` (NULL:
 * nothing), and exits with status 1. Children of fork() inherit this. Any other SIGBUS ends the
 * program as usual.
 *
 * `end` runs in the signal handler of the thread that read. It may block and need not return.
 */
void cutguard_start(void (*end)(void));

#endif
