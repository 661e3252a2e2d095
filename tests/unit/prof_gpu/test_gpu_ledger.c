/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu_ledger: it closes exactly when every launch is accounted for,
 * and says by how much it does not. */
#include "tests/unit/prof_gpu/gpu_fixture.h"

static uint64_t sum(const uint64_t *counts)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < 16; i++)
		n += counts[i];
	return n;
}

static void some_kernels(struct run *r, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++)
		run_kernel(r, r->call, i, 2000, 3000 + i * 10, 3005 + i * 10);
}

static void test_losses_close(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 5);
	gen_gpu_launch(r.g, r.thread, r.call, 6, MSR_GPU_KERNEL, 2000);
	gen_gpu_lost(r.g, 6, MSR_GPU_KERNEL, MSR_GPU_LOSS_FAILED);
	gen_gpu_launch(r.g, r.thread, r.call, 7, MSR_GPU_COPY, 2000);
	gen_gpu_lost(r.g, 7, MSR_GPU_COPY, MSR_GPU_LOSS_NEVER_DONE);
	gen_gpu_launch_lost(r.g, 0, MSR_GPU_KERNEL, MSR_GPU_LOSS_NO_SPACE);
	gen_gpu_launch(r.g, r.thread, r.call, 8, MSR_GPU_KERNEL,
		       2000); /* its operation was dropped: nobody knows that it was this one */
	r.tally->op_losses[MSR_GPU_LOSS_DROPPED] = 1;
	r.tally->launch_losses[MSR_GPU_LOSS_NO_PATH] = 4; /* takes none */
	r.tally->n_unknown_calls = 2;
	struct model *m = run_finish(&r);
	const struct model_gpu_ledger *l = &m->gpu_ledger;
	assert_int_equal(sum(l->launched), 9);
	assert_int_equal(sum(l->joined), 5);
	assert_int_equal(l->losses[MSR_GPU_LOSS_FAILED], 1);
	assert_int_equal(l->losses[MSR_GPU_LOSS_NEVER_DONE], 1);
	assert_int_equal(l->losses[MSR_GPU_LOSS_NO_SPACE], 1);
	assert_int_equal(l->losses[MSR_GPU_LOSS_DROPPED], 1);
	assert_int_equal(l->losses[MSR_GPU_LOSS_NO_PATH], 4);
	assert_int_equal(l->losses[MSR_GPU_LOSS_IN_FLIGHT], 0);
	assert_int_equal(l->n_unknown_calls, 2);
	assert_int_equal(l->unexplained, 0);
	assert_true(l->closes);
	assert_int_equal(m->processes[0].n_gpu, 1);
	assert_string_equal(m->processes[0].gpu[0].backend, "opencl");
	assert_string_equal(m->processes[0].gpu[0].entrance, "preloaded");
	assert_true(m->has_gpu);
	run_clean(&r, m);
}

/* A graph's launch is joined when one of its operations is there; what is lost of the others is
 * counted beside the launches. */
static void test_graphs(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	for (uint64_t id = 1; id <= 3; id++)
		gen_gpu_launch(r.g, r.thread, r.call, id, MSR_GPU_GRAPH, 2000);
	gen_gpu_lost(r.g, 1, MSR_GPU_KERNEL, MSR_GPU_LOSS_PENDING);
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 1,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = 3000,
					     .end_ns = 3001,
					     .queue = r.queue,
					     .shape = r.shape});
	gen_gpu_lost(r.g, 1, MSR_GPU_SET, MSR_GPU_LOSS_NEVER_DONE);
	gen_gpu_lost(r.g, 2, MSR_GPU_KERNEL,
		     MSR_GPU_LOSS_NEVER_DONE); /* nothing of this one was done */
	gen_gpu_lost(r.g, 3, MSR_GPU_GRAPH, MSR_GPU_LOSS_NEVER_DONE);
	gen_gpu_launch(r.g, r.thread, r.call, 4, MSR_GPU_KERNEL, 2000);
	r.tally->op_losses[MSR_GPU_LOSS_DROPPED] = 3; /* the kernel's, and two of graphs */
	struct model *m = run_finish(&r);
	const struct model_gpu_ledger *l = &m->gpu_ledger;
	assert_int_equal(l->joined[MSR_GPU_GRAPH], 1);
	assert_int_equal(l->losses[MSR_GPU_LOSS_NEVER_DONE], 2);
	assert_int_equal(l->losses[MSR_GPU_LOSS_DROPPED], 1);
	assert_int_equal(l->losses[MSR_GPU_LOSS_PENDING], 0);
	assert_int_equal(l->graph_losses[MSR_GPU_LOSS_NEVER_DONE], 2);
	assert_int_equal(l->graph_losses[MSR_GPU_LOSS_PENDING], 1);
	assert_int_equal(l->graph_losses[MSR_GPU_LOSS_DROPPED], 2);
	assert_true(l->closes);
	run_clean(&r, m);
}

