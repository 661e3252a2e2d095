/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUTIME: samples the CPU time of a thread. The kernel offers two ways, and each thread uses the
 * better one for it at the time:
 *
 * - The task-clock event keeps the requested period, whatever the kernel's tick is. But the kernel
 *   programs a timer each time it switches to the thread and cancels it when it switches away,
 *   which costs 1 to 12 us per switch.
 * - A timer on the thread's CPU clock costs nothing at a switch, but it expires on the tick:
 *   CONFIG_HZ samples a second.
 *
 * A thread starts with the timer. At the second expiry it gets the event, unless it switches often.
 * It does not get the event either if it launches often on GPUs and their back end says that a
 * sample costs many times as much there; then the timer is slower, too. Later the thread changes
 * between the two as these rates change. doc/sampling.md explains this, the weights, and the
 * treatment of kernel time. Never waits or allocates. Tests: tests/cli/run/run_rate.sh,
 * tests/cli/run/run_switches.sh.
 */
#include "common/safe/clock.h"
#include "common/safe/load.h"
#include "common/safe/one_writer.h"
#include "hpcrun-lite/source/ktimer.h"
#include "hpcrun-lite/source/perf_event.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <ucontext.h>

#define TICK_NS 4000000u          /* how often weights are compared with the CPU clock */
/* CPU time in ticks without a sample after which the tick misses the thread */
#define TICKS_MISSED 4u
#define TICK_PATIENCE 8u /* periods owed before a tick outside a system call takes them too */
#define CHECK_NS 8000000u         /* CPU time between two looks at the number of switches */
/* If the event's cost at switches is a larger share of CPU time than this, it is too expensive. */
#define MUCH_PER_MILLE 50u
#define LITTLE_PER_MILLE 20u      /* ... and if it is less than this, the event comes back */
/* With less CPU time than this between two launches of GPU operations, it is also too expensive. */
#define LAUNCH_OFTEN_NS 1000000u
#define LAUNCHER_PERIOD_NS 10000000u /* of the timer of a thread that launches that often */
/* CPU time with low cost before the event is used again; doubled if the event did not last. */
#define CALM_NS 50000000u
#define CALM_MOST_NS 3200000000u
/* If a weight has more user time than this many ticks or periods, samples did not come. */
#define UNSEEN_TICKS 8u
/* An event that includes the kernel is silent after this many ticks of CPU time with no sample. */
#define SILENT_TICKS 6u

enum phase {
	EARLY, /* the timer samples; the event was not tried yet */
	TIMER,
	EVENT
};

struct cputime_state {
	struct perf_event event;  /* open in the phase EVENT */
	/* runs in the other phases, and in EVENT where expiries in the kernel are not delivered */
	struct ktimer timer;
	enum phase phase;
	bool has_timer;
	bool is_refused;          /* the event was tried and could not be opened */
	uint32_t n_early;         /* samples in the phase EARLY */
	uint64_t start_ns;        /* the thread's CPU clock at the start */
	uint64_t given_ns;        /* CPU time since then that samples have accounted for */
	/* weights given that the CPU clock has not counted; subtracted from the next ones */
	uint64_t surplus_ns;
	uint64_t early_ns;        /* CPU time at the first expiry */
	uint64_t tick_seen_ns;    /* CPU time when the tick last came */
	/* Of the event, since it was opened: */
	uint64_t event_start_ns;  /* CPU time then */
	uint64_t last;            /* its count at the last sample */
	uint64_t compared;        /* its count when it was last compared with the CPU clock */
	/* The rate of switches and launches: */
	uint64_t n_switches;      /* of the thread, when they were last counted */
	bool was_costly;          /* they cost too much at the last count */
	uint64_t checked_ns;      /* given_ns then */
	uint32_t n_launches;      /* of GPU operations since then; written outside the handler */
	bool launches_often;
	uint64_t calm_ns;         /* CPU time with few switches, up to now */
	uint64_t calm_needed_ns;
	uint64_t user_ns;         /* user time of the thread when we last asked for it */
	uint64_t user_given_ns;   /* given_ns then */
	struct msr_source_use *use; /* NULL for all events but the first */
	_Atomic uint64_t *unseen_ns; /* the same; in the measurement file */
};

