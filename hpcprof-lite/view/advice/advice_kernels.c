/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules about what warps wait for; see view_advice.h. Each looks at the share of cycles that its
 * stall reasons lose, and at the part of it that a change is known to save. doc/advice.md has the
 * reasons for the numbers. Test: tests/unit/prof_gpu/test_advice.c.
 */
#include "hpcprof-lite/view/advice/advice_rates.h"

#include <math.h>

/* With fewer samples, 10 % cannot be distinguished from 5 %. */
#define LEAST_SAMPLES 200
/*
 * An access to memory takes some 600 cycles. From LOADED_CYCLES on it may wait for others, and from
 * QUEUED_CYCLES on it does.
 */
#define LOADED_CYCLES 800
#define QUEUED_CYCLES 2000
/*
 * A miss in the first cache of constants takes 90 cycles and more (Z. Jia et al., Volta). Where
 * instructions wait less than this on average, fewer than one in ten misses.
 */
#define CONSTANT_CYCLES 8
/* Instructions of a division of 32 bits (18 on sm_90); one of 64 bits has as many or more. */
#define INSTRUCTIONS_OF_DIVISION 18
/* Caches deliver at least this many times as much as memory. */
#define CACHE_RATE 2
/* More than an access to shared memory takes without conflicts, whatever the load. */
#define CONFLICT_CYCLES 200
/* Accesses that a thread may have under way: with a little unrolling, and with much. */
#define FEW_ACCESSES 2
#define MANY_ACCESSES 8
#define WARP 32
#define SECTOR 32        /* the fewest bytes that memory moves */
#define WIDEST_ACCESS 16 /* bytes of a thread */
#define USUAL_ACCESS 4.0

void advice_fact(struct view_advice *a, const char *what, enum model_unit unit, double value)
{
	if (a->n_facts < VIEW_FACTS)
		a->facts[a->n_facts++] = (struct view_fact){what, unit, value};
}

bool advice_propose(struct view_advices *to, struct view_advice *a, struct advice_interval factor)
{
	a->factor = factor;
	if (factor.likely < ADVICE_LEAST_FACTOR)
		return true;
	struct view_advice *new = vec_push(&to->rows);
	if (new)
		*new = *a;
	return new != NULL;
}

/*
 * What ends together with the waits for a unit: cheaper code also has shorter chains of
 * instructions with fixed latencies.
 */
static struct advice_interval ending_with(const struct advice_samples *s, double idle, double more)
{
	return advice_from_saved(idle / 2, idle,
				 idle + more + advice_idle(s, ADVICE_FIXED) +
					 advice_idle(s, ADVICE_OTHER));
}

static struct advice_interval ending(const struct advice_samples *s, double idle)
{
	return ending_with(s, idle, 0);
}

struct view_advice advice_begin(const struct advice_kernel *k, enum view_advice_kind kind)
{
	return (struct view_advice){.kind = kind,
				    .function = k->function,
				    .device = MODEL_NONE,
				    .seconds = k->seconds / fmax(k->beside, 1)};
}

/* ---- memory ---- */

static const struct advice_reasons memory = {ADVICE_MEMORY, ADVICE_MEMORY_QUEUE};
static const struct advice_reasons brief = {ADVICE_SHORT, ADVICE_SHORT_QUEUE};

struct advice_memory advice_memory_of(const struct advice_kernel *k)
{
	struct advice_causes c;
	bool is_known = advice_sum_causes(k, memory, &c) && c.issued > 0;
	double stalled, issued = c.issued, per_cycle = 0, of_thread[2] = {4, 16};
	if (is_known && c.sized > 0)
		of_thread[0] = of_thread[1] = c.bytes / c.sized;
	if (!is_known) {
		advice_sum_lines(k, memory, &stalled, &issued);
		issued /= INSTRUCTIONS_OF_ACCESS;
	}
	if (k->samples.issued > 0)
		per_cycle = ADVICE_SCHEDULERS * advice_active(&k->samples) * issued /
			    k->samples.issued * WARP;
	return (struct advice_memory){
		.idle = advice_idle_of(&k->samples, memory),
		.queue = advice_idle(&k->samples, ADVICE_MEMORY_QUEUE),
		.cycles = is_known ? c.cycles : advice_cycles_of_access(k, memory, 0),
		.instructions = is_known ? issued / fmax(k->samples.issued, 1) : 0,
		.least = per_cycle * of_thread[0],
		.most = per_cycle * of_thread[1],
		.apart = per_cycle * SECTOR};
}

