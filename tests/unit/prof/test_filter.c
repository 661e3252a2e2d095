/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/filter: parts of a run are sound models, hold what they should, and add up
 * to the whole. */
#include "hpcprof-lite/filter/filter.h"

#include "hpcprof-lite/filter/filter_text.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "tests/unit/prof_gpu/gpu_fixture.h"

#include <math.h>

/* ---- text ---- */

static void test_lists(void **state)
{
	(void)state;
	static const char *const good[] = {"0", "7", "0,4-7", "3-3", "2147483647"},
				 *const bad[] = {"",           ",",    "0,",   ",0",  "a",
						 "1a",         "-1",   "4-",   "7-4", "1 2",
						 "2147483648", "1--2", "1,,2", " 1"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(filter_is_list(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(filter_is_list(bad[i]));
	assert_true(filter_list_has("0,4-7", 0) && filter_list_has("0,4-7", 4) &&
		    filter_list_has("0,4-7", 7));
	assert_false(filter_list_has("0,4-7", 3) || filter_list_has("0,4-7", 8));
}

static void test_times(void **state)
{
	(void)state;
	struct filter_moment from, to;
	static const char *const bad[] = {"",     "5",   "a:b",   "1:2:3",   "-1:2",
					  "2:1",  "1:1", "101%:", "nan:",    ":inf",
					  "1 :2", "1x:", ":+2",   "60%:50%", "1e99:"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(filter_read_time(bad[i], &from, &to));
	assert_true(filter_read_time("10:20.5", &from, &to));
	assert_true(from.value == 10 && to.value == 20.5 && !from.is_percent);
	assert_true(filter_read_time("50%:3s", &from, &to));
	assert_true(from.is_percent && from.value == 50 && !to.is_percent && to.value == 3);
	assert_true(filter_read_time(":", &from, &to) && !from.is_given && !to.is_given);
	assert_true(filter_read_time(":.5", &from, &to) && !from.is_given && to.value == 0.5);
}

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(filter_distance("main", "main"), 1); /* one contains the other */
	assert_int_equal(filter_distance("mian", "main"), 2);
	assert_int_equal(filter_distance("solve", "cg_solve(double*)"), 1);
	assert_int_equal(filter_distance("", "abc"), 3);
}

/* ---- sums ---- */

/* Values and samples by function, then metric of the whole. */
struct sums {
	double *values, *samples;
	uint32_t n_metrics;
	size_t n;
	const struct model *whole;
};

/* The metric of the whole with this name. */
static uint32_t metric_of(const struct model *whole, const char *name)
{
	for (uint32_t i = 0; i < whole->n_metrics; i++)
		if (strcmp(whole->metrics[i].name, name) == 0)
			return i;
	fail_msg("no metric %s", name);
	return 0;
}

static struct sums new_sums(const struct model *whole)
{
	struct sums s = {.whole = whole,
			 .n_metrics = whole->n_metrics,
			 .n = (size_t)(whole->n_functions + 1) * whole->n_metrics};
	s.values = calloc(s.n + 1, sizeof *s.values);
	s.samples = calloc(s.n + 1, sizeof *s.samples);
	assert_true(s.values && s.samples);
	return s;
}

static void free_sums(struct sums *s)
{
	free(s->values);
	free(s->samples);
}

static void add_sums(const struct model *whole, const struct model *m, struct sums *s)
{
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		uint32_t f = m->contexts[t->context].function;
		size_t at = (size_t)(f == MODEL_NONE ? m->n_functions : f) * s->n_metrics +
			    metric_of(whole, m->metrics[t->metric].name);
		s->values[at] += t->sum[MODEL_POINT];
		s->samples[at] += (double)t->n_samples;
	}
}

static bool is_blame(const struct model_metric *m)
{
	return m->role == MODEL_ROLE_GPU_IDLE_CAUSE || m->role == MODEL_ROLE_CPU_IDLE_CAUSE;
}

/*
 * Blame for idle GPUs is found anew in each range, so it is rounded in each, and an interval across
 * a cut is in both. A part of a part has none.
 */
static void assert_same_sums(const struct sums *a, const struct sums *b, bool with_blame)
{
	for (size_t i = 0; i < a->n; i++) {
		if (is_blame(&a->whole->metrics[i % a->n_metrics])) {
			assert_true(!with_blame || fabs(a->values[i] - b->values[i]) < 1e-6);
			continue;
		}
		assert_true(fabs(a->values[i] - b->values[i]) <= 1e-9 * (1 + fabs(a->values[i])));
		assert_true(a->samples[i] == b->samples[i]);
	}
}

static struct model *part_of(const char *directory, const struct filter *f)
{
	struct model *m = fixture_model(directory, 1);
	m->clock_error_ns = 123;
	assert_int_equal(filter_apply(&m, f, 2), STATUS_OK);
	fixture_check_model(m);
	assert_int_equal(m->clock_error_ns, 123);
	return m;
}

/* Samples and operations as the cursors read them; all within the model's time. */
static uint64_t count_records(const struct model *m)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		struct model_trace_cursor c = {0};
		struct model_gpu_cursor g = {0};
		struct model_sample s;
		struct model_gpu_op op;
		uint64_t n = 0;
		for (; m->profiles[i].kind == MODEL_PROFILE_THREAD &&
		       model_trace_read(m, i, &c, &s, 1);
		     n++)
			assert_true(s.time_ns >= m->start_ns && s.time_ns <= m->end_ns &&
				    s.context < m->n_contexts && s.metric < m->n_metrics);
		for (; model_gpu_read(m, i, &g, &op, 1); n++) {
			assert_true(op.start_ns >= m->start_ns && op.end_ns <= m->end_ns);
			assert_true(!op.enter_ns || op.enter_ns >= m->start_ns);
			assert_true(op.context < m->n_contexts);
			assert_true(op.launcher == MODEL_NONE || op.launcher < m->n_profiles);
		}
		assert_int_equal(n, m->profiles[i].n_trace_records);
		all += n;
	}
	return all;
}

