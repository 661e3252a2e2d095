/* SPDX-License-Identifier: BSD-3-Clause */
/* What the report says of waiting lines and what they wait for (text_gpu_blame.c, view_blame.c),
 * letter by letter, and the parts that filters make. */
#include "hpcprof-lite/sink/text/text_report.h"
#include "tests/unit/prof_gpu/gpu_samples_fixture.h"

#include <stdio.h>

enum { ISSUED = 1, MEMORY, BARRIER = 5, FIXED };

#define CAUSE(s, ...) gen_structure_cause(s, &(struct structure_cause){__VA_ARGS__, 0, false})

/*
 * "saxpy": line 11, "velocity(float const*, int)" inlined in line 11 (line 4), line 12, a loop at
 * line 13 (lines 14 and 15), line 16. Line 12 reads what velocity loads, line 14 what it loaded in
 * the iteration before, line 16 waits for the warps in the loop, and line 15 has no cause.
 */
static void make_structure(const char *directory)
{
	struct gen_structure *s = run_structure_new();
	uint32_t file = gen_structure_file(s, "/src/tracers.cu"),
		 v = gen_structure_definition(s, "velocity(float const*, int)", file, 3);
	uint32_t f =
		gen_structure_function(s, gen_structure_definition(s, "saxpy", file, 10), 0x1000);
	gen_structure_interval(s, 0x1000, f, file, 11);
	uint32_t inlined = gen_structure_inline(s, f, v, file, 11, 0x1040);
	gen_structure_interval(s, 0x1040, inlined, file, 4);
	gen_structure_interval(s, 0x1080, f, file, 12);
	uint32_t loop = gen_structure_loop(s, f, file, 13, 0x10c0);
	gen_structure_interval(s, 0x10c0, loop, file, 14);
	gen_structure_interval(s, 0x1100, loop, file, 15);
	gen_structure_interval(s, 0x1140, f, file, 16);
	gen_structure_interval(s, 0x1180, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	gen_structure_wait(s, 0x1090);
	CAUSE(s, 0x1050, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 40, true, false);
	gen_structure_wait(s, 0x10c0);
	CAUSE(s, 0x10f0, STRUCTURE_WAIT_RESULT, STRUCTURE_ASYNC_COPY, 40, true, true);
	gen_structure_wait(s, 0x1150);
	CAUSE(s, 0x1110, STRUCTURE_WAIT_WARPS, STRUCTURE_BRANCH, 40, false, false);
	CAUSE(s, 0x1080, STRUCTURE_WAIT_OPERANDS, STRUCTURE_GLOBAL_STORE, 40, true, false);
	free(gen_structure_close(s, directory));
}

static struct model *make(struct run *r)
{
	run_begin_sampled(r);
	gen_gpu_stall(r->g, BARRIER, "smsp__pcsamp_warps_issue_stalled_barrier", "", 0);
	gen_gpu_stall(r->g, FIXED, "smsp__pcsamp_warps_issue_stalled_wait", "", 0);
	make_structure(r->directory);
	run_kernel(r, r->call, 1, 2000, 3000, 6000);
	run_kernel(r, r->other_call, 2, 6000, 7000, 10000);
	run_pc(r, 0, 0x90, MEMORY, 500);
	run_pc(r, 0, 0xc0, MEMORY, 200);
	run_pc(r, 0, 0x150, MEMORY, 40);
	run_pc(r, 0, 0x150, BARRIER, 60);
	run_pc(r, 0, 0x110, MEMORY, 30);
	run_pc(r, 0, 0x170, FIXED, 20);
	run_pc(r, 0, 0x10, ISSUED, 150);
	return run_finish(r);
}

/* The table of the first kernel at this width. Owned by the caller. */
static char *table(const struct model *m, size_t width)
{
	struct text_style s = {.width = width, .threshold = 0.01};
	char *text = NULL;
	size_t n_bytes = 0;
	struct view_blame b;
	s.out = open_memstream(&text, &n_bytes);
	assert_true(s.out && view_blame_open(m, &b));
	text_report_gpu_blame(m, &b, b.pairs.at[0].kernel, 1000, &s);
	view_blame_close(&b);
	assert_int_equal(fclose(s.out), 0);
	return text;
}

static const char narrow[] =
	"    which lines waited for which (derived from dependencies in the code)\n"
	"      50.0%  tracers.cu:12 in saxpy\n"
	"               GMEM: global load at tracers.cu:4 in velocity(..)\n"
	"      20.0%  tracers.cu:14 in saxpy\n"
	"               GMEM: asynchronous copy of the iteration before in the same line\n"
	"       6.0%  tracers.cu:16 in saxpy\n"
	"               SYNC: warps that come from tracers.cu:15, loop at tracers.cu:13\n"
	"       4.0%  tracers.cu:16 in saxpy\n"
	"               GMEM: operands of global store at tracers.cu:12\n"
	"       2.0%  each for the instruction before, in the same line\n"
	"       3.0%  no cause is known\n";
static const char wide[] =
	"    which lines waited for which (derived from dependencies in the code)\n"
	"      50.0%  tracers.cu:12 in saxpy                                         "
	"  GMEM: global load at tracers.cu:4 in velocity(..), inlined at tracers.cu:11\n"
	"      20.0%  tracers.cu:14 in saxpy                                         "
	"  GMEM: asynchronous copy of the iteration before in the same line\n"
	"       6.0%  tracers.cu:16 in saxpy                                         "
	"  SYNC: warps that come from tracers.cu:15, loop at tracers.cu:13\n"
	"       4.0%  tracers.cu:16 in saxpy                                         "
	"  GMEM: operands of global store at tracers.cu:12\n"
	"       2.0%  each for the instruction before, in the same line\n"
	"       3.0%  no cause is known\n";

static void assert_width(const char *text, size_t most)
{
	for (const char *end; *text; text = end + 1) {
		end = strchr(text, '\n');
		assert_non_null(end);
		assert_in_range((size_t)(end - text), 0, most);
	}
}

static void test_text(void **state)
{
	(void)state;
	struct run r;
	struct model *m = make(&r);
	char *at_60 = table(m, 60), *at_80 = table(m, 80), *at_160 = table(m, 160);
	assert_non_null(strstr(at_60, "SYNC: warps that come from tracers.cu:15,\n"
				      "               loop at tracers.cu:13\n"));
	assert_string_equal(at_80, narrow);
	assert_string_equal(at_160, wide);
	assert_width(at_80, 80);
	assert_width(at_160, 160);
	free(at_60);
	free(at_80);
	free(at_160);
	run_clean(&r, m);
}

/* Equal pairs of lines of several contexts are one. */
static void test_pairs(void **state)
{
	(void)state;
	struct run r;
	struct model *m = make(&r);
	struct view_blame b;
	assert_int_equal(m->n_gpu_blames, 10);
	assert_true(view_blame_open(m, &b));
	assert_int_equal(b.pairs.n, 5);
	size_t n, first = view_blame_find(&b, b.pairs.at[0].kernel, &n);
	double sum = 0;
	assert_true(first == 0 && n == 5);
	for (size_t i = 0; i < n; i++)
		sum += b.pairs.at[i].samples;
	assert_true(sum == 820);
	assert_true(view_blame_unblamed(&b, b.pairs.at[0].kernel) == 30);
	view_blame_find(&b, b.pairs.at[0].kernel + 1000, &n);
	assert_int_equal(n, 0);
	view_blame_close(&b);
	run_clean(&r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
