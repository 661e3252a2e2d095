/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls, with threads as parts. */
#include "hpcprof-lite/parts/comm.h"

#include "hpcprof-lite/parts/comm_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int numbers[] = {1, 2, 3, 5, 8, 64};

#define EACH_NUMBER(i) size_t i = 0; i < sizeof numbers / sizeof *numbers; i++

/* ---- the largest value ---- */

static void find_max(struct comm *c, void *arg)
{
	int64_t *got = arg;
	for (int who = 0; who < c->n_parts; who++) /* each has the largest once */
		got[c->part] += comm_max(c, c->part == who ? 7 + who : -c->part) == 7 + who;
}

static void test_max(void **state)
{
	(void)state;
	for (EACH_NUMBER(i)) {
		int64_t got[64] = {0};
		assert_true(comm_threads_run(numbers[i], find_max, got));
		for (int part = 0; part < numbers[i]; part++)
			assert_int_equal(got[part], numbers[i]);
	}
}

static void compare(struct comm *c, void *arg)
{
	bool *got = arg;
	got[c->part] = comm_is_same(c, INT64_MIN) && comm_is_same(c, INT64_MAX) &&
		       (c->n_parts == 1 || !comm_is_same(c, c->part ? INT64_MAX : INT64_MIN));
}

static void test_is_same(void **state)
{
	(void)state;
	for (EACH_NUMBER(i)) {
		bool got[64] = {false};
		assert_true(comm_threads_run(numbers[i], compare, got));
		for (int part = 0; part < numbers[i]; part++)
			assert_true(got[part]);
	}
}

static void agree(struct comm *c, void *arg)
{
	enum status *got = arg;
	assert_int_equal(comm_agree(c, STATUS_OK), STATUS_OK);
	comm_agree(c, c->part == c->n_parts / 2 ? STATUS_IO : STATUS_OK);
	got[c->part] = comm_agree(c, STATUS_OK); /* without a message */
}

static void test_agree(void **state)
{
	(void)state;
	for (EACH_NUMBER(i)) {
		enum status got[64] = {STATUS_OK};
		assert_true(comm_threads_run(numbers[i], agree, got));
		for (int part = 0; part < numbers[i]; part++)
			assert_int_equal(got[part], STATUS_IO);
	}
}

/* All have the same value, then one of them another. */
static void agree_on(struct comm *c, void *arg)
{
	enum status *got = arg;
	if (comm_agree_on(c, STATUS_OK, UINT64_MAX) == STATUS_OK)
		got[c->part] = comm_agree_on(c, STATUS_OK, c->part == c->n_parts - 1);
}

static void test_agree_on(void **state)
{
	(void)state;
	for (EACH_NUMBER(i)) {
		enum status got[64] = {STATUS_USAGE};
		assert_true(comm_threads_run(numbers[i], agree_on, got));
		for (int part = 0; part < numbers[i]; part++)
			assert_int_equal(got[part],
					 numbers[i] > 1 ? STATUS_DIFFERS : STATUS_OK);
	}
}

/* The first part fails, and the others have messages that it does not know. */
static void work_apart(struct comm *c, void *arg)
{
	enum status *got = arg;
	struct comm rest = comm_others(c);
	uint64_t sum = (uint64_t)c->part;
	int next = c->part;
	if (c->part) {
		comm_add(&rest, &sum, 1);
		comm_shift(&rest, 1, &c->part, sizeof c->part, &next, sizeof next);
		if (comm_agree(&rest, STATUS_OK) != STATUS_OK ||
		    sum != (uint64_t)(c->n_parts * (c->n_parts - 1) / 2) ||
		    next != (c->part > 1 ? c->part - 1 : c->n_parts - 1))
			return;
	}
	got[c->part] = comm_agree(c, c->part ? STATUS_OK : STATUS_IO);
}

/* The last part fails before a step of the others. */
static void fail_apart(struct comm *c, void *arg)
{
	enum status *got = arg;
	struct comm rest = comm_others(c);
	if (c->part && c->part < c->n_parts - 1)
		comm_agree(&rest, STATUS_OK);
	got[c->part] = comm_agree_both(c->part ? &rest : NULL, c,
				       c->part == c->n_parts - 1 ? STATUS_IO : STATUS_OK);
}

static void check_others(void (*work)(struct comm *c, void *arg))
{
	for (EACH_NUMBER(i)) {
		enum status got[64] = {STATUS_OK};
		assert_true(comm_threads_run(numbers[i], work, got));
		for (int part = 0; part < numbers[i]; part++)
			assert_int_equal(got[part], STATUS_IO);
	}
}

