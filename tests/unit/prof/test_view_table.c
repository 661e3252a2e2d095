/* SPDX-License-Identifier: BSD-3-Clause */
/* Values by context (view_values.h) and the flat tables made of them (view_table.h). */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/view/view_table.h"

#include <stdlib.h>
#include <string.h>

static const struct view_row *find_row(const struct model *m, const struct view_rows *rows,
				       const char *function)
{
	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(m->functions[m->contexts[rows->at[i].context].function].name,
			   function) == 0)
			return &rows->at[i];
	fail_msg("no row for %s", function);
	abort();
}

/* f calls itself twice and g; one second in each frame as a leaf. */
static void test_recursion(void **state)
{
	(void)state;
	static const uint8_t id[2] = {9, 9};
	char *directory = fixture_directory();
	struct gen_structure *s = gen_structure_new("/bin/r", id, 2);
	uint32_t f_function = gen_structure_function(
		s, gen_structure_definition(s, "f", STRUCTURE_NONE, 0), 0x100);
	uint32_t g_function = gen_structure_function(
		s, gen_structure_definition(s, "g", STRUCTURE_NONE, 0), 0x200);
	gen_structure_interval(s, 0x100, f_function, STRUCTURE_NONE, 0);
	gen_structure_interval(s, 0x200, g_function, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
	struct gen *g =
		gen_open(directory, &(struct gen_process){.pid = 1, .rank = -1, .no_trace = true});
	uint16_t module = gen_module(g, "/bin/r", id, 2, 0);
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1, MSR_SOURCE_TEST),
		 t = gen_thread(g, "t"), n = gen_entry(g, t, MSR_ENTRY_MAIN);
	static const uint64_t path[] = {0x110, 0x110, 0x120, 0x208};
	for (int i = 0; i < 4; i++) {
		n = gen_child(g, t, n, msr_addr_make(module, path[i], false));
		gen_sample(g, t, n, metric, 0, 1000000000);
	}
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	struct view_values metric_of;
	struct view_rows rows;
	assert_true(view_values_open(m, 0, &metric_of));
	assert_true(metric_of.whole == 4);
	assert_int_equal(metric_of.n_all, 4);
	assert_true(view_rows_make(m, &metric_of, VIEW_BY_FUNCTION, &rows));
	assert_int_equal(rows.n, 2);
	assert_true(find_row(m, &rows, "f")->self == 3 && find_row(m, &rows, "f")->total == 4);
	assert_true(find_row(m, &rows, "g")->self == 1 && find_row(m, &rows, "g")->total == 1);
	assert_int_equal(find_row(m, &rows, "f")->n_samples, 3);
	view_rows_free(&rows);
	assert_true(view_rows_make(m, &metric_of, VIEW_BY_MODULE, &rows));
	assert_true(rows.n == 1 && rows.at[0].self == 4 && rows.at[0].total == 4);
	view_rows_free(&rows);
	view_values_close(&metric_of);
	model_free(m);
	fixture_remove(directory);
}

/* Idle threads of OpenMP have a row, although the functions in which they wait are not shown. */
static void test_idle_threads(void **state)
{
	(void)state;
	static const uint8_t id[2] = {9, 9};
	char *directory = fixture_directory();
	struct gen *g =
		gen_open(directory, &(struct gen_process){.pid = 1, .rank = -1, .no_trace = true});
	uint16_t module = gen_module(g, "/lib/libgomp.so.1", id, 2, 0);
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1, MSR_SOURCE_TEST),
		 t = gen_thread(g, "t");
	gen_sample(g, t,
		   gen_child(g, t, gen_entry(g, t, MSR_ENTRY_OMP_IDLE),
			     msr_addr_make(module, 0x110, false)),
		   metric, 0, 1000000000);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	struct view_values v;
	struct view_rows rows;
	assert_true(view_values_open(m, 0, &v) &&
		    view_rows_make(m, &v, VIEW_BY_FUNCTION, &rows));
	assert_true(view_rows_add_entries(m, &v, &rows));
	assert_int_equal(rows.n, 1);
	assert_int_equal(m->contexts[rows.at[0].context].entry, MODEL_ENTRY_OMP_IDLE);
	assert_true(rows.at[0].self == 1 && rows.at[0].total == 1 && rows.at[0].n_samples == 1);
	view_rows_free(&rows);
	view_values_close(&v);
	model_free(m);
	fixture_remove(directory);
}

/* The totals of the outermost contexts are those of the rows. */
static void check_outermost(const struct model *m, const struct view_values *t, enum view_by by,
			    const struct view_rows *rows)
{
	bool *outer = calloc(m->n_contexts, sizeof *outer);
	double wanted = 0, sum = 0;
	assert_non_null(outer);
	assert_true(view_find_outermost(m, by, outer));
	for (size_t i = 0; i < rows->n; i++)
		wanted += rows->at[i].total;
	for (uint32_t i = 0; i < m->n_contexts; i++)
		sum += outer[i] ? t->total[i] : 0;
	assert_true(sum > wanted * (1 - 1e-9) && sum < wanted * (1 + 1e-9));
	free(outer);
}

static void test_flat_sums_are_the_whole(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	gen_job(directory, &(struct gen_job){.n_processes = 1,
					     .n_threads = 2,
					     .n_nodes = 300,
					     .n_samples = 900,
					     .n_metrics = 2,
					     .seed = 4,
					     .structs = true});
	struct model *m = fixture_model(directory, 1);
	for (uint32_t k = 0; k < 2; k++)
		for (enum view_by by = VIEW_BY_FUNCTION; by <= VIEW_BY_MODULE; by++) {
			struct view_values t;
			struct view_rows rows;
			double self = 0;
			uint64_t n = 0;
			assert_true(view_values_open(m, k, &t) && view_rows_make(m, &t, by, &rows));
			for (size_t i = 0; i < rows.n; i++) {
				self += rows.at[i].self;
				n += rows.at[i].n_samples;
				assert_true(rows.at[i].total <= t.whole * (1 + 1e-12) &&
					    rows.at[i].self <= rows.at[i].total * (1 + 1e-12));
				assert_true(i == 0 || rows.at[i].self <= rows.at[i - 1].self);
			}
			assert_true(self > t.whole * (1 - 1e-12) && self < t.whole * (1 + 1e-12));
			assert_int_equal(n, t.n_all);
			check_outermost(m, &t, by, &rows);
			view_rows_free(&rows);
			view_values_close(&t);
		}
	model_free(m);
	fixture_remove(directory);
}

/* No metric of a GPU is there to be found in a run on CPUs; of nothing the total is 0. */
static void test_missing_metrics(void **state)
{
	(void)state;
	const struct model_metric metrics[] = {
		{.role = MODEL_ROLE_NONE}, {.role = MODEL_ROLE_STALL}, {.role = MODEL_ROLE_STALL}};
	const struct model_total total = {.context = 0, .metric = 1, .sum[MODEL_EXECUTION] = 7};
	const struct model m = {
		.metrics = metrics, .n_metrics = 3, .totals = &total, .n_totals = 1};
	assert_int_equal(view_find_metric(&m, MODEL_ROLE_STALL), 1);
	assert_int_equal(view_find_metric(&m, MODEL_ROLE_KERNELS), MODEL_NONE);
	assert_true(view_total(&m, 1) == 7 && view_total(&m, 2) == 0 &&
		    view_total(&m, MODEL_NONE) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_idle_threads),
		cmocka_unit_test(test_flat_sums_are_the_whole),
		cmocka_unit_test(test_missing_metrics),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
