/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu_samples: PC samples stand at their lines below the kernel,
 * exact where the launch is known, else shared out without loss. Calls inside of kernels:
 * test_gpu_calls.c; what the ranges say: test_gpu_ranges.c. */
#include "tests/unit/prof_gpu/gpu_samples_fixture.h"

#include "hpcprof-lite/attribute/gpu/metrics/gpu_stalls.h"

static void test_places_below_the_kernel(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	run_pc(&r, 0, 0x10, 2, 100);
	run_pc(&r, 0, 0x50, 2, 30);
	run_pc(&r, 0, 0x50, 1, 7);
	run_pc(&r, 0, 0x90, 4, 5);
	run_pc(&r, 0, 0x90, 3, 4);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010);
	assert_string_equal(m->files[m->contexts[k].file].path, "/src/kernels.cl");
	assert_int_equal(m->contexts[k].line, 10);
	uint32_t line11 = fixture_find_line(m, k, 11), line12 = fixture_find_line(m, k, 12),
		 inlined = run_find(m, k, "fma_of");
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
	assert_false(m->metrics[run_metric(m, "GINS")]
			     .apportioned); /* there is one context: nothing was shared out */
	assert_int_equal(m->gpu_sampling.in_tree_exact, 142);
	assert_int_equal(m->gpu_sampling.in_tree_not_issued, 4);
	run_clean(&r, m);
}

static void test_exact_by_launch(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	run_kernel(&r, r.other_call, 2, 2000, 5000, 5100);
	run_pc(&r, 1, 0x10, 2, 10);
	run_pc(&r, 2, 0x10, 2, 1000); /* whatever the times say */
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 10);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION), 1000);
	assert_int_equal(m->gpu_sampling.in_tree_apportioned, 0);
	run_clean(&r, m);
}

/* Beyond the bound on records: samples know where their launches were made, which have no records,
 * and nothing of time decides. */
static void test_exact_by_place(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	const uint32_t nodes[2] = {r.call, r.other_call};
	for (unsigned i = 0; i < 2; i++)
		gen_gpu_aggregate(r.g, 0,
				  &(struct msr_gpu_aggregate){.thread = r.thread,
							      .node = nodes[i],
							      .queue = r.queue,
							      .shape = r.shape,
							      .kind = MSR_GPU_KERNEL,
							      .n_launches = 5,
							      .n_ops = 5,
							      .busy_ns = i ? 100 : 5000});
	const struct msr_gpu_pc pc = {
		.offset = 0x10, .count = 10, .function = r.function, .stall = 2};
	gen_gpu_pc_at(r.g, &(struct msr_gpu_pc_at){pc, r.thread, r.call});
	gen_gpu_pc_at(r.g,
		      &(struct msr_gpu_pc_at){
			      {.offset = 0x10, .count = 1000, .function = r.function, .stall = 2},
			      r.thread,
			      r.other_call});
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 10);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION), 1000);
	assert_int_equal(m->gpu_sampling.in_tree_exact, 1010);
	assert_int_equal(m->gpu_sampling.in_tree_apportioned, 0);
	run_clean(&r, m);
}

/* A place where nothing is known to have been launched: as samples without a launch. A thread that
 * is not in the file: likewise. */
static void test_place_without_launches(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	const struct msr_gpu_pc pc = {
		.offset = 0x10, .count = 10, .function = r.function, .stall = 2};
	gen_gpu_pc_at(r.g, &(struct msr_gpu_pc_at){pc, r.thread, r.other_call});
	gen_gpu_pc_at(r.g, &(struct msr_gpu_pc_at){pc, r.thread + 7, r.call});
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 20);
	run_clean(&r, m);
}

/* A kernel that ran on when the process ended has samples and no record: another one of its code
 * object did not call it, as it may have called a device function. */
