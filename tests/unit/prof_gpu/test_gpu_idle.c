/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu/idle: made time lines whose idle time, its causes and the
 * blame are known to the nanosecond. */
#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_gpu_idle.h"
#include "tests/unit/prof_gpu/gpu_fixture.h"

#include <math.h>

#define MS(x) ((uint64_t)((x)*1e6 + 0.5))

struct idle_run {
	struct run r;
	uint32_t metric, other_thread, other_entry, other_work;
	uint64_t next_id;
};

static void begin(struct idle_run *i)
{
	*i = (struct idle_run){.next_id = 1};
	run_begin(&i->r);
	i->metric = gen_metric(i->r.g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_PERF);
}

static void add_thread(struct idle_run *i)
{
	i->other_thread = gen_thread(i->r.g, "second");
	i->other_entry = gen_entry(i->r.g, i->other_thread, MSR_ENTRY_THREAD);
	i->other_work = gen_child(i->r.g, i->other_thread, i->other_entry,
				  msr_addr_make(i->r.module, 0x2010, false));
}

/* The thread works at the node in [from, until): a sample each millisecond. */
static void work(struct idle_run *i, uint32_t thread, uint32_t node, unsigned from, unsigned until)
{
	for (unsigned at = from; at < until; at++)
		gen_sample(i->r.g, thread, node, i->metric, MS(at), 1000000);
}

static void operate(struct idle_run *i, uint32_t thread, uint32_t queue, enum msr_gpu_kind kind,
		    double enter, double start, double end)
{
	uint64_t id = i->next_id++;
	gen_gpu_launch(i->r.g, thread, thread == i->r.thread ? i->r.call : i->other_work, id, kind,
		       MS(enter));
	gen_gpu_op(i->r.g, &(struct gen_gpu_op){.id = id,
						.kind = kind,
						.start_ns = MS(start),
						.end_ns = MS(end),
						.queue = queue,
						.shape = kind == MSR_GPU_KERNEL ? i->r.shape : 0});
}

static void kernel(struct idle_run *i, double enter, double start, double end)
{
	operate(i, i->r.thread, i->r.queue, MSR_GPU_KERNEL, enter, start, end);
}

static void wait_for(struct idle_run *i, uint32_t thread, double start, double end)
{
	operate(i, thread, 0, MSR_GPU_SYNC, start, start, end);
}

/* ---- what is asked ---- */

static uint32_t at_address(const struct model *m, uint64_t link_addr)
{
	for (uint32_t c = 0; c < m->n_contexts; c++)
		if (m->contexts[c].kind == MODEL_CONTEXT_INSTRUCTION &&
		    m->contexts[c].link_addr == link_addr)
			return c;
	return MODEL_NONE;
}

static uint64_t value_ns(const struct model *m, uint32_t context, const char *metric)
{
	double v = context == MODEL_NONE ? 0 : run_value(m, context, metric, MODEL_POINT);
	return v < 0 ? 0 : (uint64_t)llround(v * 1e9);
}

static uint64_t blame_at(const struct model *m, uint64_t link_addr)
{
	return value_ns(m, at_address(m, link_addr), "GPU_IDLE_CAUSE (sec)");
}

static uint64_t total_ns(const struct model *m, const char *metric)
{
	double v = run_value(m, 0, metric, MODEL_EXECUTION);
	return v < 0 ? 0 : (uint64_t)llround(v * 1e9);
}

static uint64_t idle_ns(const struct model_gpu_idle *i)
{
	uint64_t sum = 0;
	for (unsigned k = 0; k < MODEL_N_GPU_IDLE_CAUSES; k++)
		sum += i->idle_ns[k];
	return sum;
}

/* The waits of all threads, read a few at a time. They are of known threads here. */
static uint64_t read_waits_ns(const struct model *m)
{
	struct model_gpu_stay stays[2];
	uint64_t sum = 0;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_gpu_cursor cursor = {0};
		uint64_t last = 0;
		for (size_t n; (n = model_gpu_read_waits(m, p, &cursor, stays, 2));)
			for (size_t i = 0; i < n; i++) {
				assert_true(stays[i].start_ns >= last);
				assert_in_range(stays[i].context, 1, m->n_contexts - 1);
				sum += stays[i].end_ns - stays[i].start_ns;
				last = stays[i].start_ns;
			}
	}
	return sum;
}

