/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel regions of OpenMP (view_regions.h), of a model made by hand. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/view/parallel/view_regions.h"

#include <math.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

enum { MAIN, SOLVE, BODY, TASK, OTHER, SMALL, SECOND_BODY, THIRD_BODY, N_FUNCTIONS };

static const struct model_function functions[N_FUNCTIONS] = {
	[MAIN] = {.name = "main"},
	[SOLVE] = {.name = "solve"},
	[BODY] = {.name = "solve._omp_fn.0"},
	[TASK] = {.name = "solve._omp_fn.1"},
	[OTHER] = {.name = ".omp_outlined."},
	[SMALL] = {.name = "small"},
	[SECOND_BODY] = {.name = ".omp_outlined..1"},
	[THIRD_BODY] = {.name = ".omp_outlined..2"},
};

#define FUNCTION(p, n, f) \
	{.parent = p, .subtree_n = n, .kind = MODEL_CONTEXT_FUNCTION, .relation = MODEL_CALL, \
	 .function = f, .file = MODEL_NONE}
#define LINE(p, n, f, l) \
	{.parent = p, .subtree_n = n, .kind = MODEL_CONTEXT_LINE, .function = f, .file = 0, \
	 .line = l}
#define LOOP(p, n, f, l) \
	{.parent = p, .subtree_n = n, .kind = MODEL_CONTEXT_LOOP, .function = f, .file = 0, \
	 .line = l}

static const struct model_context contexts[] = {
	{.parent = MODEL_NONE, .subtree_n = 14, .kind = MODEL_CONTEXT_ROOT, .function = MODEL_NONE,
	 .file = MODEL_NONE},
	FUNCTION(0, 13, SOLVE),
	LINE(1, 10, SOLVE, 57),
	FUNCTION(2, 8, BODY), /* 3 */
	LOOP(3, 2, BODY, 60),
	LINE(4, 1, BODY, 61),
	LINE(3, 5, BODY, 62), /* 6: an inlined function with a loop of its own */
	{.parent = 6, .subtree_n = 2, .kind = MODEL_CONTEXT_FUNCTION, .relation = MODEL_INLINED,
	 .function = SMALL, .file = MODEL_NONE},
	LOOP(7, 1, SMALL, 5),
	FUNCTION(6, 2, BODY), /* 9: nested: counted in context 3 */
	LINE(9, 1, BODY, 61),
	FUNCTION(2, 1, TASK), /* 11: a task of the region, below the fork */
	LINE(1, 2, SOLVE, 70),
	FUNCTION(12, 1, OTHER),
};

static const struct model_metric metrics[] = {
	{.kind = MODEL_METRIC_SAMPLED,
	 .is_time = true,
	 .unit = MODEL_SECONDS,
	 .event = "CPUTIME",
	 .measures = MODEL_EVENT_CPUTIME},
	{.kind = MODEL_METRIC_ACTIVITY, .activity = MODEL_WORK, .unit = MODEL_SECONDS},
	{.kind = MODEL_METRIC_ACTIVITY, .activity = MODEL_OMP_BARRIER, .unit = MODEL_SECONDS},
};

static const struct model_total totals[] = {
	{.context = 3, .metric = 0, .sum[MODEL_EXECUTION] = 12},
	{.context = 3, .metric = 1, .sum[MODEL_EXECUTION] = 10},
	{.context = 3, .metric = 2, .sum[MODEL_EXECUTION] = 2},
	{.context = 9, .metric = 1, .sum[MODEL_EXECUTION] = 1},
	{.context = 11, .metric = 1, .sum[MODEL_EXECUTION] = 6},
};

/* Two processes with teams of 4 for 5 s; one also had a team of 2 for 2 s; and another region. */
static const struct model_omp_region regions[] = {
	{.process = 0, .function = BODY, .call_function = SOLVE, .file = 0, .line = 57,
	 .n_threads = 4, .instances = 10, .elapsed_ns = 5 * SECOND, .n_timed = 40,
	 .busy_ns = 8 * SECOND, .max_ns = 4 * SECOND, .min_ns = SECOND},
	{.process = 0, .function = BODY, .call_function = SOLVE, .file = 0, .line = 57,
	 .n_threads = 2, .instances = 1, .elapsed_ns = 2 * SECOND, .n_timed = 2,
	 .busy_ns = 2 * SECOND, .max_ns = SECOND, .min_ns = SECOND},
	{.process = 0, .function = OTHER, .call_function = SOLVE, .file = 0, .line = 70,
	 .n_threads = 4, .instances = 1, .elapsed_ns = SECOND, .n_timed = 4,
	 .busy_ns = 4 * SECOND, .max_ns = SECOND, .min_ns = SECOND},
	{.process = 1, .function = BODY, .call_function = SOLVE, .file = 0, .line = 57,
	 .n_threads = 4, .instances = 10, .elapsed_ns = 5 * SECOND, .n_timed = 40,
	 .busy_ns = 12 * SECOND, .max_ns = 4 * SECOND, .min_ns = SECOND},
};

static const struct model_file files[] = {{.path = "/src/solve.c"}};

