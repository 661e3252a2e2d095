/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu_samples: PC samples stand at their lines below the kernel, exact where the launch is known, else shared out without loss. */
#include "tests/unit/gpu_fixture.h"

#include "hpcprof-lite/attribute/gpu_stalls.h"
#include "hpcprof-lite/attribute/gpu_yardstick.h"

#include <math.h>

/* The kernel "saxpy" at 0x1000: line 11 in the first 0x40 bytes, then an inlined call of fma_of (line 4), then line 12. */
static void structure(struct run *r)
{
	uint8_t id[16];
	memset(id, 0, sizeof id);
	static const uint64_t hash[2] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
	for (unsigned i = 0; i < 16; i++)
		id[i] = (uint8_t)(hash[i / 8] >> (56 - 8 * (i % 8)));
	struct gen_structure *s = gen_structure_new("/run/gpubins/x.gpubin", id, sizeof id);
	uint32_t file = gen_structure_file(s, "/src/kernels.cl"), fma = gen_structure_definition(s, "fma_of", file, 3);
	uint32_t function = gen_structure_function(s, gen_structure_definition(s, "saxpy", file, 10), 0x1000);
	gen_structure_interval(s, 0x1000, function, file, 11);
	uint32_t inlined = gen_structure_inline(s, function, fma, file, 11, 0x1040);
	gen_structure_interval(s, 0x1040, inlined, file, 4);
	gen_structure_interval(s, 0x1080, function, file, 12);
	uint32_t other = gen_structure_function(s, gen_structure_definition(s, "device_function", file, 40), 0x2000);
	gen_structure_interval(s, 0x2000, other, file, 41);
	gen_structure_interval(s, 0x2100, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, r->directory));
}

