/* SPDX-License-Identifier: BSD-3-Clause */
/* What matters most (findings.h): made runs with one cause each, and what a cure would give. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/model/private.h"
#include "hpcprof-lite/view/findings/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

struct run {
	char *directory;
	struct gen *g;
	struct model *m;
	struct findings f;
};

/* A process that lives from 10 s to 20 s, on the given processors. */
static void begin(struct run *r, const char *processors)
{
	r->directory = fixture_directory();
	r->g = gen_open(r->directory, &(struct gen_process){.host = "n1",
							    .pid = 100,
							    .rank = -1,
							    .n_ranks = -1,
							    .start_mono_ns = 10 * SECOND,
							    .start_real_ns = 10 * SECOND});
	gen_module(r->g, "/bin/app", NULL, 0, MSR_MODULE_MAIN);
	gen_metric(r->g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	gen_metric(r->g, "OFFCPU", MSR_UNIT_NS, 5000000, MSR_SOURCE_TEST);
	gen_info(r->g, "processors", processors);
}

/* A thread that lives for `life` seconds, works for `work` and waits for `wait` of them. */
static void add_thread(struct run *r, uint64_t life, uint64_t work, uint64_t wait,
		       enum msr_wait kind)
{
	const uint32_t t = gen_thread(r->g, "t"),
		       at = gen_child(r->g, t,
				      gen_entry(r->g, t, t ? MSR_ENTRY_THREAD : MSR_ENTRY_MAIN),
				      msr_addr_make(1, 0x1000, false)),
		       blocked = gen_child(r->g, t, at,
					   msr_addr_make(MSR_MODULE_NONE, MSR_WAIT + kind, false));
	struct msr_thread *record = gen_thread_record(r->g, t);
	if (work)
		gen_weight(r->g, t, at, 0, 1000 * work, work * SECOND);
	if (wait)
		gen_weight(r->g, t, blocked, 1, 10, wait * SECOND);
	record->start_ns = 10 * SECOND;
	record->end_ns = (10 + life) * SECOND;
}

static void finish(struct run *r)
{
	gen_sample(r->g, 0, 2, 0, 20 * SECOND - 1000, 0);
	free(gen_close(r->g, MSR_EXIT_RETURN, 0));
	r->m = fixture_model(r->directory, 1);
	assert_true(findings_make(r->m, &r->f));
	for (size_t i = 0; i < r->f.list.n; i++) {
		const struct finding *f = &r->f.list.at[i];
		assert_true(f->low >= 0 && f->low <= f->likely && f->likely <= f->high);
		assert_true(f->high <= r->f.elapsed && f->cost <= r->f.elapsed);
		assert_true(i == 0 || f->likely <= f[-1].likely || f[-1].likely == 0);
	}
}

static void end(struct run *r)
{
	findings_free(&r->f);
	model_free(r->m);
	fixture_remove(r->directory);
}

static const struct finding *find(const struct run *r, const char *key)
{
	for (size_t i = 0; i < r->f.list.n; i++)
		if (strcmp(r->f.list.at[i].key, key) == 0)
			return &r->f.list.at[i];
	return NULL;
}

/* The first finding has this cause, and its likely gain is as expected. */
static void assert_first(const struct run *r, const char *key, double likely)
{
	assert_true(r->f.list.n > 0);
	assert_string_equal(r->f.list.at[0].key, key);
	if (fabs(r->f.list.at[0].likely - likely) > 0.02)
		fail_msg("%s: likely %f instead of %f", key, r->f.list.at[0].likely, likely);
}

static void clean_runs_have_none(void **state)
{
	struct run r;
	(void)state;
	begin(&r, "0-1");
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	finish(&r);
	for (size_t i = 0; i < r.f.list.n; i++)
		assert_true(r.f.list.at[i].likely == 0);
	end(&r);
}

/* Four threads on two processors: without waits their 8 s of work take 4 s. */
static void more_threads_than_processors(void **state)
{
	struct run r;
	(void)state;
	begin(&r, "0-1");
	for (int i = 0; i < 4; i++)
		add_thread(&r, 10, 2, 8, MSR_WAIT_RUN_QUEUE);
	finish(&r);
	assert_first(&r, "processors", 6);
	assert_string_equal(r.f.list.at[0].subject, "4 threads on 2 processors");
	end(&r);
}

/* Two threads on one of two processors. */
static void threads_without_processor(void **state)
{
	struct run r;
	(void)state;
	begin(&r, "0-1");
	add_thread(&r, 10, 5, 5, MSR_WAIT_RUN_QUEUE);
	add_thread(&r, 10, 5, 5, MSR_WAIT_RUN_QUEUE);
	finish(&r);
	assert_first(&r, "no-processor", 5);
	end(&r);
}

/* The same work; one thread got its processor late, and the other has ended meanwhile. */
static void a_thread_that_ends_late(void **state)
{
	struct run r;
	(void)state;
	begin(&r, "0-1");
	add_thread(&r, 10, 7, 3, MSR_WAIT_RUN_QUEUE);
	add_thread(&r, 7, 7, 0, MSR_WAIT_RUN_QUEUE);
	finish(&r);
	assert_null(find(&r, "serial"));
	assert_non_null(find(&r, "no-processor"));
	end(&r);
}

/* 10 s and 2 s of work: 6 s each take 4 s less. */
static void unequal_threads(void **state)
{
	struct run r;
	(void)state;
	begin(&r, "0-1");
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	add_thread(&r, 2, 2, 0, MSR_WAIT_SLEEP);
	finish(&r);
	assert_first(&r, "balance", 4);
	assert_null(find(&r, "serial")); /* the same seconds count once */
	end(&r);
}

static void threads_that_sleep(void **state)
{
	struct run r;
	(void)state;
	begin(&r, "0");
	add_thread(&r, 10, 4, 6, MSR_WAIT_SLEEP);
	finish(&r);
	assert_first(&r, "sleep", 5.4);
	assert_true(r.f.list.at[0].high > 6 && r.f.list.at[0].n_places == 1);
	end(&r);
}

static void few_samples_say_nothing_else(void **state)
{
	struct run r;
	(void)state;
	begin(&r, "0-1");
	add_thread(&r, 10, 0, 9, MSR_WAIT_SLEEP);
	finish(&r);
	assert_string_equal(r.f.list.at[0].key, "few-samples");
	assert_null(find(&r, "sleep"));
	end(&r);
}

/* A million page faults; the kernel's CPU time bounds what they cost. */
static void page_faults(void **state)
{
	struct run r;
	(void)state;
	begin(&r, "0");
	add_thread(&r, 10, 10, 0, MSR_WAIT_SLEEP);
	gen_header(r.g)->usage.page_faults = 4000000;
	gen_header(r.g)->usage.system_ns = 2 * SECOND;
	finish(&r);
	assert_first(&r, "page-faults", 1.8);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_runs_have_none),
		cmocka_unit_test(more_threads_than_processors),
		cmocka_unit_test(threads_without_processor),
		cmocka_unit_test(a_thread_that_ends_late),
		cmocka_unit_test(unequal_threads),
		cmocka_unit_test(threads_that_sleep),
		cmocka_unit_test(few_samples_say_nothing_else),
		cmocka_unit_test(page_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
