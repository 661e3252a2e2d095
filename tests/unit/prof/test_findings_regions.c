/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings about parallel regions of OpenMP, and serial parts between them: made runs of two
 * threads whose work, waits and instances of a region are known.
 */
#include "tests/unit/prof/findings_fixture.h"

#include <math.h>
#include <stdio.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6)

static const char BODY[] = "solve/solve._omp_fn.0";

/* What two threads do in a region: work, and wait at its barriers. */
struct shape {
	double work[2], wait[2];
	double seconds; /* from fork to join, all instances */
	uint64_t instances;
	const char *call; /* NULL: barriers; else the call of OpenMP where the threads wait */
};

static void put_region(struct run *r, const struct shape *s)
{
	double busy = 0, most = 0;
	for (uint32_t t = 0; t < 2; t++) {
		busy += s->work[t] + s->wait[t];
		most = s->work[t] + s->wait[t] > most ? s->work[t] + s->wait[t] : most;
	}
	gen_region(r->g, 0,
		   &(struct msr_omp_region){.call = run_address("solve"),
					    .function = run_address("solve._omp_fn.0"),
					    .n_threads = 2,
					    .instances = s->instances,
					    .elapsed_ns = (uint64_t)(s->seconds * 1e9),
					    .n_timed = 2 * s->instances,
					    .busy_ns = (uint64_t)(busy * 1e9),
					    .max_ns = (uint64_t)(most * 1e9),
					    .min_ns = (uint64_t)((busy - most) * 1e9)});
}

static void do_region(struct run *r, const struct shape *s)
{
	char path[100];
	snprintf(path, sizeof path, "%s/%s", BODY, s->call ? s->call : "GOMP_barrier");
	for (uint32_t t = 0; t < 2; t++) {
		run_work(r, t, BODY, s->work[t]);
		run_work(r, t, path, s->wait[t]);
	}
	put_region(r, s);
}

/* Two threads that do nothing but the region, in `elapsed` seconds. */
static void finish(struct run *r, const struct shape *s, double elapsed)
{
	run_begin(r, "0-1");
	r->elapsed = elapsed;
	run_thread(r, 0, elapsed);
	run_thread(r, 0, elapsed);
	do_region(r, s);
	run_finish(r);
}

/* One thread works for 10 s, the other one waits for it for 5 s. */
static void unequal_work(void **state)
{
	struct run r;
	(void)state;
	finish(&r, &(struct shape){{10, 5}, {0, 5}, 10, 10, NULL}, 10);
	const struct finding *f = run_has(&r, "imbalance", 2.5);
	assert_string_equal(f->subject, "solve, parallel region at app.c:2");
	assert_string_equal(f->facts[1].what, "mean work of the threads below the most");
	NEAR(f->facts[0].value, 0.75);
	NEAR(f->facts[1].value, 0.25); /* (10 - 7.5) / 10 */
	NEAR(f->facts[2].value, 0.25);
	NEAR(f->low, 1.25);
	NEAR(f->high, 1.1 * 2.5 + 0.5);
	assert_true(f->n_places == 1 && r.m->contexts[f->places[0].context].line == 3);
	assert_string_equal(r.m->functions[f->function].name, "solve");
	run_end(&r);
}

/* The same in turn: each of both waits for the other one. */
static void barriers(void **state)
{
	struct run r;
	(void)state;
	finish(&r, &(struct shape){{6, 6}, {4, 4}, 10, 10, NULL}, 10);
	run_has(&r, "barrier", 0.9 * 4);
	run_has_not(&r, "imbalance");
	run_end(&r);
}

/* One thread at a time works, as in `single`; one of them came first more often. */
static void in_turn(void **state)
{
	static const struct {
		double work[2];
		const char *key;
	} cases[] = {{{7, 3}, "barrier"}, {{10, 0}, "imbalance"}, {{8, 4}, "imbalance"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run r;
		const double *work = cases[i].work;
		finish(&r,
		       &(struct shape){
			       {work[0], work[1]}, {10 - work[0], 10 - work[1]}, 10, 10, NULL},
		       10);
		assert_non_null(run_finding(&r, cases[i].key));
		run_end(&r);
	}
}

/* Equal work over the run: what is lost in single instances may be chance, below 15 %. */
static void chance(void **state)
{
	static const struct {
		double work[2];
		const char *key;
	} cases[] = {{{8.6, 8.6}, NULL},      /* 14 % lost */
		     {{8.4, 8.4}, "barrier"}, /* 16 % */
		     {{9.5, 8.2}, "barrier"}, /* 11.5 %; work differs by 6.8 % */
		     {{9.2, 8.6}, NULL},      /* 11 %; by 3.3 % */
		     {{9.5, 7.7}, "imbalance"}}; /* 14 %; by 9.5 % */
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run r;
		const double *work = cases[i].work;
		finish(&r,
		       &(struct shape){{work[0], work[1]}, {10 - work[0], 10 - work[1]}, 10, 10,
				       NULL},
		       10);
		assert_int_equal(cases[i].key == NULL,
				 !run_finding(&r, "barrier") && !run_finding(&r, "imbalance"));
		assert_true(!cases[i].key || run_finding(&r, cases[i].key));
		run_end(&r);
	}
}