/* True if the parts, one filter each, have the values and records of `whole`. */
static void assert_adds_up(const char *directory, const struct model *whole,
			   const struct filter *parts, size_t n, bool same_records)
{
	struct sums all = new_sums(whole), sum = new_sums(whole);
	uint64_t n_records = 0;
	add_sums(whole, whole, &all);
	for (size_t i = 0; i < n; i++) {
		struct model *m = part_of(directory, &parts[i]);
		assert_non_null(m->part);
		assert_true(m->n_contexts <= whole->n_contexts);
		add_sums(whole, m, &sum);
		n_records += count_records(m);
		model_free(m);
	}
	assert_same_sums(&all, &sum, true);
	if (same_records)
		assert_int_equal(n_records, count_records(whole));
	free_sums(&all);
	free_sums(&sum);
}

static char *job(bool losses, uint32_t n_gpu_ops)
{
	char *directory = fixture_directory();
	gen_job(directory, &(struct gen_job){.n_processes = 3,
					     .n_threads = 3,
					     .n_nodes = 300,
					     .n_samples = 500,
					     .n_metrics = 3,
					     .n_gpu_ops = n_gpu_ops,
					     .ranks = true,
					     .structs = true,
					     .losses = losses,
					     .seed = 7});
	return directory;
}

static void test_ranks_and_threads(void **state)
{
	(void)state;
	char *directory = job(true, 0);
	struct model *whole = fixture_model(directory, 1);
	const struct filter ranks[] = {{.ranks = "0"}, {.ranks = "1-2"}},
			    threads[] = {{.threads = "0"}, {.threads = "1"}, {.threads = "2"}},
			    processes[] = {{.processes = "1000"}, {.processes = "1010,1020"}};
	assert_adds_up(directory, whole, ranks, 2, true);
	assert_adds_up(directory, whole, threads, 3, true);
	assert_adds_up(directory, whole, processes, 2, true);
	struct model *m = part_of(directory, &(struct filter){.ranks = "1", .threads = "1-2"});
	assert_int_equal(m->n_processes, 1);
	assert_int_equal(m->processes[0].rank, 1);
	assert_int_equal(m->n_profiles, 2);
	assert_int_equal(m->profiles[1].thread, 2);
	assert_int_equal(m->ledger.delivered, whole->ledger.delivered);
	assert_string_equal(m->part, "rank 1; thread 1-2");
	model_free(m);
	model_free(whole);
	fixture_remove(directory);
}

static void test_time(void **state)
{
	(void)state;
	char *directory = job(false, 0);
	struct model *whole = fixture_model(directory, 1);
	const struct filter halves[] = {{.time = ":50%"}, {.time = "50%:"}},
			    parts[] = {{.time = "0:0.7"},
				       {.time = "0.7:1.3333333"},
				       {.time = "1.3333333:90%"},
				       {.time = "90%:100%"}};
	assert_adds_up(directory, whole, halves, 2, true);
	assert_adds_up(directory, whole, parts, 4, true);
	model_free(whole);
	fixture_remove(directory);
}

