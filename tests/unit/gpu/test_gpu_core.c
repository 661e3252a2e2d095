/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/gpu through the table that back ends call: what is launched and done is in
 * the file as it was said, beyond the bound sums are right, every loss has its count, and the lock
 * notices who never comes back. Definitions and contents: test_gpu_define.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/gpu/core_fixture.h"

#include "hpcrun-lite/gpu/lock.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- what is written ---- */

static void launches_and_ops(void **state)
{
	const struct msr_extent *e;
	(void)state;
	struct gpu_ticket t = core_launched(MSR_GPU_KERNEL, 0), u = core_launched(MSR_GPU_COPY, 0);
	assert_int_equal(t.id >> MSR_GPU_BACKEND_SHIFT, 1);
	assert_int_equal(u.id, t.id + 1);
	const struct msr_gpu_launch *l = core_record_at(MSR_GPU_LAUNCH, 0, 0, &e);
	assert_int_equal(e->thread, 3);
	assert_int_equal((e->first & ~(uint64_t)UINT32_MAX) | l->id_low, t.id);
	assert_int_equal(l->enter_ns, 1000);
	assert_int_equal(l->kind_node, (uint32_t)MSR_GPU_KERNEL << 28 | 17);
	const struct gpu_op op = {.kind = MSR_GPU_KERNEL,
				  .start_ns = 5000,
				  .end_ns = 6000,
				  .amount = 3,
				  .queue = 2,
				  .shape = 9,
				  .has_waits = true,
				  .queued_ns = 4000,
				  .submitted_ns = 4500};
	fixture.host->op(fixture.host, &t, &op);
	const struct msr_gpu_op *o = core_record_at(MSR_GPU_OP, MSR_GPU_OP_LONG, 0, NULL);
	assert_int_equal(o->id_kind, msr_gpu_op_make(t.id, MSR_GPU_KERNEL, 0));
	assert_int_equal(o->start_ns, 5000);
	assert_int_equal(o->end_ns, 6000);
	assert_int_equal(o->amount, 3);
	assert_int_equal(o->queue, 2);
	assert_int_equal(o->shape, 9);
	assert_int_equal(o->queued_before_ns, 1000);
	assert_int_equal(o->submitted_before_ns, 500);
	fixture.host->op(fixture.host, &u,
			 &(struct gpu_op){.kind = MSR_GPU_COPY,
					  .detail = MSR_GPU_COPY_D2H,
					  .start_ns = 7,
					  .end_ns = 9,
					  .amount = 77,
					  .queue = 1});
	o = core_record_at(MSR_GPU_OP, MSR_GPU_OP_SHORT, 0, NULL);
	assert_int_equal(o->id_kind, msr_gpu_op_make(u.id, MSR_GPU_COPY, MSR_GPU_COPY_D2H));
	assert_int_equal(o->amount, 77);
	struct gpu_ticket w = core_launched(MSR_GPU_SET, 0);
	fixture.host->lost(fixture.host, &w, MSR_GPU_LOSS_FAILED);
	o = core_record_at(MSR_GPU_OP, MSR_GPU_OP_SHORT, 1, NULL);
	assert_int_equal(o->id_kind,
			 msr_gpu_op_make(w.id, MSR_GPU_SET | MSR_GPU_OP_LOST, MSR_GPU_LOSS_FAILED));
	assert_int_equal(core_tally()->launched[MSR_GPU_KERNEL], 1);
	assert_int_equal(core_tally()->recorded[MSR_GPU_COPY], 1);
	assert_int_equal(core_tally()->n_ops, 3);
	assert_int_equal(core_tally()->lost[MSR_GPU_LOSS_FAILED], 1);
	assert_int_equal(core_tally()->handler_ns, 15);
	assert_int_equal(fixture.n_begun, 3);
	assert_int_equal(fixture.n_ended, 3);
	assert_string_equal(core_tally()->backend, "second");
}