static void stalls(struct run *r)
{
	gen_gpu_stall(r->g, 1, "smsp__pcsamp_warps_issue_stalled_selected", "issued", MSR_GPU_STALL_ISSUED);
	gen_gpu_stall(r->g, 2, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "memory", 0);
	gen_gpu_stall(r->g, 3, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued", "memory", MSR_GPU_STALL_ONLY_NOT_ISSUED);
	gen_gpu_stall(r->g, 4, "warpgroup_arrive", "of another chip", 0);
}

static void pc(struct run *r, uint64_t id, uint64_t offset, uint16_t stall, uint64_t count)
{
	gen_gpu_pc(r->g, &(struct msr_gpu_pc){offset, id, count, r->function, stall, 0});
}

static uint32_t kernel_at(const struct model *m, uint64_t call_addr)
{
	for (uint32_t c = 1; c < m->n_contexts; c++)
		if (m->contexts[c].kind == MODEL_CONTEXT_INSTRUCTION && m->contexts[c].link_addr == call_addr)
			return run_find(m, c, "saxpy");
	return MODEL_NONE;
}

static void test_places_below_the_kernel(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	structure(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	pc(&r, 0, 0x10, 2, 100);
	pc(&r, 0, 0x50, 2, 30);
	pc(&r, 0, 0x50, 1, 7);
	pc(&r, 0, 0x90, 4, 5);
	pc(&r, 0, 0x90, 3, 4);
	struct model *m = run_finish(&r);
	uint32_t k = kernel_at(m, 0x1010);
	assert_string_equal(m->files[m->contexts[k].file].path, "/src/kernels.cl");
	assert_int_equal(m->contexts[k].line, 10);
	uint32_t line11 = fixture_find_line(m, k, 11), line12 = fixture_find_line(m, k, 12), inlined = run_find(m, k, "fma_of");
	assert_true(line11 != MODEL_NONE && line12 != MODEL_NONE && inlined != MODEL_NONE);
	assert_int_equal(m->contexts[inlined].relation, MODEL_INLINED);
	assert_int_equal(m->contexts[inlined].parent, line11);
	assert_int_equal(run_value(m, line11, "GINS", MODEL_POINT), 100);
	assert_int_equal(run_value(m, fixture_find_line(m, inlined, 4), "GINS", MODEL_POINT), 37);
	assert_int_equal(run_value(m, line12, "GINS", MODEL_POINT), 5);
	assert_int_equal(run_value(m, k, "GINS", MODEL_EXECUTION), 142);
	assert_int_equal(run_value(m, k, "GINS:STL_ANY", MODEL_EXECUTION), 135);
	assert_int_equal(run_value(m, k, "GINS:STL_GMEM", MODEL_EXECUTION), 130);
	assert_int_equal(run_value(m, k, "GINS:STL_NONE", MODEL_EXECUTION), 7);
	assert_int_equal(run_value(m, k, "GINS:STL_WARPGROUP_ARRIVE", MODEL_EXECUTION), 5);
	assert_int_equal(run_value(m, k, "GINS:STL_GMEM_NI", MODEL_EXECUTION), 4);
	assert_false(m->metrics[run_metric(m, "GINS")].apportioned); /* there is one context: nothing was shared out */
	assert_int_equal(m->gpu_sampling.in_tree_exact, 142);
	assert_int_equal(m->gpu_sampling.in_tree_not_issued, 4);
	run_clean(&r, m);
}

static void test_exact_by_launch(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	structure(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	run_kernel(&r, r.other_call, 2, 2000, 5000, 5100);
	pc(&r, 1, 0x10, 2, 10);
	pc(&r, 2, 0x10, 2, 1000); /* whatever the times say */
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 10);
	assert_int_equal(run_value(m, kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION), 1000);
	assert_int_equal(m->gpu_sampling.in_tree_apportioned, 0);
	run_clean(&r, m);
}

static void test_apportioned_by_time(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	structure(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);        /* 3 of 4 parts of the time */
	run_kernel(&r, r.other_call, 2, 2000, 6000, 7000);
	uint64_t total = 0;
	for (uint64_t i = 0; i < 400; i++) { /* many places with one sample each, and a few with many */
		uint64_t count = i % 50 ? 1 : 1001;
		pc(&r, 0, i % 8 * 16, 2, count);
		pc(&r, 0, 0x90 + i, 1, count);
		total += 2 * count;
	}
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000, .end_ns = 7000, .total = total + 11, .recorded = total, .dropped = 8, .outside = 3});
	struct model *m = run_finish(&r);
	double a = run_value(m, kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), b = run_value(m, kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION);
	assert_true(a + b == (double)total);
	assert_true(a > 0.74 * (double)total && a < 0.76 * (double)total);
	/* lines of single samples are shared like the rest */
	double line_a = run_value(m, kernel_at(m, 0x1010), "GINS:STL_NONE", MODEL_EXECUTION), line_b = run_value(m, kernel_at(m, 0x1020), "GINS:STL_NONE", MODEL_EXECUTION);
	assert_true(line_a + line_b == (double)total / 2 && line_b > 0.2 * (line_a + line_b));
	assert_int_equal(m->gpu_sampling.in_tree_apportioned, total);
	assert_true(m->gpu_sampling.closes);
	const struct model_metric *k = &m->metrics[run_metric(m, "GINS")];
	assert_true(k->apportioned);
	assert_non_null(strstr(k->description, "apportioned"));
	run_clean(&r, m);
}

static void test_ranges_that_do_not_close(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	pc(&r, 0, 0, 2, 10);
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000, .end_ns = 3000, .total = 12, .recorded = 12, .flags = MSR_GPU_RANGE_BUFFER_FULL});
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 3000, .end_ns = 3400, .flags = MSR_GPU_RANGE_GAP});
	struct model *m = run_finish(&r);
	assert_false(m->gpu_sampling.closes);
	assert_int_equal(m->gpu_sampling.n_buffer_full, 1);
	assert_int_equal(m->gpu_sampling.gap_ns, 400);
	assert_int_equal(m->gpu_sampling.sampled_ns, 1000);
	run_clean(&r, m);
}