static void test_graphs_summed_up(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	struct msr_gpu_aggregate launches = {.thread = r.thread,
					     .node = r.call,
					     .kind = MSR_GPU_GRAPH,
					     .n_launches = 5,
					     .n_lost = {0, 0, 1, 0}};
	struct msr_gpu_aggregate lost = {
		.thread = r.thread, .node = r.call, .kind = MSR_GPU_KERNEL, .n_lost = {0, 0, 3, 0}};
	struct msr_gpu_aggregate ops = {.thread = r.thread,
					.node = r.call,
					.queue = r.queue,
					.shape = r.shape,
					.kind = MSR_GPU_KERNEL,
					.n_ops = 13,
					.busy_ns = 600};
	gen_gpu_aggregate(r.g, 0, &launches);
	gen_gpu_aggregate(r.g, 0, &lost);
	gen_gpu_aggregate(r.g, 0, &ops);
	struct model *m = run_finish(&r);
	const struct model_gpu_ledger *l = &m->gpu_ledger;
	assert_int_equal(l->losses[MSR_GPU_LOSS_NEVER_DONE], 1);
	assert_int_equal(l->aggregated[MSR_GPU_GRAPH], 4);
	assert_int_equal(l->graph_losses[MSR_GPU_LOSS_NEVER_DONE], 3);
	assert_int_equal(l->unexplained, 0);
	assert_true(l->closes);
	run_clean(&r, m);
}

static void test_killed_leaves_some_in_flight(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 5);
	for (uint64_t i = 6; i < 9; i++)
		gen_gpu_launch(r.g, r.thread, r.call, i, MSR_GPU_KERNEL, 40000);
	r.tally->launched[MSR_GPU_KERNEL]++; /* counted, and killed before its record */
	struct model *m = run_finish_as(&r, MSR_EXIT_NONE);
	assert_int_equal(m->gpu_ledger.losses[MSR_GPU_LOSS_IN_FLIGHT], 4);
	assert_int_equal(sum(m->gpu_ledger.joined), 5);
	assert_true(m->gpu_ledger.closes);
	assert_int_equal(
		m->processes[0].end_ns,
		40000 + RUN_TO_REAL_NS); /* the last launch is the last that is known of it */
	run_clean(&r, m);
}

/* A call may be under way when the program stops or starts the measurement: then it has a launch or
 * a record alone. One for each thread and switch, no more. */
static void test_stopped_and_started(void **state)
{
	static const struct {
		uint32_t n_switches, n_launches, n_records, n_stopped, n_unexplained;
	} cases[] = {{2, 1, 0, 1, 0}, {2, 0, 2, 0, 0}, {2, 1, 1, 1, 0},
		     {2, 2, 1, 2, 0}, {2, 3, 0, 2, 1}, {2, 0, 3, 0, 3},
		     {0, 1, 0, 0, 1}, {0, 0, 1, 0, 1}, {1, 2, 2, 1, 3}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run r;
		uint64_t id = 1;
		run_begin(&r);
		gen_header(r.g)->n_stops = (cases[i].n_switches + 1) / 2;
		gen_header(r.g)->n_starts = cases[i].n_switches / 2;
		run_kernel(&r, r.call, id++, 2000, 3000, 4000);
		for (uint32_t k = 0; k < cases[i].n_launches; k++)
			gen_gpu_launch(r.g, r.thread, r.call, id++, MSR_GPU_KERNEL, 2000);
		for (uint32_t k = 0; k < cases[i].n_records; k++)
			gen_gpu_op(r.g, &(struct gen_gpu_op){.id = id++,
							     .kind = MSR_GPU_KERNEL,
							     .start_ns = 5000,
							     .end_ns = 6000,
							     .queue = r.queue,
							     .shape = r.shape});
		struct model *m = run_finish(&r);
		assert_int_equal(m->gpu_ledger.losses[MSR_GPU_LOSS_STOPPED], cases[i].n_stopped);
		assert_int_equal(m->gpu_ledger.unexplained, cases[i].n_unexplained);
		assert_int_equal(m->gpu_ledger.closes, cases[i].n_unexplained == 0);
		run_clean(&r, m);
	}
}