static void waits(void **state)
{
	(void)state;
	struct gpu_ticket t = core_launched(MSR_GPU_KERNEL, 0);
	struct gpu_op op = {.kind = MSR_GPU_KERNEL,
			    .start_ns = UINT64_C(1) << 40,
			    .end_ns = UINT64_C(1) << 41,
			    .has_waits = true};
	op.queued_ns = op.start_ns - UINT32_MAX + 1;
	op.submitted_ns = op.start_ns;
	fixture.host->op(fixture.host, &t, &op);
	op.queued_ns = op.start_ns - UINT32_MAX;
	op.submitted_ns = 0;
	fixture.host->op(fixture.host, &t, &op);
	assert_int_equal(core_tally()->n_bad_order, 0);
	op.queued_ns = op.start_ns + 1;
	fixture.host->op(fixture.host, &t, &op);
	assert_int_equal(core_tally()->n_bad_order, 1);
	fixture.host->op(fixture.host, &t,
			 &(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 2, .end_ns = 1});
	assert_int_equal(core_tally()->n_bad_order, 2);
	const struct msr_gpu_op *o = core_record_at(MSR_GPU_OP, MSR_GPU_OP_LONG, 0, NULL);
	assert_int_equal(o[0].queued_before_ns, UINT32_MAX - 1);
	assert_int_equal(o[0].submitted_before_ns, 0);
	assert_int_equal(o[1].queued_before_ns, UINT32_MAX);
	assert_int_equal(o[1].submitted_before_ns, UINT32_MAX);
	assert_int_equal(o[2].queued_before_ns, 0);
}

static void unmeasured(void **state)
{
	const struct msr_extent *e;
	(void)state;
	fixture.place = (struct gpu_place){.thread = UINT32_MAX};
	core_launched(MSR_GPU_KERNEL, 0);
	const struct msr_gpu_launch *l = core_record_at(MSR_GPU_LAUNCH, 0, 0, &e);
	assert_int_equal(e->thread, UINT32_MAX);
	assert_int_equal(l->kind_node, (uint32_t)MSR_GPU_KERNEL << 28);
	assert_int_equal(core_tally()->launch_losses[MSR_GPU_LOSS_NO_PATH], 1);
	assert_int_equal(core_tally()->recorded[MSR_GPU_KERNEL], 1);
	assert_false(msr_gpu_loss_takes_op(MSR_GPU_LOSS_NO_PATH));
}

/* Ids of more than 32 bits: an extent says the high part once. */
static void epochs(void **state)
{
	const struct msr_extent *e;
	(void)state;
	const uint64_t ids[] = {UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
				UINT32_MAX - 1, UINT64_C(5) << 40};
	for (unsigned i = 0; i < 5; i++)
		core_launched(MSR_GPU_KERNEL, ids[i]);
	uint64_t sum = 0, want = 0;
	for (unsigned i = 0; i < 5; i++) {
		const struct msr_gpu_launch *l = core_record_at(MSR_GPU_LAUNCH, 0, i, &e);
		sum += (e->first & ~(uint64_t)UINT32_MAX) | l->id_low;
		want += (ids[i] & ((UINT64_C(1) << MSR_GPU_BACKEND_SHIFT) - 1)) |
			UINT64_C(1) << MSR_GPU_BACKEND_SHIFT;
	}
	assert_int_equal(sum, want);
	assert_null(core_record_at(MSR_GPU_LAUNCH, 0, 5, NULL));
}

static void widened(void **state)
{
	(void)state;
	const uint64_t turn = UINT64_C(1) << 32;
	_Atomic uint64_t s = 0;
	assert_int_equal(fixture.host->widen(fixture.host, &s, UINT32_MAX - 5), UINT32_MAX - 5);
	assert_int_equal(fixture.host->widen(fixture.host, &s, 3), turn + 3);
	assert_int_equal(fixture.host->widen(fixture.host, &s, UINT32_MAX), UINT32_MAX); /* late */
	assert_int_equal(fixture.host->widen(fixture.host, &s, 0x7ffffff0u), turn + 0x7ffffff0u);
	assert_int_equal(fixture.host->widen(fixture.host, &s, 4), turn + 4);
	assert_int_equal(fixture.host->widen(fixture.host, &s, 0xfffffff0u), turn + 0xfffffff0u);
	assert_int_equal(fixture.host->widen(fixture.host, &s, 1), 2 * turn + 1);
	assert_int_equal(fixture.host->widen(fixture.host, &s, UINT32_MAX), 2 * turn - 1);
	/* Ids that jitter by a million over ten turns. */
	uint64_t n = 0;
	atomic_store(&s, 0);
	srand(1);
	for (uint64_t truth = 1000000; truth < 10 * turn; truth += 3000017) {
		uint64_t late = truth - (uint64_t)(rand() % 1000000);
		assert_int_equal(fixture.host->widen(fixture.host, &s, (uint32_t)late), late);
		n++;
	}
	assert_true(n > 10000);
}

/* ---- summed up ---- */

