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

static void find_max(const struct comm *c, void *arg)
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

static void agree(const struct comm *c, void *arg)
{
	enum status *got = arg;
	got[c->part] = comm_agree(c, c->part == c->n_parts / 2 ? STATUS_IO : STATUS_OK);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_max),
		cmocka_unit_test(test_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
