/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu/samples: what warps waited for. Samples of waiting warps
 * count at the instructions that the structure names as causes, and sums stay equal. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_causes.h"
#include "tests/unit/prof_gpu/gpu_samples_fixture.h"

#include <stdio.h>

enum { MEMORY = 2, SHARED = 5, FIXED, BARRIER, MEMBAR, PIPE };

static void begin(struct run *r)
{
	static const struct {
		uint16_t id;
		const char *reason;
	} stalls[] = {{SHARED, "short_scoreboard"},
		      {FIXED, "wait"},
		      {BARRIER, "barrier"},
		      {MEMBAR, "membar"},
		      {PIPE, "math_pipe_throttle"}};
	run_begin_sampled(r);
	for (size_t i = 0; i < sizeof stalls / sizeof *stalls; i++) {
		char name[80];
		snprintf(name, sizeof name, "smsp__pcsamp_warps_issue_stalled_%s",
			 stalls[i].reason);
		gen_gpu_stall(r->g, stalls[i].id, name, "", 0);
	}
}

/*
 * "saxpy" at 0x1000: line 11, an inlined call of fma_of in line 11 (line 4), line 12, a loop at
 * line 13 (line 14), line 15; up to 0x1140.
 */
static struct gen_structure *structure(void)
{
	struct gen_structure *s = run_structure_new();
	uint32_t file = gen_structure_file(s, "/src/kernels.cl"),
		 fma = gen_structure_definition(s, "fma_of", file, 3);
	uint32_t f =
		gen_structure_function(s, gen_structure_definition(s, "saxpy", file, 10), 0x1000);
	gen_structure_interval(s, 0x1000, f, file, 11);
	uint32_t inlined = gen_structure_inline(s, f, fma, file, 11, 0x1040);
	gen_structure_interval(s, 0x1040, inlined, file, 4);
	gen_structure_interval(s, 0x1080, f, file, 12);
	uint32_t loop = gen_structure_loop(s, f, file, 13, 0x10c0);
	gen_structure_interval(s, 0x10c0, loop, file, 14);
	gen_structure_interval(s, 0x1100, f, file, 15);
	gen_structure_interval(s, 0x1140, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	return s;
}

/* Each moves four bytes. */
#define CAUSE(s, ...) gen_structure_cause(s, &(struct structure_cause){__VA_ARGS__, 4, false})

/* Of the named blame at a line of a function. */
static double at_line(const struct model *m, uint32_t function, uint32_t line, const char *metric)
{
	uint32_t c = fixture_find_line(m, function, line);
	return c == MODEL_NONE ? 0 : run_value(m, c, metric, MODEL_POINT);
}

static uint64_t n_listed(const struct model *m)
{
	uint64_t n = 0;
	for (size_t i = 0; i < m->n_gpu_blames; i++)
		n += m->gpu_blames[i].n;
	return n;
}

/* blamed + unblamed == samples of the reasons that have causes, in total and as listed. */
static void assert_closes(const struct model *m)
{
	static const char *const pairs[][2] = {
		{"GINS:STL_GMEM", "GINS:BLAME_GMEM"},
		{"GINS:STL_SHORT_SCOREBOARD", "GINS:BLAME_SHORT_SCOREBOARD"},
		{"GINS:STL_IDEP", "GINS:BLAME_IDEP"},
		{"GINS:STL_SYNC", "GINS:BLAME_SYNC"},
		{"GINS:STL_MEMBAR", "GINS:BLAME_MEMBAR"}};
	double stalled = 0, blamed = 0;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		double stall = run_value(m, 0, pairs[i][0], MODEL_EXECUTION),
		       blame = run_value(m, 0, pairs[i][1], MODEL_EXECUTION);
		stalled += stall > 0 ? stall : 0;
		blamed += blame > 0 ? blame : 0;
	}
	double any = run_value(m, 0, "GINS:BLAME_ANY", MODEL_EXECUTION),
	       none = run_value(m, 0, "GINS:UNBLAMED", MODEL_EXECUTION);
	assert_int_equal(any > 0 ? any : 0, blamed);
	assert_int_equal(blamed + (none > 0 ? none : 0), stalled);
	assert_int_equal(n_listed(m), blamed);
}

