/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/load/gpu: what a sound file holds comes back; damage is counted and harms
 * nothing. */
#include "tests/unit/prof_gpu/gpu_fixture.h"

#include "common/base/log.h"

static void test_views(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 4000);
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 1,
					     .kind = MSR_GPU_KERNEL,
					     .has_waits = true,
					     .queued_before_ns = 5});
	gen_gpu_pair(r.g, 2, 700, 900, 1);
	gen_gpu_pair(r.g, 1, 300, 400, 1);
	gen_gpu_pair(r.g, 1, 100, 200, 1);
	gen_gpu_pair(r.g, 1, 350, 150, 1); /* ours runs back: dropped */
	gen_gpu_pair(r.g, 1, 360, 399, 1); /* within the errors: dropped too, but no damage */
	gen_gpu_pair(r.g, 0, 500, 600, 1); /* of no clock */
	gen_gpu_stall(r.g, 9, "stalled", "for a reason", 0);
	gen_gpu_stall(r.g, 9, "again", "an id is given once", 0);
	char *path = gen_close(r.g, MSR_EXIT_RETURN, 0);
	struct load_file f = {0};
	assert_int_equal(load_file_open(path, &f), STATUS_OK);
	const struct load_gpu *g = &f.gpu;
	assert_true(g->is_present);
	const struct load_gpu_device *device = load_gpu_find(&g->devices, 1);
	const struct load_gpu_queue *queue = load_gpu_find(&g->queues, 1);
	const struct load_gpu_function *function = load_gpu_find(&g->functions, 1);
	const struct load_gpu_stall *stall = load_gpu_find(&g->stalls, 9);
	const struct msr_gpu_shape *shape = load_gpu_shape(g, 1);
	if (!device || !queue || !function || !stall || !shape) {
		fail();
		return;
	}
	assert_string_equal(device->name, "Device");
	assert_string_equal(device->driver, "driver 1");
	assert_int_equal(queue->record->context, 1);
	assert_string_equal(function->name, "saxpy");
	assert_string_equal(function->source_name, "");
	assert_string_equal(stall->description, "for a reason");
	assert_null(load_gpu_find(&g->queues, 0));
	assert_null(load_gpu_find(&g->queues, 2));
	assert_null(load_gpu_find(&g->queues, UINT32_MAX));
	assert_int_equal(shape->grid[0], 10);
	assert_null(load_gpu_shape(g, 2));
	assert_int_equal(g->launches.n, 1);
	assert_int_equal(g->ops.n, 2); /* short and long records in extents of their own */
	assert_int_equal(g->ops.at[0].stride, MSR_GPU_OP_SHORT);
	assert_int_equal(g->ops.at[1].stride, MSR_GPU_OP_LONG);
	assert_int_equal(
		((const struct msr_gpu_op *)load_gpu_at(&g->ops.at[1], 0))->queued_before_ns, 5);
	assert_int_equal(g->pairs.n, 3);
	assert_true(g->pairs.at[0].device_ns == 100 && g->pairs.at[1].device_ns == 300 &&
		    g->pairs.at[2].clock == 2);
	assert_int_equal(f.bytes_damaged, 2 * sizeof(struct msr_gpu_clock) + 56);
	/* 56: the second definition with an id */
	assert_true(g->tallies[0] && !g->tallies[1]);
	assert_int_equal(g->tallies[0]->launched[MSR_GPU_KERNEL], 1);
	load_file_close(&f);
	free(path);
	fixture_remove(r.directory);
}