/* What holds of every model. */
static void check_sums(const struct model *m)
{
	uint64_t blamed = 0;
	for (uint32_t d = 0; d < m->n_gpu_devices; d++) {
		const struct model_gpu_idle *i = &m->gpu_idle[d];
		assert_int_equal(i->watched_ns,
				 i->kernel_ns + i->copy_ns - i->overlap_ns + idle_ns(i));
		assert_int_equal(idle_ns(i), i->blamed_ns + i->waiting_ns + i->unsampled_ns);
		blamed += i->blamed_ns;
	}
	assert_int_equal(total_ns(m, "GPU_IDLE_CAUSE (sec)"), blamed);
	assert_int_equal(total_ns(m, "CPU_IDLE_CAUSE (sec)"), m->gpu_waits.blamed_ns);
	if (!m->part)
		assert_int_equal(total_ns(m, "GSYNC (sec)"), m->gpu_waits.all_ns);
	assert_int_equal(read_waits_ns(m), m->part ? 0 : m->gpu_waits.all_ns);
	assert_int_equal(m->gpu_waits.all_ns,
			 m->gpu_waits.blamed_ns + m->gpu_waits.idle_ns + m->gpu_waits.unknown_ns);
}

static struct model *finish(struct idle_run *i)
{
	struct model *m = run_finish(&i->r);
	assert_non_null(m->gpu_idle);
	check_sums(m);
	return m;
}

/* ---- blame for idle devices ---- */

static void test_one_thread_is_to_blame(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 9);
	work(&i, i.r.thread, i.r.other_call, 9, 13);
	kernel(&i, 4.9, 5, 9);
	struct model *m = finish(&i);
	assert_int_equal(blame_at(m, 0x1010), MS(4)); /* of [1, 9) the device was busy in [5, 9) */
	assert_int_equal(blame_at(m, 0x1020), MS(3) + 1000); /* the process ended 1 us later */
	assert_int_equal(m->gpu_idle[0].kernel_ns, MS(4));
	assert_int_equal(m->gpu_idle[0].unsampled_ns, MS(1) - RUN_START_NS);
	run_clean(&i.r, m);
}

static void test_threads_share_equally(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	add_thread(&i);
	work(&i, i.r.thread, i.r.call, 1, 12);
	work(&i, i.other_thread, i.other_work, 6, 12);
	kernel(&i, 1, 2, 3);
	struct model *m = finish(&i);
	/* [1, 2) and [3, 6) alone, then half */
	assert_int_equal(blame_at(m, 0x1010), MS(1) + MS(3) + (MS(5) + 1000) / 2);
	assert_int_equal(blame_at(m, 0x2010), (MS(5) + 1000) / 2);
	run_clean(&i.r, m);
}

static void test_thirds_add_up(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	add_thread(&i);
	uint32_t third = gen_thread(i.r.g, "third"),
		 node = gen_child(i.r.g, third, gen_entry(i.r.g, third, MSR_ENTRY_THREAD),
				  msr_addr_make(i.r.module, 0x3010, false));
	work(&i, i.r.thread, i.r.call, 1, 2);
	work(&i, i.other_thread, i.other_work, 1, 2);
	work(&i, third, node, 1, 2);
	kernel(&i, 0.5, 0.8, 0.9);
	struct model *m = finish(&i); /* which asks for the sum */
	assert_int_equal(blame_at(m, 0x1010) + blame_at(m, 0x2010) + blame_at(m, 0x3010), 1000);
	assert_int_equal(blame_at(m, 0x1010), 333);
	run_clean(&i.r, m);
}

