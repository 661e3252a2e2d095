/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions asked in a child process, whose standard output and error go nowhere and that is killed when it takes too long: vendors' libraries start threads, print and
 * install signal handlers as they like, and there they harm nobody. Not for the measured process. Test: tests/cli/launch_papi.sh, tests/cli/launch_gpu.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_CHILD_H
#define HPCRUN_LITE_LAUNCH_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* Runs work(arg, out) in a child; `out` is a pipe. Returns the end to read from, or -1 with errno. */
int child_start(void (*work)(void *arg, int out), void *arg, pid_t *child);
/* In the child: a loadable module of ours, which holds a table of functions. */
struct child_module {
	const char *directory, *name; /* "opencl" */
	const char *symbol;           /* of the table */
	const char *what;             /* it is called: "PAPI module" */
	const char *missing;          /* what to say when there is no such file */
};
/* The table, or NULL with `why`. */
const void *child_open_module(const struct child_module *m, char *why, size_t bytes);
/* Up to `bytes`, until the end. */
size_t child_read(int fd, void *to, size_t bytes);
/* Waits for the child. `how` is "" when it ended well, else says how `what` ("PAPI") failed. */
void child_reap(pid_t child, const char *what, char *how, size_t bytes);

#endif
