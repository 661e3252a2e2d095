/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu_launches, gpu_join, gpu_metrics and expand's GPU half: every
 * operation counts below the call that asked for it. */
#include "tests/unit/prof_gpu/gpu_fixture.h"

#include "hpcprof-lite/attribute/gpu/join/gpu_launches.h"

static void near(double a, double b)
{
	assert_true(a >= b - 1e-12 && a <= b + 1e-12);
}

static void test_kernel_below_its_call(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	run_kernel(&r, r.call, 2, 2100, 6000, 7000);
	run_kernel(&r, r.other_call, 3, 2200, 8000, 8500);
	struct model *m = run_finish(&r);
	uint32_t main_ = run_find_entry(m, MODEL_ENTRY_MAIN), frame = main_ + 1, n_kernels = 0;
	double total = 0;
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		const struct model_context *k = &m->contexts[c];
		if (k->kind != MODEL_CONTEXT_FUNCTION ||
		    strcmp(m->functions[k->function].name, "saxpy") != 0)
			continue;
		const struct model_context *placeholder = &m->contexts[k->parent],
					   *call = &m->contexts[placeholder->parent];
		assert_string_equal(m->functions[placeholder->function].name, "<gpu kernel>");
		assert_int_equal(m->functions[placeholder->function].gpu_kind, MSR_GPU_KERNEL);
		assert_int_equal(placeholder->module, MODEL_NONE);
		assert_int_equal(call->kind, MODEL_CONTEXT_INSTRUCTION);
		assert_int_equal(call->parent, frame);
		assert_true(m->modules[k->module].is_gpu);
		near(run_value(m, c, "GKER (sec)", MODEL_POINT),
		     call->link_addr == 0x1010 ? 3e-6 : 0.5e-6);
		near(run_value(m, k->parent, "GKER (sec)", MODEL_EXECUTION),
		     call->link_addr == 0x1010 ? 3e-6 : 0.5e-6);
		assert_int_equal(run_value(m, c, "GKER:COUNT", MODEL_POINT),
				 call->link_addr == 0x1010 ? 2 : 1);
		total += run_value(m, c, "GKER (sec)", MODEL_POINT);
		n_kernels++;
	}
	assert_int_equal(n_kernels, 2);
	near(total, run_value(m, 0, "GPUOP (sec)", MODEL_EXECUTION));
	assert_int_equal(run_value(m, 0, "GKER:COUNT", MODEL_EXECUTION), 3);
	assert_true(m->gpu_ledger.closes);
	assert_int_equal(m->gpu_ledger.joined[MSR_GPU_KERNEL], 3);
	assert_int_equal(m->gpu_ledger.n_bad_order, 0);
	run_clean(&r, m);
}

static void test_launch_characteristics_are_sums(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	run_kernel(&r, r.call, 2, 2000, 5000, 6000);
	r.shape = gen_gpu_shape(r.g, (struct msr_gpu_shape){.function = r.function,
							    .block = {64, 1, 1},
							    .global = {1000, 1, 1},
							    .local_bytes = 16});
	run_kernel(&r, r.call, 3, 2000, 6000, 7000);
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, 0, "GKER:BLKS", MODEL_EXECUTION),
			 2 * 20 + 16); /* 1000 / 64, rounded up */
	assert_int_equal(run_value(m, 0, "GKER:BLK_THR", MODEL_EXECUTION), 2 * 128 + 64);
	assert_int_equal(run_value(m, 0, "GKER:THR", MODEL_EXECUTION), 2 * 2560 + 1000);
	assert_int_equal(run_value(m, 0, "GKER:THR_REG", MODEL_EXECUTION), 48);
	assert_int_equal(run_value(m, 0, "GKER:STMEM (B)", MODEL_EXECUTION), 200);
	assert_int_equal(run_value(m, 0, "GKER:DYMEM (B)", MODEL_EXECUTION), 56);
	assert_int_equal(run_value(m, 0, "GKER:BLK_SM (B)", MODEL_EXECUTION), 256);
	assert_int_equal(run_value(m, 0, "GKER:LMEM (B)", MODEL_EXECUTION), 16);
	const struct model_metric *k = &m->metrics[run_metric(m, "GKER:BLKS")];
	assert_int_equal(k->kind, MODEL_METRIC_GPU_MEAN);
	assert_string_equal(m->metrics[k->divisor].name, "GKER:COUNT");
	assert_string_equal(m->metrics[m->metrics[run_metric(m, "GKER (sec)")].parent].name,
			    "GPUOP (sec)");
	assert_int_equal(m->n_gpu_shapes, 2);
	run_clean(&r, m);
}

