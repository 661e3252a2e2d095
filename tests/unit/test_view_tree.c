/* SPDX-License-Identifier: BSD-3-Clause */
/* The items below a context, and its own value (view_tree.h), of a model that is written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/view/view_start.h"
#include "hpcprof-lite/view/view_tree.h"

enum { ROOT, MAIN, LINE, CALLED, LOOP, INNER, N_CONTEXTS };

#define CONTEXT(parent_, n_, kind_, line_) \
	{.parent = (parent_), .subtree_n = (n_), .kind = MODEL_CONTEXT_##kind_, \
	 .function = MODEL_NONE, .module = MODEL_NONE, .file = 0, .line = (line_)}

/* main has a line that calls a function, and a loop without a line around another line. */
static const struct model_context contexts[N_CONTEXTS] = {
	[ROOT] = CONTEXT(MODEL_NONE, 6, ROOT, 0),   [MAIN] = CONTEXT(ROOT, 5, FUNCTION, 0),
	[LINE] = CONTEXT(MAIN, 2, LINE, 7),         [CALLED] = CONTEXT(LINE, 1, FUNCTION, 0),
	[LOOP] = CONTEXT(MAIN, 2, LOOP, 0),         [INNER] = CONTEXT(LOOP, 1, LINE, 9),
};
static const struct model_metric metrics[] = {{.kind = MODEL_METRIC_SAMPLED,
					       .parent = MODEL_NONE}};
static const struct model model = {.contexts = contexts,
				   .n_contexts = N_CONTEXTS,
				   .metrics = metrics,
				   .n_metrics = 1};

static double total[N_CONTEXTS] = {10, 10, 7, 5, 3, 3}, self[N_CONTEXTS] = {0, 0, 2, 5, 0, 3};

static struct view_tree open_tree(double threshold)
{
	struct view_tree t;
	const struct view_values v = {.total = total, .self = self, .whole = 10};
	assert_true(view_tree_open(&model, &v, NULL, true, threshold, &t));
	assert_true(!t.has_gpu && !t.has_guesses);
	return t;
}

static void test_lists_by_value(void **state)
{
	(void)state;
	struct view_tree t = open_tree(0);
	view_items items = {0};
	assert_true(view_tree_list(&t, MAIN, &items));
	view_tree_sort(&t, items.at, items.n);
	assert_int_equal(items.n, 3);
	assert_true(items.at[0].context == CALLED && !items.at[0].is_line);
	assert_true(items.at[1].context == INNER && items.at[1].is_line);
	assert_true(items.at[2].context == LINE && items.at[2].is_line);
	assert_true(view_item_value(&t.values, &items.at[2]) == 2);
	vec_free(&items);
	view_tree_close(&t);
}

static void test_own_value(void **state)
{
	(void)state;
	struct view_tree t = open_tree(0.4);
	view_items items = {0};
	assert_true(view_tree_self(&t, &t.values, MAIN) == 5);
	assert_true(view_tree_has_self(&t, MAIN));
	assert_true(!view_tree_has_self(&t, LOOP));
	assert_true(view_tree_list(&t, MAIN, &items));
	assert_true(items.n == 1 && items.at[0].context == CALLED);
	vec_free(&items);
	view_tree_close(&t);
}

/* A program may have a function of libc's name. */
static void test_starts(void **state)
{
	(void)state;
	static const struct model_module modules[] = {{.role = MODEL_MODULE_START}, {.path = "a"}};
	static const struct model_function functions[] = {{.name = "_start", .module = 1},
							  {.name = "start_thread", .module = 0},
							  {.name = "clone", .module = 1},
							  {.name = "exit", .module = 0}};
	const struct model m = {
		.modules = modules, .n_modules = 2, .functions = functions, .n_functions = 4};
	assert_true(view_is_start(&m, 0) && view_is_start(&m, 1));
	assert_true(!view_is_start(&m, 2) && !view_is_start(&m, 3));
	assert_true(!view_is_start(&m, MODEL_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_by_value),
		cmocka_unit_test(test_own_value),
		cmocka_unit_test(test_starts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
