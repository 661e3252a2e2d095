/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hpcrun-lite --attach and --detach call in a running program, in a thread that it has stopped
 * at a place where the thread holds no lock of libc (launch/attach). Test: tests/cli/attach.
 */
#ifndef HPCRUN_LITE_CONFIG_ATTACH_H
#define HPCRUN_LITE_CONFIG_ATTACH_H

#include <stdint.h>

/*
 * The launcher becomes this program, which needs libunwind:
 *
 *     hpcrun-lite-attach attach PID SECONDS LIBRARY DIRECTORY CONFIG
 *     hpcrun-lite-attach detach PID
 */
#define ATTACH_PROGRAM "hpcrun-lite-attach"

#define ATTACH_SYMBOL "hpcrun_lite_attach"
#define DETACH_SYMBOL "hpcrun_lite_detach"

enum { ATTACH_ANSWERS = 4096 };

/* The program's memory; the function fills it. */
struct attach_answer {
	/*
	 * A thread is measured once it gets RUNTIME_SIGNAL by rt_tgsigqueueinfo(2) with si_code
	 * SI_QUEUE and this value; this value + 1 if we have unblocked the signal for it.
	 */
	uint64_t join;
	/*
	 * Addresses: how many threads have answered that since the measurement began (uint32_t),
	 * and their ids in any order (int32_t [ATTACH_ANSWERS], 0: none; the last ones if there are
	 * more).
	 */
	uint64_t n_answered, answered;
	uint64_t block;     /* detach: signals to add to the mask of the thread that was stopped */
	uint32_t n_threads; /* detach: that are measured still, because they do not take signals */
	char path[4352];    /* of the measurement file */
	char cause[256];    /* why not; "": done */
};

/*
 * Begins to measure the process as `config` says (config.h), but none of its threads: those join.
 * Returns 0, or -1 and says why. All signals are blocked meanwhile. Not signal-safe.
 */
typedef int attach_fn(const char *config, struct attach_answer *answer);
/*
 * Ends the measurement: puts back signals, masks and the tables of imported functions. Threads that
 * do not take our signal within a second keep our handler until they do.
 */
typedef int detach_fn(struct attach_answer *answer);

#endif