static struct {
	const struct source_event *events;
	unsigned n_events;
	int signal;
	uint64_t tick_ns; /* the kernel's tick: CPU timers expire on it */
	bool user_only;   /* this user's events do not see the kernel */
	void (*note)(const char *text);
	_Atomic bool has_said;           /* told the user that some threads have no event */
} cputime;

const char source_look;

/* ---- the process ---- */

static bool cputime_process_start(const struct source_event *events, unsigned n,
				  const struct source_host *host, char *cause, size_t cause_bytes)
{
	struct timespec tick;
	if (atomic_load_explicit(&cputime.has_said, memory_order_relaxed))
		atomic_store_explicit(&cputime.has_said, false, memory_order_relaxed);
	if (cputime.events == events) /* a child of fork: nothing has changed */
		return true;
	cputime.events = events;
	cputime.n_events = n;
	cputime.signal = host->signal;
	cputime.note = host->note;
	/* The coarse clocks advance with the tick. */
	cputime.tick_ns =
		sys_call3(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, (long)&tick, 0) == 0 &&
				tick.tv_nsec > 0
			? (uint64_t)tick.tv_nsec
			: TICK_NS;
	for (unsigned i = 0; i < n; i++)
		if (events[i].cpu_source != SOURCE_CPU_TIMER &&
		    !perf_event_try(&events[i], &cputime.user_only, cause, cause_bytes))
			return false;
	return true;
}

static size_t cputime_thread_bytes(unsigned n_events)
{
	return n_events * sizeof(struct cputime_state);
}

/* ---- accounts ---- */

static uint64_t used_ns(const struct cputime_state *s)
{
	return clock_thread_cpu_ns() - s->start_ns;
}

/* Returns the context switches of the thread. Also notes its user time. */
static uint64_t count_switches(struct cputime_state *s)
{
	struct rusage r;
	if (sys_call3(SYS_getrusage, RUSAGE_THREAD, (long)&r, 0) != 0)
		return 0;
	s->user_ns = (uint64_t)r.ru_utime.tv_sec * 1000000000u +
		     (uint64_t)r.ru_utime.tv_usec * 1000u;
	s->user_given_ns = s->given_ns;
	return (uint64_t)r.ru_nvcsw + (uint64_t)r.ru_nivcsw;
}

/*
 * Returns the context switches since the last call, 0 if they cannot be counted. Records those that
 * happened while the event was in use.
 */
static uint64_t take_switches(struct cputime_state *s)
{
	uint64_t now = count_switches(s), n = now > s->n_switches ? now - s->n_switches : 0;
	s->n_switches = now;
	if (s->use && s->phase == EVENT)
		one_writer_add(&s->use->event_switches, n);
	return n;
}

/* If this interrupts the counting of a launch, the old launches may be counted twice. */
static void take_launches(struct cputime_state *s, uint64_t cpu_ns)
{
	uint64_t n = s->n_launches;
	s->n_launches = 0;
	s->launches_often = n * LAUNCH_OFTEN_NS > cpu_ns;
}

/* The cost of the event at n switches, as a share of cpu_ns, in thousandths. */
static uint64_t cost_per_mille(uint64_t n, uint64_t period_ns, uint64_t cpu_ns)
{
	return n * msr_switch_cost_ns(period_ns) * 1000 / (cpu_ns + 1);
}

/* ---- starting and stopping ---- */

/* CPU time between two samples of the timer. */
static uint64_t timer_period_ns(unsigned i)
{
	uint64_t period = cputime.events[i].period;
	return period > cputime.tick_ns ? period : cputime.tick_ns;
}

/*
 * A thread that shares its processor runs only at some ticks, and at each of these the timer must
 * have expired. A thread that launches often is sampled less often (doc/sampling.md).
 */
static uint64_t timer_interval_ns(const struct cputime_state *s, unsigned i)
{
	uint64_t period = cputime.events[i].period;
	if (s->launches_often && period < LAUNCHER_PERIOD_NS)
		return LAUNCHER_PERIOD_NS;
	return period > cputime.tick_ns ? period : cputime.tick_ns / 4;
}

/*
 * Returns when in its first period a thread gets its first sample: at a random time if the period
 * is longer than the tick, else at the first tick.
 */
