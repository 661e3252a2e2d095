/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu and gpu_describe: devices, queues and kernels of several
 * processes, and that nothing depends on order or workers. */
#include "tests/unit/prof_gpu/gpu_fixture.h"

#include <stdio.h>

static void test_processes_share_device_and_kernel(void **state)
{
	(void)state;
	struct run a, b;
	run_begin(&a);
	run_begin_as(&b, a.directory, 4, 0);
	run_kernel(&a, a.call, 1, 2000, 3000, 4000);
	run_kernel(&b, b.call, 1, 2000, 3000, 6000);
	uint32_t twin = gen_gpu_queue(
		b.g, "queue 0",
		(struct msr_gpu_def_queue){.context = gen_gpu_context(b.g, b.device, 1),
					   .device = b.device});
	gen_gpu_launch(b.g, b.thread, b.call, 2, MSR_GPU_KERNEL, 2000);
	gen_gpu_op(b.g, &(struct gen_gpu_op){.id = 2,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = 7000,
					     .end_ns = 7500,
					     .queue = twin,
					     .shape = b.shape});
	free(gen_close(a.g, MSR_EXIT_RETURN, 0));
	struct model *m = run_finish(&b);
	assert_int_equal(m->n_gpu_devices, 1); /* one uuid */
	assert_int_equal(m->gpu_devices[0].process, MODEL_NONE);
	assert_int_equal(m->n_gpu_contexts, 3);
	assert_int_equal(m->n_gpu_queues, 3);
	assert_string_equal(m->gpu_queues[0].name, "GPU 0 queue 0");
	assert_string_equal(m->gpu_queues[1].name, "GPU 0 context 0 queue 0");
	assert_string_equal(m->gpu_queues[2].name, "GPU 0 context 1 queue 0");
	assert_int_equal(m->n_gpu_shapes, 1);
	uint32_t n_gpu_modules = 0, n_kernels = 0;
	for (uint32_t i = 0; i < m->n_modules; i++)
		n_gpu_modules += m->modules[i].is_gpu;
	for (uint32_t i = 0; i < m->n_functions; i++)
		n_kernels += strcmp(m->functions[i].name, "saxpy") == 0;
	assert_int_equal(n_gpu_modules, 1);
	assert_int_equal(n_kernels, 1);
	uint32_t k = run_find(m, 0, "saxpy"), metric = run_metric(m, "GKER:COUNT");
	assert_int_equal(m->n_profiles, 5); /* a, its queue, b, its queues */
	assert_int_equal(m->profiles[1].kind, MODEL_PROFILE_QUEUE);
	assert_int_equal(m->profiles[2].kind, MODEL_PROFILE_THREAD);
	assert_int_equal(model_find_value(m, 0, k, metric)->at[MODEL_POINT], 1);
	assert_int_equal(model_find_value(m, 2, k, metric)->at[MODEL_POINT], 2);
	assert_int_equal(m->profiles[1].n_values, 0);
	struct model_gpu_cursor c = {0};
	struct model_gpu_op op;
	assert_int_equal(model_gpu_read(m, 4, &c, &op, 1), 1);
	assert_int_equal(op.launcher, 2);
	assert_int_equal(op.context, k);
	run_clean(&a, m);
}

/* Two back ends count devices from 0 each. */
static void test_names_of_queues_are_unique(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	uint32_t other = gen_gpu_device(r.g, "Other", "driver 2",
					(struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU});
	uint32_t cpu = gen_gpu_device(
		r.g, "Host", "driver 3",
		(struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_CPU, .ordinal = 2});
	gen_gpu_queue(r.g, "queue 0",
		      (struct msr_gpu_def_queue){.context = gen_gpu_context(r.g, other, 0),
						 .device = other});
	gen_gpu_queue(r.g, "",
		      (struct msr_gpu_def_queue){.context = gen_gpu_context(r.g, cpu, 4),
						 .device = cpu,
						 .ordinal = 9});
	struct model *m = run_finish(&r);
	assert_string_equal(m->gpu_queues[0].name, "GPU 0 context 0 queue 0 of Device");
	assert_string_equal(m->gpu_queues[1].name, "GPU 0 context 0 queue 0 of Other");
	assert_string_equal(m->gpu_queues[2].name, "CPU device 2 queue 9");
	run_clean(&r, m);
}

static void test_only_gpu_data(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 4000);
	struct model *m = run_finish(&r);
	assert_true(m->has_gpu && m->has_traces && m->ledger_closes);
	assert_string_equal(m->metrics[0].name, "GPUOP (sec)");
	assert_int_equal(m->profiles[0].n_values > 0, 1);
	char *text = fixture_text(m);
	assert_non_null(strstr(text, "saxpy"));
	free(text);
	run_clean(&r, m);
}

static void test_no_traces_no_lines(void **state)
{
	(void)state;
	struct run r;
	run_begin_as(&r, fixture_directory(), 3, MSR_FLAG_TRACE);
	run_kernel(&r, r.call, 1, 2000, 3000, 4000);
	struct model *m = run_finish(&r);
	assert_int_equal(m->n_profiles, 1);
	assert_false(m->has_traces);
	assert_int_equal(m->n_gpu_queues, 1);
	assert_int_equal(run_value(m, 0, "GKER:COUNT", MODEL_EXECUTION), 1);
	run_clean(&r, m);
}

