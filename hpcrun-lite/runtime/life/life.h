/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the start, the forks and the end of a process share. Only for this folder. Tests:
 * tests/cli/run/run_processes.sh, tests/cli/run/run_forks.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_LIFE_LIFE_H
#define HPCRUN_LITE_RUNTIME_LIFE_LIFE_H

#include "common/safe/cgroup.h"
#include "common/safe/forked.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern struct life {
	_Atomic bool ended;       /* runtime_end has done its work */
	unsigned exec_seq;
	uint64_t process_start_ns;
	struct cgroup cgroup;     /* a forked child begins in that of its parent */
} life;

/* Tells the user why the process runs unmeasured. Keeps errno. */
void life_complain(const char *cause);

/*
 * Opens the file of this process, which has no records yet. Returns false and sets *cause on
 * failure. In a forked child (`is_forked`) it is signal-safe.
 */
bool life_open_store(bool is_forked, const char **cause);
/* Writes what a child of fork has in common with its parent. Signal-safe. */
void life_describe(void);
/* The limit on CPU time of life.cgroup. A process that leaves its cgroup later is not followed. */
void life_write_quota(void);

/*
 * Around each fork: in the parent before and after it, and in the child. The fork handlers of a
 * library whose constructor ran before ours run before the one in the child. If they create a
 * thread, hook_thread.c has called it already; the second call does nothing.
 */
void life_before_fork(void);
void life_after_fork(void);
void life_forked(void);

#endif
