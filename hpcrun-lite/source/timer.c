/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sources on timers of the kernel. CPU: the thread's CPU clock; expires on the scheduler's tick only, so it delivers CONFIG_HZ samples a second
 * at most; the fallback where perf_event_open cannot be had. REAL: CLOCK_MONOTONIC; threads that wait are sampled as well.
 * The weight of a sample is the clock's progress since the last one, not the period. Must not wait or allocate.
 * Tests: tests/cli/run_rate.sh.
 */
#include "common/safe/clock.h"
#include "hpcrun-lite/source/ktimer.h"
#include "hpcrun-lite/source/source.h"

/* One clock: what the two sources differ in. */
struct clock_source {
	int clock;
	int signal;
	unsigned n_events;
	const struct source_event *events;
};

static struct clock_source cpu = {.clock = CLOCK_THREAD_CPUTIME_ID};
static struct clock_source real = {.clock = CLOCK_MONOTONIC};

struct timer_state {
	struct ktimer timer;
	uint64_t last_ns;
};

static uint64_t read_clock(const struct clock_source *c)
{
	return c == &cpu ? clock_thread_cpu_ns() : clock_mono_ns();
}

static void setup(struct clock_source *c, const struct source_event *events, unsigned n, const struct source_host *host)
{
	c->events = events;
	c->n_events = n;
	c->signal = host->signal;
}

static size_t timer_thread_bytes(unsigned n_events)
{
	return n_events * sizeof(struct timer_state);
}

static void stop(const struct clock_source *c, struct timer_state *s)
{
	for (unsigned i = 0; i < c->n_events; i++)
		ktimer_stop(&s[i].timer);
}

static bool start(const struct clock_source *c, struct timer_state *s)
{
	for (unsigned i = 0; i < c->n_events; i++) {
		s[i].last_ns = read_clock(c);
		if (!ktimer_start(&s[i].timer, c->clock, c->signal, &s[i], c->events[i].period, c->events[i].period)) {
			stop(c, s);
			return false;
		}
	}
	return true;
}

static void forked(const struct clock_source *c, struct timer_state *s)
{
	for (unsigned i = 0; i < c->n_events; i++)
		s[i].timer.armed = false; /* timers are not inherited */
}

static unsigned poll(const struct clock_source *c, struct timer_state *s, const siginfo_t *info, struct source_expiry *expiry, bool *ours)
{
	for (unsigned i = 0; i < c->n_events; i++) {
		if (!ktimer_is(info, &s[i]))
			continue;
		uint64_t now = read_clock(c);
		*ours = true;
		if (!s[i].timer.armed || now <= s[i].last_ns)
			return 0;
		*expiry = (struct source_expiry){
			.metric = c->events[i].metric,
			.n_merged = info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0,
			.weight = now - s[i].last_ns,
		};
		s[i].last_ns = now;
		return 1;
	}
	return 0;
}

/* ---- the CPU clock --------------------------------------------------------------------------------------- */

static bool cpu_process_start(const struct source_event *events, unsigned n, const struct source_host *host, char *cause, size_t cause_bytes)
{
	(void)cause;
	(void)cause_bytes;
	setup(&cpu, events, n, host);
	return true;
}
static bool cpu_start(void *s)
{
	return start(&cpu, s);
}
static void cpu_stop(void *s)
{
	stop(&cpu, s);
}
static void cpu_forked(void *s)
{
	forked(&cpu, s);
}
static unsigned cpu_poll(void *s, const siginfo_t *info, const void *ucontext, struct source_expiry *expiry, bool *ours)
{
	(void)ucontext;
	return poll(&cpu, s, info, expiry, ours);
}

const struct source_ops source_timer_cpu = {
	.name = "timer on the thread's CPU clock",
	.id = MSR_SOURCE_TIMER_CPU,
	.process_start = cpu_process_start,
	.thread_bytes = timer_thread_bytes,
	.thread_start = cpu_start,
	.thread_stop = cpu_stop,
	.thread_forked = cpu_forked,
	.poll = cpu_poll,
};

/* ---- real time --------------------------------------------------------------------------------------------- */

static bool real_process_start(const struct source_event *events, unsigned n, const struct source_host *host, char *cause, size_t cause_bytes)
{
	(void)cause;
	(void)cause_bytes;
	setup(&real, events, n, host);
	return true;
}
static bool real_start(void *s)
{
	return start(&real, s);
}
static void real_stop(void *s)
{
	stop(&real, s);
}
static void real_forked(void *s)
{
	forked(&real, s);
}
static unsigned real_poll(void *s, const siginfo_t *info, const void *ucontext, struct source_expiry *expiry, bool *ours)
{
	(void)ucontext;
	return poll(&real, s, info, expiry, ours);
}

const struct source_ops source_timer_real = {
	.name = "timer on CLOCK_MONOTONIC",
	.id = MSR_SOURCE_TIMER_REAL,
	.process_start = real_process_start,
	.thread_bytes = timer_thread_bytes,
	.thread_start = real_start,
	.thread_stop = real_stop,
	.thread_forked = real_forked,
	.poll = real_poll,
};
