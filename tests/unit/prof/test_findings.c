/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What matters most (findings.h): made runs with one cause each, and what a cure would give. Here:
 * processors, unequal threads, locks, waits, page faults, the measurement.
 */
#include "tests/unit/prof/findings_fixture.h"

#include "tests/gen/gen_gpu.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6)

/* A thread that lives for `life` seconds, works for `work` and waits for `wait` of them. */
static void add_thread(struct run *r, double life, double work, double wait, enum msr_wait kind)
{
	const uint32_t t = run_thread(r, 0, life);
	if (work > 0)
		run_work(r, t, "main", work);
	if (wait > 0)
		run_wait(r, t, "main", kind, wait);
}

static void clean_runs_have_none(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	run_finish(&r);
	assert_int_equal(r.f.list.n, 0);
	run_end(&r);
}

/* Four threads on two processors: without waits their 8 s of work take 4 s. */
static void more_threads_than_processors(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	for (int i = 0; i < 4; i++)
		add_thread(&r, 10, 2, 8, MSR_WAIT_RUN_QUEUE);
	run_finish(&r);
	run_has_first(&r, "processors", 6);
	assert_string_equal(r.f.list.at[0].subject, "4 threads on 2 processors");
	run_end(&r);
}

/* Two threads on one of two processors. */
static void threads_without_processor(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	add_thread(&r, 10, 5, 5, MSR_WAIT_RUN_QUEUE);
	add_thread(&r, 10, 5, 5, MSR_WAIT_RUN_QUEUE);
	run_finish(&r);
	run_has_first(&r, "no-processor", 5);
	run_end(&r);
}

/* The same work; one thread got its processor late, and the other has ended meanwhile. */
static void a_thread_that_ends_late(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	add_thread(&r, 10, 7, 3, MSR_WAIT_RUN_QUEUE);
	add_thread(&r, 7, 7, 0, MSR_WAIT_RUN_QUEUE);
	run_finish(&r);
	run_has_not(&r, "serial");
	assert_non_null(run_finding(&r, "no-processor"));
	run_end(&r);
}

/* 10 s and 2 s of work: 6 s each take 4 s less. */
static void unequal_threads(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	add_thread(&r, 2, 2, 0, MSR_WAIT_SLEEP);
	run_finish(&r);
	run_has_first(&r, "balance", 4);
	run_has_not(&r, "serial"); /* the same seconds count once */
	run_end(&r);
}

/* Two threads at a time, each of which lives for 0.1 s and works for half of that. */
static void new_threads(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	add_thread(&r, 10, 0, 10, MSR_WAIT_THREAD);
	for (int i = 0; i < 198; i++) {
		const double at = i / 2 * 0.1;
		const uint32_t t = run_thread(&r, at, at + 0.1);
		run_work(&r, t, "solve", 0.05);
	}
	run_finish(&r);
	run_has_first(&r, "new-threads", 10 - 198 * 0.05 / 2);
	run_has_not(&r, "serial");
	run_end(&r);
}

/* ---- locks and waits ---- */

/* Both threads wait for a mutex for 3 s, and have CPU time for 0.5 s in its calls. */
static void mutex(void **state)
{
	struct run r;
	(void)state;
	for (int contended = 0; contended < 2; contended++) {
		run_begin(&r, "0-1");
		for (uint32_t t = 0; t < 2; t++) {
			run_thread(&r, 0, 10);
			run_work(&r, t, "main", contended ? 6.5 : 9.483);
			run_work(&r, t, "solve/__GI___pthread_mutex_lock", 0.5);
			run_wait(&r, t, "build/__GI___pthread_mutex_lock", MSR_WAIT_FUTEX,
				 contended ? 3 : 0.017);
		}
		run_finish(&r);
		if (contended) {
			const struct finding *f = run_has(&r, "mutex", 3.5);
			NEAR(f->facts[0].value, 6);
			NEAR(f->facts[3].value, 1);
			assert_int_equal(r.m->contexts[f->places[0].context].line, 4);
		} else {
			run_has_not(&r, "mutex"); /* nobody waits to speak of */
		}
		run_end(&r);
	}
}

static void openmp_locks(void **state)
{
	static const char *const paths[] = {"solve/GOMP_critical_start",
					    "solve/GOMP_ordered_start"},
				 *const keys[] = {"critical", "ordered"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct run r;
		run_begin(&r, "0-1");
		for (uint32_t t = 0; t < 2; t++) {
			run_thread(&r, 0, 10);
			run_work(&r, t, "main", 8);
			run_work(&r, t, paths[i], 2);
		}
		run_finish(&r);
		run_has(&r, keys[i], 2);
		run_has_not(&r, keys[1 - i]);
		run_end(&r);
	}
}

/*
 * Each thread waits for the other one for 5 s: one at a time works. At most, 1 s in calls that wake
 * ends, too; the 8 s of other work take 4 s.
 */
