/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu_samples and gpu_yardstick: what the ranges of time say of the
 * samples, whether each closes, the rate promised, and bursts as a yardstick. */
#include "tests/unit/prof_gpu/gpu_samples_fixture.h"

#include "hpcprof-lite/attribute/gpu/samples/gpu_yardstick.h"

#include <math.h>

static void test_ranges_that_do_not_close(void **state)
{
	(void)state;
	struct run r;
	run_begin_with_kernel(&r);
	run_pc(&r, 0, 0, 2, 10);
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000,
						      .end_ns = 3000,
						      .total = 12,
						      .recorded = 12,
						      .flags = MSR_GPU_RANGE_BUFFER_FULL});
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){
				   .start_ns = 3000, .end_ns = 3400, .flags = MSR_GPU_RANGE_GAP});
	struct model *m = run_finish(&r);
	assert_false(m->gpu_sampling.closes);
	assert_int_equal(m->gpu_sampling.n_buffer_full, 1);
	assert_int_equal(m->gpu_sampling.gap_ns, 400);
	assert_int_equal(m->gpu_sampling.sampled_ns, 1000);
	run_clean(&r, m);
}

/* Ranges whose errors cancel each other do not close. */
static void test_each_range_closes(void **state)
{
	(void)state;
	struct run r;
	run_begin_with_kernel(&r);
	run_pc(&r, 0, 0, 2, 20);
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000,
						      .end_ns = 3000,
						      .total = 12,
						      .recorded = 10,
						      .dropped = 1});
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 3000,
						      .end_ns = 4000,
						      .total = 11,
						      .recorded = 10,
						      .dropped = 2});
	struct model *m = run_finish(&r);
	assert_int_equal(m->gpu_sampling.total, m->gpu_sampling.recorded + m->gpu_sampling.dropped +
							m->gpu_sampling.outside);
	assert_int_equal(m->gpu_sampling.n_open_ranges, 2);
	assert_false(m->gpu_sampling.closes);
	run_clean(&r, m);
}

/* What could not be written is part of the account; what a kill cut off is said. */
static void test_samples_not_written_and_cut_off(void **state)
{
	(void)state;
	for (unsigned killed = 0; killed < 2; killed++) {
		struct run r;
		run_begin_sampled(&r);
		run_kernel(&r, r.call, 1, 2000, 3000, 6000);
		run_pc(&r, 0, 0, 2, 20);
		r.tally->n_lost_pc = 5;
		gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000,
							      .end_ns = 3000,
							      .total = killed ? 22 : 25,
							      .recorded = killed ? 22 : 25});
		struct model *m = run_finish_as(&r, killed ? MSR_EXIT_NONE : MSR_EXIT_RETURN);
		assert_int_equal(m->gpu_sampling.not_written, 5);
		assert_int_equal(m->gpu_sampling.cut_off, killed ? 3 : 0);
		assert_true(m->gpu_sampling.closes);
		run_clean(&r, m);
	}
}

/* 20 blocks keep 10 units busy, 4 blocks keep 4; two kernels side by side no more than there are
 * units. */