/* Kernels of one code object are told apart by name, with and without a structure, and under
 * another name of one place too. */
static void test_kernels_are_told_apart_by_name(void **state)
{
	(void)state;
	static const uint8_t id[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
				       0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
	for (unsigned with_structure = 0; with_structure < 2; with_structure++) {
		struct run r;
		run_begin(&r);
		if (with_structure) { /* saxpy has lines; twin is nothing to it */
			struct gen_structure *s =
				gen_structure_new("/run/gpubins/x.gpubin", id, sizeof id);
			uint32_t file = gen_structure_file(s, "/src/kernels.cl");
			uint32_t function = gen_structure_function(
				s, gen_structure_definition(s, "saxpy", file, 10), 0x1000);
			gen_structure_interval(s, 0x1000, function, file, 11);
			gen_structure_interval(s, 0x1040, STRUCTURE_NONE, STRUCTURE_NONE, 0);
			free(gen_structure_close(s, r.directory));
		}
		run_kernel(&r, r.call, 1, 2000, 3000, 4000);
		r.shape = gen_gpu_shape(
			r.g, (struct msr_gpu_shape){
				     .function = gen_gpu_function(r.g, r.code, "twin", "")});
		run_kernel(&r, r.call, 2, 2000, 4000, 6000);
		r.shape = gen_gpu_shape(
			r.g, (struct msr_gpu_shape){.function = gen_gpu_function(
							    r.g, r.code, "_Z4longv", "long()")});
		run_kernel(&r, r.call, 3, 2000, 6000, 9000);
		struct model *m = run_finish(&r);
		near(run_value(m, run_find(m, 0, "saxpy"), "GKER (sec)", MODEL_POINT), 1e-6);
		near(run_value(m, run_find(m, 0, "twin"), "GKER (sec)", MODEL_POINT), 2e-6);
		near(run_value(m, run_find(m, 0, "long()"), "GKER (sec)", MODEL_POINT), 3e-6);
		assert_int_equal(m->contexts[run_find(m, 0, "saxpy")].line,
				 with_structure ? 10 : 0);
		run_clean(&r, m);
	}
}

static void operation(struct run *r, uint64_t id, enum msr_gpu_kind kind, unsigned detail,
		      uint64_t length_ns, uint64_t amount)
{
	gen_gpu_launch(r->g, r->thread, r->call, id, kind, 2000 + id);
	gen_gpu_op(r->g, &(struct gen_gpu_op){.id = id,
					      .kind = kind,
					      .detail = detail,
					      .start_ns = 3000 + id * 100000,
					      .end_ns = 3000 + id * 100000 + length_ns,
					      .amount = amount,
					      .queue = kind >= MSR_GPU_ALLOC && kind <= MSR_GPU_SYNC
							       ? 0
							       : r->queue});
}

static void test_every_kind_has_its_metrics(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	operation(&r, 1, MSR_GPU_COPY, MSR_GPU_COPY_H2D, 1000, 111);
	operation(&r, 2, MSR_GPU_COPY, MSR_GPU_COPY_D2H, 2000, 222);
	operation(&r, 3, MSR_GPU_COPY, MSR_GPU_COPY_MAP, 4000, 333);
	operation(&r, 4, MSR_GPU_COPY, 77, 8000, 444); /* a direction of a later version */
	operation(&r, 5, MSR_GPU_SET, MSR_GPU_MEMORY_DEVICE, 16000, 555);
	operation(&r, 6, MSR_GPU_ALLOC, MSR_GPU_MEMORY_HOST, 32000, 666);
	operation(&r, 7, MSR_GPU_FREE, MSR_GPU_MEMORY_HOST, 64000, 777);
	operation(&r, 8, MSR_GPU_SYNC, MSR_GPU_SYNC_QUEUE, 100, 0);
	operation(&r, 9, MSR_GPU_SYNC, MSR_GPU_SYNC_DEVICE, 200, 0);
	operation(&r, 10, MSR_GPU_MARKER, 0, 400, 0);
	struct model *m = run_finish(&r);
	near(run_value(m, 0, "GPUOP (sec)", MODEL_EXECUTION),
	     31e-6); /* copies and sets; the CPU's waits and allocations are no work of the GPU */
	near(run_value(m, 0, "GXCOPY (sec)", MODEL_EXECUTION), 15e-6);
	near(run_value(m, 0, "GMSET (sec)", MODEL_EXECUTION), 16e-6);
	near(run_value(m, 0, "GMEM (sec)", MODEL_EXECUTION), 96e-6);
	near(run_value(m, 0, "GSYNC (sec)", MODEL_EXECUTION), 0.3e-6);
	near(run_value(m, 0, "GSYNC:STR (sec)", MODEL_EXECUTION), 0.1e-6);
	near(run_value(m, 0, "GSYNC:CTX (sec)", MODEL_EXECUTION), 0.2e-6);
	assert_int_equal(run_value(m, 0, "GXCOPY:COUNT", MODEL_EXECUTION), 4);
	assert_int_equal(run_value(m, 0, "GXCOPY:H2D (B)", MODEL_EXECUTION), 111);
	assert_int_equal(run_value(m, 0, "GXCOPY:D2H (B)", MODEL_EXECUTION), 222);
	assert_int_equal(run_value(m, 0, "GXCOPY:MAP (B)", MODEL_EXECUTION), 333);
	assert_int_equal(run_value(m, 0, "GXCOPY:UNK (B)", MODEL_EXECUTION), 444);
	assert_int_equal(run_value(m, 0, "GMSET:DEV (B)", MODEL_EXECUTION), 555);
	assert_int_equal(run_value(m, 0, "GMEM:PIN (B)", MODEL_EXECUTION), 1443);
	assert_int_equal(run_value(m, 0, "GMEM:COUNT", MODEL_EXECUTION), 2);
	assert_int_equal(run_value(m, 0, "GSYNC:COUNT", MODEL_EXECUTION), 2);
	assert_int_equal(run_value(m, 0, "GMARK:COUNT", MODEL_EXECUTION), 1);
	assert_int_equal(run_metric(m, "GXCOPY:D2D (B)"), MODEL_NONE); /* only what occurs */
	assert_int_equal(run_metric(m, "GKER (sec)"), MODEL_NONE);
	static const char *const names[] = {"<gpu copyin>", "<gpu copyout>", "<gpu copy>",
					    "<gpu memset>", "<gpu alloc>",   "<gpu delete>",
					    "<gpu sync>",   "<gpu marker>"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_true(run_find(m, 0, names[i]) != MODEL_NONE);
	assert_int_equal(m->profiles[1].kind, MODEL_PROFILE_QUEUE);
	assert_int_equal(m->profiles[1].n_trace_records, 5); /* neither what CPUs did nor markers */
	run_clean(&r, m);
}

static void test_graph_has_several_operations(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	gen_gpu_launch(r.g, r.thread, r.call, 9, MSR_GPU_GRAPH, 2000);
	for (uint64_t i = 0; i < 3; i++)
		gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 9,
						     .kind = MSR_GPU_KERNEL,
						     .start_ns = 3000 + i * 100,
						     .end_ns = 3050 + i * 100,
						     .amount = i + 1,
						     .queue = r.queue,
						     .shape = r.shape});
	struct model *m = run_finish(&r);
	assert_int_equal(run_value(m, 0, "GKER:COUNT", MODEL_EXECUTION), 3);
	assert_int_equal(m->gpu_ledger.joined[MSR_GPU_GRAPH], 1);
	assert_int_equal(m->gpu_ledger.n_ops, 3);
	assert_true(m->gpu_ledger.closes);
	struct model_gpu_cursor c = {0};
	struct model_gpu_op ops[4];
	assert_int_equal(model_gpu_read(m, 1, &c, ops, 4), 3);
	assert_int_equal(ops[2].graph_node, 3);
	run_clean(&r, m);
}

