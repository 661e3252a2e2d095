/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries libraries in a child process, because libraries of vendors start threads, print and
 * install signal handlers. The child's standard output and error are discarded, and it is killed if
 * it takes too long. Not for the measured process. Tests: tests/cli/launch/launch_papi.sh,
 * tests/cli/launch/launch_gpu.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_CHILD_H
#define HPCRUN_LITE_LAUNCH_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Runs work(arg, out) in a child; `out` is a pipe. Returns the read end of the pipe, or -1 with
 * errno.
 */
int child_start(void (*work)(void *arg, int out), void *arg, pid_t *child);
/* For use in the child: one of our loadable modules, which contains a table of functions. */
struct child_module {
	const char *directory, *name; /* "opencl" */
	const char *symbol;           /* name of the table */
	const char *what;             /* its name in messages: "PAPI module" */
	const char *missing;          /* message if there is no such file */
};
/* Returns the table, or NULL and sets `why`. */
const void *child_open_module(const struct child_module *m, char *why, size_t bytes);
/* Reads up to `bytes`, until the end of the pipe. */
size_t child_read(int fd, void *to, size_t bytes);
/* Reads all, up to the end of the pipe, and closes it. NULL: no memory. The caller frees it. */
char *child_read_text(int fd);
/* Waits for the child. `how` is "" if it ended well, else how `what` ("PAPI") failed. */
void child_reap(pid_t child, const char *what, char *how, size_t bytes);

#endif
