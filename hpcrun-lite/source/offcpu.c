/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OFFCPU: the time in which a thread did not run, at the place where it waited, with the cause.
 *
 * A timer on CLOCK_MONOTONIC for each thread makes it look at two clocks. The time on the wall
 * clock minus the time on the thread's CPU clock is a debt. A tick that finds the thread in a wait
 * gives all of the debt to that wait. A tick that finds it running leaves the debt to the next one.
 * So CPU time and OFFCPU add up to the elapsed time, however short the waits are. A thread that
 * stays in one wait gets longer and longer periods. doc/sampling.md explains the rules and why we
 * use no event of the kernel. Never waits or allocates. Tests: tests/cli/offcpu/offcpu_clock.sh.
 */
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/source/ktimer.h"
#include "hpcrun-lite/source/offcpu_clocks.h"
#include "hpcrun-lite/source/offcpu_wait.h"
#include "hpcrun-lite/source/source.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>

/*
 * In a wait of age A, the period is A / 4. A thread that waits for a lock has the lock's holder
 * sampled more often, unless others that wait for it do so.
 */
#define AGE_PART 4u
#define AGE_PART_LOCK 16u
#define PERIOD_MOST_NS 1000000000u
/* A thread that does not wait at all has a period this many times as long. */
#define COMPUTES_MOST 2u
/*
 * This many threads that wait often have the requested period. If there are more, all of them have
 * longer periods. But no period grows beyond one with this much CPU time in it, 20 times the cost
 * of a tick.
 */
#define OFTEN_FREE 4u
#define OFTEN_USED_NS 500000u
/* CPU time in a wait with a long period after which the thread looks whether the wait is over */
#define AWAKE_NS 500000u
/* A tick that came later than this was held up: the thread could not take the signal. */
#define LATE_NS 200000u
#define QUEUE_LATE_NS 100000u    /* a thread without a processor takes its signal so late */
#define QUEUE_PERIODS 4u
#define QUEUE_LEAST_NS 100000u   /* less time in the run queue is kept until there is more */
#define STOPPED_NS 100000000u    /* no thread waits for a page this long */
/*
 * Threads with low priority, or with a quota, may wait for a processor for a second, and for
 * something else in the same interval.
 */
#define STOPPED_MIXED_NS 3000000000u

enum where { RUNNING, WAITING, QUEUED };

/* We recognise a wait by its place and by the number of switches since. */
struct place {
	uint64_t pc, sp, argument;
};

struct offcpu_state {
	struct ktimer timer;     /* on CLOCK_MONOTONIC */
	struct ktimer awake;     /* on the CPU clock, while the period is long */
	uint64_t period_ns;
	uint64_t due_ns;         /* CLOCK_MONOTONIC: the next expiry of `timer` */
	uint64_t n_woken;        /* switches that handlers in waits caused since the last look */
	bool is_in_wait;         /* the running handler interrupted a wait, */
	uint64_t n_before;       /* ... which began with this many voluntary switches */
	/* At the last look: */
	uint64_t wall_ns, cpu_ns;
	struct offcpu_switches switches;
	bool has_waited;         /* it waited in the interval that ended there */
	uint64_t surplus_ns;     /* CPU time that passed on no wall clock: clocks are not exact */
	uint64_t blocked_debt_ns, queue_debt_ns;
	uint64_t mixed_debt_ns;  /* waits or run queue: the next tick that finds either decides */
	/* While measurement is off: what we still owe the last wait, and time to the next tick */
	uint64_t kept_ns, left_ns;
	/* The wait that the last look found. */
	enum where where;
	bool is_long;            /* two looks or more found it */
	struct place place;
	uint64_t since_ns;
	struct offcpu_wait wait;
	bool samples_holder;     /* its last look asked for a sample of the lock's holder */
	bool waits_often;        /* counted in offcpu.n_often */
};

