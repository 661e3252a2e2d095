/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcstruct-lite/scope: interval lists from ranges and rows, one over another, and the
 * join of units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/scope/scope_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE SCOPE_NONE

/* A list as text: "0:1 5:- 9:2@3" is scope 1 from 0, a gap from 5, scope 2 and line 3 from 9. */
static char *text(const struct scope_intervals *v)
{
	static char out[1000];
	char *at = out;
	*at = '\0';
	for (size_t i = 0; i < v->n; i++) {
		at += sprintf(at, "%s%u:", i ? " " : "", v->at[i].offset);
		at += v->at[i].scope == NONE ? sprintf(at, "-") : sprintf(at, "%u", v->at[i].scope);
		if (v->at[i].file != NONE)
			at += sprintf(at, "@%u", v->at[i].line);
	}
	return out;
}

static void expect_flat(const struct scope_range *ranges, size_t n, const uint32_t *parents,
			const char *expected)
{
	struct scope_ranges r = {0};
	struct scope_intervals out = {0};
	memcpy(vec_extend(&r, n), ranges, n * sizeof *ranges);
	assert_true(scope_flatten(&r, parents, &out));
	assert_string_equal(text(&out), expected);
	vec_free(&r);
	vec_free(&out);
}
#define EXPECT_FLAT(expected, parents, ...)                             \
	expect_flat((const struct scope_range[]){__VA_ARGS__},          \
		    sizeof((const struct scope_range[]){__VA_ARGS__}) / \
			    sizeof(struct scope_range),                 \
		    parents, expected)

static void test_flatten(void **state)
{
	static const uint32_t functions[] = {NONE, NONE, NONE}, nested[] = {NONE, 0, 1, 0};
	(void)state;
	EXPECT_FLAT("0:0 10:- 20:1 30:-", functions, {20, 30, 1, 0}, {0, 10, 0, 0});
	EXPECT_FLAT("0:0 10:1 30:-", functions, {0, 10, 0, 0}, {10, 30, 1, 0});
	/* nested, with the same start and the same end */
	EXPECT_FLAT("0:2 5:1 7:0 9:3 10:-", nested, {0, 10, 0, 0}, {0, 7, 1, 1}, {0, 5, 2, 2},
		    {9, 10, 3, 1});
	/* an inlined call outside its function counts only inside */
	EXPECT_FLAT("0:0 5:1 10:-", nested, {0, 10, 0, 0}, {5, 20, 1, 1});
	EXPECT_FLAT("0:0 10:-", nested, {0, 10, 0, 0}, {50, 60, 1, 1});
	EXPECT_FLAT("0:1 10:-", nested, {0, 15, 1, 1}, {0, 10, 0, 0});
	/* a function in parts, and an inlined call in both */
	EXPECT_FLAT("0:0 8:1 10:- 20:1 25:0 30:-", nested, {0, 10, 0, 0}, {20, 30, 0, 0},
		    {8, 10, 1, 1}, {20, 25, 1, 1});
	/* the same code claimed twice: the first wins */
	EXPECT_FLAT("0:0 10:-", functions, {0, 10, 0, 0}, {0, 10, 1, 0});
	/* overlapping: the later one hides the other while it lasts */
	EXPECT_FLAT("0:0 5:1 15:-", functions, {0, 10, 0, 0}, {5, 15, 1, 0});
	EXPECT_FLAT("0:0 5:1 7:0 10:-", functions, {0, 10, 0, 0}, {5, 7, 1, 0});
	/* the children of a hidden twin have no parent */
	EXPECT_FLAT("0:0 10:-", ((const uint32_t[]){NONE, NONE, 1}), {0, 10, 0, 0}, {0, 10, 1, 0},
		    {2, 4, 2, 1});
}

static void put(struct scope_intervals *v, uint32_t position, uint32_t scope, uint32_t file,
		uint32_t line)
{
	assert_true(scope_append(v, position, scope, file, line));
}

static void test_append(void **state)
{
	struct scope_intervals v = {0};
	(void)state;
	put(&v, 0, NONE, NONE, 0); /* a gap at the start says nothing */
	assert_int_equal(v.n, 0);
	put(&v, 1, 5, NONE, 0);
	put(&v, 2, 5, NONE, 0);    /* the same again */
	assert_int_equal(v.n, 1);
	put(&v, 3, 6, NONE, 0);
	put(&v, 3, 5, NONE,
	    0); /* the one before was empty, and this one goes on with what was before that */
	assert_string_equal(text(&v), "1:5");
	vec_free(&v);
}

static void test_overlay(void **state)
{
	struct scope_intervals a = {0}, b = {0}, out = {0};
	(void)state;
	put(&a, 10, 1, NONE, 0);
	put(&a, 20, NONE, NONE, 0);
	put(&a, 30, 2, 7, 5);
	put(&a, 40, NONE, NONE, 0);
	put(&b, 5, 3, 7, 9);
	put(&b, 35, NONE, NONE, 0);
	assert_true(scope_overlay(&a, &b, &out));
	assert_string_equal(text(&out), "5:3@9 10:1@9 20:3@9 30:2@5 40:-");
	vec_free(&a);
	vec_free(&b);
	vec_free(&out);
}