bool advice_memory_is_loaded(const struct advice_kernel *k, const struct advice_memory *m)
{
	return m->cycles >= LOADED_CYCLES && !(m->apart < k->memory_rate);
}

struct advice_interval advice_memory_bound(const struct advice_kernel *k,
					   const struct advice_memory *m, struct advice_interval i)
{
	if (m->least <= 0 || k->memory_rate <= 0)
		return i;
	struct advice_interval most = advice_bound(i, k->memory_rate / m->most);
	i.low = most.low;
	i.likely = most.likely;
	i.high = advice_bound(i, CACHE_RATE * k->memory_rate / m->least).high;
	return i;
}

static void add_memory_facts(const struct advice_memory *m, struct view_advice *a)
{
	advice_fact(a, "cycles without an issue, waiting for memory", MODEL_SHARE, m->idle);
	advice_fact(a, "mean wait of a warp", MODEL_CYCLES, m->cycles);
}

/*
 * Accesses to memory also go through the queue of the units for shared memory. If accesses fill
 * their own queue, and the kernel uses neither of those units, waits in that other queue are for
 * memory.
 */
static double idle_behind_memory(const struct advice_kernel *k, const struct advice_memory *m)
{
	struct advice_causes c;
	advice_sum_causes(k, brief, &c);
	bool has_other = c.issued_of[ADVICE_SHARED] + advice_special_of(c.issued_of) > 0 ||
			 k->shape.shared_bytes > 0;
	return m->queue >= ADVICE_LEAST_SHARE && m->instructions > 0 && !has_other
		       ? advice_idle_of(&k->samples, brief)
		       : 0;
}

static bool scattered(const struct advice_kernel *k, const struct advice_memory *m,
		      struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_SCATTERED);
	double stores = advice_idle(&k->samples, ADVICE_DRAIN),
	       /* no cause has the bytes of stores: where their end is waited for, as many as loads
		*/
		both = stores >= ADVICE_LEAST_SHARE ? 2 * m->most : m->most;
	if (k->memory_rate <= 0 || both > k->memory_rate / 2)
		return true; /* the kernel may already ask for all that memory delivers */
	double saved = m->idle + stores + idle_behind_memory(k, m);
	add_memory_facts(m, &a);
	advice_fact(&a, "cycles without an issue at the end of stores", MODEL_SHARE, stores);
	advice_fact(&a, "side by side, the data would be at most", MODEL_BYTES_PER_CYCLE, both);
	advice_fact(&a, "memory delivers to an SM about", MODEL_BYTES_PER_CYCLE, k->memory_rate);
	advice_add_cause_places(k, memory, ADVICE_N_OPERATIONS, &a);
	return advice_propose(to, &a, advice_memory_bound(k, m, ending(&k->samples, saved)));
}

static bool in_flight(const struct advice_kernel *k, const struct advice_memory *m,
		      struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_IN_FLIGHT);
	add_memory_facts(m, &a);
	advice_add_cause_places(k, memory, ADVICE_N_OPERATIONS, &a);
	return advice_propose(
		to, &a,
		advice_memory_bound(k, m,
				    advice_from_saved(m->idle * (1 - 1.0 / FEW_ACCESSES),
						      m->idle * (1 - 1.0 / MANY_ACCESSES),
						      m->idle)));
}

/*
 * The queue for accesses is full, although they do not take long: there are too many instructions.
 * With 16 bytes each there would be fewer.
 */
static bool queue(const struct advice_kernel *k, const struct advice_memory *m,
		  const struct advice_causes *c, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_QUEUE);
	/* atomic operations, of unknown width, cannot be made wider */
	const bool is_sized = m->instructions > 0 && c->sized > 0;
	double of_thread = is_sized ? c->bytes / c->sized : WIDEST_ACCESS,
	       saved = m->instructions * advice_active(&k->samples);
	advice_fact(&a, "cycles without an issue, waiting for room in the queue", MODEL_SHARE,
		    m->queue);
	advice_fact(&a, "cycles without an issue, waiting for memory", MODEL_SHARE, m->idle);
	if (m->instructions > 0)
		advice_fact(&a, "instructions that access memory", MODEL_SHARE, m->instructions);
	if (is_sized)
		advice_fact(&a, "bytes of an access, for a thread", MODEL_BYTES, of_thread);
	advice_add_cause_places(k, memory, ADVICE_N_OPERATIONS, &a);
	struct advice_interval i = advice_from_saved(
		m->idle / 2, m->idle + saved * fmax(1 - of_thread / WIDEST_ACCESS, 0),
		m->idle + saved);
	/* speeds up as accesses become fewer; by more only if data are kept in registers */
	if (!is_sized || of_thread < WIDEST_ACCESS) {
		struct advice_interval wide =
			advice_bound(i, WIDEST_ACCESS / (is_sized ? of_thread : USUAL_ACCESS));
		i.low = wide.low;
		i.likely = wide.likely;
	}
	return advice_propose(to, &a, i);
}