/* The time since the last look, and what the thread does now. */
struct passed {
	uint64_t now_ns, wall_ns, used_ns;
	uint64_t queue_ns;       /* certainly in the run queue */
	uint64_t blocked_ns;     /* off the processor otherwise */
	bool is_mixed;           /* a part of blocked_ns may be time in the run queue, too */
	uint64_t n_waits, n_taken, n_faults, n_read;
	uint64_t first_ns;       /* the handler began, ... */
	uint64_t found_late_ns;  /* ... this long after the tick of our timer was due */
	uint64_t late_ns;        /* how late this tick of our timer is; 0: another signal */
	long call;               /* the system call that the signal interrupted */
	bool has_returned;       /* it already had its result */
	bool is_same;            /* the thread is still in the wait of the last look */
	bool is_end;             /* ... which has just ended: the call has its result */
	struct place place;
};

static struct {
	const struct source_event *event;
	unsigned n_events;
	const struct source_host *host;
	int signal;
	_Atomic uint32_t n_often; /* threads that waited since the last tick, in no long wait */
} offcpu;

const char source_blamed;

static bool offcpu_process_start(const struct source_event *events, unsigned n,
				 const struct source_host *host, char *cause, size_t cause_bytes)
{
	struct rusage r;
	if (sys_call3(SYS_getrusage, RUSAGE_THREAD, (long)&r, 0) != 0) {
		struct text t = text_in(cause, cause_bytes);
		text_put(&t, "getrusage is not permitted");
		return false;
	}
	offcpu.event = events;
	offcpu.n_events = n;
	offcpu.host = host;
	offcpu.signal = host->signal;
	atomic_store_explicit(&offcpu.n_often, 0, memory_order_relaxed);
	offcpu_wait_start();
	return true;
}

static size_t offcpu_thread_bytes(unsigned n_events)
{
	(void)n_events;
	return sizeof(struct offcpu_state);
}

/* ---- clocks ---- */

static void begin(struct offcpu_state *s)
{
	const struct offcpu_clocks now = offcpu_clocks_read();
	s->wall_ns = now.wall_ns;
	s->cpu_ns = now.cpu_ns;
	s->switches = now.switches;
}

static struct place place_of(const ucontext_t *context)
{
	return (struct place){machine_pc(context), machine_sp(context),
			      (uint64_t)machine_argument(context, 0)};
}

/* The pc of a call that goes on is at the instruction; if we continue the call, it is after it. */
static bool is_same_place(const struct place *a, const struct place *b)
{
	return a->sp == b->sp && a->argument == b->argument &&
	       a->pc - b->pc + MACHINE_CALL_BYTES <= 2 * MACHINE_CALL_BYTES;
}

/*
 * Without a voluntary switch the thread has not waited, and all of the time off the processor is
 * time in the run queue. If nobody took the processor away, the thread queued only after a wait was
 * over, which counts as waiting. In the same wait as before, it queued only because we woke it.
 */
static void split(struct passed *p, uint64_t off_ns)
{
	p->queue_ns = p->n_waits ? 0 : off_ns;
	p->blocked_ns = off_ns - p->queue_ns;
	p->is_mixed = p->n_waits && p->n_taken && !p->is_same && !p->is_end;
}

/*
 * If a signal interrupts a wait that then goes on, there is one switch more but no other wait. Nor
 * is it another wait if a handler waits, when it writes to a page of the file that is being written
 * to the disk.
 */
static uint64_t count_waits(const struct offcpu_state *s, uint64_t n_switches)
{
	return s->n_woken < n_switches ? n_switches - s->n_woken : n_switches != 0;
}

/* Splits the time since the last look. context NULL: what the thread does now does not matter. */
static void look(struct offcpu_state *s, const ucontext_t *context, struct passed *p)
{
	const struct offcpu_clocks clocks = offcpu_clocks_read();
	const struct offcpu_switches now = clocks.switches;
	const uint64_t used = clocks.cpu_ns - s->cpu_ns + s->surplus_ns;
	p->now_ns = clocks.wall_ns;
	p->first_ns = clocks.first_ns;
	p->wall_ns = p->now_ns - s->wall_ns;
	p->n_waits = count_waits(s, now.n_waits - s->switches.n_waits);
	s->n_woken = 0;
	p->n_taken = now.n_taken - s->switches.n_taken;
	p->n_faults = now.n_faults - s->switches.n_faults;
	p->n_read = now.n_read - s->switches.n_read;
	s->surplus_ns = used > p->wall_ns ? used - p->wall_ns : 0;
	p->used_ns = used < p->wall_ns ? used : p->wall_ns;
	p->call = SOURCE_CALL_NONE;
	if (context) {
		p->call = offcpu.host->interrupted_call(context, &p->has_returned);
		p->place = place_of(context);
	}
	const bool is_last = s->where == WAITING && p->call != SOURCE_CALL_NONE &&
			     p->n_waits <= 1 && is_same_place(&p->place, &s->place);
	p->is_same = is_last && !p->has_returned;
	p->is_end = is_last && p->has_returned;
	split(p, p->wall_ns - p->used_ns);
	s->wall_ns = p->now_ns;
	s->cpu_ns = clocks.cpu_ns;
	s->switches = now;
}

