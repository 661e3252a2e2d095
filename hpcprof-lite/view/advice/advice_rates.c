/* SPDX-License-Identifier: BSD-3-Clause */
/* See advice_rates.h. Test: tests/unit/prof_gpu/test_advice.c. */
#include "hpcprof-lite/view/advice/advice_rates.h"

#include <math.h>

/* Bytes that a bank of shared memory delivers in a cycle; there are as many banks as threads. */
#define BANK_BYTES 4
/*
 * Bytes that the L2 cache delivers to an SM in a cycle, at most, and the cycles that a warp waits
 * for it, at least.
 */
#define L2_RATE 64
#define L2_CYCLES 190
#define WIDEST_ACCESS 16 /* bytes of a thread */

double advice_shared_rate(const struct advice_kernel *k)
{
	double cycles = 0;
	for (size_t i = 0; i < k->n_causes; i++) {
		const struct advice_cause *c = &k->causes[i];
		if (c->reason != ADVICE_SHORT || c->operation == ADVICE_PATHS)
			continue;
		if (c->operation == ADVICE_SHARED && c->bytes <= 0 && c->issued > 0)
			return 0;
		cycles += fmax(c->issued, c->bytes / BANK_BYTES);
	}
	return 2 * ADVICE_SCHEDULERS * advice_active(&k->samples) * cycles /
	       fmax(k->samples.issued, 1);
}

bool advice_shared_is_slow(const struct advice_kernel *k, const struct advice_causes *c)
{
	const double rate = advice_shared_rate(k),
		     queue = advice_idle(&k->samples, ADVICE_SHORT_QUEUE);
	return rate > 0 && rate <= 0.5 && 2 * c->issued_of[ADVICE_SHARED] >= c->issued &&
	       queue >= fmax((1 - advice_active(&k->samples)) / 2, ADVICE_LEAST_SHARE);
}

static const struct advice_reasons memory = {ADVICE_MEMORY, ADVICE_MEMORY_QUEUE};

/*
 * If each thread needed 32 bytes of its own, that would be more than the L2 cache delivers. So
 * neighbouring threads use neighbouring bytes.
 */
bool advice_is_narrow(const struct advice_kernel *k, const struct advice_memory *m,
		      const struct advice_causes *c)
{
	return m->idle >= 2 * ADVICE_LEAST_SHARE && 2 * c->sized >= c->issued &&
	       c->bytes < BANK_BYTES * c->sized && m->cycles >= L2_CYCLES && m->apart > L2_RATE &&
	       4 * m->most <= k->memory_rate; /* half, with as many stores as loads */
}

bool advice_narrow(const struct advice_kernel *k, const struct advice_memory *m,
		   const struct advice_causes *c, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_NARROW);
	const double of_thread = c->bytes / c->sized, fewer = 1 - of_thread / WIDEST_ACCESS,
		     active = advice_active(&k->samples);
	advice_fact(&a, "cycles without an issue, waiting for memory", MODEL_SHARE, m->idle);
	advice_fact(&a, "mean wait of a warp", MODEL_CYCLES, m->cycles);
	advice_fact(&a, "bytes of an access, for a thread", MODEL_BYTES, of_thread);
	advice_fact(&a, "loads ask for", MODEL_BYTES_PER_CYCLE, m->most);
	advice_fact(&a, "memory delivers to an SM about", MODEL_BYTES_PER_CYCLE, k->memory_rate);
	advice_add_cause_places(k, memory, ADVICE_GLOBAL, &a);
	/* at most, the index, the address and the arithmetic are for 16 bytes, too */
	return advice_propose(
		to, &a,
		advice_memory_bound(k, m,
				    advice_from_saved(m->idle / 2,
						      (m->idle + m->instructions * active) * fewer,
						      (m->idle + active) * fewer)));
}

/*
 * Data that the L2 cache could not deliver come from the L1 cache, so they were loaded before. A
 * load issues one instruction; with its address it is two, and in a loop three.
 */
bool advice_reuse(const struct advice_kernel *k, const struct advice_memory *m,
		  const struct advice_causes *c, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_QUEUE);
	const double active = advice_active(&k->samples),
		     loads = c->issued_of[ADVICE_GLOBAL] / fmax(k->samples.issued, 1) * active;
	if (m->idle >= ADVICE_LEAST_SHARE || loads < 2 * ADVICE_LEAST_SHARE ||
	    m->cycles >= L2_CYCLES || m->least <= L2_RATE || c->in_loop < 0.5)
		return true;
	advice_fact(&a, "cycles with an issue", MODEL_SHARE, active);
	advice_fact(&a, "instructions that access memory", MODEL_SHARE, m->instructions);
	advice_fact(&a, "bytes of an access, for a thread", MODEL_BYTES, c->bytes / c->sized);
	advice_fact(&a, "loads ask for", MODEL_BYTES_PER_CYCLE, m->least);
	advice_add_cause_places(k, memory, ADVICE_GLOBAL, &a);
	return advice_propose(
		to, &a, advice_from_saved(loads, m->idle + 2 * loads, m->idle + 3 * loads));
}