/* Line 57 of step() at 0x1010; the API's function, with a line of its own, at 0x3000. */
static void structure_of_program(struct run *r)
{
	struct gen_structure *s = gen_structure_new("/opt/bin/app", NULL, 0);
	uint32_t file = gen_structure_file(s, "/src/solve.c"),
		 api_file = gen_structure_file(s, "/src/api.c");
	uint32_t step =
		gen_structure_function(s, gen_structure_definition(s, "step", file, 50), 0x1000);
	gen_structure_interval(s, 0x1000, step, file, 57);
	gen_structure_interval(s, 0x1020, step, file, 60);
	/* what nvcc makes of geo::add<<<...>>>(...) on the CPU */
	uint32_t add = gen_structure_function(
		s, gen_structure_definition(s, "void geo::add<float>(float*)", file, 20), 0x2000);
	gen_structure_interval(s, 0x2000, add, file, 21);
	uint32_t stub = gen_structure_function(
		s,
		gen_structure_definition(s, "__device_stub__ZN3geo3addIfEEvPf(float*)", api_file,
					 1),
		0x2100);
	gen_structure_interval(s, 0x2100, stub, api_file, 1);
	uint32_t helper = gen_structure_function(
		s,
		gen_structure_definition(s, "cudaError __cudaLaunchKernel_helper<char>(char*)",
					 api_file, 2),
		0x2200);
	gen_structure_interval(s, 0x2200, helper, api_file, 3);
	uint32_t api = gen_structure_function(s, gen_structure_definition(s, "launch", api_file, 1),
					      0x3000);
	gen_structure_interval(s, 0x3000, api, api_file, 5);
	gen_structure_interval(s, 0x3100, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, r->directory));
}