/*
 * Spilled registers and arrays. If the causes are known, they give the share of waits for local
 * memory, and of instructions that only access it. Otherwise all waits may be for it, and no
 * instructions.
 */
static bool local(const struct advice_kernel *k, const struct advice_memory *m,
		  const struct advice_causes *c, bool is_known, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_LOCAL);
	double share = is_known ? c->of[ADVICE_LOCAL] / c->all : 1,
	       issued = is_known ? c->issued_of[ADVICE_LOCAL] / fmax(k->samples.issued, 1) : 0,
	       saved = share * m->idle + issued * advice_active(&k->samples);
	add_memory_facts(m, &a);
	if (is_known) {
		advice_fact(&a, "of these, for local memory", MODEL_SHARE, share);
		advice_fact(&a, "instructions that use it", MODEL_SHARE, issued);
	} else {
		advice_fact(&a, "local memory of a thread", MODEL_BYTES, k->shape.local_bytes);
	}
	advice_fact(&a, "registers of a thread", MODEL_COUNT, k->shape.registers);
	advice_add_cause_places(k, memory, is_known ? ADVICE_LOCAL : ADVICE_N_OPERATIONS, &a);
	/* if most accesses are local, the others wait behind them in the same queues */
	const double behind =
		share < 0.5 ? 0
			    : (1 - share) * m->idle + advice_idle(&k->samples, ADVICE_SHORT_QUEUE);
	return advice_propose(to, &a, ending_with(&k->samples, saved, behind));
}

/*
 * Atomic operations on one address are done one after the other. Loads wait behind them, so all
 * waits for memory end. If each had 32 bytes of its own to read and to write, memory would still be
 * able to do more of them.
 */
static bool atomics(const struct advice_kernel *k, const struct advice_memory *m,
		    const struct advice_causes *c, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_ATOMICS);
	add_memory_facts(m, &a);
	advice_fact(&a, "of these, for atomic operations", MODEL_SHARE,
		    c->of[ADVICE_ATOMIC] / c->all);
	advice_add_cause_places(k, memory, ADVICE_ATOMIC, &a);
	return advice_propose(
		to, &a, ending(&k->samples, m->idle + advice_idle(&k->samples, ADVICE_DRAIN)));
}

static bool atomics_collide(const struct advice_kernel *k, const struct advice_memory *m,
			    const struct advice_causes *c)
{
	return m->idle * c->of[ADVICE_ATOMIC] >= ADVICE_LEAST_SHARE * c->all &&
	       2 * m->apart < k->memory_rate;
}

/*
 * Each volatile load goes to the L2 cache, though a load before it may have had the same data. If
 * their queue is full, all other accesses wait behind them.
 */
static bool strong(const struct advice_kernel *k, const struct advice_memory *m,
		   const struct advice_causes *c, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_VOLATILE);
	const double share = c->of[ADVICE_STRONG] / c->all;
	add_memory_facts(m, &a);
	advice_fact(&a, "of these, for volatile loads", MODEL_SHARE, share);
	advice_add_cause_places(k, memory, ADVICE_STRONG, &a);
	return advice_propose(
		to, &a,
		ending(&k->samples, m->cycles >= QUEUED_CYCLES ? m->idle : share * m->idle));
}

