/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of all processors went (view_processors.h): uses that are known add up. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/model/private.h"
#include "hpcprof-lite/view/parallel/view_pop.h"
#include "hpcprof-lite/view/parallel/view_processors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

static const char *event = "CPUTIME";

/* A process that lives from 10 s to 20 s. */
static struct gen *begin(const char *directory, int32_t rank, const char *processors)
{
	struct gen *g = gen_open(directory, &(struct gen_process){.host = "n1",
								  .pid = 100 + (uint32_t)rank,
								  .rank = rank,
								  .n_ranks = 2,
								  .start_mono_ns = 10 * SECOND,
								  .start_real_ns = 10 * SECOND});
	gen_module(g, "/bin/app", NULL, 0, MSR_MODULE_MAIN);
	gen_metric(g, event, MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	if (processors)
		gen_info(g, "processors", processors);
	return g;
}

/* A thread that lives from `start` to `end` and works and waits for that many seconds. */
static void add_thread(struct gen *g, uint64_t start, uint64_t end, uint64_t work, uint64_t sleep)
{
	uint32_t t = gen_thread(g, "t");
	struct msr_thread *r = gen_thread_record(g, t);
	uint32_t main_ = gen_child(g, t, gen_entry(g, t, t ? MSR_ENTRY_THREAD : MSR_ENTRY_MAIN),
				   msr_addr_make(1, 0x1000, false));
	uint32_t wait = gen_child(g, t, main_, msr_addr_make(MSR_MODULE_NONE,
							     MSR_WAIT + MSR_WAIT_SLEEP, false));
	if (work)
		gen_weight(g, t, main_, 0, 1, work * SECOND);
	if (sleep)
		gen_weight(g, t, wait, 0, 1, sleep * SECOND);
	r->start_ns = start * SECOND;
	r->end_ns = end * SECOND;
}

static void finish(struct gen *g)
{
	gen_sample(g, 0, 2, 0, 20 * SECOND - 1000, 0);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

static double sum(const double *seconds)
{
	double all = 0;
	for (unsigned k = 0; k < VIEW_N_USES; k++)
		all += seconds[k];
	return all;
}

static void test_adds_up(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, 0, "0-1");
	add_thread(g, 10, 20, 6, 1);
	add_thread(g, 12, 16, 2, 0);
	add_thread(g, 16, 18, 1, 0); /* after the other: there are two threads at one time */
	finish(g);
	struct model *m = fixture_model(directory, 1);
	struct view_processors p;
	assert_true(view_processors_apply(m));
	assert_true(view_processors_make(m, &p));
	assert_int_equal(p.n_threads, 2);
	assert_int_equal(p.n_all_threads, 3);
	assert_int_equal(p.quota.n_allowed, 2);
	assert_true(p.lacks_offcpu);
	assert_true(near(p.elapsed, 10) && near(p.capacity, 20) && near(sum(p.seconds), 20));
	assert_true(near(p.seconds[MODEL_WORK], 9) && near(p.seconds[MODEL_BLOCKED_SLEEP], 1));
	assert_true(near(p.seconds[VIEW_USE_UNKNOWN], 6));
	assert_true(near(p.seconds[VIEW_USE_NO_THREAD], 4));
	view_processors_free(&p);
	model_free(m);
	fixture_remove(directory);
}

/* Eight threads for a moment are no processors; what a killed thread did is known by samples. */
static void test_threads_that_matter(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, 0, "0-7");
	add_thread(g, 10, 20, 9, 0);
	add_thread(g, 10, 20, 9, 0);
	for (int i = 0; i < 6; i++) {
		add_thread(g, 10, 10, 0, 0);
		gen_thread_record(g, 2 + (uint32_t)i)->end_ns = 10 * SECOND + SECOND / 20;
		gen_weight(g, 2 + (uint32_t)i, 1, 0, 1, SECOND / 50);
	}
	add_thread(g, 10, 20, 0, 0); /* a progress thread: no clock, no samples */
	finish(g);
	struct model *m = fixture_model(directory, 1);
	for (uint32_t i = 0; i < m->n_profiles; i++)
		m->private_->profiles[i].cpu_ns = 0;
	struct view_processors p;
	struct view_pops pops;
	assert_true(view_processors_make(m, &p));
	assert_int_equal(p.n_threads, 2);
	assert_int_equal(p.n_all_threads, 8);
	assert_int_equal(p.n_left_out, 1);
	assert_true(p.cpu_seconds > 18 && p.cpu_seconds < 18.2);
	assert_true(view_pop_make(m, &pops));
	assert_int_equal(pops.at[0].n_threads, 2); /* the same */
	assert_true(pops.at[0].load_balance <= 1 && pops.at[0].load_balance > 0.95);
	view_processors_free(&p);
	model_free(m);
	fixture_remove(directory);
}