/* Kernels of a graph stand below its launch, and below that where their node was made, however
 * often it was copied since. */
static void test_graph_nodes_say_where_they_were_made(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	structure_of_program(&r);
	uint32_t made = gen_child(r.g, r.thread, r.call, msr_addr_make(r.module, 0x3010, false));
	uint32_t launched =
		gen_child(r.g, r.thread, r.other_call, msr_addr_make(r.module, 0x3010, false));
	uint32_t by_nvcc = r.call;
	for (uint64_t at = 0x2010; at <= 0x2210; at += 0x100)
		by_nvcc = gen_child(r.g, r.thread, by_nvcc, msr_addr_make(r.module, at, false));
	by_nvcc = gen_child(r.g, r.thread, by_nvcc, msr_addr_make(r.module, 0x3010, false));
	gen_gpu_graph_node(
		r.g, &(struct msr_gpu_graph_node){.node = 50,
						  .thread = r.thread,
						  .context = by_nvcc}); /* captured by <<<...>>> */
	gen_gpu_graph_node(r.g,
			   &(struct msr_gpu_graph_node){
				   .node = 12,
				   .thread = r.thread,
				   .context = launched}); /* a copy is made as well, CUPTI says */
	gen_gpu_graph_node(
		r.g, &(struct msr_gpu_graph_node){
			     .node = 12,
			     .original = 11}); /* a copy of a copy, told before its original */
	gen_gpu_graph_node(r.g, &(struct msr_gpu_graph_node){.node = 11, .original = 10});
	gen_gpu_graph_node(
		r.g, &(struct msr_gpu_graph_node){.node = 10, .thread = r.thread, .context = made});
	gen_gpu_graph_node(
		r.g, &(struct msr_gpu_graph_node){.node = 20, .original = 21}); /* in a circle */
	gen_gpu_graph_node(r.g, &(struct msr_gpu_graph_node){.node = 21, .original = 20});
	gen_gpu_graph_node(r.g, &(struct msr_gpu_graph_node){.node = 30, .thread = UINT32_MAX});
	gen_gpu_graph_node(r.g, &(struct msr_gpu_graph_node){
					.node = 40, .thread = r.thread, .context = 4000000});
	gen_gpu_launch(r.g, r.thread, launched, 9, MSR_GPU_GRAPH, 2000);
	static const uint64_t nodes[] = {12, 20, 30, 40, 99, 12, 50};
	for (uint64_t i = 0; i < 7; i++)
		gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 9,
						     .kind = MSR_GPU_KERNEL,
						     .start_ns = 3000 + i * 100,
						     .end_ns = 3050 + i * 100,
						     .amount = nodes[i],
						     .queue = r.queue,
						     .shape = r.shape});
	struct model *m = run_finish(&r);
	uint32_t placeholder = run_find(m, 0, "<gpu kernel>"),
		 site = run_find(m, placeholder, "<graph node of solve.c:57, step>");
	assert_true(site != MODEL_NONE && m->contexts[site].parent == placeholder);
	assert_int_equal(m->contexts[m->contexts[placeholder].parent].line, 5);
	const struct model_function *node = &m->functions[m->contexts[site].function];
	assert_true(node->is_node && node->node_line == 57 &&
		    !m->functions[m->contexts[placeholder].function].is_node);
	assert_string_equal(m->functions[node->node_function].name, "step");
	assert_string_equal(strrchr(m->files[node->node_file].path, '/'), "/solve.c");
	uint32_t with = fixture_find_function(m, site, "saxpy"),
		 without = fixture_find_function(m, placeholder, "saxpy");
	assert_true(with != MODEL_NONE && without != MODEL_NONE);
	assert_int_equal(run_value(m, with, "GKER:COUNT", MODEL_POINT), 3);
	assert_int_equal(run_value(m, without, "GKER:COUNT", MODEL_POINT), 4);
	assert_true(m->gpu_ledger.closes);
	run_clean(&r, m);
}

