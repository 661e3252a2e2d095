/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process: what is constant in it, its start, its forks and its end. Internal to the run time; hooks use runtime.h.
 * Tests: tests/cli/run_*.sh.
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
	bool has_cputime;             /* CPUTIME is among the events */
	bool is_cputime[MSR_MAX_METRICS];
	_Atomic bool measuring;       /* set at the end of a start that went well; taken back by runtime_withdraw, or in a child that cannot be measured */
	int pid;
	char host[65];
	uint64_t start_ns;
	_Atomic bool ending;          /* no sample is recorded any more */
	_Atomic bool off;             /* the program stopped measurement, or has not started it yet; see control.h */
	_Atomic uint32_t *alive;      /* on a page that fork wipes: 1 in the process that owns the store */
};
extern struct process process;

/* True in the process that owns the store: false after a fork that did not call us (_Fork, clone). Signal-safe, no system call. */
static inline bool process_is_alive(void)
{
	return atomic_load_explicit(&process.measuring, memory_order_relaxed) && atomic_load_explicit(process.alive, memory_order_relaxed) == 1;
}

/* Measures the child of a fork that did not call us, if that is where the caller is. Not signal-safe. */
void process_check_fork(void);

/* sources.c: chooses and starts the sources for the events; METRIC and INFO records. False with the cause. */
bool process_choose_sources(char *cause, size_t cause_bytes);
bool process_restart_sources(void);
void process_write_records(void);

/* report.c: the line or table at the end. */
void report_print(void);
/* report_files.c: adds what the other processes of this rank have written so far; returns how many processes. */
uint64_t report_add_others(struct thread_totals *sum, struct gpu_sums *gpu);
/* What a process has recorded: bytes of a file, a header page and extents. */
struct report_place {
	int fd;
	uint64_t start, end;
};
/* Calls `visit` for each process of this rank, and `with_own` for this one; returns how many others. */
uint64_t report_each_process(bool with_own, void (*visit)(const struct report_place *p, void *arg), void *arg);
/* Reads of these files, bounded in number. */
bool report_read_at(int fd, void *to, size_t n, uint64_t at);
/* Steps over the extents of a place. *at is 0 at first, then behind the extent *e. False: no more. */
bool report_next_extent(const struct report_place *p, uint64_t *at, struct msr_extent *e);
/* report_children.c: a line for each program of this rank that was not measured. */
void report_put_unmeasured(struct text *t);

#endif