static const struct msr_gpu_aggregate *row(unsigned kind, unsigned detail, unsigned queue,
					   unsigned shape)
{
	const struct msr_gpu_aggregate *a;
	for (unsigned i = 0; (a = core_record_at(MSR_GPU_AGGREGATE, 0, i, NULL)); i++)
		if (a->kind == kind && a->detail == detail && a->queue == queue &&
		    a->shape == shape)
			return a;
	return NULL;
}

static void bounded(void **state)
{
	(void)state;
	core_teardown(NULL);
	core_start(100000, 0);
	for (unsigned i = 0; i < 100000; i++) {
		struct gpu_ticket t = core_launched(i % 2 ? MSR_GPU_KERNEL : MSR_GPU_COPY, 0);
		fixture.host->op(fixture.host, &t,
				 &(struct gpu_op){.kind = (enum msr_gpu_kind)t.kind,
						  .detail = i % 2 ? 0 : 1 + i / 2 % 2,
						  .start_ns = i,
						  .end_ns = i + 10,
						  .amount = 3,
						  .queue = 1,
						  .shape = i % 2 ? 5 : 0});
	}
	uint64_t kernels = core_tally()->aggregated[MSR_GPU_KERNEL],
		 copies = core_tally()->aggregated[MSR_GPU_COPY];
	assert_int_equal(core_tally()->recorded[MSR_GPU_KERNEL] + kernels, 50000);
	assert_int_equal(core_tally()->recorded[MSR_GPU_COPY] + copies, 50000);
	assert_in_range(kernels, 48000, 49900);
	assert_int_equal(core_tally()->n_ops + kernels + copies, 100000);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 0, 0)->n_launches, kernels);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 0, 0)->n_ops, 0);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->n_ops, kernels);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->busy_ns, kernels * 10);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->amount, 0);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->thread, 3);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->node, 17);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->backend, 1);
	assert_int_equal(row(MSR_GPU_COPY, 1, 1, 0)->n_ops + row(MSR_GPU_COPY, 2, 1, 0)->n_ops,
			 copies);
	assert_int_equal(row(MSR_GPU_COPY, 1, 1, 0)->amount, row(MSR_GPU_COPY, 1, 1, 0)->n_ops * 3);
	assert_null(core_record_at(MSR_GPU_AGGREGATE, 0, 5, NULL));
	assert_in_range(core_tally()->record_bytes, 100000, 400000);
	assert_true(core_tally()->aggregate_from_ns > 0);
	assert_int_equal(fixture.n_notes, 1);
	struct gpu_ticket t = core_launched(MSR_GPU_KERNEL, 0);
	fixture.host->lost(fixture.host, &t, MSR_GPU_LOSS_NEVER_DONE);
	t = core_launched(MSR_GPU_KERNEL, 0);
	fixture.host->lost(fixture.host, &t, MSR_GPU_LOSS_DROPPED);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 0, 0)->n_lost[2], 1);
	assert_int_equal(core_tally()->op_losses[MSR_GPU_LOSS_DROPPED], 1);
}

