/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of calls (view_calls.h), of a model that is written down here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hpcprof-lite/view/view_calls.h"

/* f and the second f are static functions of two modules. */
static const struct model_module modules[] = {{.path = "a"}, {.path = "b"}};
static const struct model_function functions[] = {{.name = "main", .module = 0},
						  {.name = "f", .module = 0},
						  {.name = "f", .module = 1},
						  {.name = "g", .module = 1}};

/* main calls f, f of b, and f again in a loop; the last one calls g; a thread starts in g. */
static const struct model_context contexts[] = {
	{MODEL_NONE, 14, MODEL_CONTEXT_ROOT, .function = MODEL_NONE},
	{0, 11, MODEL_CONTEXT_ENTRY, .entry = MODEL_ENTRY_MAIN, .function = MODEL_NONE},
	{1, 10, MODEL_CONTEXT_FUNCTION, MODEL_CALL, .function = 0},
	{2, 4, MODEL_CONTEXT_LINE, .function = 0},
	{3, 2, MODEL_CONTEXT_FUNCTION, MODEL_CALL, .function = 1},
	{4, 1, MODEL_CONTEXT_LINE, .function = 1},
	{3, 1, MODEL_CONTEXT_FUNCTION, MODEL_CALL, .function = 2},
	{2, 5, MODEL_CONTEXT_LOOP, .function = 0},
	{7, 4, MODEL_CONTEXT_LINE, .function = 0},
	{8, 3, MODEL_CONTEXT_FUNCTION, MODEL_INLINED, .function = 1},
	{9, 2, MODEL_CONTEXT_LINE, .function = 1},
	{10, 1, MODEL_CONTEXT_FUNCTION, MODEL_CALL, .function = 3},
	{0, 2, MODEL_CONTEXT_ENTRY, .entry = MODEL_ENTRY_THREAD, .function = MODEL_NONE},
	{12, 1, MODEL_CONTEXT_FUNCTION, MODEL_CALL, .function = 3},
};
enum { N_CONTEXTS = sizeof contexts / sizeof contexts[0] };

static void equal_paths_are_one_node(void **state)
{
	static const uint32_t parents[] = {MODEL_NONE, 0, 1, 2, 3, 0, 5};
	static const uint32_t node_of[N_CONTEXTS] = {0, 1, 2, 2, 3, 3, 3, 2, 2, 3, 3, 4, 5, 6};
	struct model_total totals[N_CONTEXTS];
	struct view_calls c;
	(void)state;
	for (uint32_t i = 0; i < N_CONTEXTS; i++)
		totals[i] = (struct model_total){.context = i, .sum[MODEL_POINT] = 1 << i};
	const struct model m = {.modules = modules,
				.n_modules = 2,
				.functions = functions,
				.n_functions = 4,
				.contexts = contexts,
				.n_contexts = N_CONTEXTS,
				.totals = totals,
				.n_totals = N_CONTEXTS};
	assert_true(view_calls_open(&m, &c));
	assert_int_equal(c.nodes.n, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(c.nodes.at[i].parent, parents[i]);
	assert_memory_equal(c.node_of, node_of, sizeof node_of);
	assert_int_equal(c.nodes.at[4].depth, 4);
	assert_int_equal(c.nodes.at[3].context, 4);
	double *values = view_calls_values(&m, &c, 0);
	assert_non_null(values);
	assert_true(values[3] == (1 << 4 | 1 << 5 | 1 << 6 | 1 << 9 | 1 << 10));
	assert_true(values[6] == 1 << 13);
	free(values);
	view_calls_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equal_paths_are_one_node)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
