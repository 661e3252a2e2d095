/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules about what warps wait for; see view_advice.h. Each takes the share of cycles that its
 * reasons lose, and what of it a cure is known to end. doc/advice.md has the reasons for the
 * numbers. Test: tests/unit/prof_gpu/test_advice.c.
 */
#include "hpcprof-lite/view/advice/advice_rule.h"

#include <math.h>

/* Fewer samples than this do not tell 10 % from 5 %. */
#define LEAST_SAMPLES 200
/* Instructions that a line issues for each access: the address, the access, its use, the loop. */
#define INSTRUCTIONS_OF_ACCESS 4
/* Cycles of an access: less than to memory, to memory without load, to shared memory. */
#define CACHED_CYCLES 150
#define UNLOADED_CYCLES 600
/* An access may wait for others from the first on, and does from the second on. */
#define LOADED_CYCLES 1000
#define QUEUED_CYCLES 2000
#define SHARED_CYCLES 64
#define CONFLICT_CYCLES 200
/* Accesses that a thread may have under way: with a little unrolling, and with much. */
#define FEW_ACCESSES 2
#define MANY_ACCESSES 8
#define WARP 32

void advice_fact(struct view_advice *a, const char *what, const char *unit, double value)
{
	if (a->n_facts < VIEW_ADVICE_FACTS)
		a->facts[a->n_facts++] = (struct view_advice_fact){what, unit, value};
}

bool advice_propose(struct view_advices *to, struct view_advice *a, struct advice_interval factor)
{
	a->factor = factor;
	if (advice_middle(factor) < ADVICE_LEAST_FACTOR)
		return true;
	struct view_advice *new = vec_push(&to->rows);
	if (new)
		*new = *a;
	return new != NULL;
}

/* ---- samples by reason ---- */

/* Up to two reasons that belong together. */
struct reasons {
	enum advice_reason first, second;
};

static double idle_of(const struct advice_samples *s, struct reasons r)
{
	double both = advice_idle(s, r.first);
	return r.second == r.first ? both : both + advice_idle(s, r.second);
}

static double stalled_of(const struct advice_samples *s, struct reasons r)
{
	return r.second == r.first ? s->stalled[r.first]
				   : s->stalled[r.first] + s->stalled[r.second];
}

static bool is_of(struct reasons r, enum advice_reason reason)
{
	return reason == r.first || reason == r.second;
}

/* Samples of these reasons by what their causes do. */
struct causes {
	double all, of[ADVICE_N_OPERATIONS];
};

/* False if the causes of most samples are unknown. */
static bool sum_causes(const struct advice_kernel *k, struct reasons r, struct causes *c)
{
	*c = (struct causes){0};
	for (size_t i = 0; i < k->n_causes; i++) {
		if (!is_of(r, k->causes[i].reason))
			continue;
		c->all += k->causes[i].samples;
		c->of[k->causes[i].operation] += k->causes[i].samples;
	}
	return c->all > 0 && c->all >= k->samples.stalled[r.first] / 2;
}

/* Adds a line to those with the largest shares. */
static void add_place(struct view_advice *a, uint32_t context, double share)
{
	unsigned at = a->n_places;
	if (share < ADVICE_LEAST_SHARE)
		return;
	while (at > 0 && a->places[at - 1].share < share)
		at--;
	if (at == VIEW_ADVICE_PLACES)
		return;
	a->n_places += a->n_places < VIEW_ADVICE_PLACES;
	for (unsigned to = a->n_places - 1; to > at; to--)
		a->places[to] = a->places[to - 1];
	a->places[at] = (struct view_advice_place){context, share};
}

/* The lines that have most of the waiting. */
static void add_places(const struct advice_kernel *k, struct reasons r, struct view_advice *a)
{
	double whole = stalled_of(&k->samples, r);
	for (size_t i = 0; i < k->n_lines && whole > 0; i++)
		add_place(a, k->lines[i].context, stalled_of(&k->lines[i].samples, r) / whole);
}

/* The lines that warps waited for; `operation`: ADVICE_N_OPERATIONS: any. Without causes as above.
 */