static void test_promised_rate(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_on_units(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000); /* 20 units of 100 ns, 10 at a time: 200 */
	r.shape = gen_gpu_shape(r.g, (struct msr_gpu_shape){.function = r.function,
							    .grid = {4, 1, 1},
							    .block = {256, 1, 1},
							    .registers = 33});
	run_kernel(&r, r.other_call, 2, 2000, 5000, 6000);  /* 40 of 100 */
	run_kernel(&r, r.other_call, 3, 2000, 6000,
		   8000); /* 4 for 1000 ns, then 8 for 1000 ns, then 4: 40 + 80 + 40 */
	r.queue = gen_gpu_queue(
		r.g, "queue 2",
		(struct msr_gpu_def_queue){.context = r.context, .device = r.device, .ordinal = 1});
	run_kernel(&r, r.other_call, 4, 2000, 7000, 9000);
	run_kernel(&r, r.other_call, 5, 2000, 20000, 30000); /* nothing is sampled there */
	run_pc(&r, 0, 0x10, 2, 390);
	run_range(&r, 2000, 9000, 390, 0);
	struct model *m = run_finish(&r);
	assert_true(fabs(m->gpu_sampling.promised - 400) < 1e-6);
	assert_true(fabs(m->gpu_sampling.expected - 600) < 1e-6);
	assert_int_equal(m->gpu_sampling.period_most, 100);
	assert_int_equal(m->gpu_sampling.clock_mhz, 1000);
	uint32_t a = run_kernel_at(m, 0x1010), b = run_kernel_at(m, 0x1020);
	assert_int_equal(run_value(m, a, "GSAMP:EXP", MODEL_POINT), 200);
	assert_int_equal(run_value(m, b, "GSAMP:EXP", MODEL_POINT),
			 500); /* each kernel by itself */
	assert_int_equal(m->metrics[run_metric(m, "GSAMP:UTIL")].divisor,
			 run_metric(m, "GSAMP:EXP"));
	assert_int_equal(run_value(m, a, "GSAMP:UTIL", MODEL_POINT),
			 100 * run_value(m, a, "GSAMP:TOT", MODEL_POINT));
	/* 40 registers of 256 threads: 6 blocks, 48 of 64 warps */
	assert_int_equal(run_value(m, b, "GKER:FGP_ACT", MODEL_POINT), 48 * 4);
	assert_int_equal(run_value(m, b, "GKER:FGP_MAX", MODEL_POINT), 64 * 4);
	assert_int_equal(run_value(m, b, "GKER:OCC_THR", MODEL_POINT), 4800 * 4);
	assert_int_equal(m->metrics[run_metric(m, "GKER:OCC_THR")].divisor,
			 run_metric(m, "GKER:FGP_MAX"));
	run_clean(&r, m);
}

/* Outside of windows and gaps the first context has three quarters of the time; in the window both
 * have the same, but the first has 80 of 100 samples. */
