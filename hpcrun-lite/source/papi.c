/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples PAPI events with PAPI's overflow, in a module that is loaded only for them. Each thread
 * has its own event set. The overflow handler runs in PAPI's signal handler, which we configure
 * like ours: all signals blocked, on the alternate stack. The handler calls PAPI only to decode
 * which event overflowed. Test: tests/cli/launch/launch_papi.sh.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/source/papi_set.h"
#include "hpcrun-lite/source/source.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct papi_thread {
	int set;
	bool registered, running;
	unsigned n_descriptors;
	int descriptors[MSR_MAX_METRICS];
	/* inside PAPI: a handler of the program that ends the process must not call it */
	volatile sig_atomic_t busy;
};

static const struct source_host *host;
static unsigned n_events;
static struct papi_set_event events[MSR_MAX_METRICS];
static uint32_t metrics[MSR_MAX_METRICS];
static atomic_bool signal_prepared;

/*
 * Takes one sample for each event that overflowed. PAPI gives the position in the event set, which
 * is the order of `events`.
 */
static void on_overflow(int set, void *address, long long vector, void *context)
{
	int index[MSR_MAX_METRICS], n = MSR_MAX_METRICS, saved = errno;
	(void)address;
	if (PAPI_get_overflow_event_index(set, vector, index, &n) == PAPI_OK)
		for (int i = 0; i < n; i++) {
			unsigned k = (unsigned)index[i];
			if (k < n_events)
				host->sample(&(struct source_expiry){.metric = metrics[k],
								     .weight = events[k].period},
					     context);
		}
	errno = saved;
}

static uint64_t signal_bits(void)
{
	int sig = papi_set_signal();
	return sig > 0 ? UINT64_C(1) << (sig - 1) : 0;
}

/* Bypasses the hooks, which would change the mask that the program sees. Returns the old mask. */
static uint64_t change_mask(int how, uint64_t set)
{
	uint64_t old = 0;
	sys_call4(SYS_rt_sigprocmask, how, (long)&set, (long)&old, sizeof set);
	return old;
}

static bool process_start(const struct source_event *wanted, unsigned n,
			  const struct source_host *h, char *cause, size_t cause_bytes)
{
	host = h;
	n_events = n;
	for (unsigned i = 0; i < n; i++) {
		events[i] =
			(struct papi_set_event){.name = wanted[i].name, .period = wanted[i].period};
		metrics[i] = wanted[i].metric;
	}
	host->suspend();
	bool good = papi_set_start_library(cause, cause_bytes) &&
		    papi_set_find(events, n_events, cause, cause_bytes);
	host->resume();
	/* Later threads inherit this mask. From thread_start() on, the program cannot block it. */
	change_mask(SIG_UNBLOCK, signal_bits());
	return good;
}

static size_t thread_bytes(unsigned n)
{
	(void)n;
	return sizeof(struct papi_thread);
}

/*
 * Configures PAPI's handler like ours, so that nothing in the program interrupts it. From then on
 * the program cannot change the signal.
 */
static void prepare_signal(void)
{
	int sig = papi_set_signal();
	struct sigaction action;
	if (sig <= 0 || atomic_exchange(&signal_prepared, true) ||
	    sigaction(sig, NULL, &action) != 0)
		return;
	/* All, even signals of libc that sigfillset leaves out: a cancellation would be lost. */
	memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
	action.sa_flags |= SA_ONSTACK | SA_RESTART;
	if (sigaction(sig, &action, NULL) == 0)
		host->protect_signal(sig);
}

/*
 * PAPI_start lets an event overflow again and again until its handler runs. The overflows since
 * then came from our own work. From now on an event stops at each overflow, as PAPI's handler does.
 */
static void begin_afresh(const struct papi_thread *t)
{
	const uint64_t set = signal_bits();
	const struct timespec now = {0};
	papi_set_rest(t->descriptors, t->n_descriptors, true);
	while (sys_call4(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set) > 0)
		;
	papi_set_arm(t->descriptors, t->n_descriptors);
}

static bool thread_start(void *state, struct msr_thread *record)
{
	struct papi_thread *t = state;
	char cause[256];
	(void)record;
	if (t->running || t->busy)
		return t->running;
	t->busy = 1;
	change_mask(SIG_BLOCK, signal_bits());
	host->suspend();
	if (!t->registered)
		t->registered = PAPI_register_thread() == PAPI_OK;
	t->running = papi_set_start(events, n_events, on_overflow, &t->set, cause, sizeof cause);
	if (t->running) {
		prepare_signal();
		t->n_descriptors = papi_set_descriptors(t->descriptors, MSR_MAX_METRICS);
		begin_afresh(t);
	}
	host->resume();
	t->busy = 0;
	change_mask(SIG_UNBLOCK, signal_bits());
	return t->running;
}

/*
 * Blocks PAPI's signal when all events are paused and no overflow is on its way. Otherwise
 * PAPI_stop would lose that sample. PAPI's handler enables its event again, so this takes rounds.
 */
#define ROUNDS 8

static void come_to_rest(const struct papi_thread *t)
{
	uint64_t pending = 0;
	for (int i = 0; i < ROUNDS; i++) {
		change_mask(SIG_BLOCK, signal_bits());
		papi_set_rest(t->descriptors, t->n_descriptors, true);
		sys_call3(SYS_rt_sigpending, (long)&pending, sizeof pending, 0);
		if (!(pending & signal_bits()))
			return;
		change_mask(SIG_UNBLOCK, signal_bits());
	}
}

static void thread_stop(void *state)
{
	struct papi_thread *t = state;
	if (!t->running || t->busy)
		return;
	t->busy = 1;
	const uint64_t mask = change_mask(SIG_BLOCK, 0);
	come_to_rest(t);
	t->running = false;
	host->suspend();
	papi_set_stop(t->set, n_events, events);
	if (t->registered)
		(void)PAPI_unregister_thread();
	t->registered = false;
	host->resume();
	t->busy = 0;
	change_mask(SIG_SETMASK, mask);
}

/*
 * An overflow that is already on its way makes PAPI's handler enable its event once more. The run
 * time then pauses it again.
 */
static bool thread_rest(void *state, bool rests)
{
	struct papi_thread *t = state;
	if (t->running && !t->busy)
		papi_set_rest(t->descriptors, t->n_descriptors, rests);
	return true;
}

/* process_start has started PAPI again. The parent's event set is not ours to stop. */
static void thread_forked(void *state)
{
	memset(state, 0, sizeof(struct papi_thread));
}

__attribute__((visibility("default"))) const struct source_ops hpcrun_lite_source = {
	.name = "PAPI overflow",
	.id = MSR_SOURCE_PAPI,
	.process_start = process_start,
	.thread_bytes = thread_bytes,
	.thread_start = thread_start,
	.thread_stop = thread_stop,
	.thread_rest = thread_rest,
	.thread_forked = thread_forked,
	.poll = NULL,
};
