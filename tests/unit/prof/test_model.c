/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/model: look-ups, and the time lines as they were written, whatever the size
 * of the reader's buffer. */
#include "hpcprof-lite/model/model_values.h"
#include "hpcprof-lite/model/private.h"
#include "tests/unit/prof/prof_fixture.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

/* Times with gaps beyond 32 bits, over many small extents. */
static char *write_trace(uint64_t times[N])
{
	char *directory = fixture_directory();
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 1,
								  .rank = -1,
								  .start_mono_ns = 500,
								  .start_real_ns = 1000500,
								  .extent_bytes = 256});
	uint16_t module = gen_module(g, "/bin/a", NULL, 0, 0);
	uint32_t metrics[2] = {gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1, MSR_SOURCE_TEST),
			       gen_metric(g, "CYC", MSR_UNIT_COUNT, 1, MSR_SOURCE_TEST)};
	uint32_t t = gen_thread(g, "t"), entry = gen_entry(g, t, MSR_ENTRY_MAIN);
	uint64_t now = 600;
	for (uint32_t i = 0; i < N; i++) {
		now += i % 10 == 9 ? UINT64_C(5000000000) : i % 3;
		times[i] = now + 1000000;
		gen_sample(g, t, gen_child(g, t, entry, msr_addr_make(module, 1 + i % 50, false)),
			   metrics[i % 2], now, 1);
	}
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	return directory;
}

static void test_units(void **state)
{
	(void)state;
	assert_int_equal(model_unit_of(MSR_UNIT_NS), MODEL_SECONDS);
	assert_int_equal(model_unit_of(MSR_UNIT_UJ), MODEL_JOULES);
	assert_int_equal(model_unit_of(99), MODEL_COUNT);
	assert_true(model_unit_scale(MODEL_SECONDS) == 1e9 && model_unit_scale(MODEL_BYTES) == 1);
	assert_int_equal(model_metric_stem("GKER (sec)", MODEL_SECONDS), 4);
	assert_int_equal(model_metric_stem("GKER:STMEM (B)", MODEL_BYTES), 10);
	/* a name may have brackets of its own */
	assert_int_equal(model_metric_stem("a (sec)", MODEL_COUNT), 7);
	assert_int_equal(model_metric_stem("f (x) (sec)", MODEL_SECONDS), 5);
	assert_int_equal(model_metric_stem("", MODEL_SECONDS), 0);
}

static void test_time_line(void **state)
{
	(void)state;
	uint64_t times[N];
	char *directory = write_trace(times);
	struct model *m = fixture_model(directory, 1);
	static const size_t sizes[] = {1, 2, 7, 64, N, 3 * N};
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		struct model_trace_cursor c = {0};
		struct model_sample *out = calloc(sizes[k], sizeof *out);
		assert_non_null(out);
		size_t n = 0;
		for (size_t got; (got = model_trace_read(m, 0, &c, out, sizes[k]));)
			for (size_t i = 0; i < got; i++, n++) {
				assert_true(n < N && out[i].time_ns == times[n]);
				assert_int_equal(m->contexts[out[i].context].link_addr, 1 + n % 50);
				assert_int_equal(out[i].metric, n % 2);
			}
		assert_int_equal(n, N);
		assert_int_equal(model_trace_read(m, 0, &c, out, sizes[k]), 0);
		free(out);
	}
	model_free(m);
	fixture_remove(directory);
}

static void test_look_ups(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	gen_job(directory, &(struct gen_job){.n_processes = 1,
					     .n_threads = 3,
					     .n_nodes = 100,
					     .n_samples = 200,
					     .n_metrics = 3,
					     .seed = 2});
	struct model *m = fixture_model(directory, 1);
	for (size_t i = 0; i < m->n_totals; i++)
		assert_ptr_equal(model_find_total(m, m->totals[i].context, m->totals[i].metric),
				 &m->totals[i]);
	assert_null(model_find_total(m, m->n_contexts, 0));
	assert_null(model_find_total(m, 0, m->n_metrics));
	size_t n_found = 0;
	for (uint32_t p = 0; p < m->n_profiles; p++)
		for (uint32_t c = 0; c < m->n_contexts; c++)
			for (uint32_t k = 0; k < m->n_metrics; k++) {
				const struct model_value *v = model_find_value(m, p, c, k);
				assert_true(!v || (v->context == c && v->metric == k));
				n_found += v != NULL;
			}
	assert_int_equal(n_found, m->profiles[0].n_values + m->profiles[1].n_values +
					  m->profiles[2].n_values);
	model_free(m);
	fixture_remove(directory);
}

static void test_nothing(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	free(gen_close(gen_open(directory, &(struct gen_process){.pid = 1, .rank = -1}),
		       MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 2);
	fixture_check_model(m);
	assert_int_equal(m->n_contexts, 1);
	assert_int_equal(m->n_profiles, 0);
	assert_null(model_find_total(m, 0, 0));
	assert_true(m->ledger_closes);
	model_free(m);
	model_free(NULL);
	fixture_remove(directory);
}

/* Two rooms, as two threads have them. Only the first value of each request is written. */
static void test_values_out_of_core(void **state)
{
	(void)state;
	enum { N_REQUESTS = 400, LARGEST = 40000 };
	struct model *m = model_new();
	struct model_values_room rooms[2] = {{0}};
	struct model_value *got[N_REQUESTS];
	size_t n_bytes = 0, n_files = 0;
	assert_non_null(m);
	for (uint32_t i = 0; i < N_REQUESTS; i++) {
		size_t n = 1 + i * 7919 % LARGEST;
		got[i] = model_values_get(m, &rooms[i % 2], n);
		assert_non_null(got[i]);
		*got[i] = (struct model_value){.context = i, .metric = (uint32_t)n};
		n_bytes += n * sizeof **got;
	}
	assert_true(n_bytes > MODEL_VALUES_IN_MEMORY);
	for (size_t i = 0; i < m->private_->values.n; i++)
		n_files += m->private_->values.at[i].is_file;
	assert_true(n_files > 0);
	for (uint32_t i = 0; i < N_REQUESTS; i++) {
		model_values_done(m, got[i]->metric); /* gives pages back, and loses nothing */
		assert_int_equal(got[i]->context, i);
	}
	model_values_free(m);
	assert_int_equal(m->private_->values.n, 0);
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_time_line),
		cmocka_unit_test(test_look_ups),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_values_out_of_core),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