/* Ids alone come back, while all is summed up. */
static void pending(void **state)
{
	const struct gpu_op op = {
		.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 3, .queue = 1, .shape = 1};
	(void)state;
	core_teardown(NULL);
	fixture.runtime.max_record_bytes = 0;
	core_start(0, 0);
	for (uint64_t id = 1; id <= 1000; id++) {
		fixture.place.node = 1 + (uint32_t)(id % 2);
		core_launched(id == 500 ? MSR_GPU_GRAPH : MSR_GPU_KERNEL, id);
	}
	for (uint64_t id = 1000; id > 0; id--)
		fixture.host->op_by_id(fixture.host, id, &op);
	fixture.host->op_by_id(fixture.host, 500, &op); /* a graph has several */
	assert_int_equal(core_tally()->n_ops, 0);
	uint64_t ops = 0;
	const struct msr_gpu_aggregate *a;
	for (unsigned i = 0; (a = core_record_at(MSR_GPU_AGGREGATE, 0, i, NULL)); i++)
		ops += a->n_ops;
	assert_int_equal(ops, 1001);
	/* With its error, what is refused is apart. */
	core_launched(MSR_GPU_KERNEL, 1500);
	core_launched(MSR_GPU_KERNEL, 1501);
	fixture.host->refused(fixture.host, 1500,
			      &(struct gpu_refusal){.kind = MSR_GPU_KERNEL, .error = 719});
	fixture.host->refused(fixture.host, 1501,
			      &(struct gpu_refusal){.kind = MSR_GPU_KERNEL, .error = 100000});
	assert_int_equal(row(MSR_GPU_KERNEL, 719, 0, 0)->n_lost[0], 1);
	assert_int_equal(row(MSR_GPU_KERNEL, UINT16_MAX, 0, 0)->n_lost[0], 1);
	assert_int_equal(core_tally()->lost[MSR_GPU_LOSS_REFUSED], 2);
	/* More in flight than the table holds: the oldest go and are counted once. */
	for (uint64_t id = 2000; id < 2000 + PENDING_SLOTS + 100000; id++)
		core_launched(MSR_GPU_KERNEL, id);
	uint64_t out = core_tally()->op_losses[MSR_GPU_LOSS_PENDING];
	assert_in_range(out, 99000, 100010);
	for (uint64_t id = 2000; id < 2000 + PENDING_SLOTS + 100000; id++)
		fixture.host->op_by_id(fixture.host, id, &op);
	assert_int_equal(core_tally()->op_losses[MSR_GPU_LOSS_PENDING], out);
	uint64_t all = 0;
	for (unsigned i = 0; (a = core_record_at(MSR_GPU_AGGREGATE, 0, i, NULL)); i++)
		all += a->n_ops;
	assert_int_equal(all - ops + out + core_tally()->n_ops, PENDING_SLOTS + 100000);
	assert_int_equal(core_tally()->n_ops, 0);
	/* By ticket: in flight no more. */
	struct gpu_ticket t = core_launched(MSR_GPU_ALLOC, UINT64_C(1) << 40);
	fixture.host->op(
		fixture.host, &t,
		&(struct gpu_op){.kind = MSR_GPU_ALLOC, .start_ns = 1, .end_ns = 2, .amount = 8});
	struct pending_launch l;
	assert_int_equal(pending_take(&gpu_core.backend[1].pending, t.id, &l), PENDING_GONE);
}

/* Without memory for those in flight their operations are no strays: they were counted when they
 * were launched. */
static void pending_without_memory(void **state)
{
	struct pending p = {.first_id = 0};
	struct pending_launch l = {.id = 1000, .kind = MSR_GPU_KERNEL};
	struct rlimit old, little = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
	enum msr_gpu_loss cause;
	unsigned n_out;
	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
	little.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
	bool good = pending_add(&p, &l, &n_out, &cause);
	assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
	assert_false(good);
	assert_int_equal(cause, MSR_GPU_LOSS_NO_MEMORY);
	assert_int_equal(pending_take(&p, 1000, &l), PENDING_GONE);
	assert_int_equal(pending_take(&p, 1001, &l), PENDING_GONE);
	assert_int_equal(pending_take(&p, 999, &l), PENDING_RECORDED);
}

/* A holder that was stopped for longer than others wait is not taken for dead for ever. */
static void pending_holder_stopped(void **state)
{
	struct pending p = {.first_id = 0};
	const struct pending_launch l = {.id = 1000, .kind = MSR_GPU_KERNEL};
	enum msr_gpu_loss cause;
	unsigned n_out;
	(void)state;
	assert_true(trylock_take(&p.lock));
	assert_false(pending_add(&p, &l, &n_out, &cause));
	assert_int_equal(cause, MSR_GPU_LOSS_BUSY);
	assert_true(p.is_dead);
	trylock_give(&p.lock);
	assert_true(pending_add(&p, &l, &n_out, &cause));
	assert_false(p.is_dead);
	pending_clear(&p);
}

/* ---- losses ---- */

static void file_full(void **state)
{
	uint64_t lost = 0, good = 0;
	(void)state;
	core_teardown(NULL);
	core_start(UINT64_C(1) << 30, 1 << 20);
	errno = 77;
	for (unsigned i = 0; i < 100000; i++) {
		struct gpu_ticket t;
		bool there = fixture.host->launch(fixture.host,
						  &(struct gpu_launch){.kind = MSR_GPU_KERNEL}, &t);
		assert_int_equal(there, t.id != 0);
		fixture.host->op(
			fixture.host, &t,
			&(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2});
		good += there;
		lost += !there;
	}
	assert_int_equal(errno, 77);
	assert_int_equal(core_tally()->recorded[MSR_GPU_KERNEL], good);
	assert_int_equal(core_tally()->launch_losses[MSR_GPU_LOSS_NO_SPACE], lost);
	assert_int_equal(core_tally()->n_ops + core_tally()->op_losses[MSR_GPU_LOSS_NO_SPACE],
			 good);
	assert_in_range(good, 5000, 60000);
	uint32_t function =
		fixture.host->function(fixture.host, &(struct gpu_function){.name = "f"});
	assert_int_equal(function, 0);
	assert_int_equal(core_tally()->n_lost_definitions, 1);
	usleep(20000); /* after a rest space is asked for again: this small record may find some */
	function = fixture.host->function(fixture.host, &(struct gpu_function){.name = "f"});
	assert_int_equal(function == 0, core_tally()->n_lost_definitions == 2);
}

