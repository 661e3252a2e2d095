/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm.h. Collective calls are binomial trees below part 0. Test:
 * tests/unit/prof_parts/test_comm.c. */
#include "hpcprof-lite/parts/comm.h"

#include "common/base/capped.h"

static void send_to(const struct comm *c, int to, const void *bytes, size_t n)
{
	c->ops->swap(c->own, to, bytes, n, COMM_NOBODY, NULL, 0);
}

static void get_from(const struct comm *c, int from, void *bytes, size_t n)
{
	c->ops->swap(c->own, COMM_NOBODY, NULL, 0, from, bytes, n);
}

/* The distance to the part above, which is the lowest bit of the number; of part 0: above all. */
static int distance_up(const struct comm *c)
{
	int d = 1;
	while (d < c->n_parts && !(c->part & d))
		d *= 2;
	return d;
}

void comm_broadcast(const struct comm *c, void *bytes, size_t n)
{
	const int up = distance_up(c);
	int below = 1;
	while (below < c->n_parts && below < up)
		below *= 2;
	if (c->part)
		get_from(c, c->part - up, bytes, n);
	for (int d = below / 2; d > 0; d /= 2)
		if (c->part + d < c->n_parts)
			send_to(c, c->part + d, bytes, n);
}

int64_t comm_max(const struct comm *c, int64_t value)
{
	const int up = distance_up(c);
	for (int d = 1; d < up && c->part + d < c->n_parts; d *= 2) {
		int64_t other;
		get_from(c, c->part + d, &other, sizeof other);
		value = other > value ? other : value;
	}
	if (c->part)
		send_to(c, c->part - up, &value, sizeof value);
	comm_broadcast(c, &value, sizeof value);
	return value;
}

bool comm_is_same(const struct comm *c, int64_t value)
{
	const int64_t most = comm_max(c, value), least = ~comm_max(c, ~value);
	return most == least;
}

enum status comm_agree(struct comm *c, enum status s)
{
	if (c->failed == STATUS_OK && c->n_parts > 1)
		c->failed = (enum status)comm_max(c, s);
	else if (c->failed == STATUS_OK)
		c->failed = s;
	return c->failed;
}

enum { ADDED = 8192 }; /* values of a message */

static void add_some(const struct comm *c, uint64_t *values, size_t n)
{
	const int up = distance_up(c);
	for (int d = 1; d < up && c->part + d < c->n_parts; d *= 2) {
		uint64_t others[ADDED];
		get_from(c, c->part + d, others, n * sizeof *others);
		for (size_t i = 0; i < n; i++)
			capped_grow(&values[i], others[i]);
	}
	if (c->part)
		send_to(c, c->part - up, values, n * sizeof *values);
}

void comm_add(const struct comm *c, uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i += ADDED)
		add_some(c, values + i, n - i < ADDED ? n - i : ADDED);
	comm_broadcast(c, values, n * sizeof *values);
}

void comm_cut(const struct comm *c, int n_free, const uint64_t *weights, uint64_t n,
	      uint64_t *first)
{
	const int n_idle = n_free < c->n_parts ? n_free : 0;
	const uint64_t n_busy = (uint64_t)(c->n_parts - n_idle);
	uint64_t all = 0, sum = 0, k = 0;
	for (uint64_t i = 0; i < n; i++)
		all += weights[i];
	for (int i = 0; i <= n_idle; i++)
		first[i] = 0;
	for (uint64_t i = 0; i < n && k + 1 < n_busy; i++) {
		sum += weights[i];
		while (k + 1 < n_busy && sum >= all / n_busy * (k + 1))
			first[(uint64_t)n_idle + ++k] = i + 1;
	}
	while (k < n_busy)
		first[(uint64_t)n_idle + ++k] = n;
}

void comm_fill(const struct comm *c, void *array, size_t record_bytes, const uint64_t *first)
{
	char *bytes = array;
	const uint64_t *mine = &first[c->part];
	if (c->part)
		send_to(c, 0, bytes + mine[0] * record_bytes, (mine[1] - mine[0]) * record_bytes);
	for (int i = 1; i < c->n_parts && c->part == 0; i++)
		get_from(c, i, bytes + first[i] * record_bytes,
			 (first[i + 1] - first[i]) * record_bytes);
	comm_broadcast(c, array, first[c->n_parts] * record_bytes);
}

void comm_to_first(const struct comm *c, int from, const void *out, void *in, size_t n)
{
	if (c->part == from)
		send_to(c, 0, out, n);
	else if (c->part == 0)
		get_from(c, from, in, n);
}

void comm_shift(const struct comm *c, int distance, const void *out, size_t n_out, void *in,
		size_t n_in)
{
	const int to = (c->part + distance) % c->n_parts,
		  from = (c->part + c->n_parts - distance) % c->n_parts;
	c->ops->swap(c->own, to, out, n_out, from, in, n_in);
}