/* ---- the period ---- */

static void set_period(struct offcpu_state *s, uint64_t now_ns, uint64_t period_ns)
{
	s->period_ns = period_ns;
	s->due_ns = now_ns + period_ns;
	ktimer_set(&s->timer, period_ns, period_ns);
}

/* If the timer cannot be made, ticks come at the old period, and only the end is found later. */
static void watch_cpu(struct offcpu_state *s, bool watches)
{
	if (!watches) {
		if (s->awake.armed)
			ktimer_set(&s->awake, 0, 0);
	} else if (s->awake.armed) {
		ktimer_set(&s->awake, AWAKE_NS, 0);
	} else {
		ktimer_start(&s->awake, CLOCK_THREAD_CPUTIME_ID, offcpu.signal, &s->awake, AWAKE_NS,
			     0);
	}
}

static void count_often(struct offcpu_state *s, bool waits_often)
{
	if (s->waits_often != waits_often)
		atomic_fetch_add_explicit(&offcpu.n_often, waits_often ? 1u : -1u,
					  memory_order_relaxed);
	s->waits_often = waits_often;
}

/* Returns the period of a thread that waits often, which may be longer than the requested one. */
static uint64_t share_ticks(const struct passed *p, uint64_t asked)
{
	const uint64_t n = atomic_load_explicit(&offcpu.n_often, memory_order_relaxed),
		       many = asked * n / OFTEN_FREE,
		       used = p->used_ns ? OFTEN_USED_NS * p->wall_ns / p->used_ns : UINT64_MAX,
		       wanted = many < used ? many : used;
	return wanted > asked ? wanted : asked;
}

static void adapt_period(struct offcpu_state *s, const struct passed *p)
{
	const uint64_t asked = offcpu.event[0].period, most =
		asked > PERIOD_MOST_NS ? asked : PERIOD_MOST_NS;
	const unsigned part = s->samples_holder ? AGE_PART_LOCK : AGE_PART;
	uint64_t wanted = p->is_same ? (p->now_ns - s->since_ns) / part : 0;
	if (s->where == RUNNING && p->n_waits == 0)
		wanted = COMPUTES_MOST * asked;
	count_often(s, wanted < asked);
	if (s->waits_often)
		wanted = share_ticks(p, asked);
	wanted = s->wait.is_timed_socket ? asked : wanted > most ? most : wanted;
	/* a step of a quarter at least: setting a timer costs a system call */
	if (wanted >= s->period_ns + s->period_ns / 4 || wanted + wanted / 4 <= s->period_ns)
		set_period(s, p->now_ns, wanted);
	if (s->period_ns != asked && p->is_same)
		watch_cpu(s, true);
	else if (s->awake.armed)
		watch_cpu(s, false);
}

/* Returns how late the tick is, and finds when the next one is due. */
static uint64_t late_ns(struct offcpu_state *s, uint64_t now_ns)
{
	if (now_ns < s->due_ns)
		return 0;
	const uint64_t late = now_ns - s->due_ns;
	s->due_ns += (late / s->period_ns + 1) * s->period_ns;
	return late;
}

/* ---- what the thread does now ---- */

/*
 * A thread that waits for a disk or a page, is stopped or has no processor takes no signal until
 * that is over. The tick is late, and for most of that time the thread did not run.
 */
static bool was_held_up(const struct passed *p)
{
	return p->n_waits && p->late_ns >= LATE_NS && p->blocked_ns >= p->late_ns / 2;
}