/* Recorded and not counted any more, when it was killed; and launched, when a signal handler ended
 * the process. */
static void test_ends_in_a_launch(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 4000);
	run_kernel(&r, r.call, 2, 2000, 4000, 5000);
	r.tally->launched[MSR_GPU_KERNEL]--;
	struct model *m = run_finish_as(&r, MSR_EXIT_NONE);
	assert_int_equal(m->gpu_ledger.joined[MSR_GPU_KERNEL], 2);
	assert_true(m->gpu_ledger.closes);
	run_clean(&r, m);
	run_begin(&r);
	gen_gpu_launch(r.g, r.thread, r.call, 1, MSR_GPU_KERNEL, 2000);
	m = run_finish_as(&r, MSR_EXIT_QUICK);
	assert_int_equal(m->gpu_ledger.losses[MSR_GPU_LOSS_IN_FLIGHT], 1);
	assert_true(m->gpu_ledger.closes);
	run_clean(&r, m);
}

static void test_what_is_missing_shows(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 5);
	gen_gpu_launch(r.g, r.thread, r.call, 6, MSR_GPU_KERNEL,
		       2000); /* the process ended in order, and it never came */
	struct model *m = run_finish(&r);
	assert_int_equal(m->gpu_ledger.unexplained, 1);
	assert_false(m->gpu_ledger.closes);
	run_clean(&r, m);

	run_begin(&r);
	some_kernels(&r, 5);
	r.tally->launched[MSR_GPU_KERNEL] += 3; /* launched, and nothing of it anywhere */
	m = run_finish(&r);
	assert_int_equal(m->gpu_ledger.unexplained, 3);
	assert_false(m->gpu_ledger.closes);
	run_clean(&r, m);

	run_begin(&r);
	some_kernels(&r, 5);
	gen_gpu_op(r.g, &(struct gen_gpu_op){.id = 77,
					     .kind = MSR_GPU_KERNEL,
					     .start_ns = 3000,
					     .end_ns = 3001,
					     .queue = r.queue}); /* nobody asked for it */
	m = run_finish(&r);
	assert_int_equal(m->gpu_ledger.unexplained, 1);
	assert_false(m->gpu_ledger.closes);
	run_clean(&r, m);
}

/* Numbers of a file that add up to 2^64 are not nothing: no ledger closes on them. */
static void test_sums_that_wrap(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 5);
	r.tally->launched[MSR_GPU_COPY] = r.tally->launched[MSR_GPU_SET] = UINT64_C(1) << 63;
	struct model *m = run_finish(&r);
	assert_false(m->gpu_ledger.closes);
	run_clean(&r, m);

	run_begin(&r);
	struct msr_gpu_aggregate half = {.thread = r.thread,
					 .node = r.call,
					 .queue = r.queue,
					 .shape = r.shape,
					 .kind = MSR_GPU_KERNEL,
					 .n_launches = 1,
					 .n_ops = 1,
					 .busy_ns = UINT64_C(1) << 63};
	r.tally->launched[MSR_GPU_KERNEL] = 2;
	gen_gpu_aggregate(r.g, 0, &half);
	gen_gpu_aggregate(r.g, 0, &half);
	m = run_finish(&r);
	assert_true(m->sums_overflow);
	assert_false(m->ledger_closes);
	run_clean(&r, m);
}

