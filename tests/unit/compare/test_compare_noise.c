/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often chance is taken for a difference, and how often a difference is found: models whose
 * samples are Poisson numbers, from fixed seeds.
 */
#include "hpcprof-lite/compare/compare_report.h"
#include "tests/unit/compare/compare_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { N_PAIRS = 100, N_FUNCTIONS = 60, CHANGED = 3 };

static const double period = 1e-3;

/* What is unlike in two sides. */
struct change {
	double factor;  /* of the time of function CHANGED */
	double machine; /* relative deviation of a whole run from the others */
	double rate;    /* samples a second of the new side, relative to the base */
};

/* Function k has 5000 / (k + 1) samples on average, in two lines. */
static void add_run(struct compare *c, enum compare_side side, const struct change *change,
		    uint64_t *seed)
{
	static struct fixture f;
	static char names[N_FUNCTIONS][16];
	double run = 1 + change->machine * fixture_normal(seed),
	       rate = side == COMPARE_NEW && change->rate > 0 ? change->rate : 1, sum = 0;
	fixture_begin(&f, "/a");
	uint32_t file = fixture_file(&f, "a.c");
	fixture_metric(&f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS, MODEL_METRIC_SAMPLED,
		       MODEL_ROLE_NONE);
	uint32_t main_ = fixture_call(&f, 1, fixture_function(&f, "main", 0, file, 1), MODEL_CALL);
	for (uint32_t k = 0; k < N_FUNCTIONS; k++) {
		snprintf(names[k], sizeof names[k], "f%u", k);
		uint32_t function = fixture_function(&f, names[k], 0, file, 10 * k + 10),
			 at = fixture_call(&f, main_, function, MODEL_CALL);
		double factor = side == COMPARE_NEW && k == CHANGED ? change->factor : 1;
		for (uint32_t line = 1; line <= 2; line++) {
			double mean = 2500.0 / (k + 1) * factor * run * rate;
			uint64_t n = fixture_poisson(seed, mean);
			uint32_t x = fixture_line(&f, at, file, 10 * k + 10 + line);
			if (n)
				fixture_value(&f, x, 0, n, (double)n * period / rate);
			sum += (double)n * period / rate;
		}
	}
	fixture_rank(&f, sum);
	assert_true(compare_add(c, side, "run", &f.m));
}

struct outcome {
	unsigned n_alarms; /* pairs with a difference that is none, in any table */
	unsigned n_found;  /* pairs in which the function that changed is found */
	double excess;     /* mean over the pairs */
};

static bool is_changed(const struct compare *c, enum compare_by by, uint32_t id)
{
	char name[64];
	char wanted[] = {'f', '0' + CHANGED, 0};
	if (by == COMPARE_BY_LINE)
		id = c->lines.at[id].function;
	else if (by == COMPARE_BY_PATH)
		id = compare_function_of(c, id);
	if (by == COMPARE_BY_RANK || id == MODEL_NONE)
		return false;
	compare_row_name(c, COMPARE_BY_FUNCTION, id, 0, name, sizeof name);
	for (size_t i = 0; i < sizeof wanted; i++)
		if (name[i] != wanted[i])
			return false;
	return true;
}

static struct outcome run_pairs(const struct change *change, unsigned n_runs, double assumed)
{
	struct outcome o = {0};
	for (uint64_t pair = 0; pair < N_PAIRS; pair++) {
		struct compare c;
		struct compare_report r;
		uint64_t seed = 1000 * pair + n_runs;
		bool alarm = false;
		assert_true(compare_open(&c));
		for (unsigned i = 0; i < 2 * n_runs; i++)
			add_run(&c, i < n_runs ? COMPARE_BASE : COMPARE_NEW, change, &seed);
		struct compare_options options = {.assumed = assumed};
		assert_int_equal(compare_report_open(&c, &options, &r), STATUS_OK);
		for (int by = 0; by < COMPARE_N_BY; by++)
			for (size_t i = 0; i < r.rows[by].n_real; i++) {
				bool changed = is_changed(&c, by, r.rows[by].at[i].id);
				o.n_found += changed && by == COMPARE_BY_FUNCTION;
				alarm |= !changed && by != COMPARE_BY_RANK;
			}
		if (change->factor == 1)
			alarm |= r.rows[COMPARE_BY_RANK].n_real || r.wholes.at[0].is_real;
		o.n_alarms += alarm;
		o.excess += sqrt(r.values.excess) / N_PAIRS;
		compare_report_close(&r);
		compare_close(&c);
	}
	print_message("# %u of %d pairs with a false alarm, %u found, excess %.3f\n", o.n_alarms,
		      N_PAIRS, o.n_found, o.excess);
	return o;
}

static void test_unchanged(void **state)
{
	(void)state;
	struct outcome o = run_pairs(&(struct change){.factor = 1}, 1, 0);
	assert_in_range(o.n_alarms, 0, 5);
	o = run_pairs(&(struct change){.factor = 1, .rate = 0.1}, 1, 0);
	assert_in_range(o.n_alarms, 0, 5);
	o = run_pairs(&(struct change){.factor = 1}, 3, 0);
	assert_in_range(o.n_alarms, 0, 5);
}

/* Runs that differ by 3 % as a whole: one run cannot know that, several show it. */
static void test_noisy_machine(void **state)
{
	(void)state;
	struct outcome o = run_pairs(&(struct change){.factor = 1, .machine = 0.03}, 5, 0);
	assert_in_range(o.n_alarms, 0, 5);
	assert_true(o.excess > 0.02 && o.excess < 0.04);
	o = run_pairs(&(struct change){.factor = 1, .machine = 0.03}, 1, 0.03);
	assert_in_range(o.n_alarms, 0, 5);
}

static void test_changed(void **state)
{
	(void)state;
	struct outcome o = run_pairs(&(struct change){.factor = 1.3}, 1, 0.01);
	assert_in_range(o.n_found, 95, N_PAIRS);
	assert_in_range(o.n_alarms, 0, 5);
	o = run_pairs(&(struct change){.factor = 1.1}, 10, 0);
	assert_in_range(o.n_found, 95, N_PAIRS);
	o = run_pairs(&(struct change){.factor = 0.7}, 1, 0.01);
	assert_in_range(o.n_found, 95, N_PAIRS);
}

static void test_limit(void **state)
{
	(void)state;
	assert_true(fabs(compare_limit(1) - 3) < 1e-6);
	assert_true(fabs(compare_limit(0) - 3) < 1e-6);
	assert_true(fabs(compare_limit(100) - 4.200) < 1e-2); /* 2 Q(4.200) = 2.70e-5 */
	assert_true(compare_limit(1000000) > 5.8 && compare_limit(1000000) < 6.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unchanged),
		cmocka_unit_test(test_noisy_machine),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_limit),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