static const struct model_gpu_blame *find_blame(const struct model *m, uint32_t waiting,
						uint32_t cause)
{
	for (size_t i = 0; i < m->n_gpu_blames; i++)
		if (m->gpu_blames[i].waiting == waiting && m->gpu_blames[i].cause == cause)
			return &m->gpu_blames[i];
	return NULL;
}

/* One load in the inlined function; the reader outside. The load counts where it was inlined. */
static void test_across_inlined_calls(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1090);
	CAUSE(s, 0x1050, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 40, true, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x90, MEMORY, 82);
	run_pc(&r, 0, 0x90, 3, 50); /* the part while nothing was issued is in no sum */
	run_pc(&r, 0, 0x90, 1, 18);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010), f = run_find(m, k, "fma_of");
	assert_true(f != MODEL_NONE);
	assert_int_equal(m->contexts[f].relation, MODEL_INLINED);
	assert_int_equal(at_line(m, f, 4, "GINS:BLAME_GMEM"), 82);
	assert_int_equal(at_line(m, f, 4, "GINS"), 0);
	assert_int_equal(at_line(m, k, 12, "GINS:STL_GMEM"), 82);
	assert_int_equal(at_line(m, k, 12, "GINS:BLAME_ANY"), 0);
	assert_int_equal(run_metric(m, "GINS:UNBLAMED"), MODEL_NONE);
	const struct model_gpu_blame *b =
		find_blame(m, fixture_find_line(m, k, 12), fixture_find_line(m, f, 4));
	assert_non_null(b);
	if (!b)
		return;
	assert_int_equal(b->n, 82);
	assert_int_equal(b->operation, STRUCTURE_GLOBAL_LOAD);
	assert_int_equal(b->metric, run_metric(m, "GINS:STL_GMEM"));
	assert_false(b->is_carried || b->is_before);
	assert_closes(m);
	run_clean(&r, m);
}

/*
 * Two loads whose result is read share by distance; a third, whose result is not read, has none.
 * Where none is read, all share.
 */
static void test_several_causes(void **state)
{
	(void)state;
	for (unsigned any_used = 0; any_used < 2; any_used++) {
		struct run r;
		begin(&r);
		struct gen_structure *s = structure();
		gen_structure_wait(s, 0x1100);
		CAUSE(s, 0x1090, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, any_used, false);
		CAUSE(s, 0x1050, STRUCTURE_WAIT_RESULT, STRUCTURE_LOCAL_LOAD, 29, any_used, false);
		CAUSE(s, 0x1010, STRUCTURE_WAIT_OPERANDS, STRUCTURE_GLOBAL_STORE, 29, false, false);
		CAUSE(s, 0x1020, STRUCTURE_WAIT_RESULT, STRUCTURE_SHARED_LOAD, 0, true, false);
		free(gen_structure_close(s, r.directory));
		run_kernel(&r, r.call, 1, 2000, 3000, 6000);
		run_pc(&r, 0, 0x100, MEMORY, 1000);
		run_pc(&r, 0, 0x100, SHARED, 7);
		struct model *m = run_finish(&r);
		uint32_t k = run_kernel_at(m, 0x1010), f = run_find(m, k, "fma_of");
		assert_int_equal(at_line(m, k, 12, "GINS:BLAME_GMEM"), any_used ? 750 : 600);
		assert_int_equal(at_line(m, f, 4, "GINS:BLAME_GMEM"), any_used ? 250 : 200);
		assert_int_equal(at_line(m, k, 11, "GINS:BLAME_GMEM"), any_used ? 0 : 200);
		assert_int_equal(at_line(m, k, 11, "GINS:BLAME_SHORT_SCOREBOARD"), 7);
		assert_closes(m);
		run_clean(&r, m);
	}
}

