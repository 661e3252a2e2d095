/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcstruct-lite/debug/opencl_source: which functions a text defines, where they start and
 * end, and what their lines are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/debug/opencl_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "name@file:line" of each function. */
static void expect(const char *source, const char *expected)
{
	struct source_text text;
	char got[4096] = "";
	size_t n = 0;
	assert_true(source_scan("k.cl", (const uint8_t *)source, strlen(source), &text));
	for (size_t i = 0; i < text.functions.n; i++) {
		const struct source_function *f = &text.functions.at[i];
		n += (size_t)snprintf(got + n, sizeof got - n, "%s%.*s@%s:%u", i ? " " : "",
				      (int)f->name_bytes, source + f->name,
				      strtab_get(&text.files, f->file), f->line);
		assert_true(f->start < f->end && f->end <= strlen(source));
		assert_int_equal(source[f->end - 1], '}');
	}
	assert_string_equal(got, expected);
	source_text_free(&text);
}

static void test_definitions(void **state)
{
	(void)state;
	expect("", "");
	expect("__kernel void a(global int *p) { p[0] = 1; }", "a@k.cl:1");
	expect("kernel\nvoid\na\n(global int *p)\n{\n}\nstatic int b(int x) { if (x) { return 1; } "
	       "return 0; }\n",
	       "a@k.cl:3 b@k.cl:7");
	expect("void a(int); int b(void); struct s { int (*f)(int); } v; int x = 3, y[] = {1, "
	       "2};\nvoid c(struct s q) {}",
	       "c@k.cl:2");
	expect("float4 *a(float4 (*f)(int), int n) { return f(n); }", "a@k.cl:1");
	expect("typedef struct { int a; } t;\nt a(t x) { return x; }", "a@k.cl:2");
	expect("enum e { A, B }; constant int k[2] = { F(1), F(2) };\nenum e a(void) { return A; }",
	       "a@k.cl:2");
	expect("unsigned a(void) { unsigned x[] = { 1, 2 }; { } return x[0]; } void b() { }",
	       "a@k.cl:1 b@k.cl:1");
}

static void test_attributes(void **state)
{
	(void)state;
	expect("__kernel __attribute__((reqd_work_group_size(64, 1, 1))) "
	       "__attribute__((vec_type_hint(float4)))\nvoid a(int x) { }",
	       "a@k.cl:2");
	expect("void a(int x) __attribute__((noinline)) { }", "a@k.cl:1");
	expect("__attribute__ ( (always_inline) ) int a(int x) { return x; }", "a@k.cl:1");
	expect("[[clang::optnone]] int a(int x) { return x; }", "a@k.cl:1");
	expect("BOUNDS(64) kernel void a(int x) { }", "a@k.cl:1");
	expect("KERNEL(a)(global int *p) { }\nDEFINE(b, float)\nvoid c() {}", "a@k.cl:1 c@k.cl:3");
}

static void test_comments_and_literals(void **state)
{
	(void)state;
	expect("/* void x() { */ void a(/* { */ int b // {\n) { /* } */ // }\n char c = '}'; char "
	       "*s = \"}\\\"}\"; }\nvoid d() {}",
	       "a@k.cl:1 d@k.cl:4");
	expect("// void x() \\\n { }\nvoid a() { }", "a@k.cl:3");
	expect("void a() { char c = '\\''; char d = '\"'; } void b() { \"unfinished\n}\nvoid c() { "
	       "}",
	       "a@k.cl:1 b@k.cl:1 c@k.cl:3");
	expect("/* never ends { } void a() { }", "");
}

static void test_preprocessor(void **state)
{
	(void)state;
	expect("#define F(x) { x\n#define G \\\n  }}}}\nvoid a() { }", "a@k.cl:4");
	expect("#pragma OPENCL EXTENSION x : enable\n#include \"a.h\"\nvoid a() { }", "a@k.cl:3");
	expect("  /* c */ # define X /* over\n two } lines */ {\nvoid a() { }", "a@k.cl:3");
	expect("#ifdef A\nvoid a(int x) {\n#else\nvoid a(float x) {\n#endif\n}\nvoid b() { }",
	       "a@k.cl:2 b@k.cl:7");
	expect("void a() {\n#if X\n}\n#elif Y\n }\n#else\n }\n#endif\nvoid b() { }",
	       "a@k.cl:1 b@k.cl:9");
	expect("#if 0\nvoid x() {\n#if 1\n#else\n#endif\n#else\nvoid a() {\n#endif\n}\nvoid b() {}",
	       "a@k.cl:7 b@k.cl:10");
	expect("#if 0 // off\nvoid x() { }\n#endif\nvoid a() { }", "a@k.cl:4");
	expect("#endif\n#else\n#if\nvoid a() { }", "a@k.cl:4");
	expect("int a() { return 1 # 2; }\nint b() { }", "a@k.cl:1 b@k.cl:2");
}

static void test_line_directives(void **state)
{
	(void)state;
	expect("#line 100\nvoid a() { }", "a@k.cl:100");
	expect("#line 100 \"other.cl\"\nvoid a() { }\n\nvoid b() { }\n# 7 \"k.cl\" 2\nvoid c() { }",
	       "a@other.cl:100 b@other.cl:102 c@k.cl:7");
	expect("#line x\n#line 99999999999\nvoid a() { }", "a@k.cl:3");
	expect("#line 5 \"unfinished\nvoid a() { }", "a@k.cl:5");
}

static void test_cpp(void **state)
{
	(void)state;
	expect("namespace n { namespace m {\nvoid a() { } } }\nextern \"C\" {\nkernel void b() { "
	       "}\n}\nvoid c() { }",
	       "a@k.cl:2 b@k.cl:4 c@k.cl:6");
	expect("template<typename T, int N = 3> T a(T x) { return x; }\nint b = f(3); int c { 4 };",
	       "a@k.cl:1");
}

static void test_lines_of_text(void **state)
{
	static const char source[] = "int x;\n static void a()\n{\n}\n";
	struct source_text t;
	(void)state;
	assert_true(source_scan("k.cl", (const uint8_t *)source, sizeof source - 1, &t));
	assert_int_equal(t.functions.n, 1);
	assert_int_equal(t.functions.at[0].start, 8);
	assert_int_equal(t.functions.at[0].end, 27);
	assert_int_equal(t.lines.n, 5);
	assert_int_equal(t.lines.at[2].offset, 24);
	assert_int_equal(t.lines.at[2].line, 3);
	source_text_free(&t);
}

/* Deep nesting of all kinds, and all bytes. */
static void test_bounds(void **state)
{
	enum { N = 200000 };
	static const char *const pieces[] = {
		"#if A\n",         "{",    "(",      "/*", "\"", "#if 0\n", "a(", "void f() {",
		"#line 1 \"x\"\n", "\\\n", "#else\n"};
	(void)state;
	for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
		size_t n = strlen(pieces[i]);
		char *text = malloc(n * N);
		struct source_text t;
		assert_non_null(text);
		for (size_t k = 0; k < N; k++)
			memcpy(text + k * n, pieces[i], n);
		assert_true(source_scan("k.cl", (const uint8_t *)text, n * N, &t));
		assert_int_equal(t.functions.n, 0);
		source_text_free(&t);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_comments_and_literals),
		cmocka_unit_test(test_preprocessor),
		cmocka_unit_test(test_line_directives),
		cmocka_unit_test(test_cpp),
		cmocka_unit_test(test_lines_of_text),
		cmocka_unit_test(test_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