static void test_aggregates_close(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 2);
	/* as the run time does: launches and losses in a row of their own, operations where all is
	 * known */
	struct msr_gpu_aggregate launches = {.thread = r.thread,
					     .node = r.call,
					     .kind = MSR_GPU_KERNEL,
					     .n_launches = 10,
					     .n_lost = {0, 1, 2, 0}};
	struct msr_gpu_aggregate ops = {.thread = r.thread,
					.node = r.call,
					.queue = r.queue,
					.shape = r.shape,
					.kind = MSR_GPU_KERNEL,
					.n_ops = 6,
					.busy_ns = 600};
	gen_gpu_aggregate(r.g, 0, &launches);
	gen_gpu_aggregate(r.g, 0, &ops);
	struct model *m = run_finish_as(&r, MSR_EXIT_NONE);
	const struct model_gpu_ledger *l = &m->gpu_ledger;
	assert_int_equal(l->losses[MSR_GPU_LOSS_FAILED], 1);
	assert_int_equal(l->losses[MSR_GPU_LOSS_NEVER_DONE], 2);
	assert_int_equal(l->losses[MSR_GPU_LOSS_IN_FLIGHT], 1);
	assert_int_equal(l->aggregated[MSR_GPU_KERNEL], 6);
	assert_int_equal(l->n_ops, 8);
	assert_true(l->closes);
	run_clean(&r, m);
}

static void test_operation_of_a_recorded_launch_may_be_summed_up(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 2);
	gen_gpu_launch(r.g, r.thread, r.call, 3, MSR_GPU_KERNEL,
		       2000); /* before the bound; its end came after */
	struct msr_gpu_aggregate ops = {.thread = r.thread,
					.node = r.call,
					.queue = r.queue,
					.shape = r.shape,
					.kind = MSR_GPU_KERNEL,
					.n_ops = 1,
					.busy_ns = 100};
	gen_gpu_aggregate(r.g, 0, &ops);
	struct model *m = run_finish(&r);
	assert_int_equal(m->gpu_ledger.aggregated[MSR_GPU_KERNEL], 1);
	assert_true(m->gpu_ledger.closes);
	run_clean(&r, m);

	run_begin(&r);
	gen_gpu_launch(r.g, r.thread, r.call, 3, MSR_GPU_KERNEL, 2000);
	gen_gpu_launch(r.g, r.thread, r.call, 4, MSR_GPU_COPY,
		       2000); /* one summed up operation explains one of them */
	gen_gpu_aggregate(r.g, 0, &ops);
	m = run_finish(&r);
	assert_int_equal(sum(m->gpu_ledger.aggregated), 1);
	assert_int_equal(m->gpu_ledger.unexplained, 1);
	run_clean(&r, m);
}

static void test_back_ends_apart(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 3);
	gen_gpu_tally(r.g, 2, "nvidia", "CUDA's injection");
	run_kernel(&r, r.call, gen_gpu_id(2, 1), 2000, 50000, 51000);
	gen_gpu_launch(r.g, r.thread, r.call, gen_gpu_id(2, 2), MSR_GPU_COPY, 2000);
	gen_gpu_lost(r.g, gen_gpu_id(2, 2), MSR_GPU_COPY, MSR_GPU_LOSS_REFUSED);
	struct model *m = run_finish(&r);
	assert_int_equal(m->processes[0].n_gpu, 2);
	const struct model_gpu_ledger *a = &m->processes[0].gpu[0], *b = &m->processes[0].gpu[1];
	assert_string_equal(b->backend, "nvidia");
	assert_int_equal(sum(a->joined), 3);
	assert_int_equal(sum(b->joined), 1);
	assert_int_equal(sum(a->launched), 3);
	assert_int_equal(sum(b->launched), 2);
	assert_int_equal(b->losses[MSR_GPU_LOSS_REFUSED], 1);
	assert_true(a->closes && b->closes && m->gpu_ledger.closes);
	assert_int_equal(sum(m->gpu_ledger.launched), 5);
	run_clean(&r, m);
}