/* What comes back by the id of a launch that was lost is no stray. */
static void lost_by_id(void **state)
{
	uint64_t good = 0;
	const struct gpu_op op = {.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2};
	(void)state;
	core_teardown(NULL);
	core_start(UINT64_C(1) << 30, 1 << 20);
	for (uint64_t id = 1; id <= 100000; id++) {
		struct gpu_ticket t;
		good += fixture.host->launch(
			fixture.host, &(struct gpu_launch){.kind = MSR_GPU_KERNEL, .id = id}, &t);
	}
	assert_in_range(good, 10000, 70000);
	for (uint64_t id = 1; id <= 100000; id++)
		fixture.host->op_by_id(fixture.host, id, &op);
	assert_int_equal(core_tally()->launch_losses[MSR_GPU_LOSS_NO_SPACE], 100000 - good);
	assert_int_equal(core_tally()->n_ops + core_tally()->op_losses[MSR_GPU_LOSS_NO_SPACE],
			 good);
}

static void stopped(void **state)
{
	struct gpu_ticket t = core_launched(MSR_GPU_KERNEL, 0), u;
	const struct gpu_op op = {.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2};
	(void)state;
	fixture.host->op(fixture.host, &t, &op);
	t = core_launched(MSR_GPU_KERNEL, 0);
	fixture.ending = true;
	assert_false(
		fixture.host->launch(fixture.host, &(struct gpu_launch){.kind = MSR_GPU_COPY}, &u));
	assert_int_equal(u.id, 0);
	gpu_thread_trim(&fixture.thread);
	assert_true(gpu_finish());
	assert_int_equal(fixture.host->generation(fixture.host), 0);
	assert_false(
		fixture.host->launch(fixture.host, &(struct gpu_launch){.kind = MSR_GPU_COPY}, &u));
	fixture.host->op(fixture.host, &t, &op);
	fixture.host->op(fixture.host, &u, &op); /* dropped in silence: counted at its launch */
	assert_int_equal(
		fixture.host->function(fixture.host, &(struct gpu_function){.name = "late"}), 0);
	assert_int_equal(core_tally()->launch_losses[MSR_GPU_LOSS_STOPPED], 2);
	assert_int_equal(core_tally()->op_losses[MSR_GPU_LOSS_STOPPED], 1);
	gpu_reopen();
	fixture.ending = false;
	fixture.host->op(fixture.host, &t, &op);
	assert_int_equal(core_tally()->n_ops, 2);
	assert_non_null(core_record_at(MSR_GPU_OP, 0, 1, NULL));
}

static void other_process(void **state)
{
	struct gpu_ticket t = core_launched(MSR_GPU_KERNEL, 0), u;
	uint64_t h[2] = {0, 0};
	(void)state;
	const struct msr_gpu_tally before = *core_tally();
	fixture.alive = false;
	assert_int_equal(fixture.host->generation(fixture.host), 0);
	assert_false(
		fixture.host->launch(fixture.host, &(struct gpu_launch){.kind = MSR_GPU_COPY}, &u));
	fixture.host->op(fixture.host, &t, &(struct gpu_op){.kind = MSR_GPU_KERNEL});
	fixture.host->lost(fixture.host, &t, MSR_GPU_LOSS_FAILED);
	fixture.host->lost_unknown(fixture.host, MSR_GPU_LOSS_DROPPED, 5);
	fixture.host->launch_lost(fixture.host, MSR_GPU_COPY, MSR_GPU_LOSS_YIELDED);
	fixture.host->entered(fixture.host, "no", NULL);
	assert_int_equal(fixture.host->code(fixture.host,
					    &(struct gpu_code){.bytes = "hello", .n_bytes = 5}, h),
			 0);
	assert_int_equal(h[0], UINT64_C(0xcbd8a7b341bd9b02));
	fixture.alive = true;
	assert_memory_equal(&before, core_tally(), sizeof before);
}