/* Applies the rules above, chosen by how long warps wait for an access. */
static bool memory_rules(const struct advice_kernel *k, struct view_advices *to)
{
	struct advice_memory m = advice_memory_of(k);
	struct advice_causes c;
	bool is_known = advice_sum_causes(k, memory, &c);
	double of_local = is_known ? c.of[ADVICE_LOCAL] / c.all : k->shape.local_bytes > 0;
	if (m.idle < ADVICE_LEAST_SHARE)
		return !is_known || advice_reuse(k, &m, &c, to);
	if (m.idle * of_local >= ADVICE_LEAST_SHARE && !local(k, &m, &c, is_known, to))
		return false;
	if (of_local >= 0.5)
		return true;
	if (is_known && m.idle * c.of[ADVICE_STRONG] >= ADVICE_LEAST_SHARE * c.all)
		return strong(k, &m, &c, to);
	if (m.cycles >= QUEUED_CYCLES)
		return is_known && atomics_collide(k, &m, &c) ? atomics(k, &m, &c, to)
							      : scattered(k, &m, to);
	if (is_known && advice_is_narrow(k, &m, &c))
		return advice_narrow(k, &m, &c, to);
	if (advice_memory_is_loaded(k, &m))
		return true; /* it is not clear what loads the memory */
	if (m.queue >= ADVICE_LEAST_SHARE)
		return queue(k, &m, &c, to);
	/* other warps wait for a busy unit meanwhile: loads ahead would only wait there */
	return (is_known && c.in_loop < 0.5) || advice_unit_is_busy(k) || in_flight(k, &m, to);
}

/* ---- shared memory and special functions ---- */

static bool banks(const struct advice_kernel *k, const struct advice_causes *c, double idle,
		  struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_BANKS);
	double cycles = advice_cycles_of_access(k, brief, c->issued_of[ADVICE_SHARED]);
	const double rate = cycles < CONFLICT_CYCLES ? advice_shared_rate(k) : 0;
	if (cycles < CONFLICT_CYCLES && !advice_shared_is_slow(k, c))
		return true;
	advice_fact(&a, "cycles without an issue, waiting for shared memory", MODEL_SHARE, idle);
	advice_fact(&a, "a warp waits for each access about", MODEL_CYCLES, cycles);
	if (rate > 0)
		advice_fact(&a, "cycles that it needs without conflicts, about", MODEL_SHARE, rate);
	advice_fact(&a, "shared memory of a block", MODEL_BYTES, k->shape.shared_bytes);
	advice_add_cause_places(k, brief, ADVICE_SHARED, &a);
	/* at barriers, warps wait for those that wait for shared memory */
	struct advice_interval i =
		ending_with(&k->samples, idle, advice_idle(&k->samples, ADVICE_BARRIER));
	if (rate > 0) {
		const double high = advice_bound(i, 2 / rate).high; /* if nothing is stored */
		i = advice_bound(i, 1 / rate);
		i.high = high;
	}
	return advice_propose(to, &a, i);
}

/* If the threads of a warp use several entries, these are read one after the other. */
static bool table(const struct advice_kernel *k, double idle, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_CONSTANT);
	advice_fact(&a, "cycles without an issue, waiting for constants", MODEL_SHARE, idle);
	advice_add_cause_places(k, brief, ADVICE_TABLE, &a);
	return advice_propose(to, &a, ending(&k->samples, idle));
}

/*
 * Special functions, and conversions between types: one unit does both. Functions like sin also
 * convert, so conversions are the cause only if most waits are for them.
 */
static bool special(const struct advice_kernel *k, const struct advice_causes *c, double idle,
		    struct view_advices *to)
{
	const bool converts = c->of[ADVICE_CONVERSION] > c->of[ADVICE_SPECIAL];
	struct view_advice a =
		advice_begin(k, converts ? VIEW_ADVICE_CONVERSIONS : VIEW_ADVICE_SPECIAL);
	double issued = advice_special_of(c->issued_of) / fmax(k->samples.issued, 1),
	       saved = idle + issued * advice_active(&k->samples);
	advice_fact(&a,
		    converts ? "cycles without an issue, waiting for conversions"
			     : "cycles without an issue, waiting for special functions",
		    MODEL_SHARE, idle);
	if (converts)
		advice_fact(&a, "instructions that convert", MODEL_SHARE,
			    c->issued_of[ADVICE_CONVERSION] / fmax(k->samples.issued, 1));
	else
		advice_fact(&a, "shared memory of a block", MODEL_BYTES, k->shape.shared_bytes);
	advice_add_cause_places(k, brief, converts ? ADVICE_CONVERSION : ADVICE_SPECIAL, &a);
	return advice_propose(to, &a, ending(&k->samples, saved));
}

/* Nearly all that a division costs is that it issues many instructions. */
static bool division(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_DIVISION);
	struct advice_causes c;
	advice_sum_causes(k, brief, &c);
	const double share = fmin(INSTRUCTIONS_OF_DIVISION * c.issued_of[ADVICE_DIVISION] /
					  fmax(k->samples.issued, 1),
				  1),
		     saved = share * advice_active(&k->samples);
	if (saved < ADVICE_LEAST_SHARE)
		return true;
	advice_fact(&a, "instructions that divide, about", MODEL_SHARE, share);
	advice_fact(&a, "cycles with an issue", MODEL_SHARE, advice_active(&k->samples));
	advice_add_cause_places(k, brief, ADVICE_DIVISION, &a);
	return advice_propose(to, &a, ending(&k->samples, saved));
}