/* Threads one after the other are one lane, so the most of a thread is that of the lane. */
static void test_lanes(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, 0, "0-7");
	add_thread(g, 10, 20, 8, 0);
	for (uint64_t i = 0; i < 5; i++)
		add_thread(g, 10 + 2 * i, 12 + 2 * i, 1, 0);
	finish(g);
	struct model *m = fixture_model(directory, 1);
	struct view_pops pops;
	assert_true(view_pop_make(m, &pops));
	assert_int_equal(pops.at[0].n_threads, 2);
	assert_true(fabs(pops.at[0].load_balance - (8. + 5) / 2 / 8) < 1e-6);
	model_free(m);
	fixture_remove(directory);
}

/* Damaged times at the end of what 64 bits hold. */
static void test_last_moment(void **state)
{
	static const struct model_omp_region region[] = {
		{.function = MODEL_NONE, .call_function = MODEL_NONE, .file = MODEL_NONE,
		 .n_threads = 2000, .instances = 1, .elapsed_ns = 8 * SECOND},
		{.function = MODEL_NONE, .call_function = MODEL_NONE, .file = MODEL_NONE,
		 .n_threads = UINT32_MAX, .instances = 1, .elapsed_ns = 8 * SECOND}};
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, 0, "0-7");
	add_thread(g, 10, 20, 9, 0);
	finish(g);
	struct model *m = fixture_model(directory, 1);
	struct view_processors p;
	double processors;
	m->omp_regions = region;
	m->n_omp_regions = 2;
	m->private_->processes[0].start_ns = m->private_->processes[0].end_ns = UINT64_MAX;
	assert_true(view_processors_make(m, &p));
	assert_in_range(p.n_threads, 1, 2000);
	view_processors_free(&p);
	/* a process without duration is one at its moment */
	assert_true(view_quota_of_processes(m, &processors));
	assert_true(near(processors, 8));
	m->omp_regions = NULL;
	m->n_omp_regions = 0;
	model_free(m);
	fixture_remove(directory);
}

/* A thread of a team that never worked is one of its threads all the same. */
static void test_idle_team(void **state)
{
	static const struct model_omp_region region[] = {
		{.function = MODEL_NONE, .call_function = MODEL_NONE, .file = MODEL_NONE,
		 .n_threads = 4, .instances = 1, .elapsed_ns = 8 * SECOND}};
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, 0, "0-7");
	add_thread(g, 10, 20, 9, 0);
	add_thread(g, 10, 20, 9, 0);
	finish(g);
	struct model *m = fixture_model(directory, 1);
	struct view_processors p;
	m->omp_regions = region;
	m->n_omp_regions = 1;
	assert_true(view_processors_make(m, &p));
	assert_int_equal(p.n_threads, 4);
	assert_int_equal(p.n_all_threads, 2);
	assert_true(near(sum(p.seconds), p.capacity) && near(p.capacity, 40));
	view_processors_free(&p);
	m->omp_regions = NULL;
	m->n_omp_regions = 0;
	model_free(m);
	fixture_remove(directory);
}

static void test_ranks(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	for (int32_t rank = 0; rank < 3; rank++) {
		struct gen *g = begin(directory, rank, rank ? "2-3,8-8" : "0-1");
		add_thread(g, 10, 20, 2 + 2 * (uint64_t)rank, 1);
		finish(g);
	}
	struct model *m = fixture_model(directory, 1);
	struct view_processors p;
	assert_true(view_processors_make(m, &p));
	assert_int_equal(p.n_ranks, 3);
	assert_int_equal(p.quota.n_allowed, 5); /* of one host: the union */
	struct view_spread s = view_processors_spread(&p, m, MODEL_WORK);
	assert_true(near(s.least, 2) && near(s.mean, 4) && near(s.most, 6));
	assert_int_equal(s.least_process, 0);
	assert_int_equal(s.most_process, 2);
	assert_true(near(sum(p.seconds), p.capacity) && near(p.capacity, 30));
	view_processors_free(&p);
	model_free(m);
	fixture_remove(directory);
}