/* A function that no one launched belongs to the kernels of its code object; one of an unknown code object to nobody. */
static void test_device_functions(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	structure(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	r.function = gen_gpu_function(r.g, r.code, "device_function", "");
	pc(&r, 0, 0x10, 2, 9);
	r.function = gen_gpu_function(r.g, 0, "stray", "stray(int)");
	pc(&r, 0, 0x20, 2, 3);
	struct model *m = run_finish(&r);
	uint32_t k = kernel_at(m, 0x1010), f = run_find(m, k, "device_function");
	assert_true(f != MODEL_NONE && m->contexts[f].parent == k);
	assert_int_equal(run_value(m, f, "GINS", MODEL_EXECUTION), 9);
	uint32_t stray = run_find(m, run_find_entry(m, MODEL_ENTRY_GPU_NO_LAUNCH), "stray(int)");
	assert_true(stray != MODEL_NONE);
	assert_int_equal(run_value(m, stray, "GINS", MODEL_EXECUTION), 3);
	assert_int_equal(m->contexts[stray].module, MODEL_NONE);
	run_clean(&r, m);
}

/*
 * saxpy (0x1000) calls mid in lines 11 and 12, leaf in line 13, fib in line 14; mid (0x2000) calls leaf in line 22; fib (0x3000) calls itself in line 31 and turn in line 32,
 * turn (0x4000) calls fib in line 41; leaf (0x5000) calls nothing, and nothing that is known calls lost (0x6000).
 */
static void structure_with_calls(struct run *r)
{
	static const uint8_t id[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
	static const char *const names[] = {"saxpy", "mid", "fib", "turn", "leaf", "lost"};
	struct gen_structure *s = gen_structure_new("/run/gpubins/x.gpubin", id, sizeof id);
	uint32_t file = gen_structure_file(s, "/src/kernels.cl"), f[6];
	for (uint32_t i = 0; i < 6; i++) {
		uint64_t entry = 0x1000 * (i + 1);
		f[i] = gen_structure_function(s, gen_structure_definition(s, names[i], file, 10 * (i + 1)), entry);
		for (uint32_t line = 1; line < 5; line++)
			gen_structure_interval(s, entry + (line - 1) * 0x20, f[i], file, 10 * (i + 1) + line);
		gen_structure_interval(s, entry + 0x80, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	}
	const struct {
		uint64_t at;
		uint32_t target;
	} calls[] = {{0x1010, 1}, {0x1030, 1}, {0x1050, 4}, {0x1070, 2}, {0x2030, 4}, {0x3010, 2}, {0x3030, 3}, {0x4010, 2}, {0x4030, STRUCTURE_NONE}};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		gen_structure_call(s, calls[i].at, calls[i].target == STRUCTURE_NONE ? STRUCTURE_NONE : f[calls[i].target]);
	free(gen_structure_close(s, r->directory));
}

/* The function called from a line of the context, below it. */
static uint32_t callee(const struct model *m, uint32_t function, uint32_t line, const char *name)
{
	uint32_t at = function == MODEL_NONE ? MODEL_NONE : fixture_find_line(m, function, line);
	return at == MODEL_NONE ? MODEL_NONE : fixture_find_function(m, at, name);
}

static void test_calls_inside_of_kernels(void **state)
{
	(void)state;
	for (unsigned with_call_samples = 0; with_call_samples < 2; with_call_samples++) {
		struct run r;
		run_begin(&r);
		structure_with_calls(&r);
		stalls(&r);
		run_kernel(&r, r.call, 1, 2000, 3000, 5000);
		uint64_t total = 0;
		const struct {
			uint64_t at, count;
			bool is_call;
		} samples[] = {{0x1010, 30, true}, {0x1030, 10, true}, {0x1050, 20, true}, {0x2030, 60, true}, {0x2000, 400, false}, {0x5000, 800, false}, {0x3060, 50, false},
			{0x4000, 7, false}, {0x6000, 5, false}};
		for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
			if (samples[i].is_call && !with_call_samples)
				continue;
			pc(&r, 0, samples[i].at - 0x1000, 2, samples[i].count);
			total += samples[i].count;
		}
		struct model *m = run_finish(&r);
		uint32_t k = kernel_at(m, 0x1010);
		uint32_t mid11 = callee(m, k, 11, "mid"), mid12 = callee(m, k, 12, "mid"), leaf13 = callee(m, k, 13, "leaf"), fib = callee(m, k, 14, "fib");
		uint32_t leaf11 = callee(m, mid11, 22, "leaf"), leaf12 = callee(m, mid12, 22, "leaf"), turn = callee(m, fib, 32, "turn");
		uint32_t lost = fixture_find_function(m, k, "lost");
		assert_true(mid11 != MODEL_NONE && mid12 != MODEL_NONE && leaf13 != MODEL_NONE && fib != MODEL_NONE);
		assert_true(leaf11 != MODEL_NONE && leaf12 != MODEL_NONE && turn != MODEL_NONE && lost != MODEL_NONE);
		/* by the samples at the calls, or evenly */
		assert_int_equal(run_value(m, fixture_find_line(m, mid11, 21), "GINS", MODEL_POINT), with_call_samples ? 300 : 200);
		assert_int_equal(run_value(m, fixture_find_line(m, mid12, 21), "GINS", MODEL_POINT), with_call_samples ? 100 : 200);
		assert_int_equal(run_value(m, leaf13, "GINS", MODEL_EXECUTION), with_call_samples ? 200 : 400);
		assert_int_equal(run_value(m, leaf11, "GINS", MODEL_EXECUTION), with_call_samples ? 450 : 200);
		assert_int_equal(run_value(m, leaf12, "GINS", MODEL_EXECUTION), with_call_samples ? 150 : 200);
		assert_int_equal(run_value(m, fixture_find_line(m, fib, 34), "GINS", MODEL_POINT), 50);
		assert_int_equal(run_value(m, turn, "GINS", MODEL_EXECUTION), 7);
		assert_int_equal(run_value(m, lost, "GINS", MODEL_EXECUTION), 5);
		assert_int_equal(run_value(m, k, "GINS", MODEL_EXECUTION), total);
		assert_int_equal(run_value(m, 0, "GINS", MODEL_EXECUTION), total);
		assert_int_equal(m->gpu_sampling.in_tree_exact + m->gpu_sampling.in_tree_apportioned, total);
		assert_int_equal(m->gpu_sampling.in_tree_apportioned, with_call_samples ? 1260 : 1200); /* mid and leaf, and the call in mid */
		assert_true(m->metrics[run_metric(m, "GINS")].apportioned);
		run_clean(&r, m);
	}
}

/* What warps waited for at a call says nothing of how often it was made; what takes a fixed time where it comes back does. */
static void test_calls_by_their_returns(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	structure_with_calls(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	pc(&r, 0, 0x10, 2, 900); /* the first call of mid waits for memory */
	pc(&r, 0, 0x30, 2, 10);
	pc(&r, 0, 0x20, 1, 20);  /* but comes back once for three times of the other */
	pc(&r, 0, 0x40, 1, 60);
	pc(&r, 0, 0x40, 2, 500); /* which waits for its result */
	pc(&r, 0, 0x1000, 2, 400);
	struct model *m = run_finish(&r);
	uint32_t k = kernel_at(m, 0x1010);
	assert_int_equal(run_value(m, callee(m, k, 11, "mid"), "GINS", MODEL_EXECUTION), 100);
	assert_int_equal(run_value(m, callee(m, k, 12, "mid"), "GINS", MODEL_EXECUTION), 300);
	run_clean(&r, m);
}

/* A device function that is known by itself goes to the kernels from which calls lead to it, and to no other of its code object. */
static void test_device_function_of_one_kernel(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	structure_with_calls(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	r.shape = gen_gpu_shape(r.g, (struct msr_gpu_shape){.function = gen_gpu_function(r.g, r.code, "lost", "")}); /* launched too, and longer */
	run_kernel(&r, r.other_call, 2, 2000, 5000, 50000);
	r.function = gen_gpu_function(r.g, r.code, "leaf", "");
	pc(&r, 0, 0x00, 2, 100);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 100);
	assert_int_equal(run_value(m, run_find(m, 0, "lost"), "GINS", MODEL_EXECUTION), 0);
	run_clean(&r, m);
}

/* A device of 10 units at 1,000 MHz: at a period of 100 cycles each busy unit gives one sample in 100 ns. */
static void on_units(struct run *r)
{
	r->device = gen_gpu_device(r->g, "Device of units", "", (struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU, .n_units = 10, .clock_mhz = 1000, .lanes = 32, .threads_per_unit = 2048,
		.group_max = 1024, .registers_per_unit = 65536, .shared_bytes_per_unit = 233472, .groups_per_unit = 32});
	gen_gpu_limits(r->g, r->device, (struct msr_gpu_def_device_limits){.compute_major = 9, .registers_per_group = 65536, .reserved_shared_bytes = 1024, .shared_bytes_per_group_optin = 232448});
	r->context = gen_gpu_context(r->g, r->device, 1);
	r->queue = gen_gpu_queue(r->g, "queue 1", (struct msr_gpu_def_queue){.context = r->context, .device = r->device});
}

static void range(struct run *r, uint64_t start_ns, uint64_t end_ns, uint64_t recorded, uint32_t flags)
{
	gen_gpu_range(r->g, &(struct msr_gpu_pc_range){.start_ns = start_ns, .end_ns = end_ns, .total = recorded, .recorded = recorded, .period = 100, .context = r->context, .samplers = 10,
		.flags = flags});
}

/* Outside of windows and gaps the first context has three quarters of the time; in the window both have the same, but the first has 80 of 100 samples. */
static void test_bursts(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	structure(&r);
	stalls(&r);
	on_units(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_kernel(&r, r.other_call, 2, 2000, 6000, 7000);
	run_kernel(&r, r.other_call, 3, 2000, 7000, 9000);  /* in the gap */
	run_kernel(&r, r.call, 4, 2000, 10000, 10500);      /* in the window */
	run_kernel(&r, r.other_call, 5, 2000, 10500, 11000);
	pc(&r, 0, 0x10, 2, 300);
	pc(&r, 0, 0x90, 1, 100);
	pc(&r, 4, 0x10, 2, 80);
	pc(&r, 5, 0x10, 2, 20);
	pc(&r, 5, 0x10, 3, 7); /* counts nothing twice */
	range(&r, 2000, 7000, 400, 0);
	range(&r, 7000, 10000, 0, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_BUFFER_FULL);
	range(&r, 10000, 11000, 100, MSR_GPU_RANGE_SERIALIZED);
	struct model *m = run_finish(&r);
	const struct model_gpu_sampling *s = &m->gpu_sampling;
	uint32_t a = kernel_at(m, 0x1010), b = kernel_at(m, 0x1020);
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
	/* elsewhere a quarter of the samples is at another instruction: (80 - 37.5) + (37.5 - 20) + 12.5 + 12.5 of 2 x 100 */
	assert_true(fabs(y->wrong_place - 0.425) < 1e-12);
	assert_true(fabs(y->chance_context - sqrt(2 * 50 * 0.5 / M_PI) / 100) < 1e-12);
	assert_true(fabs(s->yardstick.wrong_context / s->yardstick.weight - 0.3) < 1e-12);
	run_clean(&r, m);
}

/* One CUDA context was sampled, another not (CUPTI samples one of a GPU): no sample belongs to launches of the other. */
static void test_context_that_is_not_sampled(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	stalls(&r);
	run_kernel(&r, r.other_call, 1, 2000, 3000, 9000); /* on the fixture's own context */
	on_units(&r);
	run_kernel(&r, r.call, 2, 2000, 3000, 5000);
	pc(&r, 0, 0x10, 2, 100);
	range(&r, 2000, 9000, 100, 0);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 100);
	assert_int_equal(run_value(m, kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION), 0);
	assert_int_equal(m->gpu_sampling.in_tree_exact, 100);
	run_clean(&r, m);
}

/* Where times were not taken the number of launches decides, and the ledger says so. */
static void test_apportioned_by_launches(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	stalls(&r);
	for (uint64_t i = 0; i < 4; i++)
		run_kernel(&r, i ? r.call : r.other_call, i + 1, 2000, 3000 + i, 3000 + i);
	pc(&r, 0, 0x10, 2, 400);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 300);
	assert_int_equal(run_value(m, kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION), 100);
	assert_int_equal(m->gpu_sampling.in_tree_apportioned, 400);
	assert_int_equal(m->gpu_sampling.apportioned_by_launches, 400);
	run_clean(&r, m);
}

/* 20 blocks keep 10 units busy, 4 blocks keep 4; two kernels side by side no more than there are units. */
static void test_promised_rate(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	stalls(&r);
	on_units(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);        /* 20 units of 100 ns, 10 at a time: 200 */
	r.shape = gen_gpu_shape(r.g, (struct msr_gpu_shape){.function = r.function, .grid = {4, 1, 1}, .block = {256, 1, 1}, .registers = 33});
	run_kernel(&r, r.other_call, 2, 2000, 5000, 6000);  /* 40 of 100 */
	run_kernel(&r, r.other_call, 3, 2000, 6000, 8000);  /* 4 for 1000 ns, then 8 for 1000 ns, then 4: 40 + 80 + 40 */
	r.queue = gen_gpu_queue(r.g, "queue 2", (struct msr_gpu_def_queue){.context = r.context, .device = r.device, .ordinal = 1});
	run_kernel(&r, r.other_call, 4, 2000, 7000, 9000);
	run_kernel(&r, r.other_call, 5, 2000, 20000, 30000); /* nothing is sampled there */
	pc(&r, 0, 0x10, 2, 390);
	range(&r, 2000, 9000, 390, 0);
	struct model *m = run_finish(&r);
	assert_true(fabs(m->gpu_sampling.promised - 400) < 1e-6);
	assert_true(fabs(m->gpu_sampling.expected - 600) < 1e-6);
	assert_int_equal(m->gpu_sampling.period_most, 100);
	assert_int_equal(m->gpu_sampling.clock_mhz, 1000);
	uint32_t a = kernel_at(m, 0x1010), b = kernel_at(m, 0x1020);
	assert_int_equal(run_value(m, a, "GSAMP:EXP", MODEL_POINT), 200);
	assert_int_equal(run_value(m, b, "GSAMP:EXP", MODEL_POINT), 500); /* each kernel by itself */
	assert_int_equal(m->metrics[run_metric(m, "GSAMP:UTIL")].divisor, run_metric(m, "GSAMP:EXP"));
	assert_int_equal(run_value(m, a, "GSAMP:UTIL", MODEL_POINT), 100 * run_value(m, a, "GSAMP:TOT", MODEL_POINT));
	/* 40 registers of 256 threads: 6 blocks, 48 of 64 warps */
	assert_int_equal(run_value(m, b, "GKER:FGP_ACT", MODEL_POINT), 48 * 4);
	assert_int_equal(run_value(m, b, "GKER:FGP_MAX", MODEL_POINT), 64 * 4);
	assert_int_equal(run_value(m, b, "GKER:OCC_THR", MODEL_POINT), 4800 * 4);
	assert_int_equal(m->metrics[run_metric(m, "GKER:OCC_THR")].divisor, run_metric(m, "GKER:FGP_MAX"));
	run_clean(&r, m);
}

/* Ranges whose errors cancel each other do not close. */
static void test_each_range_closes(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	pc(&r, 0, 0, 2, 20);
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000, .end_ns = 3000, .total = 12, .recorded = 10, .dropped = 1});
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 3000, .end_ns = 4000, .total = 11, .recorded = 10, .dropped = 2});
	struct model *m = run_finish(&r);
	assert_int_equal(m->gpu_sampling.total, m->gpu_sampling.recorded + m->gpu_sampling.dropped + m->gpu_sampling.outside);
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
		run_begin(&r);
		stalls(&r);
		run_kernel(&r, r.call, 1, 2000, 3000, 6000);
		pc(&r, 0, 0, 2, 20);
		r.tally->n_lost_pc = 5;
		gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000, .end_ns = 3000, .total = killed ? 22 : 25, .recorded = killed ? 22 : 25});
		struct model *m = run_finish_as(&r, killed ? MSR_EXIT_NONE : MSR_EXIT_RETURN);
		assert_int_equal(m->gpu_sampling.not_written, 5);
		assert_int_equal(m->gpu_sampling.cut_off, killed ? 3 : 0);
		assert_true(m->gpu_sampling.closes);
		run_clean(&r, m);
	}
}