static void test_kernel_without_launches(void **state)
{
	(void)state;
	for (unsigned is_kernel = 0; is_kernel < 2; is_kernel++) {
		struct run r;
		run_begin_with_kernel(&r);
		struct gen_structure *s = run_structure_new();
		uint32_t file = gen_structure_file(s, "/src/kernels.cl");
		uint32_t saxpy = gen_structure_function(
				 s, gen_structure_definition(s, "saxpy", file, 10), 0x1000),
			 endless = gen_structure_function(
				 s, gen_structure_definition(s, "endless", file, 40), 0x2000);
		gen_structure_interval(s, 0x1000, saxpy, file, 11);
		gen_structure_interval(s, 0x2000, endless, file, 41);
		gen_structure_interval(s, 0x2100, STRUCTURE_NONE, STRUCTURE_NONE, 0);
		if (is_kernel)
			gen_structure_kernel(s, endless);
		free(gen_structure_close(s, r.directory));
		r.function = gen_gpu_function(r.g, r.code, "endless", "");
		run_pc(&r, 0, 0x10, 2, 20);
		struct model *m = run_finish(&r);
		assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION),
				 is_kernel ? 0 : 20);
		assert_int_equal(m->gpu_sampling.in_tree_unattributed, is_kernel ? 20 : 0);
		run_clean(&r, m);
	}
}

/* A graph's launch has several kernels: its samples go to those of their function, whichever came
 * first. */
static void test_kernels_of_a_graph(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	uint32_t function = gen_gpu_function(r.g, r.code, "other", ""),
		 shape = gen_gpu_shape(r.g, (struct msr_gpu_shape){.function = function,
								   .grid = {1, 1, 1},
								   .block = {1, 1, 1}});
	gen_gpu_launch(r.g, r.thread, r.call, 1, MSR_GPU_GRAPH, 2000);
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 1,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = 3000,
					     .end_ns = 4000,
					     .queue = r.queue,
					     .shape = r.shape});
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 1,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = 4000,
					     .end_ns = 4100,
					     .queue = r.queue,
					     .shape = shape});
	run_pc(&r, 1, 0x10, 2, 10);
	gen_gpu_pc(r.g,
		   &(struct msr_gpu_pc){
			   .offset = 0, .id = 1, .count = 3, .function = function, .stall = 2});
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_find(m, 0, "saxpy"), "GINS", MODEL_EXECUTION), 10);
	assert_int_equal(run_value(m, run_find(m, 0, "other"), "GINS", MODEL_EXECUTION), 3);
	assert_int_equal(m->gpu_sampling.in_tree_exact, 13);
	run_clean(&r, m);
}

static void test_apportioned_by_time(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);        /* 3 of 4 parts of the time */
	run_kernel(&r, r.other_call, 2, 2000, 6000, 7000);
	uint64_t total = 0;
	for (uint64_t i = 0; i < 400;
	     i++) { /* many places with one sample each, and a few with many */
		uint64_t count = i % 50 ? 1 : 1001;
		run_pc(&r, 0, i % 8 * 16, 2, count);
		run_pc(&r, 0, 0x90 + i, 1, count);
		total += 2 * count;
	}
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000,
						      .end_ns = 7000,
						      .total = total + 11,
						      .recorded = total,
						      .dropped = 8,
						      .outside = 3});
	struct model *m = run_finish(&r);
	double a = run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION),
	       b = run_value(m, run_kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION);
	assert_true(a + b == (double)total);
	assert_true(a > 0.74 * (double)total && a < 0.76 * (double)total);
	/* lines of single samples are shared like the rest */
	double line_a = run_value(m, run_kernel_at(m, 0x1010), "GINS:STL_NONE", MODEL_EXECUTION),
	       line_b = run_value(m, run_kernel_at(m, 0x1020), "GINS:STL_NONE", MODEL_EXECUTION);
	assert_true(line_a + line_b == (double)total / 2 && line_b > 0.2 * (line_a + line_b));
	assert_int_equal(m->gpu_sampling.in_tree_apportioned, total);
	assert_true(m->gpu_sampling.closes);
	const struct model_metric *k = &m->metrics[run_metric(m, "GINS")];
	assert_true(k->apportioned);
	assert_non_null(strstr(k->description, "apportioned"));
	run_clean(&r, m);
}