/* Samples of more time than a thread had: no use is negative, and the sum holds. */
static void test_too_much(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, 0, "0-1x");
	add_thread(g, 10, 20, 11, 1);
	add_thread(g, 10, 20, 10, 0);
	finish(g);
	struct model *m = fixture_model(directory, 1);
	struct view_processors p;
	assert_true(view_processors_make(m, &p));
	assert_int_equal(p.quota.n_allowed, 0); /* no list */
	for (unsigned k = 0; k < VIEW_N_USES; k++)
		assert_true(p.seconds[k] >= 0 && p.processes[0].seconds[k] >= 0);
	assert_true(near(sum(p.seconds), p.capacity) && near(p.capacity, 22));
	view_processors_free(&p);
	model_free(m);
	fixture_remove(directory);
}

/* A rank with samples of too much time takes nothing from the others: ranks x mean is the sum. */
static void test_too_much_of_a_rank(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	for (int32_t rank = 0; rank < 2; rank++) {
		struct gen *g = begin(directory, rank, NULL);
		add_thread(g, 10, 20, rank ? 5 : 12, 0);
		finish(g);
	}
	struct model *m = fixture_model(directory, 1);
	struct view_processors p;
	assert_true(view_processors_make(m, &p));
	for (unsigned k = 0; k < VIEW_USE_NO_THREAD; k++)
		assert_true(near(p.seconds[k], 2 * view_processors_spread(&p, m, k).mean));
	assert_true(near(p.seconds[VIEW_USE_UNKNOWN], 5));
	assert_true(near(sum(p.seconds), p.capacity) && near(p.capacity, 22));
	view_processors_free(&p);
	model_free(m);
	fixture_remove(directory);
}

/* It has something to say of one thread only if causes of waiting were measured. */
static void test_one_thread(void **state)
{
	(void)state;
	for (int offcpu = 0; offcpu < 2; offcpu++) {
		char *directory = fixture_directory();
		struct gen *g = begin(directory, -1, NULL);
		if (offcpu)
			gen_metric(g, "OFFCPU", MSR_UNIT_NS, 5000000, MSR_SOURCE_TEST);
		add_thread(g, 10, 20, 5, 1);
		finish(g);
		struct model *m = fixture_model(directory, 1);
		assert_int_equal(view_processors_apply(m), offcpu);
		model_free(m);
		fixture_remove(directory);
	}
}

static void test_names_fit(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2 * VIEW_N_USES; k++) {
		const struct view_processors p = {.lacks_offcpu = k % 2, .work_has_waits = k % 2};
		assert_true(view_use_name(&p, k / 2)[0] && view_use_short(&p, k / 2)[0]);
		assert_true(strlen(view_use_short(&p, k / 2)) <= 17);
	}
}

/* Helper threads of libraries are in no sum of threads, but in the CPU time. */
static void test_threads_without_work(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, -1, "0-0");
	add_thread(g, 10, 20, 5, 1);
	add_thread(g, 10, 20, 4, 0);
	add_thread(g, 10, 20, 0, 9);
	finish(g);
	struct model *m = fixture_model(directory, 1);
	struct view_processors p;
	struct model_profile *t = m->private_->profiles;
	t[0].cpu_ns = 5 * SECOND;
	t[1].cpu_ns = SECOND / 10;
	t[2].cpu_ns = SECOND / 10 - 1; /* less than 1 % */
	assert_true(view_processors_make(m, &p));
	assert_int_equal(p.n_threads, 2);
	assert_int_equal(p.n_left_out, 1);
	assert_int_equal(p.quota.n_allowed, 1);
	assert_true(near(p.cpu_seconds, 5.199999999));
	assert_true(near(p.seconds[MODEL_BLOCKED_SLEEP], 1) && near(p.capacity, 20));
	view_processors_free(&p);
	t[0].cpu_ns = 1; /* it waits for the other one */
	assert_true(!view_is_used_thread(m, &t[0]) && view_is_used_thread(m, &t[1]));
	t[1].cpu_ns = 1; /* a main thread is used if no other thread is */
	assert_true(view_is_used_thread(m, &t[0]) && !view_is_used_thread(m, &t[1]));
	t[2].cpu_ns = 0; /* not known */
	assert_true(view_is_used_thread(m, &t[2]));
	model_free(m);
	fixture_remove(directory);
}

