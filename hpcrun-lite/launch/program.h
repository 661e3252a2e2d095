/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program to be measured: found as execvp(3) finds it, and looked at, through the interpreters of scripts, for what would keep
 * the run-time library out of it: linked statically, set-user-ID or with file capabilities, of another architecture or C library.
 * Not for the measured process. Test: tests/unit/test_launch.c, tests/cli/launch_program.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum program_verdict {
	PROGRAM_GOOD,
	PROGRAM_MISSING,        /* no such file: a shell's status 127 */
	PROGRAM_NOT_EXECUTABLE, /* there, but it cannot be run: 126 */
	PROGRAM_REFUSED         /* it would run, but could not be measured */
};

struct program {
	char path[PATH_MAX];  /* what to give to execve; holds a slash */
	bool by_shell;        /* a script without "#!": run "/bin/sh path args", as execvp does */
	char reason[PATH_MAX + 256]; /* for people, when it is not good; "" otherwise */
};

/*
 * `command` is what the user wrote, `search_path` the value of PATH (NULL: the system's default). A program that may be run but not read cannot be
 * looked at and is taken as good.
 */
enum program_verdict program_find(const char *command, const char *search_path, struct program *p);

#endif