static void test_others(void **state)
{
	(void)state;
	check_others(work_apart);
	check_others(fail_apart);
}

/* ---- rows of the same weight ---- */

static void test_cut(void **state)
{
	const struct comm c = {.n_parts = 4};
	const uint64_t even[] = {2, 2, 2, 2, 2, 2, 2, 2}, heavy[] = {0, 9, 0, 3, 0};
	uint64_t first[5];
	(void)state;
	comm_cut(&c, even, 8, first);
	assert_memory_equal(first, ((uint64_t[]){0, 2, 4, 6, 8}), sizeof first);
	comm_cut(&c, heavy, 5, first);
	assert_memory_equal(first, ((uint64_t[]){0, 2, 2, 2, 5}), sizeof first);
	comm_cut(&c, NULL, 0, first);
	assert_memory_equal(first, ((uint64_t[]){0, 0, 0, 0, 0}), sizeof first);
}

/* ---- sums, arrays in pieces, rings ---- */

static void add(struct comm *c, void *arg)
{
	enum { N = 20001 };
	uint64_t *values = malloc(N * sizeof *values);
	int *n_wrong = arg;
	for (uint64_t i = 0; i < N; i++)
		values[i] = i == 7 ? UINT64_MAX - 1 : i * (uint64_t)c->part;
	comm_add(c, values, N);
	const uint64_t n = (uint64_t)c->n_parts;
	for (uint64_t i = 0; i < N; i++)
		n_wrong[c->part] += values[i] != (i != 7  ? i * (n * (n - 1) / 2)
						  : n > 1 ? UINT64_MAX
							  : UINT64_MAX - 1);
	free(values);
}

static void most(struct comm *c, void *arg)
{
	enum { N = 9001 };
	int64_t *values = malloc(N * sizeof *values);
	int *n_wrong = arg;
	for (int i = 0; i < N; i++)
		values[i] = c->part == i % c->n_parts ? -i : INT64_MIN + c->part;
	comm_most(c, values, N);
	for (int i = 0; i < N; i++)
		n_wrong[c->part] += values[i] != -i;
	free(values);
}

/* Part i has i records, so part 0 has none. Part 0 gets all, then the others. */
static void fill(struct comm *c, void *arg)
{
	uint64_t first[65], array[64 * 64] = {0};
	int *n_wrong = arg;
	for (int i = 0; i <= c->n_parts; i++)
		first[i] = (uint64_t)(i * (i - 1) / 2);
	for (uint64_t i = first[c->part]; i < first[c->part + 1]; i++)
		array[i] = i + 1;
	comm_gather(c, array, sizeof *array, first);
	for (uint64_t i = 0; i < first[c->n_parts]; i++) {
		const bool is_here = c->part == 0 ||
				     (i >= first[c->part] && i < first[c->part + 1]);
		n_wrong[c->part] += array[i] != (is_here ? i + 1 : 0);
	}
	comm_fill(c, array, sizeof *array, first);
	for (uint64_t i = 0; i < first[c->n_parts]; i++)
		n_wrong[c->part] += array[i] != i + 1;
}

static void shift(struct comm *c, void *arg)
{
	int *n_wrong = arg;
	for (int d = 0; d < c->n_parts; d++) {
		const int from = (c->part + c->n_parts - d) % c->n_parts;
		int out[66] = {c->part, d}, in[66] = {-1};
		const size_t n = 2 + (size_t)from;
		out[1 + c->part] = d; /* of part 0: after its number */
		comm_shift(c, d, out, (2 + (size_t)c->part) * sizeof *out, in, n * sizeof *in);
		n_wrong[c->part] += in[0] != from || in[1 + from] != d;
	}
}

static void check(void (*work)(struct comm *c, void *arg))
{
	for (EACH_NUMBER(i)) {
		int n_wrong[64] = {0};
		assert_true(comm_threads_run(numbers[i], work, n_wrong));
		for (int part = 0; part < numbers[i]; part++)
			assert_int_equal(n_wrong[part], 0);
	}
}

static void test_add(void **state)
{
	(void)state;
	check(add);
}

static void test_most(void **state)
{
	(void)state;
	check(most);
}

static void test_fill(void **state)
{
	(void)state;
	check(fill);
}

static void test_shift(void **state)
{
	(void)state;
	check(shift);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_max),
		cmocka_unit_test(test_is_same),
		cmocka_unit_test(test_agree),
		cmocka_unit_test(test_agree_on),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_shift),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