static void test_who_waits_for_the_device_is_not_to_blame(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	add_thread(&i);
	work(&i, i.r.thread, i.r.call, 1, 10);
	work(&i, i.other_thread, i.other_work, 4, 10);
	kernel(&i, 1, 2, 3);
	wait_for(&i, i.r.thread, 2.5, 8);
	struct model *m = finish(&i);
	assert_int_equal(m->gpu_idle[0].waiting_ns, MS(1)); /* [3, 4): only one that waits */
	assert_int_equal(blame_at(m, 0x2010), MS(4) + (MS(1) + 1000) / 2);
	assert_int_equal(blame_at(m, 0x1010), MS(1) + (MS(1) + 1000) / 2);
	assert_int_equal(m->gpu_waits.all_ns, MS(5.5));
	assert_int_equal(m->gpu_waits.blamed_ns, MS(0.5));
	assert_int_equal(m->gpu_waits.idle_ns, MS(5));
	run_clean(&i.r, m);
}

static void test_a_sample_covers_so_much(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	gen_sample(i.r.g, i.r.thread, i.r.call, i.metric, MS(1), 1000000);
	gen_sample(i.r.g, i.r.thread, i.r.call, i.metric, MS(11), 1000000); /* just near enough */
	gen_sample(i.r.g, i.r.thread, i.r.other_call, i.metric, MS(21.001), 1000000);
	kernel(&i, 0.5, 0.6, 0.7);
	struct model *m = finish(&i);
	assert_int_equal(blame_at(m, 0x1010), MS(11));
	assert_int_equal(m->gpu_idle[0].unsampled_ns, MS(0.9) - RUN_START_NS + MS(9.001));
	run_clean(&i.r, m);
}

/* A thread that is blocked has no samples, but a wait that ends shows that it went on. */
static void test_who_went_on_is_not_blocked(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	uint32_t idle = gen_entry(i.r.g, i.r.thread, MSR_ENTRY_OMP_IDLE);
	gen_sample(i.r.g, i.r.thread, idle, i.metric, MS(1), 1000000);
	kernel(&i, 14, 15, 20);
	wait_for(&i, i.r.thread, 16, 21);
	gen_sample(i.r.g, i.r.thread, i.r.call, i.metric, MS(40), 1000000);
	struct model *m = finish(&i);
	/* [1, 15) and for a period from 21 */
	assert_int_equal(total_ns(m, "GPU_IDLE_CAUSE (sec)") - blame_at(m, 0x1010), MS(14) + MS(1));
	assert_int_equal(m->gpu_idle[0].unsampled_ns, MS(1) - RUN_START_NS + MS(18));
	run_clean(&i.r, m);
}

/* ---- blame for waits ---- */

static void test_operations_share_a_wait(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 12);
	uint32_t second =
		gen_gpu_queue(i.r.g, "queue 1",
			      (struct msr_gpu_def_queue){
				      .context = i.r.context, .device = i.r.device, .ordinal = 1});
	kernel(&i, 1, 2, 6);
	operate(&i, i.r.thread, second, MSR_GPU_COPY, 1.5, 5, 8);
	wait_for(&i, i.r.thread, 3, 10);
	struct model *m = finish(&i);
	assert_int_equal(value_ns(m, run_find(m, 0, "saxpy"), "CPU_IDLE_CAUSE (sec)"), MS(2.5));
	assert_int_equal(value_ns(m, run_find(m, 0, "<gpu copy>"), "CPU_IDLE_CAUSE (sec)"),
			 MS(2.5));
	assert_int_equal(m->gpu_waits.idle_ns, MS(2));
	assert_int_equal(m->gpu_idle[0].copy_ns, MS(3));
	assert_int_equal(m->gpu_idle[0].overlap_ns, MS(1));
	run_clean(&i.r, m);
}