static void add_cause_places(const struct advice_kernel *k, struct reasons r,
			     enum advice_operation operation, struct view_advice *a)
{
	struct causes c;
	if (!sum_causes(k, r, &c)) {
		add_places(k, r, a);
		return;
	}
	double whole = operation < ADVICE_N_OPERATIONS ? c.of[operation] : c.all;
	for (size_t i = 0; i < k->n_causes; i++)
		if (is_of(r, k->causes[i].reason) &&
		    (operation == ADVICE_N_OPERATIONS || operation == k->causes[i].operation))
			add_place(a, k->causes[i].context, k->causes[i].samples / whole);
}

/* What warps wait at the lines of these reasons, and what these lines issue. */
static void sum_lines(const struct advice_kernel *k, struct reasons r, double *stalled,
		      double *issued)
{
	*stalled = *issued = 0;
	for (size_t i = 0; i < k->n_lines; i++) {
		const struct advice_samples *s = &k->lines[i].samples;
		double here = stalled_of(s, r);
		if (here < 0.2 * s->all)
			continue;
		*stalled += here;
		*issued += s->issued;
	}
}

/* A warp that issues n instructions has n samples "issued" for each cycle between two samples. */
static double cycles_of_access(const struct advice_kernel *k, struct reasons r)
{
	double stalled, issued;
	sum_lines(k, r, &stalled, &issued);
	return INSTRUCTIONS_OF_ACCESS * stalled / fmax(issued, 1);
}

struct view_advice advice_begin(const struct advice_kernel *k, enum view_advice_kind kind)
{
	return (struct view_advice){.kind = kind,
				    .function = k->function,
				    .device = MODEL_NONE,
				    .seconds = k->seconds / fmax(k->beside, 1)};
}

/* ---- memory ---- */

static const struct reasons memory = {ADVICE_MEMORY, ADVICE_MEMORY_QUEUE};

struct advice_memory advice_memory_of(const struct advice_kernel *k)
{
	double stalled, issued, accesses = 0;
	sum_lines(k, memory, &stalled, &issued);
	if (k->samples.issued > 0)
		accesses = ADVICE_SCHEDULERS * advice_active(&k->samples) * issued /
			   k->samples.issued / INSTRUCTIONS_OF_ACCESS;
	return (struct advice_memory){.idle = idle_of(&k->samples, memory),
				      .cycles = cycles_of_access(k, memory),
				      .narrow = accesses * WARP * 4,
				      .wide = accesses * WARP * 16,
				      .apart = accesses * WARP * 64};
}

bool advice_memory_is_loaded(const struct advice_kernel *k, const struct advice_memory *m)
{
	return m->cycles >= QUEUED_CYCLES ||
	       (m->cycles >= LOADED_CYCLES && !(m->apart < k->memory_rate));
}

struct advice_interval advice_memory_bound(const struct advice_kernel *k,
					   const struct advice_memory *m, struct advice_interval i)
{
	if (m->narrow <= 0 || k->memory_rate <= 0)
		return i;
	i.low = advice_bound(i, k->memory_rate / m->wide).low;
	i.high = advice_bound(i, k->memory_rate / m->narrow).high;
	return i;
}

static void add_memory_facts(const struct advice_memory *m, struct view_advice *a)
{
	advice_fact(a, "cycles without an issue that wait for memory", "share", m->idle);
	advice_fact(a, "an access takes about", "cycles", m->cycles);
}

static bool scattered(const struct advice_kernel *k, const struct advice_memory *m,
		      struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_SCATTERED);
	if (k->memory_rate <= 0 || m->wide > k->memory_rate / 2)
		return true; /* what it asks for may be all that memory delivers */
	add_memory_facts(m, &a);
	advice_fact(&a, "16 bytes a thread, side by side, would be at most", "B/cycle", m->wide);
	advice_fact(&a, "memory delivers to an SM about", "B/cycle", k->memory_rate);
	add_cause_places(k, memory, ADVICE_N_OPERATIONS, &a);
	return advice_propose(
		to, &a,
		advice_from_saved(m->idle / 2, m->idle * (1 - UNLOADED_CYCLES / m->cycles)));
}

