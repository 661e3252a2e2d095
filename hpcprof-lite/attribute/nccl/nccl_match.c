/* SPDX-License-Identifier: BSD-3-Clause */
/* See nccl_match.h. Test: tests/unit/prof_nccl/test_nccl.c. */
#include "hpcprof-lite/attribute/nccl/nccl_match.h"

#include <math.h>
#include <stdlib.h>

/* The most operations that a part of the run may cut off on one rank only. */
enum { MOST_SHIFT = 16 };

/* How a stream fits a group. */
struct fit {
	struct nccl_member as;
	int64_t begin, end; /* calls that both have */
	double distance_ns; /* mean distance of its ends from the first end */
	uint64_t error_ns;  /* of offset_ns */
};

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Finds the range [low, high] of clock differences that all calls allow. False: they allow none,
 * they do not allow `*known` (NULL: no offset is known), the operations differ, or none needs all
 * ranks.
 */
static bool bound_offset(const struct nccl_group *g, const struct nccl_stream *s,
			 const struct fit *f, const int64_t *known, int64_t *low, int64_t *high)
{
	*low = INT64_MIN;
	*high = INT64_MAX;
	for (int64_t k = f->begin; k < f->end; k++) {
		const struct nccl_call *c = &g->calls.at[k];
		const struct nccl_run *r = &s->runs.at[k + f->as.shift];
		if (c->kind != r->kind)
			return false;
		if (!nccl_needs_all((enum nccl_kind)c->kind))
			continue;
		*low = larger(*low, c->last_start_ns - r->end_ns);
		*high = smaller(*high, c->first_end_ns - r->start_ns);
		/* most attempts fail here after a few calls */
		if (known ? *known < *low - NCCL_CLOCK_NS || *known > *high + NCCL_CLOCK_NS
			  : *low > *high + 2 * NCCL_CLOCK_NS)
			return false;
	}
	return *low != INT64_MIN;
}

/* Finds the clock of the stream's host minus that of the group. False: it is not known yet. */
static bool known_offset(const struct nccl_group *g, const struct nccl_stream *streams,
			 const struct nccl_stream *s, int64_t *offset_ns)
{
	for (size_t i = 0; i < g->members.n; i++)
		if (streams[g->members.at[i].stream].host == s->host) {
			*offset_ns = g->members.at[i].offset_ns;
			return true;
		}
	return false;
}

static void measure(const struct nccl_group *g, const struct nccl_stream *s, struct fit *f)
{
	double sum = 0;
	for (int64_t k = f->begin; k < f->end; k++)
		sum += fabs((double)(g->calls.at[k].first_end_ns -
				     s->runs.at[k + f->as.shift].end_ns - f->as.offset_ns));
	f->distance_ns = sum / (double)(f->end - f->begin);
}

static bool fits_shifted(const struct nccl_group *g, const struct nccl_stream *s,
			 const int64_t *known, struct fit *f)
{
	const int64_t n = (int64_t)s->runs.n, n_calls = g->end - g->begin;
	int64_t low, high;
	f->begin = larger(g->begin, -f->as.shift);
	f->end = smaller(g->end, n - f->as.shift);
	if (2 * (f->end - f->begin) < larger(n, n_calls))
		return false;
	if (!bound_offset(g, s, f, known, &low, &high))
		return false;
	f->as.offset_ns = known ? *known : low + (high - low) / 2;
	f->error_ns = known ? 0 : (uint64_t)llabs(high - low) / 2;
	measure(g, s, f);
	return true;
}

static bool fits(const struct nccl_group *g, const struct nccl_stream *streams, uint32_t stream,
		 struct fit *f)
{
	for (size_t i = 0; i < g->members.n; i++) {
		const struct nccl_stream *other = &streams[g->members.at[i].stream];
		if (other->process == streams[stream].process &&
		    other->device == streams[stream].device)
			return false;
	}
	int64_t offset_ns;
	const int64_t *known =
		known_offset(g, streams, &streams[stream], &offset_ns) ? &offset_ns : NULL;
	for (int64_t shift = 0; shift <= MOST_SHIFT; shift++)
		for (int64_t sign = shift ? -1 : 1; sign <= 1; sign += 2) {
			*f = (struct fit){.as = {.stream = stream, .shift = sign * shift}};
			if (fits_shifted(g, &streams[stream], known, f))
				return true;
		}
	return false;
}

static bool join(struct nccl_group *g, const struct nccl_stream *s, const struct fit *f)
{
	struct nccl_member *new = vec_push(&g->members);
	if (!new)
		return false;
	*new = f->as;
	g->begin = f->begin;
	g->end = f->end;
	for (int64_t k = g->begin; k < g->end; k++) {
		struct nccl_call *c = &g->calls.at[k];
		const struct nccl_run *r = &s->runs.at[k + f->as.shift];
		c->last_start_ns = larger(c->last_start_ns, r->start_ns + f->as.offset_ns);
		c->first_end_ns = smaller(c->first_end_ns, r->end_ns + f->as.offset_ns);
	}
	return true;
}

/* Makes a new group for the stream. */
static bool found(struct nccl_groups *all, const struct nccl_stream *s, uint32_t stream)
{
	struct nccl_group *g = vec_push(&all->list);
	struct nccl_member *first = g ? vec_push(&g->members) : NULL;
	struct nccl_call *calls = first ? vec_extend(&g->calls, s->runs.n) : NULL;
	if (!calls)
		return false;
	*first = (struct nccl_member){.stream = stream};
	g->end = (int64_t)s->runs.n;
	for (size_t k = 0; k < s->runs.n; k++)
		calls[k] = (struct nccl_call){s->runs.at[k].start_ns, s->runs.at[k].end_ns,
					      s->runs.at[k].kind};
	return true;
}

/* If several groups fit, takes the one whose operations end at the most similar times. */
bool nccl_match(const struct nccl_stream *streams, size_t n, struct nccl_groups *all)
{
	for (uint32_t i = 0; i < n; i++) {
		struct nccl_group *best = NULL;
		struct fit f, best_fit = {.error_ns = 0};
		for (size_t k = 0; k < all->list.n; k++)
			if (fits(&all->list.at[k], streams, i, &f) &&
			    (!best || f.distance_ns < best_fit.distance_ns)) {
				best = &all->list.at[k];
				best_fit = f;
			}
		if (best ? !join(best, &streams[i], &best_fit) : !found(all, &streams[i], i))
			return false;
		if (best_fit.error_ns > all->clock_error_ns)
			all->clock_error_ns = best_fit.error_ns;
	}
	return true;
}

void nccl_groups_free(struct nccl_groups *g)
{
	for (size_t i = 0; i < g->list.n; i++) {
		vec_free(&g->list.at[i].members);
		vec_free(&g->list.at[i].calls);
	}
	vec_free(&g->list);
}