static void generations(void **state)
{
	(void)state;
	uint32_t before = fixture.host->generation(fixture.host);
	fixture.host->entered(
		fixture.host,
		"by the back door, with a reason that is far too long to be kept whole in the file",
		NULL);
	core_launched(MSR_GPU_KERNEL, 0);
	fixture.host->shape(fixture.host, &(struct gpu_shape){.function = 1});
	core_teardown(NULL);
	core_open_store(0);
	fixture.thread = (struct gpu_thread){0};
	gpu_forked();
	assert_int_equal(fixture.host->generation(fixture.host), before + 1);
	assert_int_equal(core_launched(MSR_GPU_KERNEL, 0).id & 0xffffffff, 1);
	assert_int_equal(fixture.host->shape(fixture.host, &(struct gpu_shape){.function = 2}), 1);
	assert_string_equal(fixture.host->options(fixture.host), "a,b");
	assert_int_equal(strncmp(core_tally()->entrance, "by the back door", 16), 0);
	assert_int_equal(strlen(core_tally()->entrance), sizeof core_tally()->entrance - 1);
	fixture.host->lost_unknown(fixture.host, MSR_GPU_LOSS_UNKNOWN_CALL, 3);
	assert_int_equal(core_tally()->n_unknown_calls, 3);
	assert_int_equal(core_tally()->op_losses[MSR_GPU_LOSS_UNKNOWN_CALL], 3);
	fixture.host->launch_lost(fixture.host, MSR_GPU_COPY, MSR_GPU_LOSS_YIELDED);
	assert_int_equal(core_tally()->launched[MSR_GPU_COPY], 1);
	assert_int_equal(core_tally()->launch_losses[MSR_GPU_LOSS_YIELDED], 1);
}

static uint64_t sum_places(uint32_t node, unsigned *n_records)
{
	const struct msr_gpu_pc_at *p;
	uint64_t sum = 0;
	for (*n_records = 0; (p = core_record_at(MSR_GPU_PC, sizeof *p, *n_records, NULL));
	     (*n_records)++)
		sum += p->node == node ? p->pc.count : 0;
	return sum;
}

/* Samples that know their launch: one by one up to the bound, of which they take their part; then
 * summed up where it was made, before its operation comes, behind it, and of a graph. */
static void launched_samples(void **state)
{
	const struct gpu_op op = {
		.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 3, .queue = 1, .shape = 1};
	struct gpu_pc_sample s = {.function = 1, .offset = 0x40, .id = 1, .count = 5, .stall = 3};
	unsigned n = 0;
	(void)state;
	core_teardown(NULL);
	fixture.runtime.max_record_bytes = 100000;
	core_start(100000, 0);
	core_launched(MSR_GPU_KERNEL, 1);
	for (; !atomic_load(&gpu_core.aggregating) && n < 100000; n++)
		fixture.host->pc_sample(fixture.host, &s, 1);
	assert_in_range(n, 1000, 4000); /* 100,000 bytes of 32 each, in extents that grow */
	assert_true(core_tally()->record_bytes >= 100000);
	fixture.host->pc_sample(fixture.host, &s,
				1); /* its launch has a record, so it has one, too */
	assert_non_null(core_record_at(MSR_GPU_PC, sizeof(struct msr_gpu_pc), n, NULL));
	assert_int_equal(sum_places(17, &n), 0);
	for (uint64_t id = 100000; id < 101000; id++) {
		fixture.place.node = 1 + (uint32_t)(id % 2);
		core_launched(id == 100500 ? MSR_GPU_GRAPH : MSR_GPU_KERNEL, id);
		s.id = id;
		fixture.host->pc_sample(fixture.host, &s, 1);
		fixture.host->op_by_id(fixture.host, id, &op);
		fixture.host->pc_sample(fixture.host, &s, 1);
	}
	assert_int_equal(sum_places(1, &n), 500 * 2 * 5);
	assert_int_equal(sum_places(2, &n), 500 * 2 * 5);
	assert_int_equal(n, 2);
	s.id = 100000; /* still known */
	s.stall = 4;
	fixture.host->pc_sample(fixture.host, &s, 1);
	assert_int_equal(sum_places(1, &n), 500 * 2 * 5 + 5);
	assert_int_equal(n, 3);
	for (uint64_t id = 200000; id < 200000 + PENDING_SLOTS; id++) /* others take its place */
		core_launched(MSR_GPU_KERNEL, id);
	fixture.host->pc_sample(fixture.host, &s, 1);
	assert_int_equal(sum_places(1, &n), 500 * 2 * 5 + 5);
	const struct msr_gpu_pc *p = NULL;
	for (unsigned i = 0; (p = core_record_at(MSR_GPU_PC, sizeof *p, i, NULL)) && p->id; i++)
		;
	assert_true(p && p->count == 5); /* without a launch, then */
	assert_int_equal(core_tally()->n_lost_pc, 0);
}