/* REALTIME of two threads for 10 s each, of which one sleeps for 2 s. */
static struct model *elapsed_model(const char *directory)
{
	event = "REALTIME";
	struct gen *g = begin(directory, -1, NULL);
	event = "CPUTIME";
	add_thread(g, 10, 20, 8, 2);
	add_thread(g, 10, 20, 10, 0);
	finish(g);
	return fixture_model(directory, 1);
}

/* Blocked threads have samples of REALTIME: what they worked is at most their CPU time. */
static void test_elapsed_time(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct model *m = elapsed_model(directory);
	struct view_processors p;
	struct view_pops pops;
	struct model_profile *t = m->private_->profiles;
	for (int is_known = 0; is_known < 2; is_known++) {
		t[0].cpu_ns = 3 * SECOND;
		t[1].cpu_ns = is_known ? 9 * SECOND : 0;
		assert_true(view_processors_make(m, &p));
		assert_true(near(p.seconds[MODEL_WORK], is_known ? 12 : 13) &&
			    near(p.seconds[VIEW_USE_UNKNOWN], is_known ? 6 : 5) &&
			    near(p.seconds[MODEL_BLOCKED_SLEEP], 2) && near(p.capacity, 20));
		assert_string_equal(view_use_name(&p, MODEL_WORK),
				    is_known ? "worked" : "worked, or was blocked");
		assert_string_equal(view_use_name(&p, VIEW_USE_UNKNOWN),
				    "blocked, or ready without a processor");
		view_processors_free(&p);
		assert_true(view_pop_make(m, &pops));
		assert_int_equal(pops.n, 0);
	}
	t[0].cpu_ns = 8 * SECOND;
	t[1].cpu_ns = 10 * SECOND;
	assert_true(view_pop_make(m, &pops));
	assert_int_equal(pops.n, 1);
	model_free(m);
	fixture_remove(directory);
}

/*
 * A thread that waits for 2 s where it may spin: if it had CPU time for all, it did. Otherwise it
 * may have spun and been blocked in its 8 s of work, and there is no figure.
 */
static void test_spinning(void **state)
{
	(void)state;
	static const struct {
		enum model_activity wait;
		uint64_t cpu;
		bool is_known;
	} cases[] = {
		{MODEL_BLOCKED_SLEEP, 8, true}, {MODEL_OMP_BARRIER, 8, false},
		{MODEL_OMP_IDLE, 8, false},     {MODEL_MPI_P2P, 8, false},
		{MODEL_MPI_OTHER, 8, false},    {MODEL_GPU_WAIT, 8, false},
		{MODEL_OMP_BARRIER, 10, true},  {MODEL_OMP_BARRIER, 3, false},
		{MODEL_OMP_BARRIER, 1, false},
	};
	char *directory = fixture_directory();
	struct model *m = elapsed_model(directory);
	struct model_metric *wait = NULL;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_ACTIVITY &&
		    m->metrics[i].activity == MODEL_BLOCKED_SLEEP)
			wait = &m->private_->metrics[i];
	assert_non_null(wait);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct view_processors p;
		struct view_pops pops;
		wait->activity = cases[i].wait;
		m->private_->profiles[0].cpu_ns = cases[i].cpu * SECOND;
		m->private_->profiles[1].cpu_ns = 10 * SECOND;
		assert_true(view_processors_make(m, &p));
		assert_int_equal(p.work_has_waits, !cases[i].is_known);
		assert_true(near(p.seconds[MODEL_WORK], 18) && near(p.seconds[cases[i].wait], 2));
		view_processors_free(&p);
		assert_true(view_pop_make(m, &pops));
		assert_int_equal(pops.n, cases[i].is_known);
	}
	model_free(m);
	fixture_remove(directory);
}

/* Four threads in turn on two processors, each with a sample in each second. */
static struct model *coarse_model(const char *directory, const char *processors)
{
	struct gen *g = begin(directory, -1, processors);
	for (uint32_t t = 0; t < 4; t++) {
		gen_thread(g, "t");
		const uint32_t node = gen_child(
			g, t, gen_entry(g, t, t ? MSR_ENTRY_THREAD : MSR_ENTRY_MAIN),
			msr_addr_make(1, 0x1000, false));
		for (uint64_t i = 0; i < 10; i++)
			gen_sample(g, t, node, 0, (11 + i) * SECOND - t * 1000, SECOND / 2);
	}
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	return fixture_model(directory, 1);
}

/*
 * A sample counts where it was taken: in 0.1 s there are four of 0.5 s each. Whoever used more
 * processors than it had at its start got more later, and nobody knows how many.
 */
