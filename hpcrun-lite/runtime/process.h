/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process: its constants, start, forks and end. Internal to the run time; hooks use runtime.h.
 * Tests: tests/cli/run/run_*.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_PROCESS_H
#define HPCRUN_LITE_RUNTIME_PROCESS_H

#include "common/safe/sys.h"
#include "hpcrun-lite/config/config.h"
#include "hpcrun-lite/runtime/runtime.h"
#include "hpcrun-lite/runtime/thread.h"
#include "hpcrun-lite/source/source.h"

#include <stdatomic.h>
#include <stdbool.h>

struct process_source {
	const struct source_ops *ops;
	unsigned n_events;
	struct source_event event[MSR_MAX_METRICS];
};

struct process {
	struct config config;
	unsigned n_sources;
	struct process_source source[THREAD_MAX_SOURCES];
	bool has_cputime;             /* CPUTIME is one of the events */
	uint64_t cputime_period_ns;   /* if so */
	bool is_cputime[MSR_MAX_METRICS];
	bool has_offcpu;              /* OFFCPU is one of the events */
	uint32_t blame_metric;        /* of BLAME; only with OFFCPU */
	/*
	 * Set at the end of a successful start. Cleared by runtime_withdraw, and in a child that
	 * cannot be measured.
	 */
	_Atomic bool measuring;
	int pid;
	char host[65];
	uint64_t start_ns;
	bool is_go;                   /* see MSR_FLAG_GO */
	_Atomic bool ending;          /* no more samples are recorded */
	/* the program stopped measurement, or has not started it yet; see control.h */
	_Atomic bool off;
	/* on a page that fork clears; 1 in the process that owns the store */
	_Atomic uint32_t *alive;
};
extern struct process process;

/*
 * Returns true in the process that owns the store; false in a child whose fork we did not see
 * (_Fork, clone). Signal-safe, no system call.
 */
static inline bool process_is_alive(void)
{
	return atomic_load_explicit(&process.measuring, memory_order_relaxed) &&
	       atomic_load_explicit(process.alive, memory_order_relaxed) == 1;
}

/*
 * Returns true in the process that owns the store, and not in a child of vfork. One system call.
 * Signal-safe.
 */
static inline bool process_is_owner(void)
{
	return process_is_alive() && sys_getpid() == process.pid;
}

/* If the caller is in a child whose fork we did not see, starts to measure it. Not signal-safe. */
void process_check_fork(void);

#endif