static void test_bursts(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	run_on_units(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_kernel(&r, r.other_call, 2, 2000, 6000, 7000);
	run_kernel(&r, r.other_call, 3, 2000, 7000, 9000);  /* in the gap */
	run_kernel(&r, r.call, 4, 2000, 10000, 10500);      /* in the window */
	run_kernel(&r, r.other_call, 5, 2000, 10500, 11000);
	run_pc(&r, 0, 0x10, 2, 300);
	run_pc(&r, 0, 0x90, 1, 100);
	run_pc(&r, 4, 0x10, 2, 80);
	run_pc(&r, 5, 0x10, 2, 20);
	run_pc(&r, 5, 0x10, 3, 7); /* counts nothing twice */
	run_range(&r, 2000, 7000, 400, 0);
	run_range(&r, 7000, 10000, 0, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_BUFFER_FULL);
	run_range(&r, 10000, 11000, 100, MSR_GPU_RANGE_SERIALIZED);
	struct model *m = run_finish(&r);
	const struct model_gpu_sampling *s = &m->gpu_sampling;
	uint32_t a = run_kernel_at(m, 0x1010), b = run_kernel_at(m, 0x1020);
	assert_int_equal(run_value(m, a, "GINS", MODEL_EXECUTION), 300 + 80);
	assert_int_equal(run_value(m, b, "GINS", MODEL_EXECUTION), 100 + 20);
	assert_int_equal(run_value(m, a, "GINS:APPORTIONED", MODEL_EXECUTION), 300);
	assert_int_equal(run_value(m, b, "GINS:APPORTIONED", MODEL_EXECUTION), 100);
	assert_int_equal(run_value(m, a, "GSAMP:TOT", MODEL_POINT), 380);
	assert_int_equal(s->in_tree_exact, 100);
	assert_int_equal(s->in_tree_apportioned, 400);
	assert_true(s->closes);
	assert_int_equal(s->n_serialized, 1);
	assert_int_equal(s->n_gaps, 1);
	assert_int_equal(s->longest_gap_ns, 3000);
	assert_int_equal(s->n_buffer_full, 1);
	assert_int_equal(m->processes[0].gpu_sampling.n_yardsticks, 1);
	const struct model_gpu_yardstick *y = &m->processes[0].gpu_sampling.yardsticks[0];
	assert_string_equal(m->functions[m->contexts[y->context].function].name, "saxpy");
	assert_int_equal(y->n_contexts, 2);
	assert_int_equal(y->n_samples, 100);
	assert_int_equal(y->n_apportioned, 400);
	assert_true(fabs(y->wrong_context - 0.3) < 1e-12);
	/* elsewhere a quarter of the samples is at another instruction: (80 - 37.5) + (37.5 - 20)
	 * + 12.5 + 12.5 of 2 x 100 */
	assert_true(fabs(y->wrong_place - 0.425) < 1e-12);
	assert_true(fabs(y->chance_context - sqrt(2 * 50 * 0.5 / M_PI) / 100) < 1e-12);
	assert_true(fabs(s->yardstick.wrong_context / s->yardstick.weight - 0.3) < 1e-12);
	run_clean(&r, m);
}

static struct gpu_yard yardstick(const struct gpu_yard_context *contexts,
				 struct gpu_yard_sample *known, size_t n_known,
				 struct gpu_yard_sample *unknown, size_t n_unknown)
{
	struct gpu_yard y;
	assert_true(gpu_yardstick(
		&(struct gpu_yard_input){contexts, 3, known, unknown, n_known, n_unknown, 1}, &y));
	return y;
}

static void test_yardstick(void **state)
{
	(void)state;
	static const struct gpu_yard_context contexts[3] = {{600, 0}, {300, 0}, {100, 0}};
	struct gpu_yard_sample right[] = {{2, 1, 0, 10}, {0, 1, 0, 60}, {1, 1, 0, 30}};
	struct gpu_yard y = yardstick(contexts, right, 3, NULL, 0);
	assert_int_equal(y.n_contexts, 3);
	assert_int_equal(y.n_samples, 100);
	assert_true(fabs(y.wrong_context) < 1e-12 && fabs(y.wrong_place) < 1e-12 &&
		    y.chance_context > 0.01);
	/* right by context, wrong by place: each context has an instruction of its own. At each,
	 * what the two others should have had is missing: (0.6 x 0.4 + 0.3 x 0.7 + 0.1 x 0.9) */
	struct gpu_yard_sample places[] = {{0, 1, 0x10, 60}, {1, 1, 0x20, 30}, {2, 1, 0x30, 10}};
	y = yardstick(contexts, places, 3, NULL, 0);
	assert_true(fabs(y.wrong_context) < 1e-12 && fabs(y.wrong_place - 0.54) < 1e-12);
	/* what is apportioned is elsewhere altogether; device functions are not compared by
	 * place */
	struct gpu_yard_sample elsewhere[] = {{0, 1, 0x40, 1000}};
	y = yardstick(contexts, places, 3, elsewhere, 1);
	assert_true(fabs(y.wrong_context) < 1e-12 && fabs(y.wrong_place - 1) < 1e-12);
	struct gpu_yard_sample called[] = {{0, 2, 0x10, 60}, {1, 2, 0x20, 30}, {2, 2, 0x30, 10}};
	y = yardstick(contexts, called, 3, NULL, 0);
	assert_true(fabs(y.wrong_context) < 1e-12 && y.wrong_place < 0);
	/* all wrong: a context that had no time */
	static const struct gpu_yard_context none[3] = {{500, 0}, {500, 0}, {0, 0}};
	struct gpu_yard_sample wrong[] = {{2, 1, 0, 8}};
	y = yardstick(none, wrong, 1, NULL, 0);
	assert_true(fabs(y.wrong_context - 1) < 1e-12);
	/* nothing to compare */
	static const struct gpu_yard_context one[3] = {{0, 0}, {500, 0}, {0, 0}};
	assert_int_equal(yardstick(one, wrong, 1, NULL, 0).n_contexts, 0);
	assert_int_equal(yardstick(contexts, wrong, 0, NULL, 0).n_contexts, 0);
}

/* One context alone has windows: twice the samples for its time that all have together; it has a
 * quarter of the time, and another instruction. */
static void test_yardstick_of_one_context(void **state)
{
	(void)state;
	static const struct gpu_yard_context contexts[3] = {{0, 2000}, {500, 1000}, {0, 1000}};
	struct gpu_yard_sample known[] = {{1, 1, 0x10, 100}},
			       unknown[] = {{0, 1, 0x10, 100}, {0, 1, 0x20, 300}};
	struct gpu_yard y = yardstick(contexts, known, 1, unknown, 2);
	assert_int_equal(y.n_contexts, 1);
	assert_true(fabs(y.wrong_context - 0.25) < 1e-12);
	assert_true(fabs(y.wrong_place - 0.75) < 1e-12);
	assert_true(y.chance_context > 0 && y.chance_context < 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_that_do_not_close),
		cmocka_unit_test(test_each_range_closes),
		cmocka_unit_test(test_samples_not_written_and_cut_off),
		cmocka_unit_test(test_promised_rate),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_yardstick),
		cmocka_unit_test(test_yardstick_of_one_context),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
