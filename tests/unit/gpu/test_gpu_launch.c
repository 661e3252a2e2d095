/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches that do not go their ordinary way, through the table that back ends call: passed over
 * while measurement is off, left by a jump out of a signal handler, lost, counted where the disk is
 * full. What else becomes of launches: test_gpu_core.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/gpu/core_fixture.h"

#include "hpcrun-lite/store/store.h"

static const struct gpu_op done = {.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2};

static bool launch(enum msr_gpu_kind kind, uint64_t id, struct gpu_ticket *t)
{
	return fixture.host->launch(
		fixture.host, &(struct gpu_launch){.kind = kind, .enter_ns = 1000, .id = id}, t);
}

/* ---- measurement is off ---- */

/* The device's records of what was launched then are nobody's; others, launched before, are told as
 * ever. */
static void passed_over(void **state)
{
	struct gpu_ticket t;
	(void)state;
	core_launched(MSR_GPU_KERNEL, 10);
	fixture.is_off = true;
	assert_false(launch(MSR_GPU_KERNEL, 11, &t));
	assert_true(t.is_off);
	assert_false(launch(MSR_GPU_GRAPH, 12, &t));
	fixture.host->op(fixture.host, &t, &done);
	fixture.host->lost_by_id(fixture.host, 11, MSR_GPU_KERNEL, MSR_GPU_LOSS_REFUSED);
	fixture.host->op_by_id(fixture.host, 11, &done);
	fixture.host->op_by_id(fixture.host, 12, &done);
	fixture.host->op_by_id(fixture.host, 12, &done); /* another node */
	assert_int_equal(core_tally()->n_ops + core_tally()->lost[MSR_GPU_LOSS_REFUSED], 0);
	fixture.host->op_by_id(fixture.host, 10, &done);
	assert_int_equal(core_tally()->n_ops, 1);
	assert_int_equal(
		core_tally()->launched[MSR_GPU_KERNEL] + core_tally()->launched[MSR_GPU_GRAPH], 1);
	fixture.is_off = false;
	core_launched(MSR_GPU_KERNEL, 13);
	fixture.host->op_by_id(fixture.host, 13, &done);
	assert_int_equal(core_tally()->n_ops, 2);
}

/* What has no records of the device's needs no room among those in flight. */
static void passed_over_on_the_cpu(void **state)
{
	static const enum msr_gpu_kind kinds[] = {MSR_GPU_ALLOC, MSR_GPU_FREE, MSR_GPU_SYNC};
	struct gpu_ticket t;
	(void)state;
	fixture.is_off = true;
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		assert_false(launch(kinds[i], 20 + i, &t));
	assert_false(launch(MSR_GPU_KERNEL, 0, &t)); /* told by its ticket alone */
	assert_false(pending_is_used(&gpu_core.backend[1].pending));
	assert_false(launch(MSR_GPU_KERNEL, 30, &t));
	assert_true(pending_is_used(&gpu_core.backend[1].pending));
}

/* ---- jumps ---- */

static jmp_buf out;

static void jump(const char *text)
{
	(void)text;
	longjmp(out, 1);
}

/* Between counting and recording: where the bound on records is said to be reached. */
static void jump_out_of_a_launch(void)
{
	struct gpu_ticket t;
	core_teardown(NULL);
	core_start(1, 0);
	fixture.runtime.note = jump;
	if (setjmp(out) == 0) {
		launch(MSR_GPU_KERNEL, 0, &t);
		fail_msg("nothing was said");
	}
}

static uint64_t lost_as_busy(void) { return core_tally()->launch_losses[MSR_GPU_LOSS_BUSY]; }

static void left_by_a_jump(void **state)
{
	(void)state;
	jump_out_of_a_launch();
	assert_int_equal(core_tally()->launched[MSR_GPU_KERNEL], 1);
	assert_int_equal(core_tally()->recorded[MSR_GPU_KERNEL] +
				 core_tally()->aggregated[MSR_GPU_KERNEL] + lost_as_busy(),
			 0);
	/* One without a writer may be inside of the one that is not finished. */
	const struct gpu_place place = fixture.place;
	fixture.place.writer = NULL;
	core_launched(MSR_GPU_KERNEL, 0);
	assert_int_equal(lost_as_busy(), 0);
	fixture.place = place;
	for (unsigned i = 0; i < 3; i++) { /* counted once */
		core_launched(MSR_GPU_KERNEL, 0);
		assert_int_equal(lost_as_busy(), 1);
		fixture.place.writer =
			NULL; /* all of which are finished at once, or by what they are inside of */
		core_launched(MSR_GPU_KERNEL, 0);
		fixture.place = place;
	}
	assert_int_equal(core_tally()->launched[MSR_GPU_KERNEL],
			 core_tally()->recorded[MSR_GPU_KERNEL] +
				 core_tally()->aggregated[MSR_GPU_KERNEL] + 1);
}

/* The ledger that it would be counted in is the parent's. */
static void left_by_a_fork(void **state)
{
	jump_out_of_a_launch();
	const struct msr_gpu_tally *of_parent = gpu_tally(1, 3);
	store_forget();
	core_setup(state);
	core_launched(MSR_GPU_KERNEL, 0);
	assert_int_equal(lost_as_busy(), 0);
	assert_int_equal(of_parent->launch_losses[MSR_GPU_LOSS_BUSY], 0);
	assert_int_equal(core_tally()->launched[MSR_GPU_KERNEL], 1);
}

/* ---- the end ---- */

