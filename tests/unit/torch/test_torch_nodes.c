/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/torch/torch_nodes.c: which nodes are found again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/torch/torch_nodes.h"

#include <pthread.h>

static uint64_t find(uint64_t thread, uint64_t number)
{
	return torch_nodes_find(&(struct torch_node){thread, number});
}

static void put(uint64_t thread, uint64_t number, uint64_t frame)
{
	torch_nodes_put(&(struct torch_node){thread, number}, frame);
}

static int forget(void **state)
{
	(void)state;
	torch_nodes_forget();
	return 0;
}

static void found_again(void **state)
{
	(void)state;
	assert_int_equal(find(1, 0), 0);
	put(1, 0, 11);
	put(1, 1, 12);
	put(2, 0, 21);
	assert_int_equal(find(1, 0), 11);
	assert_int_equal(find(1, 1), 12);
	assert_int_equal(find(2, 0), 21);
	assert_int_equal(find(2, 1), 0);
	assert_int_equal(find(3, 0), 0);
	torch_nodes_forget();
	assert_int_equal(find(1, 0), 0);
}

static void as_many_as_it_says(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < TORCH_NODES_MOST; i++)
		put(1, i, i + 1);
	for (uint64_t i = 0; i < TORCH_NODES_MOST; i++)
		assert_int_equal(find(1, i), i + 1);
	put(1, TORCH_NODES_MOST, 7);
	assert_int_equal(find(1, 0), 0); /* and not 7 */
	assert_int_equal(find(1, 1), 2);
	assert_int_equal(find(1, TORCH_NODES_MOST), 7);
}

/* Threads replace some entries of each other, but no node has the frame of another one. */
static void threads_share_the_table(void **state)
{
	enum { THREADS = 40, NODES = 10000 };
	uint64_t n_found = 0;
	(void)state;
	for (uint64_t t = 1; t <= THREADS; t++)
		for (uint64_t i = 0; i < NODES; i++)
			put(t, i, t << 32 | (i + 1));
	for (uint64_t t = 1; t <= THREADS; t++)
		for (uint64_t i = 0; i < NODES; i++) {
			const uint64_t frame = find(t, i);
			assert_true(frame == 0 || frame == (t << 32 | (i + 1)));
			n_found += frame != 0;
		}
	assert_in_range(n_found, TORCH_NODES_MOST / 2, TORCH_NODES_MOST);
}

/* Two threads write the same entries in turn: thread and frame always belong together. */
static void *write_entries(void *arg)
{
	const uint64_t thread = (uintptr_t)arg;
	for (uint64_t i = 0; i < 2000000; i++)
		put(1, thread + TORCH_NODES_MOST * (i % 4),
		    thread + TORCH_NODES_MOST * (i % 4) + 1);
	return NULL;
}

static void torn_entries_are_not_found(void **state)
{
	pthread_t writer[2];
	(void)state;
	for (int k = 0; k < 2; k++)
		assert_int_equal(pthread_create(&writer[k], NULL, write_entries, NULL), 0);
	for (uint64_t i = 0; i < 2000000; i++) {
		const uint64_t number = TORCH_NODES_MOST * (i % 4), frame = find(1, number);
		assert_true(frame == 0 || frame == number + 1);
	}
	for (int k = 0; k < 2; k++)
		pthread_join(writer[k], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(found_again, forget),
		cmocka_unit_test_setup(as_many_as_it_says, forget),
		cmocka_unit_test_setup(threads_share_the_table, forget),
		cmocka_unit_test_setup(torn_entries_are_not_found, forget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