/* A part of a part is what both filters leave. */
static void test_twice(void **state)
{
	(void)state;
	char *directory = job(false, 40);
	const struct filter both = {.time = "1:", .threads = "0-1", .below = "main"},
			    first = {.below = "main"}, then = {.threads = "0-1", .time = "1:"};
	struct model *a = part_of(directory, &both), *b = part_of(directory, &first);
	uint64_t start_ns = b->start_ns;
	assert_int_equal(filter_apply(&b, &then, 1), STATUS_OK);
	fixture_check_model(b);
	struct model *whole = fixture_model(directory, 1);
	struct sums sa = new_sums(whole), sb = new_sums(whole);
	assert_true(start_ns == whole->start_ns);
	add_sums(whole, a, &sa);
	add_sums(whole, b, &sb);
	assert_same_sums(&sa, &sb, false);
	assert_int_equal(count_records(a), count_records(b));
	free_sums(&sa);
	free_sums(&sb);
	model_free(whole);
	model_free(a);
	model_free(b);
	fixture_remove(directory);
}

/* Processes were off for three quarters of their lives, nobody knows when. */
static void test_off(void **state)
{
	(void)state;
	char *directory = job(false, 0);
	struct model *m = fixture_model(directory, 1);
	const uint64_t life_ns = m->processes[0].end_ns - m->processes[0].start_ns;
	m->private_->processes[0].off_ns = life_ns / 4 * 3;
	assert_int_equal(filter_apply(&m, &(struct filter){.time = ":50%"}, 1), STATUS_OK);
	const uint64_t part_ns = m->processes[0].end_ns - m->processes[0].start_ns;
	assert_in_range(part_ns, 1, life_ns * 3 / 4);
	assert_true(m->processes[0].off_ns == life_ns / 4 * 3 - (life_ns - part_ns));
	assert_true(m->processes[0].off_ns < part_ns);
	model_free(m);
	m = fixture_model(directory, 1);
	m->private_->processes[0].off_ns = life_ns / 4 * 3;
	assert_int_equal(filter_apply(&m, &(struct filter){.time = ":20%"}, 1), STATUS_OK);
	assert_int_equal(m->processes[0].off_ns, 0); /* there was room for it outside */
	model_free(m);
	fixture_remove(directory);
}

enum { THREADS = 8, PROCESSES = 8 };

/* By process and thread: which of them count. */
static void find_used(const struct model *m, bool used[PROCESSES][THREADS])
{
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *t = &m->profiles[i];
		assert_true(t->process < PROCESSES && t->thread < THREADS);
		used[t->process][t->thread] = view_is_used_thread(m, t);
	}
}

/* Threads count in each half as in the whole run. One that is outside of it has no length there. */
static void test_counts(void **state)
{
	(void)state;
	char *directory = job(false, 0);
	for (unsigned half = 0; half < 2; half++) {
		struct model *m = fixture_model(directory, 1);
		struct model_profile *t = m->private_->profiles;
		const uint64_t middle_ns = m->start_ns + (m->end_ns - m->start_ns) / 2,
			       end_ns = m->end_ns;
		uint32_t most, all;
		bool used[PROCESSES][THREADS];
		t[1].cpu_ns = 1; /* too little to count */
		t[2].start_ns = end_ns - 1;
		find_used(m, used);
		assert_false(used[t[1].process][t[1].thread]);
		const struct filter f = {.time = half ? "50%:" : ":50%"};
		assert_int_equal(filter_apply(&m, &f, 1), STATUS_OK);
		assert_int_equal(m->part_all_threads, 9);
		assert_true(view_count_threads(m, 0, m->n_profiles, &most, &all));
		assert_int_equal(most, m->part_most_threads);
		assert_in_range(most, 4, 8);
		for (uint32_t i = 0; i < m->n_profiles; i++) {
			t = &m->private_->profiles[i];
			assert_in_range(t->start_ns, half ? middle_ns : 0,
					half ? end_ns : middle_ns + 1);
			assert_true(view_is_used_thread(m, t) == used[t->process][t->thread]);
		}
		model_free(m);
	}
	fixture_remove(directory);
}

