/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See gpu_clock.h. Everything is in integers, because a double cannot hold the 60 bits of a time.
 * Test: tests/unit/prof_gpu/test_gpu_time.c.
 */
#include "hpcprof-lite/attribute/gpu/join/gpu_clock.h"

#include "common/base/sorted.h"

/* Two pairs give a rate only if the errors of both are at most 1e-4 of the time between them. */
enum { LEAST_SPAN_OF_ERRORS = 10000 };

static bool gives_rate(const struct msr_gpu_clock *a, const struct msr_gpu_clock *b)
{
	uint64_t span = b->mono_ns - a->mono_ns,
		 errors = a->error_ns > UINT32_MAX || b->error_ns > UINT32_MAX
				  ? UINT32_MAX
				  : a->error_ns + b->error_ns;
	return b->device_ns > a->device_ns && span / LEAST_SPAN_OF_ERRORS >= errors;
}

void gpu_clock_thin(struct load_gpu *g)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->pairs.n; i++) {
		const struct msr_gpu_clock p = g->pairs.at[i],
					   *last = kept ? &g->pairs.at[kept - 1] : NULL;
		const struct msr_gpu_clock *before =
			kept > 1 && g->pairs.at[kept - 2].clock == p.clock ? &g->pairs.at[kept - 2]
									   : NULL;
		if (!last || last->clock != p.clock || gives_rate(last, &p))
			g->pairs.at[kept++] = p;
		else if (p.error_ns < last->error_ns && (!before || gives_rate(before, &p)))
			g->pairs.at[kept - 1] = p;
	}
	g->pairs.n = kept;
}

struct gpu_clock gpu_clock_find(const struct load_gpu *g, uint32_t id)
{
	struct gpu_clock c = {0};
	for (size_t i = 0; id && i < g->pairs.n; i++) {
		if (g->pairs.at[i].clock != id)
			continue;
		if (!c.n)
			c.pairs = &g->pairs.at[i];
		c.n++;
	}
	return c;
}

/* The time on the line through a and b, limited to 0 .. 2^63. */
static uint64_t on_line(const struct msr_gpu_clock *a, const struct msr_gpu_clock *b,
			uint64_t device_ns)
{
	__int128 run = (__int128)b->device_ns - a->device_ns,
		 rise = (__int128)b->mono_ns - a->mono_ns;
	__int128 t = a->mono_ns + ((__int128)device_ns - a->device_ns) * rise / run;
	return t < 0 ? 0 : t > INT64_MAX ? INT64_MAX : (uint64_t)t;
}

static uint64_t at_offset(const struct msr_gpu_clock *a, uint64_t device_ns)
{
	__int128 t = (__int128)a->mono_ns + device_ns - a->device_ns;
	return t < 0 ? 0 : t > INT64_MAX ? INT64_MAX : (uint64_t)t;
}

/* The last pair that is not after the time. The time must not be before the first pair. */
static size_t find(struct gpu_clock *c, uint64_t device_ns)
{
	size_t low = c->last;
	if (c->pairs[low].device_ns <= device_ns &&
	    (low + 1 == c->n || device_ns < c->pairs[low + 1].device_ns))
		return low;
	return c->last = sorted_up_to(c->pairs, c->n, device_ns, device_ns) - 1;
}

uint64_t gpu_clock_convert(struct gpu_clock *c, uint64_t device_ns, uint64_t *error_ns)
{
	*error_ns = 0;
	if (!c->n)
		return device_ns;
	if (c->n == 1) {
		*error_ns = c->pairs[0].error_ns;
		return at_offset(&c->pairs[0], device_ns);
	}
	size_t i = device_ns < c->pairs[0].device_ns ? 0 : find(c, device_ns);
	if (i + 1 == c->n)
		i--;
	*error_ns = c->pairs[i].error_ns > c->pairs[i + 1].error_ns ? c->pairs[i].error_ns
								    : c->pairs[i + 1].error_ns;
	return on_line(&c->pairs[i], &c->pairs[i + 1], device_ns);
}
