/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu/join/gpu_memory. */
#include "hpcprof-lite/attribute/gpu/join/gpu_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void allocate(struct gpu_memory *m, uint32_t id, uint64_t at_ns, uint64_t bytes)
{
	assert_true(gpu_memory_allocate(m, &(struct gpu_allocation){.alloc_ns = at_ns,
								    .free_ns = UINT64_MAX,
								    .bytes = bytes,
								    .id_low = id}));
}

static struct gpu_memory_account account_of(const struct gpu_memory *m)
{
	struct gpu_memory_account a;
	assert_true(gpu_memory_account(m->allocations.at, m->allocations.n, &a));
	return a;
}

static void test_peak(void **state)
{
	struct gpu_memory m = {0};
	(void)state;
	gpu_memory_free(&m, 4, 30); /* threads write in any order */
	allocate(&m, 2, 10, 100);
	allocate(&m, 4, 20, 50);
	allocate(&m, 6, 30, 60); /* at the time of that free: 160 */
	gpu_memory_free(&m, 2, 40);
	gpu_memory_free(&m, 99, 41); /* nobody's */
	gpu_memory_free(&m, 2, 50);  /* again: damage */
	allocate(&m, 8, 60, 1);
	assert_true(gpu_memory_match(&m));
	const struct gpu_memory_account a = account_of(&m);
	assert_int_equal(a.n, 4);
	assert_int_equal(a.n_freed, 2);
	assert_int_equal(a.bytes, 211);
	assert_int_equal(a.peak, 160);
	assert_int_equal(a.peak_ns, 30);
	assert_int_equal(a.end, 61);
	assert_int_equal(m.allocations.at[0].free_ns, 40);
	uint64_t live = 0;
	for (size_t i = 0; i < m.allocations.n; i++)
		if (gpu_allocation_is_live(&m.allocations.at[i], a.peak_ns))
			live += m.allocations.at[i].bytes;
	assert_int_equal(live, a.peak);
	gpu_memory_close(&m);
}

/* Against the sum over all allocations at each moment. */
static void test_any_order(void **state)
{
	enum { N = 200, TIMES = 100 };
	struct gpu_memory m = {0};
	uint64_t most = 0;
	(void)state;
	srand(1);
	for (uint32_t i = 0; i < N; i++) {
		const uint64_t at_ns = 1 + (uint64_t)rand() % TIMES;
		allocate(&m, i, at_ns, (uint64_t)rand() % 1000);
		if (rand() % 4)
			gpu_memory_free(&m, i, at_ns + (uint64_t)rand() % TIMES);
	}
	assert_true(gpu_memory_match(&m));
	const struct gpu_memory_account a = account_of(&m);
	for (uint64_t t = 0; t < 2 * TIMES; t++) {
		uint64_t live = 0;
		for (size_t i = 0; i < m.allocations.n; i++)
			if (gpu_allocation_is_live(&m.allocations.at[i], t))
				live += m.allocations.at[i].bytes;
		if (live > most) {
			most = live;
			assert_true(t <= a.peak_ns);
		}
	}
	assert_int_equal(a.peak, most);
	gpu_memory_close(&m);
}

static void test_damage(void **state)
{
	struct gpu_memory m = {0};
	(void)state;
	allocate(&m, 2, 10, UINT64_MAX);
	allocate(&m, 4, 20, UINT64_MAX);
	gpu_memory_free(&m, 2, 5); /* before it was allocated */
	assert_true(gpu_memory_match(&m));
	const struct gpu_memory_account a = account_of(&m);
	assert_int_equal(m.allocations.at[0].free_ns, 10);
	assert_int_equal(a.peak, UINT64_MAX);
	assert_int_equal(a.bytes, UINT64_MAX);
	gpu_memory_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_peak),
					   cmocka_unit_test(test_any_order),
					   cmocka_unit_test(test_damage)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