/* What ran more often has more; samples that were issued count that. */
static void test_executions(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1100);
	CAUSE(s, 0x1090, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, true, false);
	CAUSE(s, 0x10c0, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, true, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x90, 1, 9);
	run_pc(&r, 0, 0xc0, 1, 29);
	run_pc(&r, 0, 0x90, PIPE, 5000);
	run_pc(&r, 0, 0x100, MEMORY, 400);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010);
	assert_int_equal(at_line(m, k, 12, "GINS:BLAME_GMEM"), 100);
	assert_int_equal(run_value(m, k, "GINS:BLAME_GMEM", MODEL_EXECUTION), 400);
	assert_closes(m);
	run_clean(&r, m);
}

/* Of a damaged structure: weights whose sum does not fit in 64 bits. */
static void test_too_many_causes(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1100);
	for (unsigned i = 0; i < 5000; i++)
		CAUSE(s, 0x1090, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 0, true, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x90, 1, UINT64_C(1) << 33);
	run_pc(&r, 0, 0x100, MEMORY, 10000);
	struct model *m = run_finish(&r);
	assert_int_equal(at_line(m, run_kernel_at(m, 0x1010), 12, "GINS:BLAME_GMEM"), 10000);
	assert_closes(m);
	run_clean(&r, m);
}

/*
 * How often accesses were issued: once for each, also for one that another wait has listed, and for
 * one whose result is not read there. The first behind a jump has the number of the next one. And
 * how long warps wait: samples at the waiting instruction for each that issued it.
 */
/*
 * Threads meet again at 0x1100: eight times for each time that their warp entered the region, as
 * counted at its start and before and behind it. So 7/8 of the issues inside would end.
 */
static void test_paths(void **state)
{
	(void)state;
	for (unsigned n_paths = 2; n_paths <= 8; n_paths += 6) {
		struct run r;
		begin(&r);
		struct gen_structure *s = structure();
		gen_structure_wait(s, 0x1100);
		CAUSE(s, 0x1080, STRUCTURE_WAIT_PATHS, STRUCTURE_BRANCH, 65535, false, false);
		free(gen_structure_close(s, r.directory));
		run_kernel(&r, r.call, 1, 2000, 3000, 6000);
		run_pc(&r, 0, 0x70, 1, 9);
		run_pc(&r, 0, 0x80, 1, 8);
		run_pc(&r, 0, 0x90, 1, 100);
		run_pc(&r, 0, 0xf0, 1, 300);
		run_pc(&r, 0, 0x100, 1, 10 * n_paths);
		run_pc(&r, 0, 0x100, PIPE, 30);
		run_pc(&r, 0, 0x110, 1, 10);
		struct model *m = run_finish(&r);
		uint32_t k = run_kernel_at(m, 0x1010);
		assert_int_equal(m->n_gpu_blames, n_paths == 8); /* 2: may be chance */
		const struct model_gpu_blame *b =
			find_blame(m, fixture_find_line(m, k, 15), fixture_find_line(m, k, 12));
		if (n_paths == 8)
			assert_non_null(b);
		if (b) {
			assert_int_equal(b->n, 0);
			assert_int_equal(b->n_issued, 350);
			assert_int_equal(b->kind, STRUCTURE_WAIT_PATHS);
		}
		assert_closes(m);
		run_clean(&r, m);
	}
}

