/* SPDX-License-Identifier: BSD-3-Clause */
/* Balance over threads and processes (view_balance.h), of a model that is written down here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/view/parallel/view_balance.h"

/* Process 0 has two threads and a queue, process 1 one thread, process 2 a thread that did nothing.
 */
static void shares(void **state)
{
	static const struct model_value values[] = {
		{.at[MODEL_EXECUTION] = 1}, {.at[MODEL_EXECUTION] = 3}, {.at[MODEL_EXECUTION] = 8}};
	static const struct model_process processes[3];
	const struct model_ledger none = {0}, ten = {.in_tree = 10},
				  thirty = {.in_tree = 30, .losses[MSR_LOSS_BUSY] = 2};
	const struct model_profile profiles[] = {
		{.process = 0,
		 .values = &values[0],
		 .n_values = 1,
		 .ledger = &ten,
		 .cpu_ns = 5},
		{.process = 0,
		 .values = &values[1],
		 .n_values = 1,
		 .ledger = &thirty,
		 .cpu_ns = 6},
		{.process = 0, .kind = MODEL_PROFILE_QUEUE},
		{.process = 1, .values = &values[2], .n_values = 1, .ledger = &none},
		{.process = 2, .ledger = &none},
	};
	const struct model m = {
		.processes = processes, .n_processes = 3, .profiles = profiles, .n_profiles = 5};
	struct view_balance b;
	(void)state;
	assert_true(view_balance_make(&m, 0, &b));
	assert_int_equal(b.threads.n, 4);
	static const uint32_t threads[] = {3, 1, 0, 4}, by_process[] = {1, 0, 2};
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(b.threads.at[i].id, threads[i]);
	assert_true(b.threads.mean == 3 && b.threads.most == 8 && b.threads.n_empty == 1);
	assert_int_equal(b.processes.n, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(b.processes.at[i].id, by_process[i]);
	const struct view_share *first = &b.processes.at[1];
	assert_true(first->value == 4 && first->n_threads == 2 && first->n_samples == 40 &&
		    first->n_lost == 2 && first->cpu_ns == 11);
	assert_true(b.processes.mean == 4 && b.processes.most == 8 && b.processes.n_empty == 1);
	view_balance_free(&b);
}

/* A thread that lost all its samples is not empty, and stands before one that is. */
static void lost_all(void **state)
{
	static const struct model_process process;
	const struct model_ledger none = {0}, lost = {.losses[MSR_LOSS_BUSY] = 1};
	const struct model_profile profiles[] = {{.process = 0, .ledger = &none},
						 {.process = 0, .ledger = &lost}};
	const struct model m = {
		.processes = &process, .n_processes = 1, .profiles = profiles, .n_profiles = 2};
	struct view_balance b;
	(void)state;
	assert_true(view_balance_make(&m, 0, &b));
	assert_true(b.threads.at[0].id == 1 && b.threads.n_empty == 1 && b.processes.n_empty == 0);
	view_balance_free(&b);
}

/* What threads did is a time, too: a thread that is left out does not lower the mean. */
static void activities(void **state)
{
	static const struct model_value four = {.at[MODEL_EXECUTION] = 4};
	static const struct model_process process = {.start_ns = 0, .end_ns = 1000000};
	static const struct model_metric work = {.kind = MODEL_METRIC_ACTIVITY};
	const struct model_ledger none = {0};
	const struct model_profile profiles[] = {
		{.ledger = &none,
		 .values = &four,
		 .n_values = 1,
		 .cpu_ns = 900000,
		 .end_ns = 1000000},
		{.ledger = &none, .thread = 1, .cpu_ns = 10, .end_ns = 1000000}};
	const struct model m = {.processes = &process,
				.n_processes = 1,
				.profiles = profiles,
				.n_profiles = 2,
				.metrics = &work,
				.n_metrics = 1};
	struct view_balance b;
	(void)state;
	assert_true(view_balance_make(&m, 0, &b));
	assert_true(b.threads.mean == 4 && b.threads.most == 4);
	view_balance_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(lost_all),
		cmocka_unit_test(activities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