/* Operations of one queue that end in another order than they start. */
static void test_operations_overlap(void **state)
{
	(void)state;
	enum { N = 31 };
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 17);
	for (int batch = 0; batch < 2; batch++)
		for (int k = 0; k < N; k++) {
			/* the first half to end are copies */
			const int rank = k * 7 % N;
			operate(&i, i.r.thread, i.r.queue,
				rank < 15 ? MSR_GPU_COPY : MSR_GPU_KERNEL,
				1 + 6 * batch + 0.001 * k, 5 + 6 * batch + 0.001 * k,
				5.1 + 6 * batch + 0.1 * rank);
		}
	struct model *m = finish(&i);
	assert_int_equal(m->gpu_idle[0].copy_ns, 2 * MS(6.5 - 5));
	assert_int_equal(m->gpu_idle[0].kernel_ns, 2 * MS(8.1 - 5.003)); /* from k = 3 */
	run_clean(&i.r, m);
}

static void test_each_thread_that_waits_counts(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	add_thread(&i);
	work(&i, i.r.thread, i.r.call, 1, 12);
	kernel(&i, 1, 2, 6);
	wait_for(&i, i.r.thread, 3, 5);
	wait_for(&i, i.other_thread, 4, 6);
	struct model *m = finish(&i);
	assert_int_equal(value_ns(m, run_find(m, 0, "saxpy"), "CPU_IDLE_CAUSE (sec)"), MS(4));
	run_clean(&i.r, m);
}

static void test_rows_of_the_report(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 12);
	kernel(&i, 1, 2, 6);
	kernel(&i, 1, 6, 7);
	operate(&i, i.r.thread, i.r.queue, MSR_GPU_COPY, 1.5, 7, 9);
	wait_for(&i, i.r.thread, 2, 9);
	struct model *m = finish(&i);
	struct view_idle_rows rows;
	assert_true(view_idle_rows_make(m, MODEL_ROLE_CPU_IDLE_CAUSE, &rows));
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.at[0].function, run_find(m, 0, "saxpy"));
	assert_true(fabs(rows.at[0].seconds - 5e-3) < 1e-12);
	assert_true(fabs(rows.at[1].seconds - 2e-3) < 1e-12);
	view_idle_rows_free(&rows);
	assert_true(view_idle_rows_make(m, MODEL_ROLE_GPU_IDLE_CAUSE, &rows));
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.at[0].line, MODEL_NONE); /* no structure */
	view_idle_rows_free(&rows);
	uint64_t sum = 0;
	for (unsigned p = 0; p < VIEW_GPU_PARTS; p++)
		sum += view_gpu_part_ns(&m->gpu_idle[0], p);
	assert_int_equal(sum, m->gpu_idle[0].watched_ns);
	run_clean(&i.r, m);
}

/* ---- causes ---- */

static void test_causes(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 73);
	kernel(&i, 9, 10, 20);
	kernel(&i, 20.05, 20.06, 30); /* launched too late by 50 us: launch-bound */
	kernel(&i, 40, 40.01, 50);    /* nothing was launched for 10 ms */
	kernel(&i, 41, 52, 60);       /* was in the queue */
	wait_for(&i, i.r.thread, 55, 60.5);
	kernel(&i, 60.55, 60.6, 70); /* launched at once after a wait */
	struct model *m = finish(&i);
	const struct model_gpu_idle *d = &m->gpu_idle[0];
	assert_int_equal(d->idle_ns[MODEL_GPU_IDLE_BEFORE], MS(10) - RUN_START_NS);
	assert_int_equal(d->idle_ns[MODEL_GPU_IDLE_LAUNCH], MS(0.06));
	assert_int_equal(d->idle_ns[MODEL_GPU_IDLE_NOTHING], MS(10));
	assert_int_equal(d->setup_ns, 0);
	assert_int_equal(d->idle_ns[MODEL_GPU_IDLE_QUEUED], MS(2.01));
	assert_int_equal(d->idle_ns[MODEL_GPU_IDLE_SYNC], MS(0.6));
	assert_int_equal(d->idle_ns[MODEL_GPU_IDLE_AFTER], MS(2) + 1000);
	assert_int_equal(d->n_ops, 5);
	assert_int_equal(d->n_latencies, 4);
	assert_true(fabs((double)d->latency_median_ns / 10000 - 1) < 0.04);
	assert_true(fabs((double)d->latency_95_ns / 1000000 - 1) < 0.04);
	assert_int_equal(d->queue_most, 2);
	double in_flight = 11 + 9.95 + 10 + 19 + 9.45;
	assert_true(fabs(d->queue_mean - in_flight * 1e6 / (double)d->watched_ns) < 1e-9);
	run_clean(&i.r, m);
}