static uint64_t first_expiry_ns(uint64_t period)
{
	if (period <= cputime.tick_ns)
		return 1;
	uint64_t h =
		(clock_mono_ns() ^ (uint64_t)sys_gettid() << 32) * UINT64_C(0x9E3779B97F4A7C15);
	return 1 + (h >> 16) % period;
}

/*
 * Limits a weight, which given_ns already includes. User code that runs is sampled at each period
 * or tick. So if much of a weight is user time, the program has blocked our signal or disabled the
 * event, and the time did not pass at the place of this sample. Then all user time except that of
 * one sample is counted as unseen. Kernel time stays, because signals wait for the end of a system
 * call. CPU time given to samples since the user time was noted counts as user time.
 */
static uint64_t seen_part(struct cputime_state *s, unsigned i, uint64_t weight)
{
	const uint64_t whole = timer_period_ns(i), bound = UNSEEN_TICKS * whole,
		       before = s->given_ns - weight - s->user_given_ns, user_before = s->user_ns;
	if (__builtin_expect(weight <= bound, 1))
		return weight;
	count_switches(s);
	const uint64_t all = s->user_ns - user_before;
	uint64_t user = all > before ? all - before : 0;
	user = user < weight ? user : weight;
	if (user <= bound)
		return weight;
	if (s->unseen_ns)
		one_writer_add(s->unseen_ns, user - whole);
	return weight - (user - whole);
}

static void set_timer(struct cputime_state *s, uint64_t first_ns, uint64_t period_ns)
{
	if (s->has_timer)
		ktimer_set(&s->timer, first_ns, period_ns);
}

/* Switches to the event and returns true on success. The weight of the current sample ends here. */
static bool begin_event(struct cputime_state *s, unsigned i)
{
	if (cputime.events[i].cpu_source == SOURCE_CPU_TIMER ||
	    !perf_event_open(&s->event, &cputime.events[i], cputime.signal)) {
		s->is_refused = cputime.events[i].cpu_source != SOURCE_CPU_TIMER;
		return false;
	}
	s->is_refused = false;
	s->phase = EVENT;
	s->last = s->compared = s->surplus_ns = 0;
	s->event_start_ns = s->tick_seen_ns = used_ns(s);
	s->n_switches = count_switches(s);
	s->n_launches = 0;
	s->checked_ns = s->given_ns;
	/* If we may measure the kernel, the event alone is enough, unless it is silent. */
	uint64_t tick = s->event.user_only ? TICK_NS : SILENT_TICKS * TICK_NS;
	set_timer(s, tick, tick);
	return true;
}

/* Switches to the timer. Returns the CPU time that the event has not yet given to a sample. */
static uint64_t begin_timer(struct cputime_state *s, unsigned i)
{
	perf_event_close(&s->event);
	s->phase = TIMER;
	uint64_t used = used_ns(s), rest = used > s->given_ns ? used - s->given_ns : 0;
	s->given_ns += rest;
	s->checked_ns = s->given_ns;
	rest = seen_part(s, i, rest);
	/* If the event did not last, it comes back later than the last time. */
	bool was_long = used - s->event_start_ns >= 8 * s->calm_needed_ns;
	s->calm_needed_ns = was_long                               ? CALM_NS
			    : 2 * s->calm_needed_ns < CALM_MOST_NS ? 2 * s->calm_needed_ns
								   : CALM_MOST_NS;
	s->calm_ns = 0;
	if (s->use)
		one_writer_add(&s->use->n_changes, 1);
	set_timer(s, timer_interval_ns(s, i), timer_interval_ns(s, i));
	return rest;
}

static bool start_event(struct cputime_state *s, unsigned i, struct msr_thread *record)
{
	const struct source_event *e = &cputime.events[i];
	*s = (struct cputime_state){.event.user_only = cputime.user_only,
				    .use = record ? &record->use : NULL,
				    .unseen_ns = record ? &record->cpu_unseen_ns : NULL,
				    .calm_needed_ns = CALM_NS};
	s->start_ns = clock_thread_cpu_ns();
	if (s->start_ns > TICK_NS) /* not a new thread */
		count_switches(s);
	s->has_timer = ktimer_start(&s->timer, CLOCK_THREAD_CPUTIME_ID, cputime.signal, s,
				    first_expiry_ns(e->period), timer_interval_ns(s, i));
	/* no timer is available (ulimit -i): use the event at once */
	return s->has_timer || begin_event(s, i);
}

