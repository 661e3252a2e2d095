/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process: its constants, start, forks and end. Internal to the run time; hooks use runtime.h.
 * Tests: tests/cli/run/run_*.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_PROCESS_H
#define HPCRUN_LITE_RUNTIME_PROCESS_H

#include "common/safe/text.h"
#include "hpcrun-lite/config/config.h"
#include "hpcrun-lite/runtime/gpu_glue.h"
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
	bool is_cputime[MSR_MAX_METRICS];
	/*
	 * Set at the end of a successful start. Cleared by runtime_withdraw, and in a child that
	 * cannot be measured.
	 */
	_Atomic bool measuring;
	int pid;
	char host[65];
	uint64_t start_ns;
	_Atomic bool ending;          /* no more samples are recorded */
	/* the program stopped measurement, or has not started it yet; see control.h */
	_Atomic bool off;
	/* on a page that fork clears: 1 in the process that owns the store */
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

/* If the caller is in a child whose fork we did not see, starts to measure it. Not signal-safe. */
void process_check_fork(void);

/*
 * sources.c: chooses and starts the sources for the events and writes METRIC and INFO records.
 * Returns false and sets `cause` on failure.
 */
bool process_choose_sources(char *cause, size_t cause_bytes);
bool process_restart_sources(void);
void process_write_records(void);

/* report.c: prints the report at the end, a line or a table. */
void report_print(void);
/*
 * report_files.c: adds what the other processes of this rank have written so far. Returns the
 * number of processes.
 */
uint64_t report_add_others(struct thread_totals *sum, struct gpu_sums *gpu);
/* The recording of a process: a range of bytes in a file, with a header page and extents. */
struct report_place {
	int fd;
	uint64_t start, end;
};
/*
 * Calls `visit` for each process of this rank, including this one if `with_own`. Returns the number
 * of other processes.
 */
uint64_t report_each_process(bool with_own, void (*visit)(const struct report_place *p, void *arg),
			     void *arg);
/* Reads from these files, a limited number of times. */
bool report_read_at(int fd, void *to, size_t n, uint64_t at);
/*
 * Reads the header of the next extent of a place into *e. *at is 0 at first, then the position
 * after *e. Returns false if there is no more.
 */
bool report_next_extent(const struct report_place *p, uint64_t *at, struct msr_extent *e);
/* report_children.c: adds a line for each program of this rank that was not measured. */
void report_put_unmeasured(struct text *t);

#endif