static void test_lanes_are_profiles(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 6000);
	run_kernel(&r, r.call, 2, 2000, 4000, 5000);
	run_kernel(&r, r.call, 3, 2000, 5000, 7000);
	struct model *m = run_finish(&r);
	assert_int_equal(m->n_profiles, 3);
	assert_int_equal(m->gpu_queues[0].n_lanes, 2);
	assert_int_equal(m->gpu_queues[0].busy_ns, 4000);
	assert_int_equal(m->profiles[1].n_trace_records, 1);
	assert_int_equal(m->profiles[2].n_trace_records, 2);
	assert_int_equal(m->profiles[2].lane, 1);
	assert_string_equal(m->profiles[2].name, "GPU 0 queue 0");
	assert_true(m->profiles[1].start_ns <= 3000 + RUN_TO_REAL_NS &&
		    m->profiles[1].end_ns >= 7000 + RUN_TO_REAL_NS);
	run_clean(&r, m);
}

/* A file without a record of its threads, as when it was cut off: what the GPU did is still
 * there. */
static void test_no_thread_record(void **state)
{
	(void)state;
	struct run r = {.directory = fixture_directory()};
	r.g = gen_open(r.directory, &(struct gen_process){.pid = 3,
							  .rank = -1,
							  .start_mono_ns = RUN_START_NS,
							  .start_real_ns = RUN_START_REAL_NS});
	uint32_t queue = gen_gpu_queue(
		r.g, "",
		(struct msr_gpu_def_queue){
			.context = 5,
			.device = 6,
			.ordinal = 3}); /* of a context and device that are not there */
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 1,
					     .kind = MSR_GPU_COPY,
					     .detail = MSR_GPU_COPY_H2D,
					     .start_ns = 2000,
					     .end_ns = 3000,
					     .amount = 7,
					     .queue = queue});
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, run_find_entry(m, MODEL_ENTRY_GPU_NO_LAUNCH),
				   "GXCOPY:H2D (B)", MODEL_EXECUTION),
			 7);
	assert_string_equal(m->gpu_queues[0].name, "GPU 0 queue 3");
	assert_false(m->gpu_ledger.closes);
	run_clean(&r, m);
}

/* ---- determinism ---- */

/* All that a model says of GPUs, and the whole text. */
static char *everything(const struct model *m)
{
	char *text = NULL, *all = fixture_text(m);
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	assert_non_null(out);
	fputs(all, out);
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_gpu_cursor c = {0};
		struct model_gpu_op o;
		while (model_gpu_read(m, p, &c, &o, 1))
			fprintf(out, "%u %llu %llu %llu %llu %u %u %u %u\n", p,
				(unsigned long long)o.start_ns, (unsigned long long)o.end_ns,
				(unsigned long long)o.enter_ns, (unsigned long long)o.id, o.context,
				o.shape, o.launcher, o.kind);
	}
	fclose(out);
	free(all);
	return text;
}

static void test_same_for_any_number_of_workers(void **state)
{
	(void)state;
	char *directory = fixture_directory(), *first = NULL;
	gen_job(directory, &(struct gen_job){.n_processes = 3,
					     .n_threads = 3,
					     .n_nodes = 60,
					     .n_samples = 40,
					     .n_metrics = 2,
					     .n_gpu_ops = 150,
					     .seed = 5,
					     .structs = true,
					     .losses = true});
	for (unsigned workers = 1; workers <= 5; workers += 2) {
		struct model *m = fixture_model(directory, workers);
		fixture_check_model(m);
		assert_true(m->gpu_ledger.closes);
		assert_int_equal(m->gpu_ledger.n_bad_order, 0);
		assert_int_equal(m->gpu_sampling.n_ranges, 9);
		assert_true(m->gpu_sampling.closes);
		char *text = everything(m);
		if (first)
			assert_string_equal(first, text);
		else
			first = strdup(text);
		free(text);
		model_free(m);
	}
	free(first);
	fixture_remove(directory);
}

static void test_killed_job_closes(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	gen_job(directory, &(struct gen_job){.n_processes = 2,
					     .n_threads = 2,
					     .n_nodes = 30,
					     .n_gpu_ops = 50,
					     .seed = 6,
					     .killed = true});
	struct model *m = fixture_model(directory, 2);
	assert_true(m->gpu_ledger.closes);
	assert_int_equal(m->gpu_ledger.losses[MSR_GPU_LOSS_IN_FLIGHT], 8);
	model_free(m);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes_share_device_and_kernel),
		cmocka_unit_test(test_names_of_queues_are_unique),
		cmocka_unit_test(test_only_gpu_data),
		cmocka_unit_test(test_no_traces_no_lines),
		cmocka_unit_test(test_lanes_are_profiles),
		cmocka_unit_test(test_no_thread_record),
		cmocka_unit_test(test_same_for_any_number_of_workers),
		cmocka_unit_test(test_killed_job_closes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