/* With the error of a launch that the driver refused, its call says so: recorded or summed up. */
static void test_refused(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 2);
	for (uint64_t id = 3; id < 6; id++)
		gen_gpu_launch(r.g, r.thread, r.call, id, MSR_GPU_KERNEL, 2000);
	gen_gpu_refused(r.g, 3, MSR_GPU_KERNEL, 719);
	gen_gpu_refused(r.g, 4, MSR_GPU_KERNEL, 719);
	gen_gpu_lost(r.g, 5, MSR_GPU_KERNEL, MSR_GPU_LOSS_REFUSED);
	const struct msr_gpu_aggregate base = {.thread = r.thread, .node = r.other_call};
	struct msr_gpu_aggregate launches = base, known = base, other = base;
	launches.kind = known.kind = other.kind = MSR_GPU_COPY;
	launches.n_launches = 9;
	launches.n_lost[0] = 2; /* without an error */
	known.detail = 1;
	known.n_lost[0] = 4;
	other.detail = UINT16_MAX;
	other.n_lost[0] = 3;
	gen_gpu_aggregate(r.g, 0, &launches);
	gen_gpu_aggregate(r.g, 0, &known);
	gen_gpu_aggregate(r.g, 0, &other);
	struct model *m = run_finish(&r);
	const char *const name = "GREFUSED:COUNT";
	const uint32_t kernel = run_find(m, 0, "<gpu kernel refused: CUDA_ERROR_LAUNCH_FAILED>"),
		       copy = run_find(m, 0, "<gpu copy refused: CUDA_ERROR_INVALID_VALUE>"),
		       large = run_find(m, 0, "<gpu copy refused: error 65535>");
	assert_true(kernel != MODEL_NONE && copy != MODEL_NONE && large != MODEL_NONE);
	assert_int_equal(run_value(m, kernel, name, MODEL_EXECUTION), 2);
	assert_int_equal(run_value(m, copy, name, MODEL_EXECUTION), 4);
	assert_int_equal(run_value(m, large, name, MODEL_EXECUTION), 3);
	assert_int_equal(run_value(m, 0, name, MODEL_EXECUTION), 9);
	assert_int_equal(m->gpu_ledger.losses[MSR_GPU_LOSS_REFUSED], 3 + 9);
	assert_int_equal(sum(m->gpu_ledger.graph_losses), 0);
	assert_int_equal(m->gpu_ledger.unexplained, 0);
	assert_true(m->gpu_ledger.closes);
	run_clean(&r, m);
}

/* Of one back end, counted in different threads. */
static void test_parts_add_up(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	some_kernels(&r, 3);
	r.tally->handler_ns = 7;
	gen_gpu_split_tallies(r.g);
	struct model *m = run_finish(&r);
	assert_int_equal(m->processes[0].n_gpu, 1);
	assert_int_equal(sum(m->gpu_ledger.launched), 3);
	assert_int_equal(m->gpu_ledger.handler_ns, 7);
	assert_true(m->gpu_ledger.closes);
	run_clean(&r, m);
}

static void test_a_back_end_that_saw_nothing(void **state)
{
	(void)state;
	struct run r;
	run_begin(&r);
	struct model *m = run_finish(&r);
	assert_true(m->has_gpu && m->gpu_ledger.closes);
	assert_int_equal(m->processes[0].n_gpu, 1);
	assert_int_equal(m->n_metrics, 0);
	assert_int_equal(m->n_profiles, 1);
	assert_int_equal(m->n_gpu_queues, 1);
	assert_int_equal(m->gpu_queues[0].n_lanes, 0);
	run_clean(&r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses_close),
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_graphs_summed_up),
		cmocka_unit_test(test_killed_leaves_some_in_flight),
		cmocka_unit_test(test_stopped_and_started),
		cmocka_unit_test(test_ends_in_a_launch),
		cmocka_unit_test(test_what_is_missing_shows),
		cmocka_unit_test(test_sums_that_wrap),
		cmocka_unit_test(test_aggregates_close),
		cmocka_unit_test(test_operation_of_a_recorded_launch_may_be_summed_up),
		cmocka_unit_test(test_back_ends_apart),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_parts_add_up),
		cmocka_unit_test(test_a_back_end_that_saw_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