static void cputime_thread_stop(void *state)
{
	struct cputime_state *s = state;
	for (unsigned i = 0; i < cputime.n_events; i++) {
		if (s[i].is_refused &&
		    !atomic_exchange_explicit(&cputime.has_said, true, memory_order_relaxed))
			cputime.note("some threads were sampled only at the kernel's tick, because "
				     "perf_event_open failed in them "
				     "(kernel.perf_event_mlock_kb and ulimit -l, or open files)");
		if (s[i].phase == EVENT)
			take_switches(&s[i]);
		ktimer_stop(&s[i].timer);
		s[i].has_timer = false;
		perf_event_close(&s[i].event);
	}
}

static bool cputime_thread_start(void *state, struct msr_thread *record)
{
	struct cputime_state *s = state;
	for (unsigned i = 0; i < cputime.n_events; i++)
		s[i] = (struct cputime_state){0};
	for (unsigned i = 0; i < cputime.n_events; i++)
		if (!start_event(&s[i], i, i == 0 ? record : NULL)) {
			cputime_thread_stop(state);
			return false;
		}
	return true;
}

static void cputime_thread_launches(void *state)
{
	struct cputime_state *s = state;
	for (unsigned i = 0; i < cputime.n_events; i++)
		s[i].n_launches++;
}

static void cputime_thread_forked(void *state)
{
	struct cputime_state *s = state;
	for (unsigned i = 0; i < cputime.n_events; i++)
		/* neither rings (VM_DONTCOPY) nor timers are inherited */
		s[i] = (struct cputime_state){0};
}

/* ---- samples of the timer ---- */

/* The timer has expired, or the run time found that the tick misses the thread. */
static bool timer_is_due(struct cputime_state *s, const siginfo_t *info, uint64_t used)
{
	return ktimer_is(info, s) ||
	       (source_is_look(info) && used >= s->given_ns + TICKS_MISSED * TICK_NS);
}

/* True if the event would have cost little since the last call, cpu_ns of CPU time ago. */
static bool is_calm_for(struct cputime_state *s, unsigned i, uint64_t cpu_ns)
{
	const bool was_often = s->launches_often;
	take_launches(s, cpu_ns);
	const uint64_t n = take_switches(s); /* or the next call counts these, too */
	if (s->launches_often != was_often)
		set_timer(s, timer_interval_ns(s, i), timer_interval_ns(s, i));
	return cputime.events[i].cpu_source == SOURCE_CPU_PERF ||
	       (!s->launches_often &&
		cost_per_mille(n, cputime.events[i].period, cpu_ns) < LITTLE_PER_MILLE);
}

/*
 * The first two samples of a thread. The tick comes at a CPU time t that is anywhere in the
 * thread's first period T. The expected sum of weights must be the thread's CPU time, however short
 * the thread is. So a sample weighs T if others follow at each T. It weighs T - t + P/2 if others
 * follow at each P (doc/sampling.md).
 */
static uint64_t poll_early(struct cputime_state *s, unsigned i, const siginfo_t *info)
{
	uint64_t used = used_ns(s), whole = timer_period_ns(i), weight = used - s->given_ns;
	if (!timer_is_due(s, info, used) || used <= s->given_ns)
		return 0;
	s->given_ns = used;
	weight = seen_part(s, i, weight);
	if (s->n_early++ == 0) {
		s->early_ns = used;
		s->n_switches = count_switches(s);
		s->checked_ns = used;
		return used < whole ? whole : weight;
	}
	s->phase = TIMER;
	bool is_calm = is_calm_for(s, i, used - s->checked_ns);
	s->checked_ns = used;
	if (is_calm && begin_event(s, i) && s->early_ns < whole && weight <= whole)
		return whole - s->early_ns + cputime.events[i].period / 2;
	return weight;
}