/* Where times were not taken the number of launches decides, and the ledger says so. */
/* Launches of one path in two NVTX ranges, with and without samples that know their place: the path
 * is one context, so nothing is apportioned. */
static void test_one_path_in_two_ranges(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	uint32_t nodes[2];
	for (unsigned i = 0; i < 2; i++) {
		nodes[i] = gen_child(r.g, r.thread, r.call,
				     msr_addr_make(MSR_MODULE_NONE, MSR_NVTX + 1 + i, false));
		run_kernel(&r, nodes[i], 1 + i, 2000, 3000 + 1000 * i, 3500 + 1000 * i);
	}
	run_pc(&r, 0, 0x10, 2, 100);
	run_pc(&r, 1, 0x10, 2, 20);
	const struct msr_gpu_pc pc = {
		.offset = 0x10, .count = 3, .function = r.function, .stall = 2};
	gen_gpu_pc_at(r.g, &(struct msr_gpu_pc_at){pc, r.thread, nodes[0]});
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 123);
	assert_int_equal(m->gpu_sampling.in_tree_exact, 123);
	assert_int_equal(m->gpu_sampling.in_tree_apportioned, 0);
	run_clean(&r, m);
}

static void test_apportioned_by_launches(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	for (uint64_t i = 0; i < 4; i++)
		run_kernel(&r, i ? r.call : r.other_call, i + 1, 2000, 3000 + i, 3000 + i);
	run_pc(&r, 0, 0x10, 2, 400);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 300);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION), 100);
	assert_int_equal(m->gpu_sampling.in_tree_apportioned, 400);
	assert_int_equal(m->gpu_sampling.apportioned_by_launches, 400);
	run_clean(&r, m);
}

/* One CUDA context was sampled, another not (CUPTI samples one of a GPU): no sample belongs to
 * launches of the other. */
static void test_context_that_is_not_sampled(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_kernel(&r, r.other_call, 1, 2000, 3000, 9000); /* on the fixture's own context */
	run_on_units(&r);
	run_kernel(&r, r.call, 2, 2000, 3000, 5000);
	run_pc(&r, 0, 0x10, 2, 100);
	run_range(&r, 2000, 9000, 100, 0);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 100);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1020), "GINS", MODEL_EXECUTION), 0);
	assert_int_equal(m->gpu_sampling.in_tree_exact, 100);
	run_clean(&r, m);
}

/* What the vendor could not place stands under an entry of its own, and in no kernel. */
static void test_dropped_and_outside(void **state)
{
	(void)state;
	struct run r;
	run_begin_with_kernel(&r);
	run_pc(&r, 0, 0, 2, 20);
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){.start_ns = 2000,
						      .end_ns = 3000,
						      .total = 27,
						      .recorded = 20,
						      .dropped = 3,
						      .outside = 4});
	struct model *m = run_finish(&r);
	uint32_t entry = run_find_entry(m, MODEL_ENTRY_GPU_NO_LAUNCH);
	assert_int_equal(run_value(m, entry, "GSAMP:DRP", MODEL_EXECUTION), 3);
	assert_int_equal(run_value(m, entry, "GSAMP:OUT", MODEL_EXECUTION), 4);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GSAMP:OUT", MODEL_EXECUTION), 0);
	assert_int_equal(run_value(m, 0, "GSAMP:TOT", MODEL_EXECUTION), 20);
	run_clean(&r, m);
}

/* The record of a kernel names one code object, its samples another that holds a function of that
 * name: they belong together. */