static void test_read_back_in_time(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	uint32_t slow = gen_gpu_queue(
		r.g, "queue 1",
		(struct msr_gpu_def_queue){
			.context = r.context, .device = r.device, .ordinal = 1, .clock = 4});
	gen_gpu_pair(r.g, 4, 100000, 2000, 0);
	gen_gpu_pair(r.g, 4, 100000 + 100000, 2000 + 200000, 0); /* at half our rate */
	gen_gpu_launch(r.g, r.thread, r.call, 5, MSR_GPU_COPY, 2500);
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 5,
					     .kind = MSR_GPU_COPY,
					     .detail = MSR_GPU_COPY_D2D,
					     .start_ns = 101000,
					     .end_ns = 103000,
					     .amount = 64,
					     .queue = slow,
					     .has_waits = true,
					     .queued_before_ns = 400,
					     .submitted_before_ns = UINT32_MAX});
	struct model *m = run_finish(&r);
	assert_int_equal(m->n_profiles, 2);
	assert_string_equal(m->profiles[1].name, "GPU 0 queue 1");
	struct model_gpu_cursor c = {0};
	struct model_gpu_op op;
	assert_int_equal(model_gpu_read(m, 1, &c, &op, 1), 1);
	assert_int_equal(op.start_ns, 4000 + RUN_TO_REAL_NS);
	assert_int_equal(op.end_ns, 8000 + RUN_TO_REAL_NS);
	near(run_value(m, 0, "GXCOPY (sec)", MODEL_EXECUTION),
	     2e-6); /* as long as the device says, whatever its rate */
	assert_int_equal(op.enter_ns, 2500 + RUN_TO_REAL_NS);
	assert_int_equal(op.queued_ns, 3600 + RUN_TO_REAL_NS);
	assert_int_equal(op.submitted_ns, 0);
	assert_int_equal(op.id, 5);
	assert_int_equal(op.bytes, 64);
	assert_int_equal(op.kind, MSR_GPU_COPY);
	assert_int_equal(op.detail, MSR_GPU_COPY_D2D);
	assert_int_equal(op.launcher, 0);
	assert_int_equal(op.shape, MODEL_NONE);
	assert_string_equal(m->functions[m->contexts[op.context].function].name, "<gpu copy>");
	assert_int_equal(model_gpu_read(m, 1, &c, &op, 1), 0);
	run_clean(&r, m);
}