/* From 500 instances on, of less than 200 us each. */
static void short_regions(void **state)
{
	static const struct {
		double seconds;
		uint64_t instances;
		const char *key;
	} cases[] = {{9, 60000, "short-regions"},
		     {9, 40000, "imbalance"}, /* 225 us */
		     {0.09, 600, "short-regions"},
		     {0.09, 480, "imbalance"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run r;
		const double s = cases[i].seconds;
		finish(&r, &(struct shape){{s, s / 4}, {0, s * 3 / 4}, s, cases[i].instances, NULL},
		       s / 0.9);
		const struct finding *f = run_has(&r, cases[i].key, s * 3 / 8);
		if (i % 2 == 0) {
			const struct view_fact *one = &f->facts[f->n_facts - 1];
			assert_string_equal(one->what, "one takes");
			NEAR(one->value, s / (double)cases[i].instances);
		}
		run_end(&r);
	}
}

/* Workers that have not seen the fork yet are idle: the region loses that time, too. */
static void late_workers(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	run_thread(&r, 0, 10);
	run_thread(&r, 0, 10);
	do_region(&r, &(struct shape){{5, 2}, {0, 1}, 5, 50000, NULL});
	run_work(&r, 0, "main", 5);
	run_idle(&r, 1, 7); /* 5 outside, 2 inside */
	run_finish(&r);
	run_has(&r, "short-regions", 1.5); /* 3 of 10 s in the region, by two threads */
	run_has(&r, "serial", 2.5);        /* 5 s, without those 2 */
	run_end(&r);
}

/* More than 30 % of what is lost is in calls for tasks. */
static void small_tasks(void **state)
{
	struct run r;
	(void)state;
	finish(&r, &(struct shape){{6, 6}, {4, 4}, 10, 10, "GOMP_task"}, 10);
	const struct finding *f = run_has(&r, "small-tasks", 4);
	NEAR(f->high, 1.1 * 1.2 * 4 + 0.5);
	NEAR(f->facts[2].value, 0.4);
	run_end(&r);
	for (int many = 0; many < 2; many++) {
		const double tasks = many ? 1.3 : 1.1; /* of 4 s that each thread loses */
		run_begin(&r, "0-1");
		for (uint32_t t = 0; t < 2; t++) {
			run_thread(&r, 0, 10);
			run_work(&r, t, "solve/solve._omp_fn.0/GOMP_task", tasks);
		}
		do_region(&r, &(struct shape){{6, 6}, {4 - tasks, 4 - tasks}, 10, 10, NULL});
		run_finish(&r);
		assert_int_equal(run_finding(&r, "small-tasks") != NULL, many);
		run_end(&r);
	}
}

/* Calls of the run time that are not for tasks, or for tasks outside of the region. */
static void no_tasks(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	for (uint32_t t = 0; t < 2; t++) {
		run_thread(&r, 0, 10);
		run_work(&r, t, "solve/solve._omp_fn.0/GOMP_task", 0.1);
		run_work(&r, t, "main/GOMP_task", 2);
	}
	do_region(&r, &(struct shape){{5, 5}, {2.9, 2.9}, 8, 10, NULL});
	run_finish(&r);
	run_has_not(&r, "small-tasks");
	run_has(&r, "barrier", 0.9 * 3);
	run_end(&r);
	finish(&r, &(struct shape){{6, 6}, {4, 4}, 10, 10, "GOMP_loop_dynamic_next"}, 10);
	run_has_not(&r, "small-tasks");
	run_has(&r, "barrier", 0.9 * 4);
	run_end(&r);
}

/* Waits for a lock inside are a finding of their own, and not the region's. */
static void locks_inside(void **state)
{
	struct run r;
	(void)state;
	finish(&r, &(struct shape){{6, 6}, {4, 4}, 10, 10, "GOMP_critical_start"}, 10);
	run_has(&r, "critical", 4);
	run_has_not(&r, "barrier");
	run_end(&r);
	run_begin(&r, "0-1");
	for (uint32_t t = 0; t < 2; t++) {
		run_thread(&r, 0, 10);
		run_work(&r, t, "solve/solve._omp_fn.0/GOMP_critical_start", 2);
	}
	do_region(&r, &(struct shape){{6, 6}, {2, 2}, 10, 10, NULL}); /* half of its loss */
	run_finish(&r);
	run_has(&r, "critical", 2);
	run_has(&r, "barrier", 0.9 * 2);
	run_end(&r);
}

/* A region that costs less than 5 % of the run is none. */
static void cheap(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	run_thread(&r, 0, 10);
	run_thread(&r, 0, 10);
	do_region(&r, &(struct shape){{1, 0.1}, {0, 0.9}, 1, 1, NULL});
	run_work(&r, 0, "main", 9);
	run_work(&r, 1, "main", 9);
	run_finish(&r);
	run_has_not(&r, "imbalance");
	run_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unequal_work),  cmocka_unit_test(barriers),
		cmocka_unit_test(in_turn),       cmocka_unit_test(chance),
		cmocka_unit_test(short_regions), cmocka_unit_test(late_workers),
		cmocka_unit_test(small_tasks),   cmocka_unit_test(no_tasks),
		cmocka_unit_test(locks_inside),  cmocka_unit_test(cheap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