/* Also where the run time lets it in: a thread that was about to launch when the end came. */
static void after_the_end(void **state)
{
	struct gpu_ticket t;
	(void)state;
	assert_true(gpu_finish());
	assert_false(launch(MSR_GPU_KERNEL, 0, &t));
	assert_int_equal(fixture.n_begun, 0);
	assert_int_equal(core_tally()->launched[MSR_GPU_KERNEL], 1);
	assert_int_equal(core_tally()->launch_losses[MSR_GPU_LOSS_STOPPED], 1);
	gpu_reopen();
	fixture.ending = true;
	fixture.host->graph_node(fixture.host, 5, 0);
	assert_null(core_record_at(MSR_GPU_GRAPH_NODE, 0, 0, NULL));
	fixture.ending = false;
	fixture.host->graph_node(fixture.host, 5, 0);
	assert_non_null(core_record_at(MSR_GPU_GRAPH_NODE, 0, 0, NULL));
}

/* By which a reader finds their order. */
static void extents_are_numbered(void **state)
{
	const struct msr_extent *e;
	(void)state;
	for (unsigned i = 0; i < 200; i++)
		core_launched(MSR_GPU_KERNEL, 0);
	assert_non_null(core_record_at(MSR_GPU_LAUNCH, 0, 0, &e));
	assert_int_equal(e->sequence, 0);
	assert_non_null(core_record_at(MSR_GPU_LAUNCH, 0, 199, &e));
	assert_in_range(e->sequence, 1, 3); /* each has room for twice as many */
}

/* ---- what became of them ---- */

/* Summed up: losses stand in the ledger, what was told by its ticket is in flight no more, and
 * times that cannot be add nothing. */
static void lost_when_summed_up(void **state)
{
	struct pending_launch l;
	uint64_t n_lost = 0, busy_ns = 0;
	const struct msr_gpu_aggregate *a;
	(void)state;
	core_teardown(NULL);
	core_start(0, 0);
	core_launched(MSR_GPU_KERNEL, 1);
	fixture.host->lost_by_id(fixture.host, 1, MSR_GPU_KERNEL, MSR_GPU_LOSS_REFUSED);
	struct gpu_ticket t = core_launched(MSR_GPU_KERNEL, 2);
	fixture.host->lost(fixture.host, &t, MSR_GPU_LOSS_REFUSED);
	assert_int_not_equal(pending_take(&gpu_core.backend[1].pending, t.id, &l), PENDING_FOUND);
	assert_int_equal(core_tally()->lost[MSR_GPU_LOSS_REFUSED], 2);
	core_launched(MSR_GPU_KERNEL, 3);
	fixture.host->op_by_id(
		fixture.host, 3,
		&(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 9, .end_ns = 2});
	for (unsigned i = 0; (a = core_record_at(MSR_GPU_AGGREGATE, 0, i, NULL)); i++) {
		n_lost += a->n_lost[0];
		busy_ns += a->busy_ns;
	}
	assert_int_equal(n_lost, 2);
	assert_int_equal(busy_ns, 0);
}

/* Waits in a queue: 0 is not known, and none came out of the queue before it came in. */
static void waits_are_checked(void **state)
{
	struct gpu_ticket t = core_launched(MSR_GPU_KERNEL, 0);
	struct gpu_op op = {.kind = MSR_GPU_KERNEL,
			    .start_ns = 100,
			    .end_ns = 200,
			    .has_waits = true,
			    .submitted_ns = 60};
	(void)state;
	fixture.host->op(fixture.host, &t, &op);
	const struct msr_gpu_op *o = core_record_at(MSR_GPU_OP, MSR_GPU_OP_LONG, 0, NULL);
	assert_int_equal(o->queued_before_ns, UINT32_MAX);
	assert_int_equal(o->submitted_before_ns, 40);
	assert_int_equal(core_tally()->n_bad_order, 0);
	op.queued_ns = 70;
	fixture.host->op(fixture.host, &t, &op);
	assert_int_equal(core_tally()->n_bad_order, 1);
}

/* ---- a full disk ---- */

/* Threads for which no part of the ledger can be made count in the first one, which is told
 * once. */
static void part_without_room(void **state)
{
	struct gpu_ticket t;
	uint64_t n = 0;
	(void)state;
	core_teardown(NULL);
	core_start(UINT64_C(1) << 30, 1 << 20);
	fixture.place.thread = 16; /* of the first part */
	while (launch(MSR_GPU_KERNEL, 0, &t))
		n++;
	atomic_store(&gpu_core.full_until_ns, UINT64_MAX);
	fixture.place.thread = 3;
	assert_false(launch(MSR_GPU_KERNEL, 0, &t));
	assert_non_null(gpu_tally(1, 0));
	for (unsigned part = 1; part < GPU_N_TALLIES; part++)
		assert_null(gpu_tally(1, part));
	assert_int_equal(core_tally()->launched[MSR_GPU_KERNEL], n + 2);
	assert_int_equal(core_tally()->launch_losses[MSR_GPU_LOSS_NO_SPACE], 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, core_setup, core_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(passed_over),         TEST(passed_over_on_the_cpu), TEST(left_by_a_jump),
		TEST(left_by_a_fork),      TEST(after_the_end),          TEST(extents_are_numbered),
		TEST(lost_when_summed_up), TEST(waits_are_checked),      TEST(part_without_room),
	};
	return cmocka_run_group_tests(tests, core_make_directory, core_remove_directory);
}