/*
 * A stop is one voluntary switch. If the processor was taken away as well, and the thread waits now
 * and then, the switch may be another wait, and the tick late because the thread had no processor.
 */
static bool is_stop(const struct offcpu_state *s, const struct passed *p)
{
	return p->n_waits == 1 &&
	       p->late_ns >= (p->is_mixed && s->has_waited ? STOPPED_MIXED_NS : STOPPED_NS);
}

/* With these a thread stops itself. They never wait. */
static bool is_kill(long call)
{
	return call == SYS_kill || call == SYS_tkill || call == SYS_tgkill;
}

/* The thread was held up outside system calls. */
static enum where find_halt(const struct offcpu_state *s, const struct passed *p,
			    struct offcpu_wait *wait)
{
	const bool is_long = is_stop(s, p);
	if (p->is_mixed && !p->n_read && !is_long)
		return QUEUED;
	const bool is_fault = p->n_read || (p->n_faults && !is_long);
	*wait = (struct offcpu_wait){.cause = is_fault ? MSR_WAIT_MEMORY : MSR_WAIT_STOPPED};
	return WAITING;
}

static enum where find_wait(const struct offcpu_state *s, const ucontext_t *context,
			    const struct passed *p, struct offcpu_wait *wait)
{
	const bool is_cut_short = p->has_returned && p->n_waits && p->blocked_ns &&
				  offcpu_wait_is_cut_short(context, p->call),
		   is_inside = p->call != SOURCE_CALL_NONE && (!p->has_returned || is_cut_short);
	if (p->is_end || (!is_inside && !was_held_up(p)))
		return RUNNING;
	if (p->call == SOURCE_CALL_NONE)
		return find_halt(s, p, wait);
	offcpu_wait_find(context, p->call, wait);
	if (is_inside || wait->cause != MSR_WAIT_OTHER)
		return WAITING;
	/* a call that does not wait may return without a processor, too */
	const bool is_long = is_stop(s, p);
	if (is_long && is_kill(p->call))
		wait->cause = MSR_WAIT_STOPPED;
	return !p->is_mixed || is_long ? WAITING : QUEUED;
}

/* ---- samples ---- */

static void give(struct source_expiry *e, const struct offcpu_wait *w, uint64_t weight,
		 uint64_t since_ns)
{
	*e = (struct source_expiry){.metric = offcpu.event[0].metric,
				    .weight = weight,
				    .wait = (uint8_t)(w->cause + 1),
				    .object = w->object,
				    .object_id = w->object_id,
				    .since_ns = since_ns};
}

static bool blame(const struct offcpu_wait *w, uint64_t ns, bool is_over)
{
	return w->owner && offcpu.n_events > 1 && offcpu.host->blame(w->owner, ns, is_over);
}

/* More time in the wait that the last look found. */
static void give_again(struct source_expiry *e, const struct offcpu_wait *w, uint64_t weight)
{
	give(e, w, weight, 0);
	e->is_again = true;
	e->is_untraced = true;
}

/* Makes a record on the time line without a sample: the last wait's end, or the thread's state. */
static void mark(struct source_expiry *e, uint64_t when_ns, bool is_again)
{
	*e = (struct source_expiry){
		.metric = offcpu.event[0].metric, .is_again = is_again, .since_ns = when_ns};
}

/*
 * Returns the part of the time since the last look that belongs to the wait which that look found.
 * If there was one switch, back into that wait after our handler, the thread has waited nowhere
 * else. Otherwise a long wait may have ended at any moment since. A short wait gets nothing unless
 * this look finds its end, because it is already chance which of the short waits a tick meets.
 */
static uint64_t rest_of_wait(const struct offcpu_state *s, const struct passed *p)
{
	if (s->where != WAITING || (!s->is_long && !p->is_end))
		return 0;
	if (p->n_waits <= 1)
		return p->blocked_ns;
	return p->blocked_ns < p->wall_ns / 2 ? p->blocked_ns : p->wall_ns / 2;
}

/* Returns how long after the last look the wait ended that this look found, as far as we know. */
static uint64_t end_of_wait(const struct passed *p, uint64_t rest_ns)
{
	return rest_ns ? rest_ns : p->n_waits > 1 ? p->blocked_ns / p->n_waits : p->blocked_ns;
}

