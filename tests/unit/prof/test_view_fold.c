/* SPDX-License-Identifier: BSD-3-Clause */
/* Folding of the interpreter's frames (view_fold.h), of a model that is written down here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hpcprof-lite/view/view_fold.h"

enum { SCRIPT, INTERPRETER, EXTENSION, N_MODULES };

static const struct model_module modules[N_MODULES] = {
	[SCRIPT] = {.path = "work.py", .is_python = true},
	[INTERPRETER] = {.path = "/usr/bin/python3.11", .role = MODEL_MODULE_INTERPRETER},
	[EXTENSION] = {.path = "/usr/lib/_json.so"},
};
static const struct model_function functions[N_MODULES] = {{.name = "f", .module = SCRIPT},
							   {.name = "eval", .module = INTERPRETER},
							   {.name = "scan", .module = EXTENSION}};

#define FUNCTION(parent_, n_, which)                                                    \
	{                                                                               \
		.parent = (parent_), .subtree_n = (n_), .kind = MODEL_CONTEXT_FUNCTION, \
		.function = (which), .module = (which)                                  \
	}
#define LINE(parent_, n_, which)                                                    \
	{                                                                           \
		.parent = (parent_), .subtree_n = (n_), .kind = MODEL_CONTEXT_LINE, \
		.function = (which), .module = (which)                              \
	}

/* root > entry > eval > its line > f > line > eval > its line > f > line; the last line also calls
 * the extension, which calls f. */
static const struct model_context contexts[] = {
	{.parent = MODEL_NONE,
	 .subtree_n = 14,
	 .kind = MODEL_CONTEXT_ROOT,
	 .function = MODEL_NONE,
	 .module = MODEL_NONE},
	{.parent = 0,
	 .subtree_n = 13,
	 .kind = MODEL_CONTEXT_ENTRY,
	 .function = MODEL_NONE,
	 .module = MODEL_NONE},
	FUNCTION(1, 12, INTERPRETER),
	LINE(2, 11, INTERPRETER),
	FUNCTION(3, 10, SCRIPT),
	LINE(4, 9, SCRIPT),
	FUNCTION(5, 8, INTERPRETER),
	LINE(6, 7, INTERPRETER),
	FUNCTION(7, 6, SCRIPT),
	LINE(8, 5, SCRIPT),
	FUNCTION(9, 4, EXTENSION),
	LINE(10, 3, EXTENSION),
	FUNCTION(11, 2, SCRIPT),
	LINE(12, 1, SCRIPT),
};
static const struct model model = {.modules = modules,
				   .n_modules = N_MODULES,
				   .functions = functions,
				   .n_functions = N_MODULES,
				   .contexts = contexts,
				   .n_contexts = 14};

static void chains_are_folded(void **state)
{
	static const bool folded[14] = {[2] = true, [3] = true, [6] = true, [7] = true};
	struct view_fold f;
	(void)state;
	assert_true(view_fold_open(&model, &f));
	for (uint32_t c = 0; c < 14; c++) {
		assert_int_equal(f.is_folded[c], folded[c]);
		assert_int_equal(f.caller[c],
				 c == 4   ? 1
				 : c == 8 ? 5
					  : MODEL_NONE); /* not 12: an extension called it */
	}
	view_fold_close(&f);
}

/* What was folded keeps its own, and gives what was moved away. */
static void totals(void **state)
{
	double self[14] = {[3] = 1, [5] = 2, [7] = 4, [13] = 8}, total[14] = {0};
	struct view_values v = {.self = self, .total = total, .whole = 15};
	struct view_fold f;
	(void)state;
	for (uint32_t c = 14; c-- > 0;) {
		total[c] += self[c];
		if (c)
			total[contexts[c].parent] += total[c];
	}
	assert_true(view_fold_open(&model, &f));
	view_fold_apply(&model, &f, &v);
	assert_true(total[2] == 1 && total[3] == 1 && total[6] == 4 && total[7] == 4);
	assert_true(total[0] == 15 && total[4] == 14 && total[8] == 8);
	view_fold_close(&f);
}

/* The extension is an operator of PyTorch now: it is shown at the line that led to it. */
static void operators_move(void **state)
{
	static const struct model_context path[] = {
		{.parent = MODEL_NONE, .subtree_n = 6, .kind = MODEL_CONTEXT_ROOT},
		FUNCTION(0, 5, SCRIPT),
		LINE(1, 4, SCRIPT),
		FUNCTION(2, 3, INTERPRETER),
		LINE(3, 2, INTERPRETER),
		FUNCTION(4, 1, EXTENSION),
	};
	struct model_function with_operator[N_MODULES];
	struct view_fold f;
	struct model m = model;
	(void)state;
	memcpy(with_operator, functions, sizeof functions);
	m.contexts = path;
	m.n_contexts = sizeof path / sizeof *path;
	m.functions = with_operator;
	for (int is_operator = 0; is_operator < 2; is_operator++) {
		with_operator[EXTENSION].is_operator = is_operator;
		assert_true(view_fold_open(&m, &f));
		assert_int_equal(f.caller[5], is_operator ? 2 : MODEL_NONE);
		assert_int_equal(f.is_folded[3], is_operator);
		view_fold_close(&f);
	}
}

static void without_python(void **state)
{
	const struct model m = {.modules = &modules[EXTENSION],
				.n_modules = 1,
				.contexts = contexts,
				.n_contexts = 1};
	struct view_fold f;
	(void)state;
	assert_true(view_fold_open(&m, &f));
	assert_null(f.caller);
	view_fold_apply(&m, &f, &(struct view_values){0});
	view_fold_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_folded),
		cmocka_unit_test(totals),
		cmocka_unit_test(operators_move),
		cmocka_unit_test(without_python),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