static void device_records(void **state)
{
	(void)state;
	const struct gpu_pc_sample s[2] = {
		{.function = 1, .offset = 0x40, .id = 7, .count = 5, .stall = 3, .queue = 2},
		{.function = 1, .offset = 0x50, .count = 6, .queue = 70000}};
	fixture.host->pc_sample(fixture.host, s, 2);
	const struct msr_gpu_pc *p = core_record_at(MSR_GPU_PC, 0, 0, NULL),
				*unknown = core_record_at(MSR_GPU_PC, 0, 1, NULL);
	assert_int_equal(p[0].offset, 0x40);
	assert_int_equal(p[0].id, UINT64_C(1) << MSR_GPU_BACKEND_SHIFT | 7);
	assert_int_equal(p[0].stall, 4);
	assert_int_equal(p[0].queue_low, 2);
	assert_int_equal(unknown->id, 0);
	assert_int_equal(unknown->queue_low, 0);
	fixture.host->pc_sample(fixture.host, s, 2);
	assert_int_equal(unknown->count, 12); /* without a launch: one record */
	assert_int_equal(p[1].count, 5);
	assert_int_equal(p[1].offset, 0x40);
	for (unsigned i = 0; i < 10000; i++)
		fixture.host->pc_sample(fixture.host,
					&(struct gpu_pc_sample){.function = 2,
								.offset = 16 * (i % 1000),
								.count = i,
								.stall = i % 2},
					1);
	assert_int_equal(((const struct msr_gpu_pc *)core_record_at(MSR_GPU_PC, 0, 3, NULL))->count,
			 45000);
	assert_non_null(core_record_at(MSR_GPU_PC, 0, 1002, NULL));
	assert_null(core_record_at(MSR_GPU_PC, 0, 1003, NULL));
	fixture.host->pc_range(fixture.host, &(struct msr_gpu_pc_range){.total = 9, .recorded = 9});
	assert_int_equal(
		((const struct msr_gpu_pc_range *)core_record_at(MSR_GPU_PC_RANGE, 0, 0, NULL))
			->total,
		9);
	fixture.host->graph_node(fixture.host, 5, 0);
	fixture.host->graph_node(fixture.host, 6, 5);
	const struct msr_gpu_graph_node *g = core_record_at(MSR_GPU_GRAPH_NODE, 0, 0, NULL);
	assert_int_equal(g[0].node, 5);
	assert_int_equal(g[0].thread, 3);
	assert_int_equal(g[0].context, 17);
	assert_int_equal(g[0].backend, 1);
	assert_int_equal(g[1].original, 5);
	assert_int_equal(g[1].thread, UINT32_MAX);
	assert_int_equal(g[1].context, 0);
	assert_int_equal(fixture.n_begun, 1);
	assert_int_equal(fixture.n_ended, 1);
	fixture.host->value(fixture.host, 7, 2, 1, 99);
	const struct msr_gpu_value *v = core_record_at(MSR_GPU_VALUE, 0, 0, NULL);
	assert_int_equal(v->value, 99);
	assert_int_equal(v->id, UINT64_C(1) << MSR_GPU_BACKEND_SHIFT | 7);
}

/* ---- the lock ---- */

__attribute__((noinline)) static bool try_here(trylock *l)
{
	bool taken = gpu_lock_take(l);
	if (taken)
		gpu_lock_give(l);
	return taken;
}

/* As deep as in a signal handler. */
__attribute__((noinline)) static bool try_deeper(trylock *l)
{
	char frame[2000];
	__asm__ volatile("" : : "r"(frame) : "memory");
	bool taken = try_here(l);
	__asm__ volatile("" : : "r"(frame) : "memory");
	return taken;
}

