/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcstruct-lite/debug/opencl_source: which kernels a text defines, and at which lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/debug/opencl_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
	struct debug_unit unit;
	struct strtab names;
};

static void read_text(const char *source, size_t n_bytes, struct found *f)
{
	char path[] = "/nowhere/k.cl";
	const struct image image = {.path = path,
				    .file = {.bytes = (const uint8_t *)source, .n_bytes = n_bytes}};
	*f = (struct found){.unit = {.offset = 0}};
	assert_int_equal(source_read_unit(&image, &f->unit, &f->names), STATUS_OK);
	assert_string_equal(strtab_get(&f->unit.files, 0), path);
}

static void forget(struct found *f)
{
	debug_unit_free(&f->unit);
	strtab_free(&f->names);
}

/* "name:line" of each kernel. */
static void expect(const char *source, const char *expected)
{
	struct found f;
	char got[4096] = "";
	size_t n = 0;
	read_text(source, strlen(source), &f);
	for (size_t i = 0; i < f.unit.definitions.n; i++) {
		const struct debug_definition *d = &f.unit.definitions.at[i];
		const struct debug_range *r = &f.unit.ranges.at[i];
		n += (size_t)snprintf(got + n, sizeof got - n, "%s%s:%u", i ? " " : "", d->name,
				      d->line);
		assert_true(r->start < r->end && r->end <= strlen(source));
		assert_true(strncmp(source + r->start, "kernel", 6) == 0 ||
			    strncmp(source + r->start, "__kernel", 8) == 0);
		assert_int_equal(source[r->end - 1], '{');
	}
	assert_string_equal(got, expected);
	forget(&f);
}

static void test_definitions(void **state)
{
	(void)state;
	expect("", "");
	expect("__kernel void a(global int *p) { p[0] = f(1); }", "a:1");
	expect("kernel\nvoid\na\n(global int *p)\n{\n}\nint b(int x) { if (x) { return 1; } }\n"
	       "__kernel void c ( void ) { }",
	       "a:3 c:8");
	expect("kernel void a(int);\nkernel void a(int x) { }", "a:2");
	expect("void kernel_like(int x) { } int mykernel(void) { }", "");
	expect("extern \"C\" {\nkernel void b() { }\n}\ntemplate<int N> kernel void c() { }",
	       "b:2 c:4");
	expect("KERNEL(a)(global int *p) { }\nkernel void c(void) { }", "c:2");
	expect("kernel void unfinished(int a", "");
	expect("kernel void ((( kernel void a(int x) {", "a:1");
}

static void test_attributes(void **state)
{
	(void)state;
	expect("__kernel __attribute__((reqd_work_group_size(64, 1, 1))) "
	       "__attribute__((vec_type_hint(float4)))\nvoid a(int x) { }",
	       "a:2");
	expect("kernel void a(int x) __attribute__((noinline)) { }", "a:1");
	expect("kernel void __attribute__((noinline)) a(int x) { }", "a:1");
	expect("BOUNDS(64) kernel void a(int x) { }", "a:1");
	expect("kernel BOUNDS(64) void a(F(int) x) { }", "a:1");
}

static void test_comments_and_literals(void **state)
{
	(void)state;
	expect("/* kernel void x() { */ kernel void a(/* { */ int b // {\n) /* } */ // }\n { }",
	       "a:1");
	expect("// kernel void x() \\\n { }\nkernel void a() { }", "a:3");
	expect("// over \\\r\n kernel void x() { }\r\nkernel void a() { }", "a:3");
	expect("int f() { printf(\"kernel void \\\" x() {\", '\"', '\\''); }\nkernel void a() { }",
	       "a:2");
	expect("/* never ends kernel void a() { }", "");
	expect("#define F(x) kernel void x() { \\\n }\nkernel void a() { }", "a:3");
	expect("kernel void a(int x,\n#ifdef A\n#define B {\n\tint y,\n#endif\n int z) { }", "a:1");
}

/* Any bytes, and much of everything. */
static void test_bounds(void **state)
{
	enum { N = 200000 };
	static const char *const pieces[] = {
		"kernel ", "void ", "(", ")", "{", "/*", "\"", "'", "\\", "\\\r\n",
		"#\n", "a(", "\377"};
	(void)state;
	for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
		const size_t n = strlen(pieces[i]);
		char *text = malloc(n * N);
		struct found f;
		assert_non_null(text);
		for (size_t k = 0; k < N; k++)
			memcpy(text + k * n, pieces[i], n);
		read_text(text, n * N, &f);
		assert_int_equal(f.unit.definitions.n, 0);
		forget(&f);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_comments_and_literals),
		cmocka_unit_test(test_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
