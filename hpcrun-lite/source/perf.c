/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples events of perf_event_open that count something (page faults, cycles, cache misses). The
 * task clock is in cputime.c. Never waits or allocates. Test: tests/cli/run/run_rate.sh.
 */
#include "hpcrun-lite/source/perf_event.h"

struct perf_state {
	struct perf_event event;
	uint64_t last; /* count at the last sample */
};

static struct {
	const struct source_event *events;
	unsigned n_events;
	int signal;
	bool user_only[MSR_MAX_METRICS]; /* this user's events do not see the kernel */
} perf;

static bool perf_process_start(const struct source_event *events, unsigned n,
			       const struct source_host *host, char *cause, size_t cause_bytes)
{
	perf.events = events;
	perf.n_events = n;
	perf.signal = host->signal;
	for (unsigned i = 0; i < n; i++)
		if (!perf_event_try(&events[i], &perf.user_only[i], cause, cause_bytes))
			return false;
	return true;
}

static size_t perf_thread_bytes(unsigned n_events)
{
	return n_events * sizeof(struct perf_state);
}

static void perf_thread_stop(void *state)
{
	struct perf_state *s = state;
	for (unsigned i = 0; i < perf.n_events; i++)
		perf_event_close(&s[i].event);
}

static bool perf_thread_start(void *state, struct msr_thread *record)
{
	struct perf_state *s = state;
	(void)record;
	for (unsigned i = 0; i < perf.n_events; i++)
		s[i] = (struct perf_state){.event.user_only = perf.user_only[i]};
	for (unsigned i = 0; i < perf.n_events; i++)
		if (!perf_event_open(&s[i].event, &perf.events[i], perf.signal)) {
			perf_thread_stop(state);
			return false;
		}
	return true;
}

static void perf_thread_forked(void *state)
{
	struct perf_state *s = state;
	for (unsigned i = 0; i < perf.n_events; i++)
		s[i].event.ring = NULL; /* rings are not inherited (VM_DONTCOPY) */
}

static unsigned perf_poll(void *state, const siginfo_t *info, const void *ucontext,
			  struct source_expiry *expiry)
{
	struct perf_state *s = state;
	unsigned n = 0;
	(void)info;
	(void)ucontext;
	for (unsigned i = 0; i < perf.n_events; i++) {
		bool full;
		uint64_t count = s[i].last;
		unsigned n_expired = perf_event_drain(&s[i].event, &count, &full);
		if (n_expired == 0 || count <= s[i].last)
			continue;
		expiry[n++] = (struct source_expiry){.metric = perf.events[i].metric,
						     .n_merged = n_expired - 1,
						     .weight = count - s[i].last};
		s[i].last = count;
	}
	return n;
}

const struct source_ops source_perf = {
	.name = "perf_event_open",
	.id = MSR_SOURCE_PERF,
	.process_start = perf_process_start,
	.thread_bytes = perf_thread_bytes,
	.thread_start = perf_thread_start,
	.thread_stop = perf_thread_stop,
	.thread_forked = perf_thread_forked,
	.poll = perf_poll,
};