static uint64_t poll_timer(struct cputime_state *s, unsigned i, const siginfo_t *info)
{
	uint64_t used = used_ns(s);
	if (!timer_is_due(s, info, used) || used <= s->given_ns)
		return 0;
	uint64_t weight = used - s->given_ns;
	s->given_ns = used;
	weight = seen_part(s, i, weight);
	uint64_t cpu = used - s->checked_ns;
	if (cpu < CHECK_NS)
		return weight;
	s->checked_ns = used;
	if (cputime.events[i].cpu_source == SOURCE_CPU_TIMER) {
		take_switches(s);
		return weight;
	}
	bool is_calm = is_calm_for(s, i, cpu);
	s->calm_ns = is_calm ? s->calm_ns + cpu : 0;
	if (s->calm_ns < s->calm_needed_ns)
		return weight;
	s->calm_ns = 0;
	if (begin_event(s, i)) {
		if (s->use)
			one_writer_add(&s->use->n_changes, 1);
	} else if (s->calm_needed_ns < CALM_MOST_NS) {
		s->calm_needed_ns *= 2;
	}
	return weight;
}

/* ---- samples of the event ---- */

/* Returns the number of expiries and sets the event's current count; 0 if nothing expired. */
static unsigned expiries(struct cputime_state *s, uint64_t *count)
{
	bool full;
	unsigned n = perf_event_drain(&s->event, count, &full);
	/* A long system call filled the ring: the count continues after the last record. */
	if (n && full) {
		uint64_t now = used_ns(s) - s->event_start_ns;
		*count = now > *count ? now : *count;
	}
	return n;
}

static bool in_system_call(const ucontext_t *context)
{
	uint8_t code[2];
	uintptr_t pc = machine_pc(context);
	return load_guarded(code, pc - 2, sizeof code) == sizeof code && code[0] == 0x0f &&
	       code[1] == 0x05;
}

/*
 * Returns the CPU time of the thread beyond the weights given so far, if this sample should get it.
 * It is kernel time, or expiries that the kernel dropped. So it belongs to a sample in the kernel,
 * which we recognise by the system call instruction before the pc. We cannot recognise page faults,
 * so another sample takes the time when much of it has accumulated.
 */
static uint64_t owed_ns(struct cputime_state *s, unsigned i, uint64_t used,
			const ucontext_t *context)
{
	uint64_t period = cputime.events[i].period;
	s->surplus_ns = s->given_ns > used ? s->given_ns - used : 0;
	if (used < s->given_ns + period + period / 2)
		return 0;
	uint64_t owed = used - s->given_ns;
	if (!in_system_call(context) && owed < TICK_PATIENCE * period)
		return 0;
	s->given_ns += owed;
	return owed;
}

/*
 * The weight by the event's count, minus what earlier samples got too much. In a virtual machine
 * the event also counts interrupts and time that the host took away, which the CPU clock does not
 * count.
 */
static uint64_t give(struct cputime_state *s, uint64_t weight)
{
	uint64_t most = weight ? weight - 1 : 0, less = s->surplus_ns < most ? s->surplus_ns : most;
	s->surplus_ns -= less;
	s->given_ns += weight - less;
	return weight - less;
}

/*
 * For events that exclude the kernel. A thread that runs in short bursts, while others use the rest
 * of the processor, may never run at a tick, because the tick makes the scheduler switch. After
 * some ticks of CPU time without a tick, the event's own samples take over.
 */
static uint64_t poll_tick(struct cputime_state *s, unsigned i, const siginfo_t *info,
			  const ucontext_t *context)
{
	uint64_t used = used_ns(s);
	if (ktimer_is(info, s))
		s->tick_seen_ns = used;
	else if (used < s->tick_seen_ns + TICKS_MISSED * TICK_NS)
		return 0;
	return owed_ns(s, i, used, context);
}

/*
 * For events that include the kernel. The event pauses while the kernel switches from and to the
 * thread, but the CPU clock does not. A thread that waits often loses a fifth of its time in this
 * way, so we compare the two once a tick.
 */
static uint64_t poll_switches(struct cputime_state *s, unsigned i, const ucontext_t *context)
{
	if (s->last < s->compared + TICK_NS)
		return 0;
	s->compared = s->last;
	return owed_ns(s, i, used_ns(s), context);
}

/*
 * Goes back to the timer if the event costs too much twice in a row, for example when other threads
 * preempt a thread that computes. Returns what to add to the weight.
 */
