/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample source says "take a sample now, of these metrics, with these weights". Two kinds:
 * - CPUTIME, REALTIME and the events of perf raise the run time's own signal, whose handler asks them (`poll`) what expired.
 * - PAPI, in a loadable module, has signals and a handler of its own and calls host->sample from there.
 *
 * A source serves all its events of a process; each thread has a state of its own in memory that the run time gives
 * (zeroed, aligned to 64). Sources never allocate or lock in `poll`. Tests: tests/cli/run_rate.sh, tests/cli/run_threads.sh.
 */
#ifndef HPCRUN_LITE_SOURCE_SOURCE_H
#define HPCRUN_LITE_SOURCE_SOURCE_H

#include "common/format/measurement.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_event {
	const char *name;
	uint32_t metric;      /* id in the measurement file, 0 to MSR_MAX_METRICS - 1 */
	uint32_t unit;        /* enum msr_unit of weights */
	uint32_t cpu_source;  /* enum source_cpu: of the task clock */
	uint32_t perf_type;   /* of perf_event_open */
	uint64_t perf_config;
	uint64_t period;      /* weight between two samples, > 0 */
};

/* What samples CPU time; the user may choose. */
enum source_cpu {
	SOURCE_CPU_AUTO,  /* the kernel's event, and a timer for threads that switch often */
	SOURCE_CPU_PERF,  /* the event alone */
	SOURCE_CPU_TIMER, /* a timer on the thread's CPU clock alone */
	SOURCE_N_CPU
};

/* What expired: one entry an event that did. */
struct source_expiry {
	uint32_t metric;
	uint32_t n_merged;    /* expiries beyond the first that this sample stands for */
	uint64_t weight;      /* in the event's unit, since the last sample of this event */
};

/* What the run time gives to a source. */
struct source_host {
	/*
	 * A sample of one metric in the calling thread, from the source's own signal handler; `ucontext` is the third argument of that
	 * handler. Signal-safe. The run time unwinds, records, and counts a loss if it cannot.
	 */
	void (*sample)(const struct source_expiry *expiry, void *ucontext);
	/* Samples between the two are counted as "busy": around calls in a library whose locks the handler may need. Nests. Signal-safe. */
	void (*suspend)(void);
	void (*resume)(void);
	/* A message for the user in the measurement file. Signal-safe. */
	void (*note)(const char *text);
	/* The source's own signal, whose handler is installed: from now on the program can neither block nor replace it. Not signal-safe. */
	void (*protect_signal)(int sig);
	int signal;           /* the run time's sampling signal */
};

struct source_ops {
	const char *name;
	enum msr_source id;
	/*
	 * Once a process, and again in a forked child (before thread_forked): the events stay valid for ever. False: the source cannot
	 * be had, with the cause in `cause`. Not signal-safe; may allocate.
	 */
	bool (*process_start)(const struct source_event *events, unsigned n_events, const struct source_host *host, char *cause, size_t cause_bytes);
	/* Bytes of state of a thread. */
	size_t (*thread_bytes)(unsigned n_events);
	/*
	 * In the thread itself, before its first user instruction. False: no samples of this source in this thread. Not
	 * signal-safe. `use` belongs to the measurement file: the source keeps account there of what it sampled with.
	 */
	bool (*thread_start)(void *state, struct msr_source_use *use);
	/* In the thread itself, at its end or before exec. No sample after it. thread_start may follow. */
	void (*thread_stop)(void *state);
	/*
	 * In the thread itself: no sample from now on, or again, at as little cost as can be; false: it cannot be had again. Signal-safe. NULL: thread_stop and thread_start are signal-safe and do it.
	 */
	bool (*thread_rest)(void *state, bool rests);
	/* In the child of fork, in the one thread there is: forgets what belongs to the parent. thread_start follows. */
	void (*thread_forked)(void *state);
	/*
	 * In the run time's handler, for every signal: writes what expired to `expiry` (room for all events), returns the number.
	 * NULL for sources with a handler of their own. *ours is set when the signal came from this source. Signal-safe.
	 */
	unsigned (*poll)(void *state, const siginfo_t *info, const void *ucontext, struct source_expiry *expiry, bool *ours);
};

extern const struct source_ops source_cputime;  /* CPU time of the thread, in one of several ways */
extern const struct source_ops source_perf;     /* other events of perf_event_open */
extern const struct source_ops source_realtime; /* CLOCK_MONOTONIC */

/* A signal with this address as its value asks a thread to look at its CPU clock: the tick may miss it. */
extern const char source_look;

static inline bool source_is_look(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &source_look;
}

/*
 * A loadable module (libhpcrun-lite-<name>.so beside the library) exports this symbol:
 *     const struct source_ops hpcrun_lite_source;
 * It is opened with RTLD_LOCAL | RTLD_NOW at the start of a process that asked for its events.
 */
#define SOURCE_MODULE_SYMBOL "hpcrun_lite_source"
#define SOURCE_MODULE_FORMAT "libhpcrun-lite-%s.so"

#endif
