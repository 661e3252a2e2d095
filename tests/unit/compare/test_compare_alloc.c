/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A comparison without memory: whichever allocation fails, the functions say so, and closing frees
 * everything. The program is linked with --wrap, so that allocations of our code come here.
 */
#include "common/base/log.h"
#include "hpcprof-lite/compare/compare_model.h"
#include "hpcprof-lite/compare/compare_page.h"
#include "hpcprof-lite/compare/compare_report.h"
#include "tests/unit/compare/compare_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static size_t n_left = SIZE_MAX; /* allocations until one fails */
static size_t largest;           /* bytes of the largest calloc() */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool fails(void)
{
	return n_left != SIZE_MAX && n_left-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	largest = n * size > largest ? n * size : largest;
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

static void make(struct fixture *f, const char *solver, uint64_t n)
{
	fixture_begin(f, "/bin/app");
	uint32_t library = fixture_module(f, "/lib/libx.so.1"), file = fixture_file(f, "a.c");
	fixture_metric(f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS, MODEL_METRIC_SAMPLED,
		       MODEL_ROLE_NONE);
	uint32_t main_ = fixture_call(f, 1, fixture_function(f, "main", 0, file, 1), MODEL_CALL),
		 at = fixture_call(f, main_, fixture_function(f, solver, library, file, 10),
				   MODEL_CALL),
		 line = fixture_line(f, at, file, 12);
	fixture_value(f, at, 0, 100, 1);
	fixture_value(f, line, 0, n, (double)n / 100);
	fixture_rank(f, 1);
}

/* True if everything was done. */
static bool compare(void)
{
	static struct fixture base, new;
	struct compare c;
	struct compare_report r;
	struct compare_condition conditions[2];
	make(&base, "solve", 1000);
	make(&new, "solve_fast", 900);
	assert_int_equal(compare_condition_parse("CPUTIME in main > +5%", &conditions[0]), 0);
	assert_int_equal(compare_condition_parse("CPUTIME > +5%", &conditions[1]), 0);
	struct compare_options o = {.conditions = conditions, .n_conditions = 2};
	bool ok = compare_open(&c) && compare_rename(&c, "a", "b") &&
		  compare_add(&c, COMPARE_BASE, "base", &base.m) &&
		  compare_add(&c, COMPARE_NEW, "new", &new.m) && compare_settle(&c);
	if (ok) {
		ok = compare_report_open(&c, &o, &r) == STATUS_OK;
		compare_report_close(&r);
	}
	compare_close(&c);
	return ok;
}

static void test_every_allocation(void **state)
{
	size_t n = 0;
	(void)state;
	log_set_quiet(true);
	for (bool done = false; !done; n++) {
		n_left = n;
		done = compare();
		/* a success means that no allocation failed */
		assert_true(!done || n_left != SIZE_MAX);
	}
	n_left = SIZE_MAX;
	assert_true(n > 20);
}

/* A model of which only lines have a file, so the first file is added with the contexts. */
static bool compare_lines(struct compare *c, size_t n_metrics)
{
	static struct fixture f;
	fixture_begin(&f, "/bin/app");
	uint32_t file = fixture_file(&f, "a.c"),
		 at = fixture_call(&f, 1, fixture_function(&f, "main", 0, MODEL_NONE, 0),
				   MODEL_CALL);
	static const char *const names[] = {"A", "B", "C", "D", "E", "F"};
	for (size_t i = 0; i < n_metrics; i++)
		fixture_metric(&f, names[i], names[i], MODEL_COUNT, MODEL_METRIC_SAMPLED,
			       MODEL_ROLE_NONE);
	fixture_value(&f, fixture_line(&f, at, file, 5), 0, 10, 10);
	return compare_open(c) && compare_add(c, COMPARE_BASE, "base", &f.m) &&
	       compare_add(c, COMPARE_NEW, "new", &f.m);
}

static void test_page(void **state)
{
	struct compare c;
	struct compare_report r;
	size_t n = 0;
	(void)state;
	assert_true(compare_lines(&c, 1) && compare_settle(&c));
	assert_int_equal(compare_report_open(&c, &(struct compare_options){0}, &r), STATUS_OK);
	for (bool done = false; !done; n++) {
		struct compare_page p;
		n_left = n;
		done = compare_page_open(&r, 0.03, &p);
		assert_true(!done || n_left != SIZE_MAX);
		n_left = SIZE_MAX;
		compare_page_close(&p);
	}
	assert_true(n > 15);
	compare_report_close(&r);
	compare_close(&c);
}

/* Most metrics are 0 at most nodes, so totals are allocated for those that exist. */
static void test_model_size(void **state)
{
	struct compare c;
	(void)state;
	assert_true(compare_lines(&c, 6));
	largest = 0;
	struct model *m = compare_model_make(&c);
	assert_non_null(m);
	assert_int_equal(m->n_totals, 2 * c.nodes.n); /* of metric A, now and before */
	assert_true(largest < c.nodes.n * m->n_metrics * sizeof *m->totals);
	compare_model_free(m);
	compare_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_allocation),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_model_size),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