static void test_issues(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	for (uint64_t at = 0x1100; at < 0x1120; at += 16) {
		gen_structure_wait(s, at);
		CAUSE(s, 0x1090, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, true, false);
		CAUSE(s, 0x10a0, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, false, false);
		CAUSE(s, 0x1050, STRUCTURE_WAIT_RESULT, STRUCTURE_LOCAL_LOAD, 9, false, false);
	}
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x50, 1, 100); /* another operation */
	run_pc(&r, 0, 0xa0, 1, 9);   /* for both loads */
	run_pc(&r, 0, 0x100, 1, 10);
	run_pc(&r, 0, 0x100, MEMORY, 390);
	run_pc(&r, 0, 0x110, 1, 10);
	run_pc(&r, 0, 0x110, MEMORY, 90);
	struct model *m = run_finish(&r);
	uint64_t issued = 0, bytes = 0;
	double cycles = 0;
	for (size_t i = 0; i < m->n_gpu_blames; i++) {
		issued += m->gpu_blames[i].n_issued;
		bytes += m->gpu_blames[i].bytes_issued;
		cycles += m->gpu_blames[i].cycles;
	}
	assert_int_equal(issued, 18);
	assert_int_equal(bytes, 72);
	assert_float_equal(cycles, 390 * 40 + 90 * 10, 1e-9);
	assert_closes(m);
	run_clean(&r, m);
}

/* Two paths that launch the kernel share how often the load was issued, as they wait for it. */
static void test_issues_of_parts(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1100);
	CAUSE(s, 0x1090, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, true, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_kernel(&r, r.other_call, 2, 6000, 7000, 8000);
	run_pc(&r, 0, 0x90, 1, 41);
	run_pc(&r, 0, 0x100, MEMORY, 400);
	struct model *m = run_finish(&r);
	assert_int_equal(m->n_gpu_blames, 2);
	const struct model_gpu_blame *more = &m->gpu_blames[m->gpu_blames[0].n < 200],
				     *less = &m->gpu_blames[m->gpu_blames[0].n >= 200];
	assert_int_equal(more->n, 300);
	assert_in_range(more->n_issued, 30, 31);
	assert_int_equal(more->n_issued + less->n_issued, 41);
	assert_int_equal(less->bytes_issued, 4 * less->n_issued);
	assert_closes(m);
	run_clean(&r, m);
}

/* A small number of samples is shared out in whole samples, too. */
static void test_few_samples(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	for (uint64_t at = 0x1100; at < 0x1140; at += 16) {
		gen_structure_wait(s, at);
		CAUSE(s, 0x1090, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, true, false);
		CAUSE(s, 0x1050, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, true, false);
		CAUSE(s, 0x1010, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 9, true, false);
	}
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	for (uint64_t i = 0; i < 4; i++)
		run_pc(&r, 0, 0x100 + 16 * i, MEMORY, i + 1);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, 0, "GINS:BLAME_GMEM", MODEL_EXECUTION), 10);
	assert_closes(m);
	run_clean(&r, m);
}

/* A load of the iteration before, in a loop. */
static void test_carried(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x10d0);
	CAUSE(s, 0x10e0, STRUCTURE_WAIT_RESULT, STRUCTURE_GENERIC_LOAD, 12, true, true);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0xd0, MEMORY, 60);
	struct model *m = run_finish(&r);
	assert_int_equal(m->n_gpu_blames, 1);
	const struct model_gpu_blame *b = &m->gpu_blames[0];
	assert_int_equal(b->waiting, b->cause); /* the same line, in the loop */
	assert_int_equal(m->contexts[b->cause].line, 14);
	assert_int_equal(m->contexts[m->contexts[b->cause].parent].kind, MODEL_CONTEXT_LOOP);
	assert_true(b->is_carried);
	assert_closes(m);
	run_clean(&r, m);
}

/* No wait at the address, no cause of the reason, a reason without causes. */
static void test_unexplained(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1090);
	CAUSE(s, 0x1050, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 40, true, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x98, MEMORY, 5);
	run_pc(&r, 0, 0x90, SHARED, 4);
	run_pc(&r, 0, 0x90, BARRIER, 3);
	run_pc(&r, 0, 0x90, MEMBAR, 2);
	run_pc(&r, 0, 0x90, PIPE, 1000);
	run_pc(&r, 0, 0x90, MEMORY, 1);
	r.function = gen_gpu_function(r.g, 0, "stray", ""); /* no code is known */
	run_pc(&r, 0, 0x90, MEMORY, 6);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010);
	assert_int_equal(at_line(m, k, 12, "GINS:UNBLAMED"), 14);
	assert_int_equal(run_value(m, 0, "GINS:UNBLAMED", MODEL_EXECUTION), 20);
	assert_int_equal(run_value(m, 0, "GINS:BLAME_ANY", MODEL_EXECUTION), 1);
	assert_closes(m);
	run_clean(&r, m);
}