static void locks(void **state)
{
	static trylock a, b;
	(void)state;
	assert_true(gpu_lock_take(&a));
	assert_false(try_deeper(&b)); /* as in a signal handler: no second lock, and no waiting */
	gpu_lock_give(&a);
	assert_true(try_deeper(&b));
	/* A holder that never comes back: records go elsewhere, and after the first wait nobody
	 * waits again. */
	struct gpu_ticket t = core_launched(MSR_GPU_KERNEL, 0);
	for (unsigned i = 0; i < STREAM_WRITERS; i++)
		trylock_take(&gpu_core.backend[1].short_ops.writer[i].lock);
	for (unsigned i = 0; i < 1000; i++)
		fixture.host->op(
			fixture.host, &t,
			&(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2});
	assert_int_equal(core_tally()->op_losses[MSR_GPU_LOSS_BUSY], 1000);
	fixture.host->op(
		fixture.host, &t,
		&(struct gpu_op){
			.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2, .has_waits = true});
	assert_int_equal(core_tally()->n_ops, 1);
	assert_false(gpu_finish());
}

static void *launch_and_finish(void *arg)
{
	struct gpu_ticket t;
	(void)arg;
	for (unsigned i = 0; i < 20000; i++) {
		fixture.host->launch(fixture.host,
				     &(struct gpu_launch){.kind = MSR_GPU_KERNEL, .enter_ns = 1},
				     &t);
		fixture.host->op(fixture.host, &t,
				 &(struct gpu_op){.kind = MSR_GPU_KERNEL,
						  .start_ns = 1,
						  .end_ns = 2,
						  .has_waits = i & 1});
	}
	return NULL;
}

/* Threads that are not measured share writers; nothing is lost between them, nor when the end
 * comes. */
/* Threads count launches in different parts of the ledger; those of one number do so in the same,
 * and what belongs to no thread is in the first. */
static void parts(void **state)
{
	(void)state;
	static const uint32_t threads[] = {0, 3, 3, 16, 19, UINT32_MAX};
	for (unsigned i = 0; i < sizeof threads / sizeof *threads; i++) {
		fixture.place.thread = threads[i];
		core_launched(MSR_GPU_KERNEL, 0);
	}
	assert_int_equal(gpu_tally(1, 0)->launched[MSR_GPU_KERNEL], 3);
	assert_int_equal(gpu_tally(1, 3)->launched[MSR_GPU_KERNEL], 3);
	assert_string_equal(gpu_tally(1, 3)->backend, "second");
	assert_null(gpu_tally(1, 1));
	assert_int_equal(core_tally()->recorded[MSR_GPU_KERNEL], 6);
	const struct msr_extent *e;
	const struct msr_gpu_tally *second = core_record_at(MSR_GPU_TALLY, sizeof *second, 1, &e);
	assert_int_equal(second->recorded[MSR_GPU_KERNEL], 3);
	assert_int_equal(e->sequence, 1);
	assert_null(core_record_at(MSR_GPU_TALLY, sizeof *second, 2, NULL));
}

static void shared(void **state)
{
	pthread_t t[4];
	(void)state;
	fixture.place = (struct gpu_place){.thread = UINT32_MAX};
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, launch_and_finish, NULL), 0);
	usleep(3000);
	assert_true(gpu_finish());
	for (unsigned i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	const struct msr_gpu_tally *s = core_tally();
	assert_int_equal(s->launched[MSR_GPU_KERNEL], 80000);
	assert_int_equal(s->recorded[MSR_GPU_KERNEL] + s->launch_losses[MSR_GPU_LOSS_STOPPED],
			 80000);
	assert_int_equal(s->n_ops + s->op_losses[MSR_GPU_LOSS_STOPPED],
			 s->recorded[MSR_GPU_KERNEL]);
	uint64_t n = s->recorded[MSR_GPU_KERNEL];
	if (n) {
		assert_non_null(core_record_at(MSR_GPU_LAUNCH, 0, n - 1, NULL));
		assert_null(core_record_at(MSR_GPU_LAUNCH, 0, n, NULL));
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, core_setup, core_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(launches_and_ops),
		TEST(waits),
		TEST(unmeasured),
		TEST(epochs),
		TEST(widened),
		TEST(bounded),
		TEST(pending),
		TEST(pending_without_memory),
		TEST(pending_holder_stopped),
		TEST(file_full),
		TEST(lost_by_id),
		TEST(stopped),
		TEST(other_process),
		TEST(generations),
		TEST(device_records),
		TEST(launched_samples),
		TEST(locks),
		TEST(parts),
		TEST(shared),
	};
	return cmocka_run_group_tests(tests, core_make_directory, core_remove_directory);
}
