/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether anybody still reads standard output. A tool that writes files meanwhile blocks
 * SIGPIPE in the thread that writes there, so that the files are complete even after `| head`.
 * Test: tests/cli/prof/prof_output.sh.
 */
#ifndef HPCPROF_SINK_UNREAD_H
#define HPCPROF_SINK_UNREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* True if SIGPIPE would have ended the program, but the calling thread has blocked it. */
static inline bool unread_is_output(void)
{
	sigset_t pending;
	struct sigaction action;
	return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1 &&
	       sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
}

#endif
