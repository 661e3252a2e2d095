/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * REALTIME: a timer on CLOCK_MONOTONIC for each thread, so that threads that wait are sampled too.
 * The weight of a sample is the time since the last one. Never waits or allocates. Test:
 * tests/cli/run/run_rate.sh.
 */
#include "common/safe/clock.h"
#include "hpcrun-lite/source/ktimer.h"
#include "hpcrun-lite/source/source.h"

struct realtime_state {
	struct ktimer timer;
	uint64_t last_ns;
};

static struct {
	int signal;
	unsigned n_events;
	const struct source_event *events;
} realtime;

static bool realtime_process_start(const struct source_event *events, unsigned n,
				   const struct source_host *host, char *cause, size_t cause_bytes)
{
	(void)cause;
	(void)cause_bytes;
	realtime.events = events;
	realtime.n_events = n;
	realtime.signal = host->signal;
	return true;
}

static size_t realtime_thread_bytes(unsigned n_events)
{
	return n_events * sizeof(struct realtime_state);
}

static void realtime_thread_stop(void *state)
{
	struct realtime_state *s = state;
	for (unsigned i = 0; i < realtime.n_events; i++)
		ktimer_stop(&s[i].timer);
}

static bool realtime_thread_start(void *state, struct msr_thread *record)
{
	struct realtime_state *s = state;
	(void)record;
	for (unsigned i = 0; i < realtime.n_events; i++)
		s[i] = (struct realtime_state){.last_ns = clock_mono_ns()};
	for (unsigned i = 0; i < realtime.n_events; i++) {
		uint64_t period = realtime.events[i].period;
		if (!ktimer_start(&s[i].timer, CLOCK_MONOTONIC, realtime.signal, &s[i], period,
				  period)) {
			realtime_thread_stop(state);
			return false;
		}
	}
	return true;
}

static void realtime_thread_forked(void *state)
{
	struct realtime_state *s = state;
	for (unsigned i = 0; i < realtime.n_events; i++)
		s[i].timer.armed = false; /* timers are not inherited */
}

static unsigned realtime_poll(void *state, const siginfo_t *info, const void *ucontext,
			      struct source_expiry *expiry)
{
	struct realtime_state *s = state;
	(void)ucontext;
	for (unsigned i = 0; i < realtime.n_events; i++) {
		if (!ktimer_is(info, &s[i]))
			continue;
		uint64_t now = clock_mono_ns();
		if (!s[i].timer.armed || now <= s[i].last_ns)
			return 0;
		*expiry = (struct source_expiry){
			.metric = realtime.events[i].metric,
			.n_merged = info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0,
			.weight = now - s[i].last_ns,
		};
		s[i].last_ns = now;
		return 1;
	}
	return 0;
}

const struct source_ops source_realtime = {
	.name = "timer on CLOCK_MONOTONIC",
	.id = MSR_SOURCE_TIMER_REAL,
	.process_start = realtime_process_start,
	.thread_bytes = realtime_thread_bytes,
	.thread_start = realtime_thread_start,
	.thread_stop = realtime_thread_stop,
	.thread_forked = realtime_thread_forked,
	.poll = realtime_poll,
};