/* Below a function threads count as in the whole run, and as many of them matter. */
static void test_counts_below(void **state)
{
	(void)state;
	char *directory = job(false, 0);
	struct model *m = fixture_model(directory, 1);
	struct model_omp_region team = {.function = MODEL_NONE,
					.call_function = MODEL_NONE,
					.file = MODEL_NONE,
					.n_threads = 8, /* five are idle */
					.instances = 1,
					.elapsed_ns = m->elapsed_ns};
	uint32_t most, all, part_most, part_all;
	m->omp_regions = &team;
	m->n_omp_regions = 1;
	bool used[PROCESSES][THREADS];
	m->private_->profiles[1].cpu_ns = 1; /* too little to count */
	find_used(m, used);
	assert_true(view_count_threads(m, 0, m->n_profiles, &most, &all));
	assert_int_equal(filter_apply(&m, &(struct filter){.below = "main"}, 1), STATUS_OK);
	assert_true(view_count_threads(m, 0, m->n_profiles, &part_most, &part_all));
	assert_int_equal(part_most, most);
	assert_int_equal(part_all, all);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *t = &m->profiles[i];
		assert_true(view_is_used_thread(m, t) == used[t->process][t->thread]);
	}
	model_free(m);
	fixture_remove(directory);
}

/* A wait that lasts until its thread ends has its share in each half. */
static void test_open_wait(void **state)
{
	(void)state;
	const uint64_t second = 1000000000;
	char *directory = fixture_directory();
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 1,
								  .rank = -1,
								  .start_mono_ns = second,
								  .start_real_ns = second});
	const uint16_t module = gen_module(g, "/bin/a", NULL, 0, 0);
	const uint32_t metric = gen_metric(g, "OFFCPU", MSR_UNIT_NS, 5000000, MSR_SOURCE_TEST),
		       t = gen_thread(g, "t"), entry = gen_entry(g, t, MSR_ENTRY_MAIN),
		       call = gen_child(g, t, entry, msr_addr_make(module, 64, false));
	gen_sample(g, t,
		   gen_child(g, t, call,
			     msr_addr_make(MSR_MODULE_NONE, MSR_WAIT + MSR_WAIT_FUTEX, false)),
		   metric, second, 8 * second);
	const uint32_t other = gen_thread(g, "other"); /* the process ends at 9 s */
	gen_sample(g, other, gen_entry(g, other, MSR_ENTRY_THREAD), metric, 9 * second, 1);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	assert_int_equal(filter_apply(&m, &(struct filter){.time = ":50%"}, 1), STATUS_OK);
	const struct model_total *half = model_find_total(m, 0, 0);
	assert_non_null(half);
	assert_true(fabs(half->sum[MODEL_EXECUTION] - 4) < 1e-5);
	model_free(m);
	fixture_remove(directory);
}

static void test_below(void **state)
{
	(void)state;
	char *directory = job(true, 0);
	struct model *whole = fixture_model(directory, 1),
		     *m = part_of(directory, &(struct filter){.below = "main"});
	double in_main = 0, in_part = 0;
	for (uint32_t c = 1; c < whole->n_contexts; c++) {
		const struct model_context *x = &whole->contexts[c];
		const struct model_total *t = model_find_total(whole, c, 0);
		if (x->kind != MODEL_CONTEXT_FUNCTION ||
		    strcmp(whole->functions[x->function].name, "main") != 0 || !t)
			continue;
		in_main += t->sum[MODEL_EXECUTION];
		c += x->subtree_n - 1;
	}
	const struct model_total *root = model_find_total(m, 0, 0);
	in_part = root ? root->sum[MODEL_EXECUTION] : 0;
	assert_true(in_main > 0 && fabs(in_main - in_part) < 1e-9);
	assert_true(in_main < model_find_total(whole, 0, 0)->sum[MODEL_EXECUTION]);
	for (uint32_t c = 1; c < m->n_contexts; c++)
		if (m->contexts[c].kind == MODEL_CONTEXT_ENTRY)
			assert_true(m->contexts[c].subtree_n > 1);
	count_records(m);
	model_free(m);
	m = fixture_model(directory, 1);
	assert_int_equal(filter_apply(&m, &(struct filter){.below = "mian"}, 1), STATUS_USAGE);
	assert_null(m->part); /* still the whole */
	model_free(m);
	model_free(whole);
	fixture_remove(directory);
}

static bool is_below_main(const struct model *m, uint32_t context)
{
	for (; context != MODEL_NONE; context = m->contexts[context].parent)
		if (m->contexts[context].kind == MODEL_CONTEXT_FUNCTION &&
		    strcmp(m->functions[m->contexts[context].function].name, "main") == 0)
			return true;
	return false;
}