/* Fixed latencies; where the structure names none, the instruction before counts. */
static void test_fixed(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1090);
	CAUSE(s, 0x1010, STRUCTURE_WAIT_FIXED, STRUCTURE_ARITHMETIC, 4, true, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x90, FIXED, 8);
	run_pc(&r, 0, 0x100, FIXED, 3); /* the first of line 15: after the loop in line 14 */
	run_pc(&r, 0, 0x00, FIXED, 2);  /* nothing is before the first */
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010);
	assert_int_equal(at_line(m, k, 11, "GINS:BLAME_IDEP"), 8);
	assert_int_equal(at_line(m, k, 11, "GINS:UNBLAMED"), 2);
	assert_int_equal(run_value(m, k, "GINS:BLAME_IDEP", MODEL_EXECUTION), 11);
	unsigned n_before = 0;
	for (size_t i = 0; i < m->n_gpu_blames; i++)
		if (m->gpu_blames[i].is_before) {
			n_before++;
			assert_int_equal(m->gpu_blames[i].n, 3);
			assert_int_equal(m->contexts[m->gpu_blames[i].cause].line, 14);
		}
	assert_int_equal(n_before, 1);
	assert_closes(m);
	run_clean(&r, m);
}

/* At a barrier, nobody waits for the fastest path; a fence is its own reason. */
static void test_barrier_and_fence(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1100);
	CAUSE(s, 0x10f0, STRUCTURE_WAIT_WARPS, STRUCTURE_BRANCH, 300, false, false);
	CAUSE(s, 0x1090, STRUCTURE_WAIT_WARPS, STRUCTURE_BRANCH, 150, false, false);
	CAUSE(s, 0x1050, STRUCTURE_WAIT_WARPS, STRUCTURE_BRANCH, 100, false, false);
	CAUSE(s, 0x1010, STRUCTURE_WAIT_RESULT, STRUCTURE_FENCE, 10, false, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x100, BARRIER, 40);
	run_pc(&r, 0, 0x100, MEMBAR, 6);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010);
	assert_int_equal(run_value(m, k, "GINS:BLAME_SYNC", MODEL_EXECUTION), 40);
	assert_int_equal(at_line(m, k, 12, "GINS:BLAME_SYNC"), 8);
	assert_int_equal(run_value(m, run_find(m, k, "fma_of"), "GINS:BLAME_SYNC", MODEL_EXECUTION),
			 0);
	assert_int_equal(at_line(m, k, 11, "GINS:BLAME_MEMBAR"), 6);
	assert_closes(m);
	run_clean(&r, m);
}

/*
 * A loop before a barrier counts with its iterations, 18 of 50 cycles. A path is not faster for
 * being rare. One without any sample was not taken.
 */
static void test_loop_before_barrier(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1100);
	CAUSE(s, 0x10f0, STRUCTURE_WAIT_WARPS, STRUCTURE_BRANCH, 50, false, false);
	CAUSE(s, 0x1090, STRUCTURE_WAIT_WARPS, STRUCTURE_BRANCH, 200, false, false);
	CAUSE(s, 0x1050, STRUCTURE_WAIT_WARPS, STRUCTURE_BRANCH, 60000, false, false);
	CAUSE(s, 0x1010, STRUCTURE_WAIT_WARPS, STRUCTURE_BRANCH, 100, false, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x100, 1, 999);
	run_pc(&r, 0, 0xf0, 1, 17999);
	run_pc(&r, 0, 0x90, 1, 1);
	run_pc(&r, 0, 0x10, 1, 998);
	run_pc(&r, 0, 0x100, BARRIER, 900);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010);
	assert_int_equal(at_line(m, k, 12, "GINS:BLAME_SYNC"), 100);
	assert_int_equal(at_line(m, k, 11, "GINS:BLAME_SYNC"), 0);
	assert_int_equal(run_value(m, run_find(m, k, "fma_of"), "GINS:BLAME_SYNC", MODEL_EXECUTION),
			 0);
	assert_int_equal(run_value(m, k, "GINS:BLAME_SYNC", MODEL_EXECUTION), 900);
	assert_closes(m);
	run_clean(&r, m);
}