/* The device's clock is behind by some microseconds: the wait seems to end before the kernel. */
static void test_a_wait_that_ends_with_the_operation(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 40);
	kernel(&i, 9, 10, 20);
	wait_for(&i, i.r.thread, 11, 19.99);
	kernel(&i, 19.995, 20.1, 30);
	wait_for(&i, i.r.thread, 21, 29.97); /* too early for that */
	kernel(&i, 29.98, 30.2, 31);
	struct model *m = finish(&i);
	assert_int_equal(m->gpu_idle[0].idle_ns[MODEL_GPU_IDLE_SYNC], MS(0.1));
	assert_int_equal(m->gpu_idle[0].idle_ns[MODEL_GPU_IDLE_QUEUED], MS(0.2));
	run_clean(&i.r, m);
}

/* After a wait, other work of the threads, and a launch, count as such if
 * they take longer than a launch usually does. */
static void test_work_after_a_wait(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 40);
	kernel(&i, 9, 10, 20);
	wait_for(&i, i.r.thread, 11, 21);
	kernel(&i, 30, 30.5, 31);
	struct model *m = finish(&i);
	assert_int_equal(m->gpu_idle[0].idle_ns[MODEL_GPU_IDLE_SYNC], MS(1));
	assert_int_equal(m->gpu_idle[0].idle_ns[MODEL_GPU_IDLE_QUEUED], MS(0.5));
	assert_int_equal(m->gpu_idle[0].idle_ns[MODEL_GPU_IDLE_NOTHING], MS(9));
	run_clean(&i.r, m);
}

/* ---- several processes, several devices ---- */

static void test_processes_share_a_device(void **state)
{
	(void)state;
	struct idle_run a, b;
	begin(&a);
	b = (struct idle_run){.next_id = 1};
	run_begin_as(&b.r, a.r.directory, 4, 0);
	b.metric = gen_metric(b.r.g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_PERF);
	work(&a, a.r.thread, a.r.call, 1, 12);
	work(&b, b.r.thread, b.r.other_call, 1, 12);
	kernel(&a, 1, 2, 6);
	kernel(&b, 1, 5, 9);
	wait_for(&a, a.r.thread, 2, 10);
	free(gen_close(a.r.g, MSR_EXIT_RETURN, 0));
	struct model *m = finish(&b);
	assert_int_equal(m->n_gpu_devices, 1);
	assert_int_equal(m->gpu_idle[0].kernel_ns, MS(7));
	/* [1, 2) and [10, 11.001) by both, [9, 10) by the one that does not wait */
	assert_int_equal(blame_at(m, 0x1010), (MS(2) + 1000) / 2);
	assert_int_equal(blame_at(m, 0x1020), (MS(2) + 1000) / 2 + MS(1));
	assert_int_equal(m->gpu_waits.blamed_ns, MS(7));
	run_clean(&a.r, m);
}

static void test_waiting_for_another_device(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	add_thread(&i);
	uint32_t device = gen_gpu_device(
			 i.r.g, "Other", "driver 1",
			 (struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU, .uuid = {8}}),
		 queue = gen_gpu_queue(
			 i.r.g, "queue 0",
			 (struct msr_gpu_def_queue){.context = gen_gpu_context(i.r.g, device, 0),
						    .device = device});
	work(&i, i.r.thread, i.r.call, 1, 12);
	kernel(&i, 1, 2, 3);
	operate(&i, i.other_thread, queue, MSR_GPU_KERNEL, 1, 4, 8);
	wait_for(&i, i.other_thread, 4, 8);
	wait_for(&i, i.r.thread, 5, 7);
	struct model *m = finish(&i);
	uint32_t first = m->gpu_devices[0].name[0] == 'D' ? 0 : 1;
	/* In [5, 7) the first thread waits for the first device and the second is blocked. */
	assert_int_equal(m->gpu_idle[first].waiting_ns, 0);
	assert_int_equal(total_ns(m, "CPU_IDLE_CAUSE (sec)"), MS(4));
	assert_int_equal(m->gpu_waits.idle_ns, MS(2));
	uint32_t second = fixture_find_function(m, at_address(m, 0x2010), "<gpu sync>");
	assert_int_equal(value_ns(m, second, "GPU_IDLE_CAUSE (sec)"), MS(2));
	run_clean(&i.r, m);
}