/* What ran outside of the function ends a sample in it: the time line has a gap, not a bridge. */
static void test_gaps(void **state)
{
	(void)state;
	char *directory = job(true, 0);
	struct model *whole = fixture_model(directory, 1),
		     *m = part_of(directory, &(struct filter){.below = "main"});
	uint32_t n_in = 0, n_out = 0;
	assert_int_equal(m->n_profiles, whole->n_profiles);
	assert_true(m->part_has_gaps && !whole->part_has_gaps);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		struct model_trace_cursor a = {0}, b = {0};
		struct model_sample x, y;
		while (model_trace_read(whole, i, &a, &x, 1)) {
			bool is_in = is_below_main(whole, x.context);
			assert_int_equal(model_trace_read(m, i, &b, &y, 1), 1);
			assert_true(x.time_ns == y.time_ns && (y.context != 0) == is_in);
			n_in += is_in;
			n_out += !is_in;
		}
		assert_int_equal(model_trace_read(m, i, &b, &y, 1), 0);
	}
	assert_true(n_in > 100 && n_out > 100);
	count_records(m);
	model_free(m);
	model_free(whole);
	fixture_remove(directory);
}

/* ---- GPUs ---- */

static double total_of(const struct model *m, const char *metric)
{
	const struct model_total *t = model_find_total(m, 0, metric_of(m, metric));
	return t ? t->sum[MODEL_EXECUTION] : 0;
}

static void test_gpu_parts(void **state)
{
	(void)state;
	char *directory = job(true, 60);
	struct model *whole = fixture_model(directory, 1);
	const struct filter threads[] = {{.threads = "0"}, {.threads = "1-2"}};
	/* Some samples and operations have no time: the reference is all of the time. */
	struct model *timed = part_of(directory, &(struct filter){.time = "0%:100%"});
	const struct filter parts[] = {{.time = ":30%"}, {.time = "30%:55%"}, {.time = "55%:"}};
	struct sums all = new_sums(whole), sum = new_sums(whole);
	add_sums(whole, timed, &all);
	for (size_t i = 0; i < 3; i++) {
		struct model *m = part_of(directory, &parts[i]);
		count_records(m);
		assert_int_equal(m->n_part_notes, timed->n_part_notes);
		add_sums(whole, m, &sum);
		model_free(m);
	}
	assert_same_sums(&all, &sum, true);
	assert_true(timed->n_metrics < whole->n_metrics);
	assert_true(total_of(timed, "CPUTIME:GUESSED (sec)") > 0); /* by the samples of CPUTIME */
	uint64_t n_records = 0;
	for (size_t i = 0; i < 2; i++) {
		struct model *m = part_of(directory, &threads[i]);
		n_records += count_records(m);
		model_free(m);
	}
	assert_int_equal(n_records, count_records(whole));
	free_sums(&all);
	free_sums(&sum);
	model_free(timed);
	model_free(whole);
	fixture_remove(directory);
}

/* One kernel across the cut, one after it. */
static void test_cut_kernel(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, RUN_START_NS + 100, RUN_START_NS + 200000, RUN_START_NS + 600000);
	run_kernel(&r, r.call, 2, RUN_START_NS + 200, RUN_START_NS + 700000, RUN_START_NS + 800000);
	model_free(run_finish(&r));
	struct model *a = part_of(r.directory, &(struct filter){.time = ":0.0005"}),
		     *b = part_of(r.directory, &(struct filter){.time = "0.0005:"});
	assert_true(fabs(total_of(a, "GKER (sec)") - 300e-6) < 1e-12);
	assert_true(fabs(total_of(b, "GKER (sec)") - 200e-6) < 1e-12);
	assert_true(total_of(a, "GKER:COUNT") == 1 && total_of(b, "GKER:COUNT") == 1);
	assert_int_equal(count_records(a), 1);
	assert_int_equal(count_records(b), 2);
	assert_int_equal(a->gpu_queues[0].busy_ns, 300000);
	assert_int_equal(b->gpu_queues[0].busy_ns, 200000);
	model_free(a);
	run_clean(&r, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),      cmocka_unit_test(test_times),
		cmocka_unit_test(test_distance),   cmocka_unit_test(test_ranks_and_threads),
		cmocka_unit_test(test_time),       cmocka_unit_test(test_twice),
		cmocka_unit_test(test_off),        cmocka_unit_test(test_counts),
		cmocka_unit_test(test_counts_below),
		cmocka_unit_test(test_below),      cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_open_wait),  cmocka_unit_test(test_gpu_parts),
		cmocka_unit_test(test_cut_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