static void test_join(void **state)
{
	struct scope_chunk chunks[3] = {{.number = 2}, {.number = 0}, {.number = 1}};
	struct scope_intervals out = {0};
	(void)state;
	put(&chunks[0].intervals, 0, 20, NONE, 0);
	put(&chunks[0].intervals, 10, NONE, NONE, 0);
	put(&chunks[0].intervals, 50, 21, NONE, 0);
	put(&chunks[0].intervals, 60, NONE, NONE, 0);
	put(&chunks[1].intervals, 5, 1, NONE, 0);
	put(&chunks[1].intervals, 20, NONE, NONE, 0);
	put(&chunks[2].intervals, 15, 10, NONE, 0);
	put(&chunks[2].intervals, 50, NONE, NONE, 0);
	assert_true(scope_join(chunks, 3, &out));
	/* units 0, 1 and 2 claim 5 to 20 in part: the lower number wins, and what it leaves goes to
	 * the others */
	assert_string_equal(text(&out), "0:20 5:1 20:10 50:21 60:-");
	for (int i = 0; i < 3; i++)
		vec_free(&chunks[i].intervals);
	vec_free(&out);
}

static struct image *image_of(uint64_t start, uint64_t n_bytes)
{
	static struct image image;
	static struct image_region region;
	region = (struct image_region){start, n_bytes, 0};
	image.regions.at = image.code.at = &region;
	image.regions.n = image.code.n = 1;
	return &image;
}

static void expect_rows(const struct debug_row *rows, size_t n, const char *expected)
{
	struct scope_intervals out = {0};
	assert_true(scope_flatten_rows(image_of(0x1000, 0x100), rows, n, &out));
	assert_string_equal(text(&out), expected);
	vec_free(&out);
}
#define EXPECT_ROWS(expected, ...)                                                              \
	expect_rows((const struct debug_row[]){__VA_ARGS__},                                    \
		    sizeof((const struct debug_row[]){__VA_ARGS__}) / sizeof(struct debug_row), \
		    expected)

static void test_rows(void **state)
{
	(void)state;
	EXPECT_ROWS("0:-@5 4:-@6 8:-", {0x1000, 0, 5, false}, {0x1004, 0, 6, false},
		    {0x1008, 0, 6, true});
	/* of rows at one address the last counts */
	EXPECT_ROWS("0:-@7 8:-", {0x1000, 0, 5, false}, {0x1000, 0, 7, false},
		    {0x1008, 0, 7, true});
	/* sequences in any order */
	EXPECT_ROWS("0:-@1 4:- 16:-@2 20:-", {0x1010, 0, 2, false}, {0x1014, 0, 2, true},
		    {0x1000, 0, 1, false}, {0x1004, 0, 1, true});
	/* what the linker dropped starts at 0 and reaches nothing */
	EXPECT_ROWS("", {0, 0, 1, false}, {0x1004, 0, 1, true});
	/* a sequence into no code ends there */
	EXPECT_ROWS("240:-@1 252:-", {0x10f0, 0, 1, false}, {0x10fc, 0, 2, false},
		    {0x1200, 0, 2, true});
	/* line 0: code that belongs to no line */
	EXPECT_ROWS("0:-@1 4:- 8:-@2 12:-", {0x1000, 0, 1, false}, {0x1004, NONE, 0, false},
		    {0x1008, 0, 2, false}, {0x100c, 0, 2, true});
	/* going backwards is damage; the row is left out */
	EXPECT_ROWS("8:-@2 12:-", {0x1008, 0, 1, false}, {0x1004, 0, 9, false},
		    {0x1008, 0, 2, false}, {0x100c, 0, 2, true});
}

static void expect_demangled(const char *mangled, const char *expected)
{
	char *name = scope_demangle(mangled);
	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
	free(name);
}

static void test_demangle(void **state)
{
	(void)state;
	expect_demangled("main", NULL);
	expect_demangled("_Z", NULL);
	char *works = scope_demangle("_Z1fv");
	if (!works) { /* skip() of cmocka 1.1.5 counts as a failure in TAP */
		print_message("not tested: built without libiberty\n");
		return;
	}
	free(works);
	expect_demangled("_ZN3geo3VecIdE3dotERKS1_",
			 "geo::Vec<double>::dot(geo::Vec<double> const&)");
	expect_demangled("_ZN47_INTERNAL_9df5436a_16_truth_kernels_cu_f4e764b69atomicAddEPyy",
			 "atomicAdd(unsigned long long*, unsigned long long)");
	expect_demangled("_ZN10_INTERNAL_1fEv", "_INTERNAL_::f()");
	expect_demangled("_Z3foov.cold", "foo() [clone .cold]");
	expect_demangled("_Z3fooi.part.0.constprop.2",
			 "foo(int) [clone .part.0] [clone .constprop.2]");
	expect_demangled("_ZN4core3fmt5Write9write_str17h0123456789abcdefE",
			 "core::fmt::Write::write_str");
	expect_demangled("_RNvC6_123foo3bar", "123foo::bar");
	expect_demangled("_D7physics6engine4heatFdiZd", "physics.engine.heat(double, int)");
	expect_demangled("_DYNAMIC", NULL);
	expect_demangled("_ZN1AC4Ei", "A::A(int)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flatten),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_overlay),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_demangle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