static void test_impossible_times_count_and_stay(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 5000, 3000, 4000);       /* before it was asked for */
	run_kernel(&r, r.call, 2, 5000, 7000, 6000);       /* ends before it starts */
	run_kernel(&r, r.call, 3, 5000, UINT64_MAX - 5, UINT64_MAX); /* in no run */
	run_kernel(&r, r.call, 4, 5000, 0, 10);            /* before the process */
	run_kernel(&r, r.call, 5, 5000, 8000, 9000);
	struct model *m = run_finish(&r);
	assert_int_equal(m->gpu_ledger.n_bad_order, 4);
	assert_int_equal(m->gpu_ledger.n_ops, 5);
	assert_int_equal(run_value(m, 0, "GKER:COUNT", MODEL_EXECUTION), 5);
	near(run_value(m, 0, "GKER (sec)", MODEL_EXECUTION), 2.01e-6);
	assert_true(m->gpu_ledger.closes);
	assert_true(m->end_ns < RUN_TO_REAL_NS + 100000);
	run_clean(&r, m);
}

static void test_clock_error_is_allowed_for(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	r.queue = gen_gpu_queue(
		r.g, "queue 1",
		(struct msr_gpu_def_queue){
			.context = r.context, .device = r.device, .ordinal = 1, .clock = 1});
	gen_gpu_pair(r.g, 1, 5000, 5000, 300);
	run_kernel(&r, r.call, 1, 6000, 5800, 7000);
	run_kernel(&r, r.call, 2, 8000, 7600, 9000);
	struct model *m = run_finish(&r);
	assert_int_equal(m->gpu_ledger.n_bad_order, 1);
	run_clean(&r, m);
}

static void test_without_path_or_launch(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 4000);
	run_kernel(&r, 0, 2, 2000, 4000, 5000);                                 /* no path */
	gen_gpu_launch(r.g, UINT32_MAX, 0, 3, MSR_GPU_KERNEL, 2000);            /* no thread */
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 3,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = 5000,
					     .end_ns = 6000,
					     .queue = r.queue,
					     .shape = r.shape});
	gen_gpu_launch_lost(r.g, 0, MSR_GPU_KERNEL, MSR_GPU_LOSS_NO_SPACE);     /* no record */
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 4,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = 6000,
					     .end_ns = 7000,
					     .queue = r.queue,
					     .shape = r.shape});
	struct model *m = run_finish(&r);
	uint32_t no_path = run_find_entry(m, MODEL_ENTRY_GPU_NO_PATH),
		 no_launch = run_find_entry(m, MODEL_ENTRY_GPU_NO_LAUNCH);
	assert_true(no_path != MODEL_NONE && no_launch != MODEL_NONE);
	near(run_value(m, no_path, "GKER (sec)", MODEL_EXECUTION), 2e-6);
	near(run_value(m, no_launch, "GKER (sec)", MODEL_EXECUTION), 1e-6);
	assert_true(run_find(m, no_launch, "saxpy") != MODEL_NONE);
	assert_int_equal(m->gpu_ledger.n_no_path, 2);
	assert_int_equal(m->gpu_ledger.n_orphans, 1);
	assert_true(m->gpu_ledger.closes);
	struct model_gpu_cursor c = {0};
	struct model_gpu_op ops[4];
	assert_int_equal(model_gpu_read(m, 1, &c, ops, 4), 4);
	assert_int_equal(ops[1].launcher, 0);
	assert_int_equal(ops[2].launcher, MODEL_NONE);
	assert_int_equal(ops[3].launcher, MODEL_NONE);
	assert_int_equal(ops[3].enter_ns, 0);
	run_clean(&r, m);
}