static bool in_flight(const struct advice_kernel *k, const struct advice_memory *m,
		      struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_IN_FLIGHT);
	struct advice_interval i = m->cycles < CACHED_CYCLES
					   ? advice_from_saved(m->idle / 4, m->idle)
					   : advice_from_saved(m->idle * (1 - 1.0 / FEW_ACCESSES),
							       m->idle * (1 - 1.0 / MANY_ACCESSES));
	i = advice_memory_bound(k, m, i);
	if (i.low < ADVICE_LEAST_FACTOR)
		return true; /* memory may be the limit */
	add_memory_facts(m, &a);
	add_cause_places(k, memory, ADVICE_N_OPERATIONS, &a);
	return advice_propose(to, &a, i);
}

/* Spilled registers and arrays. Their share is known by the causes, or it may be all. */
static bool local(const struct advice_kernel *k, const struct advice_memory *m, double share,
		  bool is_known, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_LOCAL);
	add_memory_facts(m, &a);
	if (is_known)
		advice_fact(&a, "of these, for local memory", "share", share);
	advice_fact(&a, "local memory of a thread", "B", k->shape.local_bytes);
	advice_fact(&a, "registers of a thread", "count", k->shape.registers);
	add_cause_places(k, memory, is_known ? ADVICE_LOCAL : ADVICE_N_OPERATIONS, &a);
	return advice_propose(
		to, &a, advice_from_saved(share * m->idle / (is_known ? 2 : 4), share * m->idle));
}

/*
 * One of these, by how long an access takes. A line may issue much besides, so that time is often
 * longer than it seems, and never shorter.
 */
static bool memory_rules(const struct advice_kernel *k, struct view_advices *to)
{
	struct advice_memory m = advice_memory_of(k);
	struct causes c;
	bool is_known = sum_causes(k, memory, &c);
	double of_local = is_known ? c.of[ADVICE_LOCAL] / c.all : k->shape.local_bytes > 0;
	if (m.idle < ADVICE_LEAST_SHARE)
		return true;
	if (m.idle * of_local >= ADVICE_LEAST_SHARE && !local(k, &m, of_local, is_known, to))
		return false;
	if (of_local >= 0.5)
		return true;
	if (m.cycles >= QUEUED_CYCLES)
		return scattered(k, &m, to);
	if (advice_memory_is_loaded(k, &m))
		return true; /* it is not clear by what */
	return in_flight(k, &m, to);
}

/* ---- shared memory and special functions ---- */

static const struct reasons brief = {ADVICE_SHORT, ADVICE_SHORT_QUEUE};

static bool banks(const struct advice_kernel *k, double idle, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_BANKS);
	double cycles = cycles_of_access(k, brief);
	if (cycles < CONFLICT_CYCLES)
		return true;
	advice_fact(&a, "cycles without an issue that wait for shared memory", "share", idle);
	advice_fact(&a, "an access takes about", "cycles", cycles);
	advice_fact(&a, "shared memory of a block", "B", k->shape.shared_bytes);
	add_cause_places(k, brief, ADVICE_SHARED, &a);
	return advice_propose(to, &a,
			      advice_from_saved(idle / 2, idle * (1 - SHARED_CYCLES / cycles)));
}

static bool special(const struct advice_kernel *k, double idle, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_SPECIAL);
	advice_fact(&a, "cycles without an issue that wait for special functions", "share", idle);
	advice_fact(&a, "shared memory of a block", "B", k->shape.shared_bytes);
	add_cause_places(k, brief, ADVICE_SPECIAL, &a);
	return advice_propose(to, &a, advice_from_saved(idle / 4, idle));
}

/* The reasons do not tell the two apart. The causes do, or else the use of shared memory. */
static bool short_rules(const struct advice_kernel *k, struct view_advices *to)
{
	struct causes c;
	bool is_known = sum_causes(k, brief, &c);
	double idle = idle_of(&k->samples, brief),
	       of_shared = is_known ? c.of[ADVICE_SHARED] / c.all : k->shape.shared_bytes > 0,
	       of_special = is_known ? c.of[ADVICE_SPECIAL] / c.all : !k->shape.shared_bytes;
	if (idle * of_shared >= ADVICE_LEAST_SHARE && !banks(k, idle * of_shared, to))
		return false;
	return idle * of_special < ADVICE_LEAST_SHARE || special(k, idle * of_special, to);
}

