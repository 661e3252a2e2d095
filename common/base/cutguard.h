/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that is mapped for reading and shortened by another process raises SIGBUS at the next read
 * behind its end. The tools then say which file it was and end, in place of a bare "Bus error".
 * Test: tests/unit/test_base.c, tests/cli/prof_cli.sh.
 */
#ifndef COMMON_BASE_CUTGUARD_H
#define COMMON_BASE_CUTGUARD_H

/*
 * From now on: such a read prints one line, calls `end` if it is not NULL, and exits with status 1.
 * `end` runs in the signal handler of the thread that read; it may block and need not return. Any
 * other SIGBUS ends the program as always. Children of fork() inherit it.
 */
void cutguard_start(void (*end)(void));

#endif
