/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample source says "take a sample now, of these metrics, with these weights". There are two
 * kinds:
 * - CPUTIME, REALTIME, OFFCPU and perf events raise the run time's own signal. Its handler calls
 *   `poll` to ask what expired.
 * - PAPI, in a loadable module, has its own signals and handler, which calls host->sample.
 *
 * A source serves all its events of a process. Each thread has its own state in memory that the run
 * time provides (zeroed, aligned to 64). Sources never allocate or lock in `poll`. Tests:
 * tests/cli/run/run_rate.sh, tests/cli/run/run_threads.sh.
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
	uint32_t cpu_source;  /* enum source_cpu, for the task clock */
	uint32_t perf_type;   /* of perf_event_open */
	uint64_t perf_config;
	uint64_t period;      /* weight between two samples, > 0 */
};

/* How to sample CPU time; the user may choose. */
enum source_cpu {
	SOURCE_CPU_AUTO,  /* the event; a timer for threads that switch or launch often */
	SOURCE_CPU_PERF,  /* the event alone */
	SOURCE_CPU_TIMER, /* a timer on the thread's CPU clock alone */
	SOURCE_N_CPU
};

/* What a thread waits for, as far as the source knows it. */
enum source_object {
	SOURCE_OBJECT_NONE,
	SOURCE_OBJECT_DESCRIPTOR, /* object_id is its number */
	SOURCE_OBJECT_LOCK        /* object_id is its address */
};

/* An event that expired; one entry for each. OFFCPU may give up to SOURCE_OFFCPU_MOST. */
struct source_expiry {
	uint32_t metric;
	uint32_t n_merged;    /* expiries after the first that this sample represents */
	uint64_t weight;      /* in the event's unit, since the last sample of this event */
	/* The rest is for waits and 0 in all other samples. */
	/* at the place of this thread's last wait (BLAME: its last blame), not where it is now */
	bool is_again;
	bool is_untraced;     /* not on the time line */
	uint8_t wait;         /* enum msr_wait + 1: a frame inside the innermost one; 0: none */
	uint8_t object;       /* enum source_object; a frame inside that */
	uint64_t object_id;
	/*
	 * CLOCK_MONOTONIC: when the time line shows it; 0: now. With weight 0 this is no sample,
	 * but a mark on the time line.
	 */
	uint64_t since_ns;
};
#define SOURCE_OFFCPU_MOST 5u

/* The functions of the run time that a source may call. */
struct source_host {
	/*
	 * Takes a sample of one metric in the calling thread. Call it from the source's own signal
	 * handler; `ucontext` is the third argument of that handler. Records the sample or counts a
	 * loss. Signal-safe.
	 */
	void (*sample)(const struct source_expiry *expiry, void *ucontext);
	/*
	 * Samples between suspend and resume are counted as "busy". Use it around calls into a
	 * library whose locks the handler may need. Nests. Signal-safe.
	 */
	void (*suspend)(void);
	void (*resume)(void);
	/* A message for the user in the measurement file. Signal-safe. */
	void (*note)(const char *text);
	/*
	 * From now on the program can neither block nor replace the source's own signal, whose
	 * handler is already installed. Not signal-safe.
	 */
	void (*protect_signal)(int sig);
	/*
	 * Returns the number of the system call that the signal interrupted, SOURCE_CALL_UNKNOWN,
	 * or SOURCE_CALL_NONE. *has_returned: the call already has its result and does not go on.
	 * Only in `poll`.
	 */
	long (*interrupted_call)(const void *ucontext, bool *has_returned);
	/*
	 * The calling thread waited `ns` for a lock that thread `tid` of this process holds. Asks
	 * for a sample of that thread. `is_over`: it no longer holds the lock, and the time belongs
	 * to the place where it held it. Returns false if that thread was sampled just before; it
	 * then takes this time with its next sample. Signal-safe.
	 */
	bool (*blame)(int tid, uint64_t ns, bool is_over);
	int signal;           /* the run time's sampling signal */
};

enum { SOURCE_CALL_NONE = -1, SOURCE_CALL_UNKNOWN = -2 };

struct source_ops {
	const char *name;
	enum msr_source id;
	/*
	 * Called once per process, and again in a forked child before thread_forked. The events
	 * stay valid until the process ends. Returns false and sets `cause` if the source is not
	 * available. May allocate. Not signal-safe.
	 */
	bool (*process_start)(const struct source_event *events, unsigned n_events,
			      const struct source_host *host, char *cause, size_t cause_bytes);
	/* Size of the state of a thread. */
	size_t (*thread_bytes)(unsigned n_events);
	/*
	 * Called in the thread before its first user instruction. Returns false if this thread gets
	 * no samples from this source. `record` is in the measurement file: the source updates its
	 * `use` and `cpu_unseen_ns`. Signal-safe if thread_rest is NULL.
	 */
	bool (*thread_start)(void *state, struct msr_thread *record);
	/*
	 * Called in the thread at its end or before exec. No sample may follow. thread_start may
	 * follow.
	 */
	void (*thread_stop)(void *state);
	/*
	 * Called in the thread: pauses or resumes sampling as cheaply as possible. Returns false if
	 * it cannot resume. Signal-safe. NULL: thread_stop and thread_start are signal-safe and are
	 * used instead.
	 */
	bool (*thread_rest)(void *state, bool rests);
	/*
	 * Called in the thread, outside the handler, each time it asks a GPU for work, if the back
	 * end wants that. `poll` may interrupt it. NULL: the source does not need it.
	 */
	void (*thread_launches)(void *state);
	/*
	 * Called in a forked child, in its only thread: drops what belongs to the parent.
	 * thread_start follows.
	 */
	void (*thread_forked)(void *state);
	/*
	 * Called in the run time's handler for every signal. Writes what expired to `expiry`, which
	 * has room for all events, and returns the number. NULL for sources with their own handler.
	 * Signal-safe.
	 */
	unsigned (*poll)(void *state, const siginfo_t *info, const void *ucontext,
			 struct source_expiry *expiry);
	/*
	 * Called in the handler after `poll`, when the samples are recorded. NULL: the source does
	 * not need it. Signal-safe.
	 */
	void (*thread_handled)(void *state);
};

extern const struct source_ops source_cputime; /* CPU time of the thread, by one of several means */
extern const struct source_ops source_perf;     /* other events of perf_event_open */
extern const struct source_ops source_realtime; /* CLOCK_MONOTONIC */
/* Time in which the thread did not run. Its second event, if there is one, is BLAME. */
extern const struct source_ops source_offcpu;

/*
 * A signal with this address as its value asks a thread to look at its CPU clock, because the
 * kernel's tick may miss the thread.
 */
extern const char source_look;

/* A signal with this address as its value tells a thread that others wait for it. */
extern const char source_blamed;

static inline bool source_is_look(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &source_look;
}

/*
 * A loadable module (libhpcrun-lite-<name>.so beside the library) exports this symbol:
 *
 *     const struct source_ops hpcrun_lite_source;
 *
 * A process that asked for its events opens it at its start with RTLD_LOCAL | RTLD_NOW.
 */
#define SOURCE_MODULE_SYMBOL "hpcrun_lite_source"
#define SOURCE_MODULE_FORMAT "libhpcrun-lite-%s.so"

#endif
