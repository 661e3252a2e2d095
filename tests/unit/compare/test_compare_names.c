/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as comparisons match them. */
#include "hpcprof-lite/compare/compare_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct pair {
	const char *from, *to;
};

static void check(char *(*make)(const char *), const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *made = make(pairs[i].from);
		assert_non_null(made);
		assert_string_equal(made, pairs[i].to);
		free(made);
	}
}

static void test_functions(void **state)
{
	static const struct pair pairs[] = {
		{"solve", "solve"},
		{"solve.constprop.0", "solve"},
		{"solve.isra.12.part.3", "solve"},
		{"solve.part.0.cold", "solve"},
		{"solve(int) [clone .isra.0]", "solve(int)"},
		{"solve(int) [clone .isra.0] [clone .cold]", "solve(int)"},
		{"a [clone]", "a [clone]"},
		{"solve._omp_fn.0", "solve._omp_fn.0"},
		{"solve [guessed]", "solve"},
		{".cold", ".cold"},
		{"main.1", "main.1"},
		{"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
		{"core::fmt::write::h0123", "core::fmt::write::h0123"},
		{"<unknown at 0x1234> [libx.so.1]", "<unknown at 0x1234>"},
		{"<unknown function> [libx.so]", "<unnamed functions>"},
		{"", "<unnamed functions>"},
		{"<u64>::pow", "<u64>::pow"},
	};
	(void)state;
	check(compare_function_name, pairs, sizeof pairs / sizeof *pairs);
}

static void test_modules(void **state)
{
	static const struct pair pairs[] = {
		{"/usr/lib/libm.so.6", "libm.so"},
		{"/lib/libc-2.36.so", "libc.so"},
		{"libfoo.so", "libfoo.so"},
		{"libfoo.sofa", "libfoo.sofa"},
		{"libfoo.sofa.so.1.2", "libfoo.sofa.so"},
		{"/opt/app-1.2/bin/app-1.2.3", "app"},
		{"/usr/bin/python3.12", "python"},
		{"lu2", "lu2"},
		{"7.2", "7.2"},
		{"-3", "-3"},
		{"x.py", "x.py"},
		{"", ""},
	};
	(void)state;
	check(compare_module_name, pairs, sizeof pairs / sizeof *pairs);
}

static void test_is_named(void **state)
{
	(void)state;
	assert_true(compare_is_named("ns::solve(int)", "ns::solve"));
	assert_true(compare_is_named("solve<double>(int)", "solve"));
	assert_true(compare_is_named("solve", "solve"));
	assert_true(compare_is_named("solve(int)", "solve(int)"));
	assert_false(compare_is_named("solver", "solve"));
	assert_false(compare_is_named("solve", "solver"));
	assert_false(compare_is_named("ns::solve", "solve"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_is_named),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
