/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/memory/memory_table.c: what is found again, by whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/memory/memory_table.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MANY = 200000, THREADS = 4, TURNS = 20000 };

static bool put(uintptr_t at, uint64_t stamp)
{
	return memory_table_put(at, &(struct memory_kept){NULL, stamp});
}

static uint64_t take(uintptr_t at)
{
	struct memory_kept kept;
	return memory_table_take(at, &kept) ? kept.stamp : 0;
}

static int forget(void **state)
{
	(void)state;
	memory_table_forget();
	return 0;
}

static void an_address_is_found_once(void **state)
{
	(void)state;
	assert_int_equal(take(0x1000), 0);
	assert_true(put(0x1000, 7));
	assert_int_equal(take(0x1010), 0);
	assert_int_equal(take(0x1000), 7);
	assert_int_equal(take(0x1000), 0);
}

/* Buckets get full, and further levels are used. */
static void many_addresses(void **state)
{
	(void)state;
	for (uintptr_t i = 1; i <= MANY; i++)
		assert_true(put(i * 16, i));
	for (uintptr_t i = 1; i <= MANY; i += 2)
		assert_int_equal(take(i * 16), i);
	for (uintptr_t i = 1; i <= MANY; i += 2)
		assert_true(put(i * 16, 2 * i));
	for (uintptr_t i = 1; i <= MANY; i++)
		assert_int_equal(take(i * 16), i % 2 ? 2 * i : i);
}

static void a_child_forgets(void **state)
{
	(void)state;
	assert_true(put(0x1000, 7));
	memory_table_forget();
	assert_int_equal(take(0x1000), 0);
	assert_true(put(0x1000, 8));
	assert_int_equal(take(0x1000), 8);
}

/*
 * Each address goes from thread to thread, as the program passes its blocks: who has it takes it
 * and puts it back with a number one higher.
 */
static _Atomic uint64_t n_taken;
static _Atomic bool is_held[64];

static void *pass_on(void *nothing)
{
	for (unsigned i = 0; i < TURNS; i++) {
		struct memory_kept kept;
		const uintptr_t at = 4096 + 16 * (i % 64);
		if (atomic_exchange(&is_held[i % 64], true))
			continue;
		if (!memory_table_take(at, &kept))
			return &n_taken;
		atomic_fetch_add(&n_taken, 1);
		kept.stamp++;
		if (!memory_table_put(at, &kept))
			return &n_taken;
		atomic_store(&is_held[i % 64], false);
	}
	return nothing;
}

static void threads_take_in_turn(void **state)
{
	pthread_t threads[THREADS];
	void *failed;
	uint64_t sum = 0;
	(void)state;
	for (uintptr_t i = 0; i < 64; i++)
		assert_true(put(4096 + 16 * i, 1));
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, pass_on, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	for (uintptr_t i = 0; i < 64; i++)
		sum += take(4096 + 16 * i) - 1;
	assert_int_equal(sum, n_taken);
	assert_true(sum > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_address_is_found_once, forget),
		cmocka_unit_test_teardown(many_addresses, forget),
		cmocka_unit_test_teardown(a_child_forgets, forget),
		cmocka_unit_test_teardown(threads_take_in_turn, forget)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