/* ---- what cannot be judged ---- */

static void test_operations_without_times(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 12);
	kernel(&i, 1, 2, 3);
	operate(&i, i.r.thread, 0, MSR_GPU_KERNEL, 4, 4, 4); /* no queue */
	wait_for(&i, i.r.thread, 4, 6);
	struct model *m = finish(&i);
	assert_false(m->gpu_idle[0].is_known);
	assert_int_equal(m->gpu_idle[0].n_untimed, 1);
	assert_int_equal(run_metric(m, "GPU_IDLE_CAUSE (sec)"), MODEL_NONE);
	assert_int_equal(m->gpu_waits.unknown_ns, MS(2));
	run_clean(&i.r, m);
}

static void test_summed_up_operations_end_the_watch(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 12);
	kernel(&i, 1, 2, 3);
	i.r.tally->aggregate_from_ns = MS(6);
	struct model *m = finish(&i);
	assert_int_equal(m->gpu_idle[0].watched_ns, MS(6) - RUN_START_NS);
	assert_int_equal(blame_at(m, 0x1010), MS(4));
	run_clean(&i.r, m);
}

static void test_without_samples(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	kernel(&i, 1, 2, 3);
	kernel(&i, 1, 5, 6);
	struct model *m = run_finish_as(&i.r, MSR_EXIT_NONE); /* it ends with the last record */
	check_sums(m);
	assert_int_equal(m->gpu_idle[0].unsampled_ns, idle_ns(&m->gpu_idle[0]));
	assert_int_equal(m->gpu_idle[0].idle_ns[MODEL_GPU_IDLE_QUEUED], MS(2));
	run_clean(&i.r, m);
}

/* ---- parts ---- */

static struct model *part(struct idle_run *i, struct filter f)
{
	struct model *m = fixture_model(i->r.directory, 1);
	assert_int_equal(filter_apply(&m, &f, 1), STATUS_OK);
	return m;
}

static void test_ranges_add_up(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	add_thread(&i);
	work(&i, i.r.thread, i.r.call, 1, 12);
	work(&i, i.other_thread, i.other_work, 2, 12);
	kernel(&i, 1, 2, 4);
	kernel(&i, 5, 6, 8);
	wait_for(&i, i.r.thread, 3, 7);
	struct model *m = finish(&i), *a = part(&i, (struct filter){.time = ":0.0065"}),
		     *b = part(&i, (struct filter){.time = "0.0065:"});
	check_sums(a);
	check_sums(b);
	assert_int_equal(a->gpu_idle[0].watched_ns, MS(6.5));
	assert_int_equal(a->gpu_idle[0].kernel_ns, MS(2.501));
	assert_int_equal(blame_at(a, 0x1010) + blame_at(b, 0x1010), blame_at(m, 0x1010));
	assert_int_equal(blame_at(a, 0x2010) + blame_at(b, 0x2010), blame_at(m, 0x2010));
	assert_int_equal(a->gpu_waits.all_ns + b->gpu_waits.all_ns, MS(4));
	assert_int_equal(total_ns(a, "CPU_IDLE_CAUSE (sec)") + total_ns(b, "CPU_IDLE_CAUSE (sec)"),
			 total_ns(m, "CPU_IDLE_CAUSE (sec)"));
	model_free(a);
	model_free(b);
	/* The other thread is in the part alone, but the first one did its share. */
	struct model *c = part(&i, (struct filter){.threads = "1", .time = "0:0.0065"});
	assert_int_equal(blame_at(c, 0x1010), 0);
	assert_true(blame_at(c, 0x2010) > 0);
	assert_true(blame_at(c, 0x2010) < blame_at(m, 0x2010));
	model_free(c);
	run_clean(&i.r, m);
}