static void threads_in_turn(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	for (uint32_t t = 0; t < 2; t++) {
		run_thread(&r, 0, 10);
		run_work(&r, t, "main", 4);
		run_work(&r, t, "main/pthread_cond_signal", 1);
		run_wait(&r, t, "solve/pthread_cond_wait", MSR_WAIT_FUTEX, 5);
	}
	run_finish(&r);
	const struct finding *f = run_has(&r, "condition", 0.9 * 5 + 0.7 * 1);
	NEAR(f->low, 2.5);
	NEAR(f->high, 1.1 * 6 + 0.5);
	NEAR(f->facts[0].value, 10);
	assert_int_equal(r.m->contexts[f->places[0].context].line, 2);
	run_end(&r);
	run_begin(&r, "0-0"); /* one processor could do no more */
	for (uint32_t t = 0; t < 2; t++) {
		run_thread(&r, 0, 10);
		run_work(&r, t, "main", 5);
		run_wait(&r, t, "solve/pthread_cond_wait", MSR_WAIT_FUTEX, 5);
	}
	run_finish(&r);
	run_has_not(&r, "condition");
	run_end(&r);
}

/* What unequal work explains is no other finding: one thread works, the other one waits for it. */
static void a_thread_that_waits(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	add_thread(&r, 10, 2, 8, MSR_WAIT_THREAD);
	run_finish(&r);
	run_has_first(&r, "balance", 4);
	run_has_not(&r, "condition");
	run_end(&r);
}

static void threads_that_sleep(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-0");
	add_thread(&r, 10, 4, 6, MSR_WAIT_SLEEP);
	run_finish(&r);
	run_has_first(&r, "sleep", 5.4);
	assert_true(r.f.list.at[0].high > 6 && r.f.list.at[0].n_places == 1);
	run_end(&r);
}

/* One thread sleeps for 4 s, and the other one waits for it. */
static void a_thread_that_sleeps(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	add_thread(&r, 10, 6, 4, MSR_WAIT_SLEEP);
	add_thread(&r, 10, 6, 4, MSR_WAIT_THREAD);
	run_finish(&r);
	const struct finding *f = run_has(&r, "sleep", 0.9 * 2 + 0.7 * 2);
	NEAR(f->cost, 2);
	NEAR(f->high, 1.1 * 4 + 0.5);
	run_end(&r);
}

/* ---- the kernel, the measurement ---- */

/* A million page faults; the kernel's CPU time bounds what they cost. */
static void page_faults(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-0");
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	gen_header(r.g)->usage.page_faults = 4000000;
	gen_header(r.g)->usage.system_ns = 2 * SECOND;
	run_finish(&r);
	run_has_first(&r, "page-faults", 1.8);
	run_end(&r);
}

static void few_samples_say_nothing_else(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	const uint32_t t = run_thread(&r, 0, 10);
	gen_weight(r.g, t, run_node(&r, t, "main"), 0, 40, 4 * SECOND);
	run_wait(&r, t, "main", MSR_WAIT_SLEEP, 6);
	run_finish(&r);
	assert_string_equal(r.f.list.at[0].key, "few-samples");
	run_has_not(&r, "sleep");
	run_end(&r);
}

static void samples_that_were_lost(void **state)
{
	(void)state;
	for (uint64_t many = 0; many < 2; many++) {
		struct run r;
		run_begin(&r, "0-0");
		add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP); /* 10001 samples */
		gen_loss(r.g, 0, MSR_LOSS_NO_MEMORY, many ? 600 : 400);
		run_finish(&r);
		assert_int_equal(run_finding(&r, "lost-samples") != NULL, many);
		run_end(&r);
	}
}

static void a_disturbed_run(void **state)
{
	(void)state;
	for (uint64_t much = 0; much < 2; much++) {
		struct run r;
		run_begin(&r, "0-0");
		add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
		gen_thread_record(r.g, 0)->cpu_end_ns = 10 * SECOND;
		gen_thread_record(r.g, 0)->handler_ns = (much ? 6 : 4) * SECOND / 10;
		run_finish(&r);
		assert_int_equal(run_finding(&r, "disturbed") != NULL, much);
		run_end(&r);
	}
}

/* 200,000 launches: 2 % of 10 s in CUPTI, and 2 or 4 % in our callbacks. */
static void launches_that_cost(void **state)
{
	(void)state;
	for (uint64_t much = 0; much < 2; much++) {
		struct run r;
		run_begin(&r, "0-0");
		add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
		struct msr_gpu_tally *tally = gen_gpu_tally(r.g, 1, "nvidia", "");
		tally->launched[MSR_GPU_KERNEL] = 200000;
		tally->handler_ns = (much ? 4 : 2) * SECOND / 10;
		run_finish(&r);
		assert_int_equal(run_finding(&r, "disturbed") != NULL, much);
		run_end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_runs_have_none),
		cmocka_unit_test(more_threads_than_processors),
		cmocka_unit_test(threads_without_processor),
		cmocka_unit_test(a_thread_that_ends_late),
		cmocka_unit_test(unequal_threads),
		cmocka_unit_test(new_threads),
		cmocka_unit_test(mutex),
		cmocka_unit_test(openmp_locks),
		cmocka_unit_test(threads_in_turn),
		cmocka_unit_test(a_thread_that_waits),
		cmocka_unit_test(threads_that_sleep),
		cmocka_unit_test(a_thread_that_sleeps),
		cmocka_unit_test(page_faults),
		cmocka_unit_test(few_samples_say_nothing_else),
		cmocka_unit_test(samples_that_were_lost),
		cmocka_unit_test(a_disturbed_run),
		cmocka_unit_test(launches_that_cost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