static void test_kernel_of_two_code_objects(void **state)
{
	(void)state;
	static const uint64_t hash[2] = {5, 6};
	struct run r;
	run_begin_with_kernel(&r);
	uint32_t other = gen_gpu_code(r.g, "00000000000000050000000000000006.gpubin", "", hash,
				      MSR_GPU_CODE_ELF);
	r.function = gen_gpu_function(r.g, other, "saxpy", "");
	run_pc(&r, 0, 0, 2, 20);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 20);
	assert_int_equal(m->gpu_sampling.in_tree_exact, 20);
	run_clean(&r, m);
}

static void test_stall_names(void **state)
{
	(void)state;
	static const struct {
		const char *vendor, *name;
		bool only_not_issued;
	} cases[] = {
		{"smsp__pcsamp_warps_issue_stalled_long_scoreboard", "GINS:STL_GMEM", false},
		{"smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued", "GINS:STL_GMEM_NI",
		 true},
		{"smsp__pcsamp_warps_issue_stalled_barrier", "GINS:STL_SYNC", false},
		{"smsp__pcsamp_warps_issue_stalled_wait", "GINS:STL_IDEP", false},
		{"smsp__pcsamp_warps_issue_stalled_selected", "GINS:STL_NONE", false},
		{"smsp__pcsamp_warps_issue_stalled_membar", "GINS:STL_MEMBAR", false},
		{"of_tomorrow", "GINS:STL_OF_TOMORROW", false},
		{"of_tomorrow_not_issued", "GINS:STL_OF_TOMORROW_NI", true},
		{"wait_not_issued", "GINS:STL_WAIT_NOT_ISSUED",
		 false}, /* not marked as a part of another: stays apart */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *name = gpu_stall_metric_name(cases[i].vendor, cases[i].only_not_issued);
		assert_string_equal(name, cases[i].name);
		free(name);
	}
	assert_string_equal(
		gpu_stall_of("smsp__pcsamp_warps_issue_stalled_barrier_not_issued")->short_name,
		"SYNC");
	assert_null(gpu_stall_of("of_tomorrow"));
}

static void test_counters(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	uint32_t misses = gen_gpu_counter(r.g, "l2_misses", "of the second cache", MSR_UNIT_COUNT),
		 waits = gen_gpu_counter(r.g, "waits (sec)", "", MSR_UNIT_NS);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	gen_gpu_value(r.g, &(struct msr_gpu_value){1, 500, misses, r.queue});
	gen_gpu_value(r.g, &(struct msr_gpu_value){1, 2000000000, waits, r.queue});
	gen_gpu_value(r.g, &(struct msr_gpu_value){0, 11, misses,
						   r.queue}); /* of the device as a whole */
	gen_gpu_value(r.g, &(struct msr_gpu_value){1, 11, 99, r.queue});     /* of no counter */
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_find(m, 0, "saxpy"), "l2_misses", MODEL_POINT), 500);
	assert_int_equal(run_value(m, run_find(m, 0, "saxpy"), "waits (sec)", MODEL_POINT), 2);
	assert_int_equal(run_value(m, run_find_entry(m, MODEL_ENTRY_GPU_NO_LAUNCH), "l2_misses",
				   MODEL_POINT),
			 11);
	run_clean(&r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_below_the_kernel),
		cmocka_unit_test(test_exact_by_launch),
		cmocka_unit_test(test_exact_by_place),
		cmocka_unit_test(test_place_without_launches),
		cmocka_unit_test(test_kernels_of_a_graph),
		cmocka_unit_test(test_kernel_without_launches),
		cmocka_unit_test(test_apportioned_by_time),
		cmocka_unit_test(test_one_path_in_two_ranges),
		cmocka_unit_test(test_apportioned_by_launches),
		cmocka_unit_test(test_context_that_is_not_sampled),
		cmocka_unit_test(test_dropped_and_outside),
		cmocka_unit_test(test_kernel_of_two_code_objects),
		cmocka_unit_test(test_stall_names),
		cmocka_unit_test(test_counters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