static uint64_t *debt_of(struct offcpu_state *s, const struct passed *p)
{
	return p->is_mixed ? &s->mixed_debt_ns : &s->blocked_debt_ns;
}

/* The thread is in another wait than at the last look, or in no wait. */
static unsigned sample_new(struct offcpu_state *s, const ucontext_t *context, struct passed *p,
			   struct source_expiry *expiry)
{
	unsigned n = 0;
	struct offcpu_wait wait = {0};
	const enum where where = find_wait(s, context, p, &wait);
	const bool is_over = p->has_returned || p->call == SOURCE_CALL_NONE;
	const uint64_t rest = rest_of_wait(s, p);
	if (rest + s->kept_ns) {
		give_again(&expiry[n++], &s->wait, rest + s->kept_ns);
		blame(&s->wait, rest, true);
		s->kept_ns = 0;
	}
	if (s->where == WAITING)
		mark(&expiry[n++], p->now_ns - p->wall_ns + end_of_wait(p, rest), true);
	*debt_of(s, p) += p->blocked_ns - rest;
	s->since_ns = p->now_ns - (p->blocked_ns - rest);
	if (where == WAITING) { /* even if nothing is owed: later samples refer to this wait */
		uint64_t debt = s->blocked_debt_ns + s->mixed_debt_ns;
		debt += debt == 0;
		give(&expiry[n++], &wait, debt, s->since_ns);
		s->samples_holder = blame(&wait, debt, false);
		s->blocked_debt_ns = s->mixed_debt_ns = 0;
		if (is_over)
			mark(&expiry[n++], p->now_ns, false);
	} else {
		if (s->where == WAITING)
			mark(&expiry[n++], p->now_ns - p->used_ns, false);
		if (where == QUEUED) {
			p->queue_ns = s->mixed_debt_ns;
			s->mixed_debt_ns = 0;
		}
	}
	s->where = is_over ? RUNNING : where;
	s->is_long = false;
	s->wait = wait;
	return n;
}

/*
 * Returns how much of the time in the run queue belongs to the place of this tick. A tick that is
 * late found the thread without a processor. It stands for a period each time that it was due
 * meanwhile, or for all of a longer time, if that is known. A tick that found the thread running
 * says nothing about where it had no processor before. But what no tick finds must not grow without
 * a bound.
 */
static uint64_t found_in_queue(const struct offcpu_state *s, const struct passed *p)
{
	const uint64_t debt = s->queue_debt_ns, period = s->period_ns,
		       most = QUEUE_PERIODS * period;
	if (p->found_late_ns < QUEUE_LATE_NS)
		return debt < 2 * most ? 0 : debt;
	uint64_t found = (p->found_late_ns / period + 1) * period;
	if (p->n_taken <= 1)
		found = p->queue_ns > period ? p->queue_ns : period;
	return debt < found + most && found < debt ? found : debt;
}

static unsigned sample(struct offcpu_state *s, const ucontext_t *context, struct passed *p,
		       struct source_expiry *expiry)
{
	static const struct offcpu_wait queue = {.cause = MSR_WAIT_RUN_QUEUE};
	unsigned n = 0;
	if (p->is_same) {
		s->is_long = true;
		if (s->wait.owner) /* the lock may have gone to another thread */
			offcpu_wait_find(context, p->call, &s->wait);
		give_again(&expiry[n++], &s->wait, p->blocked_ns);
		s->samples_holder = blame(&s->wait, p->blocked_ns, false);
	} else {
		n = sample_new(s, context, p, expiry);
	}
	s->place = p->place;
	s->has_waited = p->n_waits != 0;
	s->queue_debt_ns += p->queue_ns;
	const uint64_t found = found_in_queue(s, p);
	if (found >= QUEUE_LEAST_NS) {
		give(&expiry[n++], &queue, found, p->now_ns - p->queue_ns);
		expiry[n - 1].is_untraced = s->where == WAITING;
		s->queue_debt_ns -= found;
	}
	adapt_period(s, p);
	return n;
}

