/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm.h. Collective calls are binomial trees below part 0. Test:
 * tests/unit/prof_parts/test_comm.c. */
#include "hpcprof-lite/parts/comm.h"

#include "common/base/capped.h"

#include <stdlib.h>
#include <string.h>

static void send_to(const struct comm *c, int to, const void *bytes, size_t n)
{
	c->ops->swap(c->own, c->first + to, bytes, n, COMM_NOBODY, NULL, 0);
}

static void get_from(const struct comm *c, int from, void *bytes, size_t n)
{
	c->ops->swap(c->own, COMM_NOBODY, NULL, 0, c->first + from, bytes, n);
}

struct comm comm_others(const struct comm *c)
{
	struct comm others = *c;
	others.part--;
	others.n_parts--;
	others.first++;
	return others;
}

/*
 * The distance to the parent in the tree: the lowest set bit of the part. Part 0: beyond all parts.
 */
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
	comm_most(c, &value, 1);
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

enum status comm_agree_both(struct comm *group, struct comm *all, enum status s)
{
	return comm_agree(all, group ? comm_agree(group, s) : s);
}

enum status comm_agree_on(struct comm *c, enum status s, uint64_t value)
{
	if (comm_agree(c, s) == STATUS_OK && !comm_is_same(c, (int64_t)value))
		c->failed = STATUS_DIFFERS;
	return c->failed;
}

enum { COMBINED = 8192 }; /* values of a message */

typedef void combine_fn(uint64_t *value, uint64_t other);

static void add(uint64_t *value, uint64_t other)
{
	capped_grow(value, other);
}

static void keep_most(uint64_t *value, uint64_t other)
{
	*value = (int64_t)other > (int64_t)*value ? other : *value;
}

static void combine_some(const struct comm *c, uint64_t *values, size_t n, combine_fn *combine)
{
	const int up = distance_up(c);
	for (int d = 1; d < up && c->part + d < c->n_parts; d *= 2) {
		uint64_t others[COMBINED];
		get_from(c, c->part + d, others, n * sizeof *others);
		for (size_t i = 0; i < n; i++)
			combine(&values[i], others[i]);
	}
	if (c->part)
		send_to(c, c->part - up, values, n * sizeof *values);
}

static void combine_all(const struct comm *c, uint64_t *values, size_t n, combine_fn *combine)
{
	for (size_t i = 0; i < n; i += COMBINED)
		combine_some(c, values + i, n - i < COMBINED ? n - i : COMBINED, combine);
	comm_broadcast(c, values, n * sizeof *values);
}

void comm_add(const struct comm *c, uint64_t *values, size_t n)
{
	combine_all(c, values, n, add);
}

void comm_most(const struct comm *c, int64_t *values, size_t n)
{
	combine_all(c, (uint64_t *)values, n, keep_most);
}

void comm_cut(const struct comm *c, const uint64_t *weights, uint64_t n, uint64_t *first)
{
	const uint64_t n_parts = (uint64_t)c->n_parts;
	uint64_t all = 0, sum = 0, k = 0;
	for (uint64_t i = 0; i < n; i++)
		all += weights[i];
	first[0] = 0;
	for (uint64_t i = 0; i < n && k + 1 < n_parts; i++) {
		for (; k + 1 < n_parts && sum >= all / n_parts * (k + 1); k++)
			first[k + 1] = i;
		sum += weights[i];
	}
	while (k < n_parts)
		first[++k] = n;
}

void comm_gather(const struct comm *c, void *array, size_t record_bytes, const uint64_t *first)
{
	char *bytes = array;
	const uint64_t *mine = &first[c->part];
	if (c->part)
		send_to(c, 0, bytes + mine[0] * record_bytes, (mine[1] - mine[0]) * record_bytes);
	for (int i = 1; i < c->n_parts && c->part == 0; i++)
		get_from(c, i, bytes + first[i] * record_bytes,
			 (first[i + 1] - first[i]) * record_bytes);
}

void comm_fill(const struct comm *c, void *array, size_t record_bytes, const uint64_t *first)
{
	comm_gather(c, array, record_bytes, first);
	comm_broadcast(c, array, first[c->n_parts] * record_bytes);
}

void *comm_join(struct comm *c, const void *own, uint64_t n, size_t record_bytes, uint64_t *first)
{
	const size_t n_first = (size_t)c->n_parts + 1;
	if (comm_agree(c, first ? STATUS_OK : STATUS_NO_MEMORY) != STATUS_OK)
		return NULL;
	memset(first, 0, n_first * sizeof *first);
	first[c->part + 1] = n;
	comm_add(c, first, n_first);
	for (size_t i = 1; i < n_first; i++)
		first[i] += first[i - 1];
	char *all = malloc((first[c->n_parts] + 1) * record_bytes);
	if (comm_agree(c, all ? STATUS_OK : STATUS_NO_MEMORY) != STATUS_OK) {
		free(all);
		return NULL;
	}
	if (n)
		memcpy(all + first[c->part] * record_bytes, own, n * record_bytes);
	comm_fill(c, all, record_bytes, first);
	return all;
}

void comm_pass(const struct comm *c, int from, int to, const void *out, void *in, size_t n)
{
	if (c->part == from)
		send_to(c, to, out, n);
	else if (c->part == to)
		get_from(c, from, in, n);
}

void comm_shift(const struct comm *c, int distance, const void *out, size_t n_out, void *in,
		size_t n_in)
{
	const int to = (c->part + distance) % c->n_parts,
		  from = (c->part + c->n_parts - distance) % c->n_parts;
	c->ops->swap(c->own, c->first + to, out, n_out, c->first + from, in, n_in);
}