static struct model make_model(void)
{
	return (struct model){.functions = functions,
			      .n_functions = N_FUNCTIONS,
			      .contexts = contexts,
			      .n_contexts = sizeof contexts / sizeof *contexts,
			      .metrics = metrics,
			      .n_metrics = 3,
			      .files = files,
			      .n_files = 1,
			      .totals = totals,
			      .n_totals = sizeof totals / sizeof *totals,
			      .omp_regions = regions,
			      .n_omp_regions = sizeof regions / sizeof *regions};
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void test_sums(void **state)
{
	(void)state;
	struct model m = make_model();
	struct view_regions r;
	assert_true(view_regions_make(&m, &r));
	assert_int_equal(r.n, 2);
	const struct view_region *body = &r.at[0], *other = &r.at[1]; /* by gain */
	assert_int_equal(body->function, BODY);
	assert_int_equal(body->n_processes, 2);
	assert_int_equal(body->instances, 21);
	assert_true(body->least_threads == 2 && body->most_threads == 4);
	assert_true(near(body->seconds, 6) && near(body->capacity, 44) && near(body->busy, 22));
	/* of the region and its task, not of the nested one again */
	assert_true(near(body->work, 16) && near(body->activity[MODEL_OMP_BARRIER], 2));
	assert_true(near(body->efficiency, 16. / 44) && near(body->gain, 6 * (1 - 16. / 44)));
	/* mean of the threads: 2, 1 and 3 s; of the slowest: 4, 1 and 4 s */
	assert_true(near(body->imbalance, (9. - 6) / 9));
	/* no sample: the time in the function counts as work */
	assert_int_equal(other->function, OTHER);
	assert_true(!other->has_samples && near(other->work, 4) && near(other->gain, 0));
	assert_true(near(other->imbalance, 0));
	view_regions_free(&r);
}

static void test_loop(void **state)
{
	(void)state;
	struct model m = make_model();
	struct view_regions r;
	assert_true(view_regions_make(&m, &r));
	assert_int_equal(r.at[0].loop_line, 60); /* that of small() does not count */
	assert_int_equal(r.at[0].loop_file, 0);
	assert_int_equal(r.at[1].loop_file, MODEL_NONE);
	view_regions_free(&r);
}

/* Of one to three regions at the line of a task whose name does not say which one it belongs to. */
static void test_task_of_clang(void **state)
{
	static const struct model_function names[N_FUNCTIONS] = {
		[TASK] = {.name = ".omp_outlined..3"},
		[OTHER] = {.name = ".omp_outlined."},
		[SECOND_BODY] = {.name = ".omp_outlined..1"},
		[THIRD_BODY] = {.name = ".omp_outlined..2"}};
	static const struct model_omp_region of_line[] = {
		{.function = OTHER, .n_threads = 1, .elapsed_ns = 9 * SECOND},
		{.function = SECOND_BODY, .n_threads = 1, .elapsed_ns = 9 * SECOND},
		{.function = THIRD_BODY, .n_threads = 1, .elapsed_ns = 9 * SECOND}};
	static const struct model_total of_task[] = {
		{.context = 2, .metric = 1, .sum[MODEL_EXECUTION] = 6}};
	(void)state;
	for (uint32_t n = 1; n <= 3; n++) {
		struct model_context tree[] = {
			{.parent = MODEL_NONE, .subtree_n = 3 + n, .kind = MODEL_CONTEXT_ROOT,
			 .function = MODEL_NONE, .file = MODEL_NONE},
			LINE(0, 2 + n, SOLVE, 57),
			FUNCTION(1, 1, TASK),
			FUNCTION(1, 1, OTHER),
			FUNCTION(1, 1, SECOND_BODY),
			FUNCTION(1, 1, THIRD_BODY)};
		struct model m = make_model();
		struct view_regions r;
		double work = 0;
		m.functions = names;
		m.contexts = tree;
		m.n_contexts = 3 + n;
		m.totals = of_task;
		m.n_totals = 1;
		m.omp_regions = of_line;
		m.n_omp_regions = 3;
		assert_true(view_regions_make(&m, &r));
		for (size_t i = 0; i < r.n; i++)
			work += r.at[i].activity[MODEL_WORK];
		assert_true(near(work, n == 1 ? 6 : 0));
		view_regions_free(&r);
	}
}

static void test_names(void **state)
{
	(void)state;
	struct model m = make_model();
	struct view_region r = {.function = BODY, .call_function = MAIN};
	char name[64];
	assert_string_equal(view_region_name(&m, &r, "solve.c:57", name, sizeof name),
			    "solve, parallel region at solve.c:57");
	r.function = OTHER; /* clang does not say of which function */
	assert_string_equal(view_region_name(&m, &r, "solve.c:57", name, sizeof name),
			    "main, parallel region at solve.c:57");
	r.call_function = MODEL_NONE;
	assert_string_equal(view_region_name(&m, &r, "", name, sizeof name), "parallel region");
}

static void test_none(void **state)
{
	(void)state;
	struct model m = make_model();
	struct view_regions r;
	m.n_omp_regions = 0;
	assert_true(view_regions_make(&m, &r));
	assert_int_equal(r.n, 0);
	view_regions_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_task_of_clang),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