static bool is_in_wait(const ucontext_t *context)
{
	bool has_returned;
	return offcpu.host->interrupted_call(context, &has_returned) != SOURCE_CALL_NONE &&
	       !has_returned;
}

/*
 * Other signals find the end of a long wait earlier than its next tick does: a thread that gets a
 * sample of its CPU time is awake.
 */
static unsigned offcpu_poll(void *state, const siginfo_t *info, const void *ucontext,
			    struct source_expiry *expiry)
{
	struct offcpu_state *s = state;
	struct passed passed = {0};
	const bool is_tick = ktimer_is(info, &s->timer),
		   is_ours = is_tick || ktimer_is(info, &s->awake);
	if (!s->timer.armed)
		return 0;
	if (!is_ours && !s->is_long) {
		s->is_in_wait = is_in_wait(ucontext);
		s->n_woken += s->is_in_wait;
		s->n_before = s->is_in_wait ? offcpu_count_switches().n_waits : 0;
		return 0;
	}
	look(s, ucontext, &passed);
	if (is_tick) {
		passed.found_late_ns =
			passed.first_ns > s->due_ns ? passed.first_ns - s->due_ns : 0;
		passed.late_ns = late_ns(s, passed.now_ns);
	}
	const unsigned n = sample(s, ucontext, &passed, expiry);
	s->is_in_wait = s->where == WAITING;
	s->n_before = s->switches.n_waits;
	return n;
}

static void offcpu_thread_handled(void *state)
{
	struct offcpu_state *s = state;
	if (s->is_in_wait)
		s->n_woken += offcpu_count_switches().n_waits - s->n_before;
	s->is_in_wait = false;
}

/* ---- threads ---- */

static void offcpu_thread_stop(void *state)
{
	struct offcpu_state *s = state;
	count_often(s, false);
	ktimer_stop(&s->timer);
	ktimer_stop(&s->awake);
}

static bool start_timer(struct offcpu_state *s, uint64_t first_ns)
{
	s->period_ns = offcpu.event[0].period;
	s->due_ns = s->wall_ns + first_ns;
	return ktimer_start(&s->timer, CLOCK_MONOTONIC, offcpu.signal, &s->timer, first_ns,
			    s->period_ns);
}

static bool offcpu_thread_start(void *state, struct msr_thread *record)
{
	struct offcpu_state *s = state;
	(void)record;
	*s = (struct offcpu_state){.where = RUNNING, .has_waited = true};
	begin(s);
	return start_timer(s, offcpu.event[0].period);
}

/*
 * The time until now is given to a sample when measurement is on again. The time while it is off
 * belongs to nobody. Ticks keep their schedule, so they come however short the times between are.
 */
static bool offcpu_thread_rest(void *state, bool rests)
{
	struct offcpu_state *s = state;
	if (rests) {
		struct passed p = {0};
		offcpu_thread_stop(s);
		look(s, NULL, &p);
		const uint64_t rest = rest_of_wait(s, &p);
		s->kept_ns += rest;
		s->queue_debt_ns += p.queue_ns;
		*debt_of(s, &p) += p.blocked_ns - rest;
		s->where = RUNNING;
		s->is_long = false;
		const uint64_t left = s->due_ns > p.now_ns ? s->due_ns - p.now_ns : 1;
		s->left_ns = left < offcpu.event[0].period ? left : offcpu.event[0].period;
		return true;
	}
	begin(s);
	return start_timer(s, s->left_ns);
}

static void offcpu_thread_forked(void *state)
{
	struct offcpu_state *s = state;
	s->timer.armed = s->awake.armed = false; /* timers are not inherited */
}

const struct source_ops source_offcpu = {
	.name = "timer on CLOCK_MONOTONIC, less the CPU clock of the thread",
	.id = MSR_SOURCE_TIMER_REAL,
	.process_start = offcpu_process_start,
	.thread_bytes = offcpu_thread_bytes,
	.thread_start = offcpu_thread_start,
	.thread_stop = offcpu_thread_stop,
	.thread_rest = offcpu_thread_rest,
	.thread_forked = offcpu_thread_forked,
	.poll = offcpu_poll,
	.thread_handled = offcpu_thread_handled,
};
