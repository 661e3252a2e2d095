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
	{.context = 2, .metric = 0, .sum[MODEL_EXECUTION] = 12.5},
	{.context = 2, .metric = 1, .sum[MODEL_EXECUTION] = 10.5},
	{.context = 2, .metric = 2, .sum[MODEL_EXECUTION] = 2},
	{.context = 3, .metric = 0, .sum[MODEL_EXECUTION] = 12},
	{.context = 3, .metric = 1, .sum[MODEL_EXECUTION] = 10},
	{.context = 3, .metric = 2, .sum[MODEL_EXECUTION] = 2},
	{.context = 9, .metric = 1, .sum[MODEL_EXECUTION] = 1},
	{.context = 11, .metric = 1, .sum[MODEL_EXECUTION] = 0.5},
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

static const struct model_process processes[] = {{.end_ns = 100 * SECOND},
						 {.end_ns = 100 * SECOND}};
static const struct model_file files[] = {{.path = "/src/solve.c"}};

static struct model make_model(void)
{
	return (struct model){.functions = functions,
			      .n_functions = N_FUNCTIONS,
			      .contexts = contexts,
			      .n_contexts = sizeof contexts / sizeof *contexts,
			      .metrics = metrics,
			      .n_metrics = 3,
			      .processes = processes,
			      .n_processes = 2,
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
	assert_true(near(body->seconds, 6) && near(body->capacity, 44));
	/* of the region and its task, not of the nested one again */
	assert_true(near(body->work, 10.5) && near(body->activity[MODEL_OMP_BARRIER], 2));
	assert_true(near(body->efficiency, 10.5 / 44) && near(body->gain, 6 * (1 - 10.5 / 44)));
	/* mean of the threads: 2, 1 and 3 s; of the slowest: 4, 1 and 4 s */
	assert_true(near(body->imbalance, (9. - 6) / 9));
	/* no sample: nothing is known of work */
	assert_int_equal(other->function, OTHER);
	assert_true(!other->is_known && near(other->gain, 0));
	assert_true(other->has_imbalance && near(other->imbalance, 0));
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

/* A job of two processes whose regions are made by hand, each 8 s with two threads. */
static struct view_regions view_of(struct model *m, const struct model_omp_region *of, uint32_t n)
{
	struct view_regions r;
	m->omp_regions = of;
	m->n_omp_regions = n;
	assert_true(view_regions_make(m, &r));
	return r;
}

#define REGION(l)                                                                       \
	{                                                                               \
		.function = MODEL_NONE, .call_function = SOLVE, .file = 0, .line = l,   \
		.n_threads = 2, .instances = 1, .elapsed_ns = 8 * SECOND, .n_timed = 2, \
		.busy_ns = 16 * SECOND, .max_ns = 8 * SECOND, .min_ns = 8 * SECOND      \
	}

/* libomp does not say which function it calls; two regions of a line cannot be told apart. */
static void test_without_function(void **state)
{
	static const struct model_omp_region known[] = {REGION(57)};
	static const struct model_omp_region same[] = {REGION(57),
						       {.function = OTHER,
							.call_function = SOLVE,
							.file = 0,
							.line = 57,
							.n_threads = 2,
							.elapsed_ns = SECOND}};
	(void)state;
	struct model m = make_model();
	struct view_regions r = view_of(&m, known, 1);
	assert_true(r.at[0].is_known && near(r.at[0].work, 10.5));
	assert_int_equal(r.at[0].loop_line, 60);
	view_regions_free(&r);
	r = view_of(&m, same, 2);
	assert_true(!r.at[0].is_known && !r.at[1].is_known);
	assert_true(near(r.at[0].seconds, 8)); /* what could be gained is unknown: by time */
	view_regions_free(&r);
}

/* Without lines the address of the call says which region it is. */
static void test_by_address(void **state)
{
	static const struct model_context tree[] = {{.parent = MODEL_NONE,
						     .subtree_n = 4,
						     .kind = MODEL_CONTEXT_ROOT,
						     .function = MODEL_NONE,
						     .file = MODEL_NONE},
						    FUNCTION(0, 3, SOLVE),
						    {.parent = 1,
						     .subtree_n = 1,
						     .kind = MODEL_CONTEXT_INSTRUCTION,
						     .function = SOLVE,
						     .file = MODEL_NONE,
						     .link_addr = 0x100},
						    {.parent = 1,
						     .subtree_n = 1,
						     .kind = MODEL_CONTEXT_INSTRUCTION,
						     .function = SOLVE,
						     .file = MODEL_NONE,
						     .link_addr = 0x200}};
	static const struct model_total work[] = {
		{.context = 2, .metric = 1, .sum[MODEL_EXECUTION] = 3},
		{.context = 3, .metric = 1, .sum[MODEL_EXECUTION] = 5}};
	static const struct model_omp_region at[] = {{.function = MODEL_NONE,
						      .call_function = SOLVE,
						      .file = MODEL_NONE,
						      .call_addr = 0x200,
						      .n_threads = 2,
						      .elapsed_ns = 8 * SECOND}};
	(void)state;
	struct model m = make_model();
	m.contexts = tree;
	m.n_contexts = 4;
	m.totals = work;
	m.n_totals = 2;
	struct view_regions r = view_of(&m, at, 1);
	assert_true(near(r.at[0].work, 5));
	view_regions_free(&r);
}

/* The gain is bounded by processors, and by the elapsed time that regions at one time share. */
static void test_bounds(void **state)
{
	static const struct model_omp_region two[] = {REGION(57)};
	struct model_process p[2] = {{.end_ns = 100 * SECOND, .processors = "0-0"},
				     {.end_ns = 100 * SECOND, .processors = "0-0"}};
	(void)state;
	struct model m = make_model();
	m.processes = p;
	struct view_regions r = view_of(&m, two, 1);
	/* 10.5 s of work take longer than 8 s on one processor: nothing can be gained */
	assert_true(near(r.at[0].efficiency, 10.5 / 16) && near(r.at[0].gain, 0));
	view_regions_free(&r);
	p[0].end_ns = 4 * SECOND; /* two at a time */
	p[0].processors = NULL;
	r = view_of(&m, two, 1);
	assert_true(near(r.at[0].seconds, 4) && near(r.seconds, 4) && near(r.at[0].capacity, 16));
	view_regions_free(&r);
}

/* A region in another one: its second thread is one more of the outer region. */
static void test_nested(void **state)
{
	static const struct model_context tree[] = {{.parent = MODEL_NONE,
						     .subtree_n = 5,
						     .kind = MODEL_CONTEXT_ROOT,
						     .function = MODEL_NONE,
						     .file = MODEL_NONE},
						    FUNCTION(0, 4, SOLVE),
						    LINE(1, 3, SOLVE, 57),
						    FUNCTION(2, 2, SMALL),
						    LINE(3, 1, SMALL, 5)};
	static const struct model_total work[] = {
		{.context = 2, .metric = 1, .sum[MODEL_EXECUTION] = 24},
		{.context = 4, .metric = 1, .sum[MODEL_EXECUTION] = 16}};
	static const struct model_omp_region at[] = {REGION(57),
						     {.function = MODEL_NONE,
						      .call_function = SMALL,
						      .file = 0,
						      .line = 5,
						      .n_threads = 2,
						      .instances = 2,
						      .elapsed_ns = 12 * SECOND}};
	(void)state;
	struct model m = make_model();
	m.contexts = tree;
	m.n_contexts = 5;
	m.totals = work;
	m.n_totals = 2;
	struct view_regions r = view_of(&m, at, 2);
	const struct view_region *outer = &r.at[r.at[0].line == 57 ? 0 : 1];
	/* two threads for 8 s, and the second ones of the inner teams for 12 s */
	assert_true(near(outer->capacity, 28) && near(outer->efficiency, 24. / 28));
	assert_true(near(r.seconds, 8)); /* not that of the inner one again */
	view_regions_free(&r);
}

/* Where tasks did much of the work, the work of the threads says how they share it. */
static void test_tasks(void **state)
{
	static const struct model_omp_region known[] = {
		{.function = BODY, .call_function = SOLVE, .file = 0, .line = 57, .n_threads = 2,
		 .instances = 1, .elapsed_ns = 8 * SECOND}};
	static const struct model_total of[] = {
		{.context = 2, .metric = 1, .sum[MODEL_EXECUTION] = 16},
		{.context = 3, .metric = 1, .sum[MODEL_EXECUTION] = 10},
		{.context = 11, .metric = 1, .sum[MODEL_EXECUTION] = 6}};
	static const struct model_value values[] = {
		{.context = 2, .metric = 1, .at[MODEL_EXECUTION] = 12},
		{.context = 2, .metric = 1, .at[MODEL_EXECUTION] = 4}};
	static const struct model_profile threads[] = {{.values = values, .n_values = 1},
						       {.values = values + 1, .n_values = 1}};
	(void)state;
	struct model m = make_model();
	m.totals = of;
	m.n_totals = 3;
	m.profiles = threads;
	m.n_profiles = 2;
	struct view_regions r = view_of(&m, known, 1);
	assert_true(r.at[0].has_imbalance && near(r.at[0].imbalance, (12. - 8) / 12));
	view_regions_free(&r);
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
		cmocka_unit_test(test_without_function),
		cmocka_unit_test(test_by_address),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
