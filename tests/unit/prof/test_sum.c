/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/attribute/sum against an oracle that follows the definitions of model.h
 * context by context: values of each profile in all scopes, and totals.
 */
#include "tests/unit/prof/prof_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the descendant d of c counts for c in the scope; the definitions of enum model_scope,
 * read literally. */
static bool counts(const struct model *m, uint32_t c, uint32_t d, enum model_scope scope)
{
	if (d == c)
		return true;
	const struct model_context *all = m->contexts;
	bool without_loops = scope == MODEL_LEX_AWARE && all[c].kind == MODEL_CONTEXT_LOOP;
	switch (scope) {
	case MODEL_POINT:
		return false;
	case MODEL_FUNCTION:
	case MODEL_LEX_AWARE:
		for (; d != c; d = all[d].parent)
			if (all[d].relation != MODEL_LEXICAL ||
			    all[d].kind == MODEL_CONTEXT_ENTRY ||
			    (without_loops && all[d].kind == MODEL_CONTEXT_LOOP))
				return false;
		return true;
	default:
		return true;
	}
}

static double oracle(const struct model *m, const double *points, uint32_t c,
		     enum model_scope scope)
{
	double sum = 0;
	for (uint32_t d = c; d < c + m->contexts[c].subtree_n; d++)
		if (counts(m, c, d, scope))
			sum += points[d];
	return sum;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
}

/* The point values of a profile, by context. */
static double *points_of(const struct model *m, uint32_t profile, uint32_t metric)
{
	double *points = calloc(m->n_contexts, sizeof *points);
	assert_non_null(points);
	for (size_t i = 0; i < m->profiles[profile].n_values; i++) {
		const struct model_value *v = &m->profiles[profile].values[i];
		if (v->metric == metric)
			points[v->context] = v->at[MODEL_POINT];
	}
	return points;
}

static void check_profile(const struct model *m, uint32_t profile, uint32_t metric, double *sum,
			  double *squares)
{
	double *points = points_of(m, profile, metric);
	for (uint32_t c = 0; c < m->n_contexts; c++) {
		const struct model_value *v = model_find_value(m, profile, c, metric);
		for (enum model_scope s = MODEL_POINT; s < MODEL_N_SCOPES; s++) {
			double want = oracle(m, points, c, s);
			assert_true(near(v ? v->at[s] : 0, want));
			sum[c * MODEL_N_SCOPES + s] += want;
			squares[c * MODEL_N_SCOPES + s] += want * want;
		}
		assert_int_equal(v != NULL, oracle(m, points, c, MODEL_EXECUTION) != 0);
	}
	free(points);
}

static void check_totals(const struct model *m, uint32_t metric, const double *sum,
			 const double *squares)
{
	for (uint32_t c = 0; c < m->n_contexts; c++) {
		const struct model_total *t = model_find_total(m, c, metric);
		uint32_t n = 0, n_values[MODEL_N_SCOPES] = {0};
		double low[MODEL_N_SCOPES], high[MODEL_N_SCOPES];
		for (uint32_t p = 0; p < m->n_profiles; p++) {
			const struct model_value *v = model_find_value(m, p, c, metric);
			for (unsigned s = 0; v && s < MODEL_N_SCOPES; s++) {
				n_values[s] += v->at[s] != 0;
				low[s] = n && low[s] < v->at[s] ? low[s] : v->at[s];
				high[s] = n && high[s] > v->at[s] ? high[s] : v->at[s];
			}
			n += v != NULL;
		}
		assert_int_equal(t ? t->n_profiles : 0, n);
		for (unsigned s = 0; t && s < MODEL_N_SCOPES; s++) {
			assert_true(near(t->sum[s], sum[c * MODEL_N_SCOPES + s]) &&
				    near(t->sum_of_squares[s], squares[c * MODEL_N_SCOPES + s]));
			assert_int_equal(t->n_values[s], n_values[s]);
			assert_true(t->min[s] == low[s] && t->max[s] == high[s]);
		}
	}
}

static void test_against_oracle(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen_job job = {.n_processes = 2,
			      .n_threads = 3,
			      .n_nodes = 200,
			      .n_samples = 600,
			      .n_metrics = 3,
			      .n_functions = 30,
			      .seed = 5,
			      .structs = true,
			      .losses = true};
	gen_job(directory, &job);
	struct model *m = fixture_model(directory, 2);
	fixture_check_model(m);
	for (uint32_t metric = 0; metric < m->n_metrics; metric++) {
		double *sum = calloc((size_t)m->n_contexts * MODEL_N_SCOPES, sizeof *sum);
		double *squares = calloc((size_t)m->n_contexts * MODEL_N_SCOPES, sizeof *squares);
		assert_true(sum && squares);
		for (uint32_t p = 0; p < m->n_profiles; p++)
			check_profile(m, p, metric, sum, squares);
		check_totals(m, metric, sum, squares);
		free(sum);
		free(squares);
	}
	model_free(m);
	fixture_remove(directory);
}

/* Point values themselves: the time line says how often each context was met, and the generator
 * weighs each sample with the period and up to 1000 more. */
static void test_points_against_time_lines(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen_job job = {.n_processes = 1,
			      .n_threads = 3,
			      .n_nodes = 100,
			      .n_samples = 500,
			      .n_metrics = 2,
			      .seed = 9,
			      .structs = true};
	gen_job(directory, &job);
	struct model *m = fixture_model(directory, 1);
	uint64_t *count = calloc((size_t)m->n_contexts * m->n_metrics, sizeof *count);
	assert_non_null(count);
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_trace_cursor c = {0};
		struct model_sample s;
		while (model_trace_read(m, p, &c, &s, 1))
			count[s.context * m->n_metrics + s.metric]++;
	}
	for (uint32_t c = 0; c < m->n_contexts; c++)
		for (uint32_t k = 0; k < m->n_metrics; k++) {
			const struct model_total *t = model_find_total(m, c, k);
			uint64_t n = count[c * m->n_metrics + k];
			assert_int_equal(t ? t->n_samples : 0, n);
			if (t)
				assert_true(t->sum[MODEL_POINT] >= (double)n * 1e-3 &&
					    t->sum[MODEL_POINT] <= (double)n * 1.001e-3);
		}
	free(count);
	model_free(m);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_oracle),
		cmocka_unit_test(test_points_against_time_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