/* ---- copies beside kernels ---- */

static void copy(struct idle_run *i, enum msr_gpu_direction direction, double start, double end)
{
	uint64_t id = i->next_id++;
	gen_gpu_launch(i->r.g, i->r.thread, i->r.call, id, MSR_GPU_COPY, MS(start));
	gen_gpu_op(i->r.g, &(struct gen_gpu_op){.id = id,
						.kind = MSR_GPU_COPY,
						.detail = direction,
						.start_ns = MS(start),
						.end_ns = MS(end),
						.queue = i->r.queue,
						.amount = 1000 * id});
}

/* What the host does before the first kernel makes the data of that kernel. */
static void test_setup(void **state)
{
	(void)state;
	struct idle_run i;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 60);
	copy(&i, MSR_GPU_COPY_H2D, 10, 14);
	copy(&i, MSR_GPU_COPY_H2D, 24, 26); /* after 10 ms */
	kernel(&i, 30, 30, 40);             /* 4 ms */
	kernel(&i, 50, 50, 60);
	struct model *m = finish(&i);
	assert_int_equal(m->gpu_idle[0].idle_ns[MODEL_GPU_IDLE_NOTHING], MS(24));
	assert_int_equal(m->gpu_idle[0].setup_ns, MS(14));
	run_clean(&i.r, m);
}

/* Of copies in a row as much as kernels are long, up to the first that runs again. */
static void test_copies_in_pieces(void **state)
{
	(void)state;
	struct idle_run i;
	struct view_gpu g;
	begin(&i);
	work(&i, i.r.thread, i.r.call, 1, 50);
	copy(&i, MSR_GPU_COPY_H2D, 10, 14);
	copy(&i, MSR_GPU_COPY_H2D, 14, 16);
	kernel(&i, 16, 16, 19);             /* 3 ms */
	kernel(&i, 16, 19, 29);             /* again */
	copy(&i, MSR_GPU_COPY_D2H, 29, 31); /* 2 ms */
	copy(&i, MSR_GPU_COPY_D2D, 31, 33);
	copy(&i, MSR_GPU_COPY_H2D, 33, 34);
	kernel(&i, 34, 34, 40); /* 1 ms */
	struct model *m = finish(&i);
	assert_true(view_gpu_open(m, &g));
	assert_int_equal(g.device_pieces_ns[0], MS(6));
	assert_int_equal(g.copies[MSR_GPU_COPY_H2D].n, 3);
	assert_int_equal(g.copies[MSR_GPU_COPY_H2D].once_bytes, 1000); /* one place */
	assert_int_equal(g.copies[MSR_GPU_COPY_D2H].once_bytes, 5000);
	view_gpu_close(&g);
	run_clean(&i.r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_thread_is_to_blame),
		cmocka_unit_test(test_threads_share_equally),
		cmocka_unit_test(test_thirds_add_up),
		cmocka_unit_test(test_who_waits_for_the_device_is_not_to_blame),
		cmocka_unit_test(test_a_sample_covers_so_much),
		cmocka_unit_test(test_who_went_on_is_not_blocked),
		cmocka_unit_test(test_operations_share_a_wait),
		cmocka_unit_test(test_operations_overlap),
		cmocka_unit_test(test_each_thread_that_waits_counts),
		cmocka_unit_test(test_rows_of_the_report),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_a_wait_that_ends_with_the_operation),
		cmocka_unit_test(test_work_after_a_wait),
		cmocka_unit_test(test_setup),
		cmocka_unit_test(test_processes_share_a_device),
		cmocka_unit_test(test_waiting_for_another_device),
		cmocka_unit_test(test_operations_without_times),
		cmocka_unit_test(test_summed_up_operations_end_the_watch),
		cmocka_unit_test(test_without_samples),
		cmocka_unit_test(test_ranges_add_up),
		cmocka_unit_test(test_copies_in_pieces),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