/* What the vendor could not place stands under an entry of its own, and in no kernel. */
static void test_dropped_and_outside(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	pc(&r, 0, 0, 2, 20);
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000, .end_ns = 3000, .total = 27, .recorded = 20, .dropped = 3, .outside = 4});
	struct model *m = run_finish(&r);
	uint32_t entry = run_find_entry(m, MODEL_ENTRY_GPU_NO_LAUNCH);
	assert_int_equal(run_value(m, entry, "GSAMP:DRP", MODEL_EXECUTION), 3);
	assert_int_equal(run_value(m, entry, "GSAMP:OUT", MODEL_EXECUTION), 4);
	assert_int_equal(run_value(m, kernel_at(m, 0x1010), "GSAMP:OUT", MODEL_EXECUTION), 0);
	assert_int_equal(run_value(m, 0, "GSAMP:TOT", MODEL_EXECUTION), 20);
	run_clean(&r, m);
}

/* The record of a kernel names one code object, its samples another that holds a function of that name: they belong together. */
static void test_kernel_of_two_code_objects(void **state)
{
	(void)state;
	static const uint64_t hash[2] = {5, 6};
	struct run r;
	run_begin(&r);
	stalls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	uint32_t other = gen_gpu_code(r.g, "00000000000000050000000000000006.gpubin", "", hash, MSR_GPU_CODE_ELF);
	r.function = gen_gpu_function(r.g, other, "saxpy", "");
	pc(&r, 0, 0, 2, 20);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 20);
	assert_int_equal(m->gpu_sampling.in_tree_exact, 20);
	run_clean(&r, m);
}