/* The stall reasons do not distinguish the two. The causes do, or else the use of shared memory. */
static bool short_rules(const struct advice_kernel *k, struct view_advices *to)
{
	struct advice_causes c;
	bool is_known = advice_sum_causes(k, brief, &c);
	double idle = advice_idle_of(&k->samples, brief),
	       of_shared = is_known ? c.of[ADVICE_SHARED] / c.all : k->shape.shared_bytes > 0,
	       of_special = is_known ? advice_special_of(c.of) / c.all : !k->shape.shared_bytes,
	       of_table = is_known ? c.of[ADVICE_TABLE] / c.all : 0;
	struct advice_memory m = advice_memory_of(k);
	if (idle_behind_memory(k, &m) > 0)
		return true;
	if (idle * of_shared >= ADVICE_LEAST_SHARE && !banks(k, &c, idle * of_shared, to))
		return false;
	if (idle * of_table >= ADVICE_LEAST_SHARE && !table(k, idle * of_table, to))
		return false;
	return idle * of_special < ADVICE_LEAST_SHARE || special(k, &c, idle * of_special, to);
}

/* ---- one reason, one cure ---- */

struct stall_rule {
	enum advice_reason reason;
	enum view_advice_kind kind;
	const char *fact;
};

static const struct stall_rule stall_rules[] = {
	{ADVICE_PIPE, VIEW_ADVICE_PIPE, "cycles without an issue, waiting for an arithmetic unit"},
	{ADVICE_FETCH, VIEW_ADVICE_FETCH, "cycles without an issue, waiting for instructions"},
	{ADVICE_CONSTANT, VIEW_ADVICE_CONSTANT, "cycles without an issue, waiting for constants"},
	{ADVICE_BRANCH, VIEW_ADVICE_BRANCH, "cycles without an issue, waiting for branches"},
};

/*
 * What a warp waits for constants where it often does, for each instruction. An index in a register
 * makes it wait some cycles without any miss.
 */
static double constant_cycles(const struct advice_kernel *k)
{
	double stalled, issued;
	advice_sum_lines(k, (struct advice_reasons){ADVICE_CONSTANT, ADVICE_CONSTANT}, &stalled,
			 &issued);
	return issued > 0 ? stalled / issued : CONSTANT_CYCLES;
}

double advice_latency(const struct advice_kernel *k)
{
	return advice_idle(&k->samples, ADVICE_FIXED) +
	       (constant_cycles(k) < CONSTANT_CYCLES ? advice_idle(&k->samples, ADVICE_CONSTANT)
						     : 0);
}

static bool apply(const struct stall_rule *r, const struct advice_kernel *k,
		  struct view_advices *to)
{
	double idle = advice_idle(&k->samples, r->reason);
	struct view_advice a = advice_begin(k, r->kind);
	if (idle < ADVICE_LEAST_SHARE ||
	    (r->reason == ADVICE_CONSTANT && constant_cycles(k) < CONSTANT_CYCLES))
		return true;
	advice_fact(&a, r->fact, MODEL_SHARE, idle);
	advice_add_places(k, (struct advice_reasons){r->reason, r->reason}, &a);
	return advice_propose(to, &a, ending(&k->samples, idle));
}

/*
 * Warps at a barrier wait for warps that still work. If those wait for memory, the barrier itself
 * costs nothing more. While they wait, no cycle counts for the barrier, so the share of the samples
 * is the upper end.
 */
static bool barrier(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_BARRIER);
	const struct advice_samples *s = &k->samples;
	double at_barrier = s->stalled[ADVICE_BARRIER],
	       of_memory = advice_stalled_of(s, memory) / fmax(s->all - at_barrier, 1),
	       idle = advice_idle(s, ADVICE_BARRIER) * (1 - of_memory),
	       all = at_barrier / s->all * (1 - of_memory);
	if (idle < ADVICE_LEAST_SHARE)
		return true;
	advice_fact(&a, "samples of warps at a barrier", MODEL_SHARE, at_barrier / s->all);
	advice_fact(&a, "of the other warps, wait for memory", MODEL_SHARE, of_memory);
	advice_fact(&a, "cycles without an issue at the barrier", MODEL_SHARE,
		    advice_idle(s, ADVICE_BARRIER));
	advice_add_places(k, (struct advice_reasons){ADVICE_BARRIER, ADVICE_BARRIER}, &a);
	return advice_propose(to, &a,
			      advice_from_saved(idle / 2, idle, fmin(all, 1 - advice_active(s))));
}

