/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the program to measure, as execvp(3) does, and examines it. For a script, examines the
 * interpreter. The run-time library cannot be loaded into a program that is static, set-user-ID,
 * has file capabilities, or is for another architecture or C library. Not for the measured process.
 * Tests: tests/unit/run/test_launch.c, tests/cli/launch/launch_cli.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum program_verdict {
	PROGRAM_GOOD,
	PROGRAM_MISSING,        /* no such file: exit status 127, as in shells */
	PROGRAM_NOT_EXECUTABLE, /* it exists but cannot be executed: exit status 126 */
	PROGRAM_REFUSED         /* it could run but not be measured */
};

struct program {
	char path[PATH_MAX];  /* for execve; contains a slash */
	bool by_shell;        /* a script without "#!": run "/bin/sh path args", as execvp does */
	char reason[PATH_MAX + 256]; /* why it is not good, for the user; else "" */
};

/*
 * `command` is from the user, `search_path` is the value of PATH (NULL: the system's default). A
 * program that may be executed but not read cannot be examined and counts as good.
 */
enum program_verdict program_find(const char *command, const char *search_path, struct program *p);

#endif
