/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm.h. Collective calls are binomial trees below part 0. Test:
 * tests/unit/prof_parts/test_comm.c. */
#include "hpcprof-lite/parts/comm.h"

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

int64_t comm_max(const struct comm *c, int64_t value)
{
	const int up = distance_up(c);
	for (int d = 1; d < up; d *= 2) {
		int64_t other = value;
		if (c->part + d < c->n_parts)
			get_from(c, c->part + d, &other, sizeof other);
		value = other > value ? other : value;
	}
	if (c->part) {
		send_to(c, c->part - up, &value, sizeof value);
		get_from(c, c->part - up, &value, sizeof value);
	}
	for (int d = up / 2; d > 0; d /= 2)
		if (c->part + d < c->n_parts)
			send_to(c, c->part + d, &value, sizeof value);
	return value;
}

enum status comm_agree(const struct comm *c, enum status s)
{
	return (enum status)comm_max(c, s);
}
