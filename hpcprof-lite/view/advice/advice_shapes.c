/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules about launch characteristics: the grid of a kernel, its last wave, and how many of its
 * warps fit on an SM; see view_advice.h. Test: tests/unit/prof_gpu/test_advice.c.
 */
#include "hpcprof-lite/view/advice/advice_rule.h"

#include <math.h>
#include <string.h>

/* After so many waves the last one is small, and blocks no longer end at the same time. */
#define WAVES_MOST 8
#define WARP 32.0
/* Lost cycles that more warps could fill. */
#define LEAST_LATENCY 0.2
/* A shorter kernel (in seconds) only starts and ends, whatever its grid. */
#define LEAST_KERNEL 5e-6
/*
 * SMs get and finish their blocks within some microseconds of each other. In a longer kernel that
 * is less than 10 %.
 */
#define LONG_KERNEL 50e-6
/* With more kernels at a time, another kernel may use the SMs that one leaves idle. */
#define BESIDE_MOST 1.2

/*
 * SMs without a block, and SMs with too few warps. At least, the same warps are spread over all
 * SMs. That gives half of the gain, or less if the fewer warps on each SM issue less.
 */
static bool grid(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_GRID);
	double factor = k->shape.units / k->shape.blocks, active = advice_active(&k->samples),
	       fuller = advice_more_warps(active, k->shape.block_warps, k->shape.warps),
	       least = (1 + factor) / 2;
	if (active > 0 && active < 1)
		least = fmax(fmin(least, factor * advice_any_of(active, 1 / factor) / active), 1);
	advice_fact(&a, "blocks", MODEL_COUNT, k->shape.blocks);
	advice_fact(&a, "SMs", MODEL_COUNT, k->shape.units);
	if (k->busy_units > 0)
		advice_fact(&a, "SMs with a warp, by samples", MODEL_SHARE, k->busy_units);
	return advice_propose(to, &a, (struct advice_interval){least, factor, factor * fuller});
}

static bool wave(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_WAVE);
	double fit = k->shape.units * floor(k->shape.warps / k->shape.block_warps),
	       waves = k->shape.blocks / fit, lost = 1 - waves / ceil(waves);
	if (k->busy_units > 0) /* no more SMs than this can have been idle */
		lost = fmin(lost, fmax(1 - k->busy_units, 0));
	if (waves <= 1 || waves > WAVES_MOST || lost < ADVICE_LEAST_SHARE)
		return true;
	advice_fact(&a, "blocks", MODEL_COUNT, k->shape.blocks);
	advice_fact(&a, "blocks that fit at a time", MODEL_COUNT, fit);
	advice_fact(&a, "waves of blocks", MODEL_COUNT, waves);
	if (k->busy_units > 0)
		advice_fact(&a, "SMs with a warp, by samples", MODEL_SHARE, k->busy_units);
	return advice_propose(to, &a, advice_from_saved(lost / 2, lost, lost));
}

/*
 * SMs that have no block any more while others still work. The samples say so if all SMs had blocks
 * at first; `wave` has what follows from the number of blocks.
 */
static bool tail(const struct advice_kernel *k, struct view_advices *to)
{
	struct view_advice a = advice_begin(k, VIEW_ADVICE_TAIL);
	const double fit = k->shape.units * floor(k->shape.warps / k->shape.block_warps),
		     waves = k->shape.blocks / fit,
		     of_wave = waves > 1 ? 1 - waves / ceil(waves) : 0, lost = 1 - k->busy_units;
	if (k->samples.all <= 0 || k->busy_units <= 0 || k->shape.blocks < k->shape.units ||
	    k->seconds < LONG_KERNEL * k->launches || lost < of_wave + 2 * ADVICE_LEAST_SHARE)
		return true;
	advice_fact(&a, "SMs with a warp, by samples", MODEL_SHARE, k->busy_units);
	advice_fact(&a, "blocks", MODEL_COUNT, k->shape.blocks);
	advice_fact(&a, "blocks that fit at a time", MODEL_COUNT, fit);
	advice_fact(&a, "a launch takes", MODEL_SECONDS, k->seconds / k->launches);
	return advice_propose(to, &a, advice_from_saved(lost / 2, lost, lost));
}