/* Each thread's nodes are its own. */
static void test_launches_of_several_threads(void **state)
{
	enum { N = 5, ROUNDS = 3, FIRST = 0x3000 };
	(void)state;
	struct run r;
	uint32_t thread[N], call[N], n_found = 0;
	uint64_t id = 0, now = 2000;
	run_begin(&r);
	for (uint32_t i = 0; i < N; i++) {
		thread[i] = i ? gen_thread(r.g, "worker") : r.thread;
		uint32_t entry = i ? gen_entry(r.g, thread[i], MSR_ENTRY_THREAD) : r.entry;
		call[i] = gen_child(r.g, thread[i], entry,
				    msr_addr_make(r.module, FIRST + 16 * i, false));
	}
	for (uint32_t k = 0; k < ROUNDS * N * N;
	     k++) { /* one often in a row, and each after each other */
		uint32_t i = k / ROUNDS % 2 ? k / ROUNDS / N : k / ROUNDS % N;
		r.thread = thread[i];
		run_kernel(&r, call[i], ++id, now, now, now + 1000 + i);
		now += 2000;
	}
	gen_gpu_launch(r.g, 77, 1, ++id, MSR_GPU_KERNEL, now); /* of no thread that is there */
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = id,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = now,
					     .end_ns = now + 1,
					     .queue = r.queue,
					     .shape = r.shape});
	r.thread = thread[2];
	run_kernel(&r, call[2] + 1, ++id, now + 10, now + 10,
		   now + 11); /* of no node that is there */
	struct model *m = run_finish(&r);
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		uint64_t i = (m->contexts[c].link_addr - FIRST) / 16;
		if (m->contexts[c].kind != MODEL_CONTEXT_INSTRUCTION ||
		    m->contexts[c].link_addr < FIRST || i >= N)
			continue;
		uint32_t n = 0;
		for (uint32_t k = 0; k < ROUNDS * N * N; k++)
			n += i == (k / ROUNDS % 2 ? k / ROUNDS / N : k / ROUNDS % N);
		assert_int_equal(run_value(m, c, "GKER:COUNT", MODEL_EXECUTION), n);
		near(run_value(m, c, "GKER (sec)", MODEL_EXECUTION), n * (1000 + (double)i) * 1e-9);
		n_found++;
	}
	assert_int_equal(n_found, N);
	assert_int_equal(m->gpu_ledger.n_no_path, 2);
	assert_int_equal(run_value(m, 0, "GKER:COUNT", MODEL_EXECUTION), ROUNDS * N * N + 2);
	run_clean(&r, m);
}

static void test_aggregates_count_in_the_tree(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 4000);
	struct msr_gpu_aggregate a = {.thread = r.thread,
				      .node = r.call,
				      .queue = r.queue,
				      .shape = r.shape,
				      .kind = MSR_GPU_KERNEL,
				      .n_launches = 10,
				      .n_ops = 10,
				      .busy_ns = 5000};
	gen_gpu_aggregate(r.g, 0, &a);
	struct model *m = run_finish(&r);
	near(run_value(m, 0, "GKER (sec)", MODEL_EXECUTION), 6e-6);
	assert_int_equal(run_value(m, 0, "GKER:COUNT", MODEL_EXECUTION), 11);
	assert_int_equal(m->gpu_ledger.aggregated[MSR_GPU_KERNEL], 10);
	assert_true(m->gpu_ledger.closes);
	assert_int_equal(m->profiles[1].n_trace_records, 1);
	run_clean(&r, m);
}