static void test_share_of_processors(void **state)
{
	static const struct {
		const char *processors, *time;
		double cpu;
		uint32_t n_allowed;
	} cases[] = {{"0-1", "3.95:4.05", 0.2, 2}, {"0-7", "3.95:4.05", 0.4, 8},
		     {"0-1", ":", 20, 2},          {"0-0", ":", 20, 0},
		     {"0-1", "20%:80%", 12, 2}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *directory = fixture_directory();
		struct model *m = coarse_model(directory, cases[i].processors);
		struct view_processors p;
		if (cases[i].time[1])
			assert_int_equal(
				filter_apply(&m, &(struct filter){.time = cases[i].time}, 1),
				STATUS_OK);
		assert_true(view_processors_make(m, &p));
		assert_true(fabs(p.cpu_seconds - cases[i].cpu) < 1e-3);
		assert_int_equal(p.quota.n_allowed, cases[i].n_allowed);
		view_processors_free(&p);
		model_free(m);
		fixture_remove(directory);
	}
}

static void quota(struct gen *g, uint64_t quota_ns, uint64_t id, uint64_t start_ns,
		  uint64_t end_ns)
{
	gen_header(g)->quota_ns = quota_ns;
	gen_header(g)->quota_id = id;
	gen_header(g)->throttled_start_ns = start_ns;
	gen_header(g)->throttled_end_ns = end_ns;
}

/*
 * Two processes of one cgroup with a quota of 1.5 processors, and one of another with 0.25. The
 * first cgroup's counter is the same for both. One process did not write its end.
 */
static void test_quota(void **state)
{
	const uint64_t s = 1000000000;
	(void)state;
	char *directory = fixture_directory(), *text;
	for (int32_t rank = 0; rank < 3; rank++) {
		struct gen *g = begin(directory, rank, "0-7");
		add_thread(g, 10, 20, 4, 1);
		if (rank == 0)
			quota(g, 3 * s / 2, 77, 5 * s, 8 * s);
		else if (rank == 1)
			quota(g, 3 * s / 2, 77, 6 * s, 9 * s);
		else
			quota(g, s / 4, 78, 2 * s, 0);
		finish(g);
	}
	struct model *m = fixture_model(directory, 1);
	struct view_processors p;
	assert_true(view_processors_make(m, &p));
	assert_int_equal(p.quota.n_allowed, 8);
	assert_true(near(p.quota.n_given, 1.75) && p.quota.has_quota);
	assert_true(near(p.quota.throttled, 4));
	view_processors_free(&p);
	text = fixture_text(m);
	assert_non_null(strstr(text, "\nquota\t0\t1.5\t77\t5000000000\t3000000000\n"));
	assert_non_null(strstr(text, "\nquota\t2\t0.25\t78\t2000000000\t0\n"));
	free(text);
	model_free(m);
	fixture_remove(directory);
}

/* A process without a quota may use all processors, and so does a quota of more than these. */
static void test_quota_of_some(void **state)
{
	const uint64_t s = 1000000000;
	char text[VIEW_QUOTA_TEXT];
	(void)state;
	for (unsigned all = 0; all < 2; all++) {
		char *directory = fixture_directory();
		for (int32_t rank = 0; rank < 2; rank++) {
			struct gen *g = begin(directory, rank, "0-1");
			add_thread(g, 10, 20, 4, 1);
			if (rank || all)
				quota(g, all ? 3 * s : s, 77, 0, 0);
			finish(g);
		}
		struct model *m = fixture_model(directory, 1);
		struct view_quota q;
		assert_true(view_quota_make(m, &q));
		assert_true(near(q.n_given, 2) && !q.has_quota);
		model_free(m);
		fixture_remove(directory);
	}
	assert_string_equal(view_quota_text(0.5, text), "0.5");
	assert_string_equal(view_quota_text(10, text), "10");
	assert_string_equal(view_quota_text(1.25, text), "1.25");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_up),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_quota_of_some),
		cmocka_unit_test(test_threads_that_matter),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_idle_team),
		cmocka_unit_test(test_last_moment),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_too_much_of_a_rank),
		cmocka_unit_test(test_one_thread),
		cmocka_unit_test(test_threads_without_work),
		cmocka_unit_test(test_names_fit),
		cmocka_unit_test(test_elapsed_time),
		cmocka_unit_test(test_spinning),
		cmocka_unit_test(test_share_of_processors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