bool advice_unit_is_busy(const struct advice_kernel *k)
{
	return advice_idle(&k->samples, ADVICE_PIPE) >= ADVICE_LEAST_SHARE ||
	       advice_idle(&k->samples, ADVICE_MEMORY_QUEUE) >= ADVICE_LEAST_SHARE ||
	       advice_idle(&k->samples, ADVICE_SHORT_QUEUE) >= ADVICE_LEAST_SHARE;
}

/* The paths that a warp takes one after the other, beyond one of them. */
static bool divergence(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_DIVERGENCE);
	double issued = 0;
	for (size_t i = 0; i < k->n_causes; i++)
		issued += k->causes[i].operation == ADVICE_PATHS ? k->causes[i].issued : 0;
	const double share = fmin(issued / fmax(k->samples.issued, 1), 1),
		     saved = share * advice_active(&k->samples);
	if (saved < 2 * ADVICE_LEAST_SHARE)
		return true;
	advice_fact(&a, "instructions that other paths of the warp add", MODEL_SHARE, share);
	advice_fact(&a, "cycles with an issue", MODEL_SHARE, advice_active(&k->samples));
	for (size_t i = 0; i < k->n_causes; i++)
		if (k->causes[i].operation == ADVICE_PATHS)
			advice_add_place(&a, k->causes[i].context, k->causes[i].issued / issued);
	return advice_propose(to, &a, ending(&k->samples, saved));
}

/*
 * Two chains, interleaved, fill half of the lost cycles, and four fill all: fixed latencies are 4
 * cycles.
 */
static bool dependent(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_DEPENDENT);
	const double idle = advice_latency(k);
	if (idle < 2 * ADVICE_LEAST_SHARE || advice_unit_is_busy(k))
		return true;
	advice_fact(&a, "cycles without an issue, waiting for the instruction before", MODEL_SHARE,
		    idle);
	advice_fact(&a, "cycles with an issue", MODEL_SHARE, advice_active(&k->samples));
	advice_add_places(k, (struct advice_reasons){ADVICE_FIXED, ADVICE_FIXED}, &a);
	return advice_propose(to, &a, advice_from_saved(idle / 2, idle, idle));
}

/* False if more samples are idle than stalled, which can only come from foreign data. */
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

/*
 * Too few samples, or samples that contradict each other, say nothing. Applies the rules that only
 * need the shape.
 */
static bool shapes_alone(const struct advice_kernel *k, struct view_advices *a)
{
	struct advice_kernel bare = *k;
	bare.samples = (struct advice_samples){0};
	bare.n_lines = bare.n_causes = 0;
	return advice_shapes(&bare, a);
}

static bool is_latency(enum view_advice_kind k)
{
	return k == VIEW_ADVICE_OCCUPANCY || k == VIEW_ADVICE_DEPENDENT ||
	       k == VIEW_ADVICE_IN_FLIGHT;
}

/*
 * Drops advice, from row `first` on, that only shows the effect of too few blocks: with more of
 * them, warps hide the latencies of each other.
 */
static void drop_effects(struct view_advices *a, size_t first)
{
	double grid = 0;
	size_t n = first;
	for (size_t i = first; i < a->rows.n; i++)
		if (a->rows.at[i].kind == VIEW_ADVICE_GRID)
			grid = a->rows.at[i].factor.likely;
	for (size_t i = first; i < a->rows.n; i++)
		if (!is_latency(a->rows.at[i].kind) || a->rows.at[i].factor.likely >= grid)
			a->rows.at[n++] = a->rows.at[i];
	a->rows.n = n;
}

bool view_advice_kernel(const struct advice_kernel *k, struct view_advices *a)
{
	const size_t first = a->rows.n;
	if (k->samples.all < LEAST_SAMPLES || !is_consistent(&k->samples))
		return shapes_alone(k, a);
	bool ok = advice_shapes(k, a) && memory_rules(k, a) && short_rules(k, a) &&
		  division(k, a) && divergence(k, a) && barrier(k, a) && dependent(k, a);
	for (size_t i = 0; ok && i < sizeof stall_rules / sizeof *stall_rules; i++)
		ok = apply(&stall_rules[i], k, a);
	drop_effects(a, first);
	return ok;
}