/* Small, but with everything that a back end can deliver. */
static uint8_t *make_small(size_t *n_bytes)
{
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 4000);
	run_kernel(&r, r.other_call, 2, 2000, 3500, 4500);
	gen_gpu_launch(r.g, r.thread, r.call, 3, MSR_GPU_COPY, 2000);
	gen_gpu_lost(r.g, 3, MSR_GPU_COPY, MSR_GPU_LOSS_FAILED);
	gen_gpu_stall(r.g, 1, "stalled", "", 0);
	uint32_t counter = gen_gpu_counter(r.g, "misses", "", MSR_UNIT_COUNT);
	gen_gpu_pair(r.g, 1, 100, 200, 1);
	gen_gpu_pc(r.g, &(struct msr_gpu_pc){16, 0, 3, r.function, 1, 0});
	gen_gpu_pc(r.g, &(struct msr_gpu_pc){32, 2, 3, r.function, 1, 0});
	gen_gpu_range(r.g, &(struct msr_gpu_pc_range){
				   .start_ns = 1, .end_ns = 2, .total = 6, .recorded = 6});
	gen_gpu_value(r.g, &(struct msr_gpu_value){1, 5, counter, r.queue});
	gen_gpu_aggregate(r.g, 0,
			  &(struct msr_gpu_aggregate){.thread = 0,
						      .node = r.call,
						      .kind = MSR_GPU_KERNEL,
						      .n_launches = 1,
						      .n_ops = 1,
						      .busy_ns = 10});
	gen_gpu_graph_node(r.g, &(struct msr_gpu_graph_node){.node = 5, .original = 6});
	gen_gpu_graph_node(r.g, &(struct msr_gpu_graph_node){
					.node = 6, .thread = r.thread, .context = r.call});
	gen_gpu_launch(r.g, r.thread, r.call, 4, MSR_GPU_GRAPH, 2000);
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 4,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = 5000,
					     .end_ns = 6000,
					     .amount = 5,
					     .queue = r.queue,
					     .shape = r.shape});
	char *path = gen_close(r.g, MSR_EXIT_RETURN, 0);
	uint8_t *bytes = fixture_read(path, n_bytes);
	free(path);
	fixture_remove(r.directory);
	return bytes;
}

/* The whole pipeline; returns the operations in the tree. */
static uint64_t build(uint8_t *bytes, size_t n)
{
	struct load_job job = {0};
	struct load_file *f = vec_push(&job.files);
	if (load_file_bytes("damaged", bytes, n, f) != STATUS_OK) {
		load_job_close(&job);
		return 0;
	}
	struct model *m = fixture_model_of(&job, NULL, 1);
	fixture_check_model(m);
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_gpu_cursor c = {0};
		struct model_gpu_op ops[3];
		uint64_t last = 0, count = 0;
		for (size_t k; (k = model_gpu_read(m, p, &c, ops, 3));)
			for (size_t i = 0; i < k; i++, count++) {
				assert_true(ops[i].start_ns >= last &&
					    ops[i].end_ns >= ops[i].start_ns);
				assert_true(ops[i].context < m->n_contexts &&
					    (ops[i].shape == MODEL_NONE ||
					     ops[i].shape < m->n_gpu_shapes));
				assert_true(ops[i].launcher == MODEL_NONE ||
					    ops[i].launcher < m->n_profiles);
				last = ops[i].end_ns;
			}
		if (m->profiles[p].kind == MODEL_PROFILE_QUEUE) {
			assert_int_equal(count, m->profiles[p].n_trace_records);
			assert_true(m->profiles[p].queue < m->n_gpu_queues);
			assert_true(m->gpu_queues[m->profiles[p].queue].device < m->n_gpu_devices);
			assert_true(m->gpu_queues[m->profiles[p].queue].context <
				    m->n_gpu_contexts);
		}
	}
	uint64_t n_ops = m->gpu_ledger.n_ops;
	model_free(m);
	return n_ops;
}

static void test_every_byte_damaged(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	assert_int_equal(build(bytes, n), 4);
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0xff};
	for (size_t at = 40; at < n;
	     at = at == 63 ? MSR_HEADER_BYTES
			   : at + 1) /* the times of the header, and all behind it */
		for (size_t v = 0; v < sizeof values; v++) {
			uint8_t was = bytes[at];
			if (was == values[v])
				continue;
			bytes[at] = values[v];
			uint64_t n_ops = build(bytes, n);
			bool is_count = n_ops > 4; /* the count of the aggregate is what it says */
			assert_true(n_ops <= 4 || is_count);
			bytes[at] = was;
		}
	free(bytes);
}

static void test_every_length(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	for (size_t length = MSR_HEADER_BYTES; length < n; length += 8)
		assert_true(build(bytes, length) <= 4);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_every_byte_damaged),
		cmocka_unit_test(test_every_length),
	};
	log_set_quiet(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