static struct gpu_yard yardstick(const struct gpu_yard_context *contexts, struct gpu_yard_sample *known, size_t n_known, struct gpu_yard_sample *unknown, size_t n_unknown)
{
	struct gpu_yard y;
	assert_true(gpu_yardstick(&(struct gpu_yard_input){contexts, 3, known, unknown, n_known, n_unknown, 1}, &y));
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
	assert_true(fabs(y.wrong_context) < 1e-12 && fabs(y.wrong_place) < 1e-12 && y.chance_context > 0.01);
	/* right by context, wrong by place: each context has an instruction of its own. At each, what the two others should have had is missing: (0.6 x 0.4 + 0.3 x 0.7 + 0.1 x 0.9) */
	struct gpu_yard_sample places[] = {{0, 1, 0x10, 60}, {1, 1, 0x20, 30}, {2, 1, 0x30, 10}};
	y = yardstick(contexts, places, 3, NULL, 0);
	assert_true(fabs(y.wrong_context) < 1e-12 && fabs(y.wrong_place - 0.54) < 1e-12);
	/* what is apportioned is elsewhere altogether; device functions are not compared by place */
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

/* One context alone has windows: twice the samples for its time that all have together; it has a quarter of the time, and another instruction. */
static void test_yardstick_of_one_context(void **state)
{
	(void)state;
	static const struct gpu_yard_context contexts[3] = {{0, 2000}, {500, 1000}, {0, 1000}};
	struct gpu_yard_sample known[] = {{1, 1, 0x10, 100}}, unknown[] = {{0, 1, 0x10, 100}, {0, 1, 0x20, 300}};
	struct gpu_yard y = yardstick(contexts, known, 1, unknown, 2);
	assert_int_equal(y.n_contexts, 1);
	assert_true(fabs(y.wrong_context - 0.25) < 1e-12);
	assert_true(fabs(y.wrong_place - 0.75) < 1e-12);
	assert_true(y.chance_context > 0 && y.chance_context < 0.1);
}

static void test_stall_names(void **state)
{
	(void)state;
	static const struct {
		const char *vendor, *name;
		bool only_not_issued;
	} cases[] = {
		{"smsp__pcsamp_warps_issue_stalled_long_scoreboard", "GINS:STL_GMEM", false},
		{"smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued", "GINS:STL_GMEM_NI", true},
		{"smsp__pcsamp_warps_issue_stalled_barrier", "GINS:STL_SYNC", false},
		{"smsp__pcsamp_warps_issue_stalled_wait", "GINS:STL_IDEP", false},
		{"smsp__pcsamp_warps_issue_stalled_selected", "GINS:STL_NONE", false},
		{"smsp__pcsamp_warps_issue_stalled_membar", "GINS:STL_MEMBAR", false},
		{"of_tomorrow", "GINS:STL_OF_TOMORROW", false},
		{"of_tomorrow_not_issued", "GINS:STL_OF_TOMORROW_NI", true},
		{"wait_not_issued", "GINS:STL_WAIT_NOT_ISSUED", false}, /* not marked as a part of another: stays apart */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *name = gpu_stall_metric_name(cases[i].vendor, cases[i].only_not_issued);
		assert_string_equal(name, cases[i].name);
		free(name);
	}
	assert_string_equal(gpu_stall_of("smsp__pcsamp_warps_issue_stalled_barrier_not_issued")->short_name, "SYNC");
	assert_null(gpu_stall_of("of_tomorrow"));
}

static void test_counters(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	uint32_t misses = gen_gpu_counter(r.g, "l2_misses", "of the second cache", MSR_UNIT_COUNT), waits = gen_gpu_counter(r.g, "waits (sec)", "", MSR_UNIT_NS);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	gen_gpu_value(r.g, &(struct msr_gpu_value){1, 500, misses, r.queue});
	gen_gpu_value(r.g, &(struct msr_gpu_value){1, 2000000000, waits, r.queue});
	gen_gpu_value(r.g, &(struct msr_gpu_value){0, 11, misses, r.queue}); /* of the device as a whole */
	gen_gpu_value(r.g, &(struct msr_gpu_value){1, 11, 99, r.queue});     /* of no counter */
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_find(m, 0, "saxpy"), "l2_misses", MODEL_POINT), 500);
	assert_int_equal(run_value(m, run_find(m, 0, "saxpy"), "waits (sec)", MODEL_POINT), 2);
	assert_int_equal(run_value(m, run_find_entry(m, MODEL_ENTRY_GPU_NO_LAUNCH), "l2_misses", MODEL_POINT), 11);
	run_clean(&r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_below_the_kernel),
		cmocka_unit_test(test_exact_by_launch),
		cmocka_unit_test(test_apportioned_by_time),
		cmocka_unit_test(test_ranges_that_do_not_close),
		cmocka_unit_test(test_device_functions),
		cmocka_unit_test(test_calls_inside_of_kernels),
		cmocka_unit_test(test_calls_by_their_returns),
		cmocka_unit_test(test_device_function_of_one_kernel),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_context_that_is_not_sampled),
		cmocka_unit_test(test_apportioned_by_launches),
		cmocka_unit_test(test_promised_rate),
		cmocka_unit_test(test_each_range_closes),
		cmocka_unit_test(test_samples_not_written_and_cut_off),
		cmocka_unit_test(test_dropped_and_outside),
		cmocka_unit_test(test_kernel_of_two_code_objects),
		cmocka_unit_test(test_yardstick),
		cmocka_unit_test(test_yardstick_of_one_context),
		cmocka_unit_test(test_stall_names),
		cmocka_unit_test(test_counters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
