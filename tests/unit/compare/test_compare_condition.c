/* SPDX-License-Identifier: BSD-3-Clause */
/* The syntax of --fail-if. The messages are tested by tests/cli/compare/compare_gate.sh. */
#include "hpcprof-lite/compare/compare_condition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct compare_condition parse(const char *text)
{
	struct compare_condition c;
	assert_int_equal(compare_condition_parse(text, &c), STATUS_OK);
	return c;
}

static void is_text(const char *text, size_t n, const char *wanted)
{
	assert_int_equal(n, strlen(wanted));
	assert_memory_equal(text, wanted, n);
}

static void test_parts(void **state)
{
	(void)state;
	struct compare_condition c = parse("CPUTIME in cg_solve > +5%");
	is_text(c.metric, c.n_metric, "CPUTIME");
	is_text(c.function, c.n_function, "cg_solve");
	assert_true(c.is_greater && c.is_change && c.is_percent && !c.is_self);
	assert_true(c.value == 5);

	c = parse("  CPUTIME (sec)  self  in  f  <  2.5 ms ");
	is_text(c.metric, c.n_metric, "CPUTIME (sec)");
	is_text(c.function, c.n_function, "f");
	assert_true(!c.is_greater && !c.is_change && !c.is_percent && c.is_self);
	assert_true(c.value > 0.00249 && c.value < 0.00251);
	assert_int_equal(c.unit, MODEL_SECONDS);

	c = parse("GKER:COUNT total > 1k");
	is_text(c.metric, c.n_metric, "GKER:COUNT");
	assert_null(c.function);
	assert_true(c.value == 1000 && c.unit == MODEL_COUNT);

	c = parse("GXCOPY:H2D (B)>-1MiB");
	is_text(c.metric, c.n_metric, "GXCOPY:H2D (B)");
	assert_true(c.value == -1048576 && c.is_change && c.unit == MODEL_BYTES);

	c = parse("self > +1%"); /* a metric of that name */
	is_text(c.metric, c.n_metric, "self");
}

static void test_names_of_cpp(void **state)
{
	(void)state;
	struct compare_condition c = parse("X in operator> <A>(f<(a>b)> in) < -0.5%");
	is_text(c.function, c.n_function, "operator> <A>(f<(a>b)> in)");
	assert_true(c.value == -0.5 && !c.is_greater);
}

static void test_refusals(void **state)
{
	static const char *const texts[] = {
		"",
		"CPUTIME",
		"CPUTIME in f",
		"> +5%",
		"in f > +5%x",
		"CPUTIME in > +5%",
		"CPUTIME in f >",
		"CPUTIME in f > %",
		"CPUTIME in f > 5%",
		"CPUTIME in f > +x",
		"CPUTIME in f > ++5%",
		"CPUTIME in f > +5 % %",
		"CPUTIME in f > 5 parsecs",
		"CPUTIME in f > inf",
		"CPUTIME in f > 0x10",
		"CPUTIME in f > 1e999",
		"CPUTIME in f > +5% and",
	};
	struct compare_condition c;
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (compare_condition_parse(texts[i], &c) != STATUS_USAGE)
			fail_msg("not refused: %s", texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_names_of_cpp),
		cmocka_unit_test(test_refusals),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