/* Two contexts that launched the kernel: each has its own causes. */
static void test_by_launch(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = structure();
	gen_structure_wait(s, 0x1090);
	CAUSE(s, 0x1050, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 40, true, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_kernel(&r, r.other_call, 2, 6000, 7000, 8000);
	run_pc(&r, 0, 0x90, MEMORY, 100); /* 3 to 1 by time */
	struct model *m = run_finish(&r);
	uint32_t a = run_kernel_at(m, 0x1010), b = run_kernel_at(m, 0x1020);
	assert_int_equal(run_value(m, run_find(m, a, "fma_of"), "GINS:BLAME_GMEM", MODEL_EXECUTION),
			 75);
	assert_int_equal(run_value(m, run_find(m, b, "fma_of"), "GINS:BLAME_GMEM", MODEL_EXECUTION),
			 25);
	assert_int_equal(m->n_gpu_blames, 2);
	assert_closes(m);
	run_clean(&r, m);
}

/* A function that is called from two lines waits for its own load, once below each call. */
static void test_called_function(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	struct gen_structure *s = run_structure_new();
	uint32_t file = gen_structure_file(s, "/src/kernels.cl"),
		 f = gen_structure_function(s, gen_structure_definition(s, "saxpy", file, 10),
					    0x1000);
	gen_structure_interval(s, 0x1000, f, file, 11);
	gen_structure_interval(s, 0x1040, f, file, 12);
	uint32_t leaf =
		gen_structure_function(s, gen_structure_definition(s, "leaf", file, 20), 0x2000);
	gen_structure_interval(s, 0x2000, leaf, file, 21);
	gen_structure_interval(s, 0x2040, leaf, file, 22);
	gen_structure_interval(s, 0x2080, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	gen_structure_call(s, 0x1010, leaf);
	gen_structure_call(s, 0x1050, leaf);
	gen_structure_wait(s, 0x2050);
	CAUSE(s, 0x2010, STRUCTURE_WAIT_RESULT, STRUCTURE_GLOBAL_LOAD, 40, true, false);
	free(gen_structure_close(s, r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x1050, MEMORY, 100);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010);
	for (uint32_t line = 11; line < 13; line++) {
		uint32_t called = fixture_find_function(m, fixture_find_line(m, k, line), "leaf");
		assert_int_equal(at_line(m, called, 22, "GINS:STL_GMEM"), 50);
		assert_int_equal(at_line(m, called, 21, "GINS:BLAME_GMEM"), 50);
	}
	assert_closes(m);
	run_clean(&r, m);
}

/* Structures that know no causes: no metric, no list. */
static void test_without_causes(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	free(gen_structure_close(structure(), r.directory));
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_pc(&r, 0, 0x90, MEMORY, 82);
	run_pc(&r, 0, 0x90, FIXED, 5);
	struct model *m = run_finish(&r);
	assert_int_equal(m->n_gpu_blames, 0);
	for (uint32_t i = 0; i < m->n_metrics; i++)
		assert_null(strstr(m->metrics[i].name, "BLAME"));
	run_clean(&r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_across_inlined_calls),
		cmocka_unit_test(test_several_causes),
		cmocka_unit_test(test_executions),
		cmocka_unit_test(test_too_many_causes),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_issues),
		cmocka_unit_test(test_issues_of_parts),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_unexplained),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_barrier_and_fence),
		cmocka_unit_test(test_loop_before_barrier),
		cmocka_unit_test(test_by_launch),
		cmocka_unit_test(test_called_function),
		cmocka_unit_test(test_without_causes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
