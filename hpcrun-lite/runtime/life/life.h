/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the start, the forks and the end of a process share. Only for this folder. Tests:
 * tests/cli/run/run_processes.sh, tests/cli/run/run_forks.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_LIFE_LIFE_H
#define HPCRUN_LITE_RUNTIME_LIFE_LIFE_H

#include "common/safe/cgroup.h"
#include "common/safe/forked.h"
#include "common/safe/usage.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern struct life {
	_Atomic bool ended;       /* runtime_end has done its work */
	unsigned exec_seq;
	uint64_t process_start_ns;
	struct cgroup cgroup;     /* a forked child begins in its parent's */
	struct usage start;       /* what the process had used when its file was made */
} life;

/* Tells the user why the process runs unmeasured. Keeps errno. */
void life_complain(const char *cause);

/*
 * Opens the file of this process, which has no records yet. Returns false and sets *cause on
 * failure. In a forked child (`is_forked`) it is signal-safe.
 */
bool life_open_store(bool is_forked, const char **cause);
/*
 * Begins to measure a process that was running, as `text` (config.h) says; none of its threads yet.
 * Returns false and sets *cause if that is not possible. Not signal-safe.
 */
bool life_attach(const char *text, const char **cause);

/*
 * True for the first who asks, and for nobody if the process is not measured: no other thread ends
 * the measurement from then on. Signal-safe.
 */
bool life_claim_end(void);
/* Ends the measurement of a process that runs on; after life_claim_end(), all signals blocked. */
void life_detach(void);
/* Writes the records that a forked child has in common with its parent. Signal-safe. */
void life_describe(void);
/*
 * Writes the limit on CPU time of life.cgroup. Does not notice if the process moves to another
 * cgroup later.
 */
void life_write_quota(void);

/*
 * Around each fork: in the parent before and after it, and in the child. In the child, fork
 * handlers of a library whose constructor ran before ours run before life_forked. If one of them
 * creates a thread, hook_thread.c has already called life_forked; the second call does nothing.
 */
void life_before_fork(void);
void life_after_fork(void);
void life_forked(void);

#endif