static uint64_t check_switches(struct cputime_state *s, unsigned i)
{
	uint64_t cpu = s->given_ns - s->checked_ns, n;
	if (cpu < CHECK_NS)
		return 0;
	n = take_switches(s);
	s->checked_ns = s->given_ns;
	take_launches(s, cpu);
	bool is_costly = s->launches_often ||
			 cost_per_mille(n, cputime.events[i].period, cpu) > MUCH_PER_MILLE,
	     is_again = s->was_costly;
	s->was_costly = is_costly;
	if (!is_costly || !is_again || cputime.events[i].cpu_source == SOURCE_CPU_PERF ||
	    !s->has_timer)
		return 0;
	s->was_costly = false;
	return begin_timer(s, i);
}

/*
 * For events that include the kernel. The program can disable all events of a thread
 * (PR_TASK_PERF_EVENTS_DISABLE). Returns the CPU time since the last sample if the event is silent
 * although the timer has expired or the run time asks.
 */
static uint64_t silent_ns(struct cputime_state *s, unsigned i, const siginfo_t *info)
{
	if (!ktimer_is(info, s) && !source_is_look(info))
		return 0;
	const uint64_t used = used_ns(s),
		       least = TICKS_MISSED * (TICK_NS + cputime.events[i].period);
	if (used < s->given_ns + least)
		return 0;
	const uint64_t ns = used - s->given_ns;
	s->given_ns = used;
	return ns;
}

/* Opens a new event, which is enabled. */
static void renew_event(struct cputime_state *s, unsigned i)
{
	perf_event_close(&s->event);
	if (!begin_event(s, i)) {
		s->phase = TIMER;
		set_timer(s, timer_interval_ns(s, i), timer_interval_ns(s, i));
	}
}

static uint64_t poll_running(struct cputime_state *s, unsigned i, const siginfo_t *info,
			     const ucontext_t *context, unsigned *n)
{
	uint64_t count = s->last, weight;
	*n = expiries(s, &count);
	if (s->event.user_only && s->has_timer) {
		weight = give(s, *n * cputime.events[i].period);
		weight += poll_tick(s, i, info, context);
	} else {
		weight = count > s->last ? give(s, count - s->last) : 0;
		s->last = count > s->last ? count : s->last;
		if (*n)
			weight += poll_switches(s, i, context);
	}
	const uint64_t silent = *n || s->event.user_only ? 0 : silent_ns(s, i, info),
		       seen = seen_part(s, i, weight + silent);
	if (!seen)
		return 0;
	const uint64_t more = check_switches(s, i);
	if (s->phase == EVENT && (silent || seen < weight))
		renew_event(s, i);
	return seen + more;
}

/* ---- polling ---- */

static unsigned poll_event(struct cputime_state *s, unsigned i, const siginfo_t *info,
			   const ucontext_t *context, struct source_expiry *expiry)
{
	unsigned n = 1;
	uint64_t weight;
	bool by_event = s->phase == EVENT;
	if (by_event)
		weight = poll_running(s, i, info, context, &n);
	else if (s->phase == TIMER)
		weight = poll_timer(s, i, info);
	else
		weight = poll_early(s, i, info);
	if (weight == 0)
		return 0;
	if (s->use) {
		one_writer_add(by_event ? &s->use->event_ns : &s->use->timer_ns, weight);
		one_writer_add(by_event ? &s->use->event_samples : &s->use->timer_samples, 1);
	}
	*expiry = (struct source_expiry){
		.metric = cputime.events[i].metric, .n_merged = n ? n - 1 : 0, .weight = weight};
	return 1;
}

static unsigned cputime_poll(void *state, const siginfo_t *info, const void *ucontext,
			     struct source_expiry *expiry)
{
	struct cputime_state *s = state;
	unsigned n = 0;
	for (unsigned i = 0; i < cputime.n_events; i++)
		n += poll_event(&s[i], i, info, ucontext, &expiry[n]);
	return n;
}

const struct source_ops source_cputime = {
	.name = "the thread's CPU time",
	.id = MSR_SOURCE_PERF,
	.process_start = cputime_process_start,
	.thread_bytes = cputime_thread_bytes,
	.thread_start = cputime_thread_start,
	.thread_stop = cputime_thread_stop,
	.thread_launches = cputime_thread_launches,
	.thread_forked = cputime_thread_forked,
	.poll = cputime_poll,
};