/* ---- one reason, one cure ---- */

/* Between half and all of the lost cycles end. */
struct stall_rule {
	enum advice_reason reason;
	enum view_advice_kind kind;
	const char *fact;
};

static const struct stall_rule stall_rules[] = {
	{ADVICE_PIPE, VIEW_ADVICE_PIPE, "cycles without an issue that wait for an arithmetic unit"},
	{ADVICE_FETCH, VIEW_ADVICE_FETCH, "cycles without an issue that wait for instructions"},
	{ADVICE_CONSTANT, VIEW_ADVICE_CONSTANT, "cycles without an issue that wait for constants"},
	{ADVICE_BRANCH, VIEW_ADVICE_BRANCH, "cycles without an issue that wait for branches"},
};

static bool apply(const struct stall_rule *r, const struct advice_kernel *k,
		  struct view_advices *to)
{
	double idle = advice_idle(&k->samples, r->reason);
	struct view_advice a = advice_begin(k, r->kind);
	if (idle < ADVICE_LEAST_SHARE)
		return true;
	advice_fact(&a, r->fact, "share", idle);
	add_places(k, (struct reasons){r->reason, r->reason}, &a);
	return advice_propose(to, &a, advice_from_saved(idle / 2, idle));
}

/*
 * Warps at a barrier wait for those that still work. While those wait themselves, no cycle counts
 * for the barrier, so the share of the samples is the upper end.
 */
static bool barrier(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_BARRIER);
	double idle = advice_idle(&k->samples, ADVICE_BARRIER),
	       all = k->samples.stalled[ADVICE_BARRIER] / k->samples.all;
	if (idle < ADVICE_LEAST_SHARE)
		return true;
	advice_fact(&a, "samples of warps at a barrier", "share", all);
	advice_fact(&a, "cycles without an issue among them", "share", idle);
	add_places(k, (struct reasons){ADVICE_BARRIER, ADVICE_BARRIER}, &a);
	return advice_propose(
		to, &a, advice_from_saved(idle / 2, fmin(all, 1 - advice_active(&k->samples))));
}

bool advice_unit_is_busy(const struct advice_kernel *k)
{
	return advice_idle(&k->samples, ADVICE_PIPE) >= ADVICE_LEAST_SHARE ||
	       advice_idle(&k->samples, ADVICE_SHORT_QUEUE) >= ADVICE_LEAST_SHARE;
}

static bool dependent(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_DEPENDENT);
	double idle = advice_idle(&k->samples, ADVICE_FIXED),
	       saved = advice_hide_latency(advice_active(&k->samples), idle);
	if (idle < 2 * ADVICE_LEAST_SHARE || advice_unit_is_busy(k))
		return true;
	advice_fact(&a, "cycles without an issue that wait for the instruction before", "share",
		    idle);
	advice_fact(&a, "cycles with an issue", "share", advice_active(&k->samples));
	add_places(k, (struct reasons){ADVICE_FIXED, ADVICE_FIXED}, &a);
	return advice_propose(to, &a, advice_from_saved(saved / 2, saved));
}

/* What is idle is a part of what is stalled; foreign data may say otherwise. */
static bool is_consistent(const struct advice_samples *s)
{
	double idle = 0;
	for (unsigned r = 0; r < ADVICE_N_REASONS; r++) {
		if (s->idle[r] > s->stalled[r])
			return false;
		idle += s->idle[r];
	}
	return idle <= s->all;
}

bool view_advice_kernel(const struct advice_kernel *k, struct view_advices *a)
{
	if (!advice_shapes(k, a))
		return false;
	if (k->samples.all < LEAST_SAMPLES || !is_consistent(&k->samples))
		return true;
	bool ok = memory_rules(k, a) && short_rules(k, a) && barrier(k, a) && dependent(k, a);
	for (size_t i = 0; ok && i < sizeof stall_rules / sizeof *stall_rules; i++)
		ok = apply(&stall_rules[i], k, a);
	return ok;
}