/* The name of the limit that has to be eased. */
static const char *limit_fact(enum model_gpu_limit limit)
{
	return limit == MODEL_LIMIT_REGISTERS ? "registers of a thread"
	       : limit == MODEL_LIMIT_SHARED  ? "shared memory of a block"
					      : "threads of a block";
}

static double limit_value(const struct advice_shape *s)
{
	return s->limit == MODEL_LIMIT_REGISTERS ? s->registers
	       : s->limit == MODEL_LIMIT_SHARED  ? s->shared_bytes
						 : s->block_threads;
}

static void add_limit(const struct advice_shape *s, bool by_grid, struct view_advice *a)
{
	enum model_unit unit = s->limit == MODEL_LIMIT_SHARED ? MODEL_BYTES : MODEL_COUNT;
	if (by_grid) {
		advice_fact(a, "warps that fit, with more blocks", MODEL_COUNT, s->warps);
		return;
	}
	advice_fact(a, limit_fact(s->limit), unit, limit_value(s));
	if (s->eased)
		advice_fact(a, "more warps fit with", unit, s->eased);
}

/* More warps hide latency; they do not make memory or units faster. */
static bool occupancy(const struct advice_kernel *k, struct view_advices *to)
{
	const struct advice_shape *s = &k->shape;
	struct view_advice a = advice_begin(k, VIEW_ADVICE_OCCUPANCY);
	struct advice_memory m = advice_memory_of(k);
	double active = advice_active(&k->samples),
	       latency = m.idle + advice_idle(&k->samples, ADVICE_SHORT) + advice_latency(k),
	       of_grid = fmax(s->blocks / s->units, 1) * s->block_warps,
	       now = fmin(of_grid, s->warps);
	bool by_grid = of_grid < s->warps;
	double next = by_grid ? fmin(2 * now, s->warps) : s->eased_warps;
	if (latency < LEAST_LATENCY || now >= s->warps_most || advice_unit_is_busy(k) ||
	    (m.idle >= ADVICE_LEAST_SHARE && advice_memory_is_loaded(k, &m)))
		return true;
	advice_fact(&a, "warps of an SM", MODEL_COUNT, now);
	advice_fact(&a, "warps that it can hold", MODEL_COUNT, s->warps_most);
	advice_fact(&a, "cycles without an issue, by latency", MODEL_SHARE, latency);
	add_limit(s, by_grid, &a);
	/* with few warps, the times to branch and to fetch are latencies, too */
	double all = latency + advice_idle(&k->samples, ADVICE_BRANCH) +
		     advice_idle(&k->samples, ADVICE_FETCH),
	       most = advice_from_saved(0, all, all).high;
	struct advice_interval i = {.low = advice_more_warps(active, now, fmax(next, now)),
				    .likely = advice_more_warps(active, now, s->warps_most),
				    .high = most};
	i = advice_bound(i, most);
	if (!by_grid && (s->limit == MODEL_LIMIT_WARPS || s->limit == MODEL_LIMIT_GROUPS)) {
		/* larger blocks fill their warps */
		double full = s->block_warps * WARP / s->block_threads;
		i.low *= full;
		i.likely *= full;
		i.high *= full;
	}
	return advice_propose(to, &a, advice_memory_bound(k, &m, i));
}

bool advice_shapes(const struct advice_kernel *k, struct view_advices *to)
{
	if (!k->shape.units || k->shape.blocks < 1 || !k->shape.block_warps || !k->shape.warps)
		return true;
	if (k->beside > BESIDE_MOST || k->seconds < LEAST_KERNEL * k->launches)
		return true;
	if (k->shape.blocks < k->shape.units && !grid(k, to))
		return false;
	return wave(k, to) && tail(k, to) && (k->samples.all <= 0 || occupancy(k, to));
}