/* ---- the index of launches ---- */

static void find_all(const uint64_t *ids, size_t n)
{
	struct run r;
	run_begin(&r);
	for (size_t i = 0; i < n; i++)
		gen_gpu_launch(r.g, r.thread, r.call, ids[i], MSR_GPU_KERNEL, 2000 + i);
	char *path = gen_close(r.g, MSR_EXIT_RETURN, 0);
	struct load_file f = {0};
	struct gpu_launches l;
	assert_int_equal(load_file_open(path, &f), STATUS_OK);
	assert_true(gpu_launches_index(&l, &f.gpu));
	assert_int_equal(l.n, n);
	for (size_t i = 0; i < n; i++) {
		uint32_t number = gpu_launches_find(&l, ids[i]);
		const struct load_gpu_part *p;
		assert_true(number < n);
		const struct msr_gpu_launch *launch = gpu_launches_get(&l, number, &p);
		assert_true(load_gpu_launch_id(p, launch) == ids[i] &&
			    launch->enter_ns == 2000 + i);
	}
	assert_int_equal(gpu_launches_find(&l, ids[0] ^ 0x400), GPU_LAUNCH_NONE);
	assert_int_equal(gpu_launches_find(&l, MSR_GPU_ID_MAX), GPU_LAUNCH_NONE);
	gpu_launches_free(&l);
	load_file_close(&f);
	free(path);
	fixture_remove(r.directory);
}

static void test_ids_of_all_shapes_are_found(void **state)
{
	(void)state;
	/* dense and out of order; over the wrap of 32 bits; of two back ends; far apart */
	find_all((uint64_t[]){5, 3, 4, 9, 7}, 5);
	find_all((uint64_t[]){UINT64_C(0xfffffffe), UINT64_C(0xffffffff), UINT64_C(0x100000000),
			      UINT64_C(0x100000001)},
		 4);
	find_all((uint64_t[]){gen_gpu_id(0, 1), gen_gpu_id(2, 1), gen_gpu_id(0, 2),
			      gen_gpu_id(2, 2)},
		 4);
	find_all((uint64_t[]){1, UINT64_C(0x40000000000) - 1, 1000000007, 17,
			      UINT64_C(0x3000000000)},
		 5);
}

static void test_an_id_counts_once(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 4000);
	gen_gpu_launch(r.g, r.thread, r.other_call, 1, MSR_GPU_KERNEL, 2000);
	struct model *m = run_finish(&r);
	assert_int_equal(m->gpu_ledger.joined[MSR_GPU_KERNEL], 1);
	assert_int_equal(m->gpu_ledger.unexplained, 1);
	assert_false(m->gpu_ledger.closes);
	run_clean(&r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_below_its_call),
		cmocka_unit_test(test_kernels_are_told_apart_by_name),
		cmocka_unit_test(test_launch_characteristics_are_sums),
		cmocka_unit_test(test_every_kind_has_its_metrics),
		cmocka_unit_test(test_graph_has_several_operations),
		cmocka_unit_test(test_graph_nodes_say_where_they_were_made),
		cmocka_unit_test(test_read_back_in_time),
		cmocka_unit_test(test_impossible_times_count_and_stay),
		cmocka_unit_test(test_clock_error_is_allowed_for),
		cmocka_unit_test(test_without_path_or_launch),
		cmocka_unit_test(test_launches_of_several_threads),
		cmocka_unit_test(test_aggregates_count_in_the_tree),
		cmocka_unit_test(test_ids_of_all_shapes_are_found),
		cmocka_unit_test(test_an_id_counts_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
