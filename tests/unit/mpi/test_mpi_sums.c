/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/runtime/mpi/mpi_sums: equal calls share a sum; beyond the limits sums become
 * coarser and nothing is lost; collective calls have records at the numbers that the format says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/runtime/sums/mpi_sums.h"
#include "hpcrun-lite/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/hpctoolkit-lite-mpi.XXXXXX";
static struct mpi_thread thread;

static int setup(void **state)
{
	const char *cause = "";
	const struct store_options options = {
		.directory = directory, .host = "h", .rank = -1, .n_ranks = -1, .pid = 1};
	(void)state;
	if (!store_open(&options, &cause))
		fail_msg("%s", cause);
	return 0;
}

static int teardown(void **state)
{
	char path[4352];
	(void)state;
	mpi_sums_free(&thread, true);
	snprintf(path, sizeof path, "%s", store_path());
	store_finish(true);
	store_forget();
	unlink(path);
	return 0;
}

static void add(uint32_t node, const struct mpi_event *e)
{
	enum msr_loss cause;
	assert_true(mpi_sums_add(&thread, 3, node, e, &cause));
}

/* What the file holds. */
struct seen {
	uint64_t n_sums, n_calls, sent, ns, n_without_peer, n_without_node, n_collectives;
	struct msr_mpi_call first;
	struct msr_mpi_open open;
	uint64_t n_opens;
};

static struct seen look(void)
{
	struct seen s = {0};
	FILE *f = fopen(store_path(), "r");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size_t n = (size_t)ftell(f);
	uint8_t *bytes = aligned_alloc(64, (n + 63) & ~(size_t)63);
	rewind(f);
	assert_int_equal(fread(bytes, 1, n, f), n);
	fclose(f);
	uint64_t at = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	for (enum msr_scan r; (r = msr_next_extent(bytes, n, &at, &v, &skipped)) != MSR_SCAN_END;) {
		if (r != MSR_SCAN_EXTENT)
			continue;
		if (v.extent->kind == MSR_MPI_COLLECTIVE)
			s.n_collectives += v.n_bytes / sizeof(struct msr_mpi_collective);
		if (v.extent->kind == MSR_MPI_OPEN) {
			memcpy(&s.open, v.content, sizeof s.open);
			s.n_opens += v.n_bytes / sizeof s.open;
		}
		if (v.extent->kind != MSR_MPI_CALL)
			continue;
		assert_int_equal(v.extent->thread, 3);
		const struct msr_mpi_call *c = (const void *)v.content;
		for (size_t i = 0; i < v.n_bytes / sizeof *c; i++) {
			if (!s.n_sums)
				memcpy(&s.first, &c[i], sizeof s.first);
			s.n_sums++;
			s.n_calls += c[i].n_calls;
			s.sent += c[i].sent;
			s.ns += c[i].ns;
			s.n_without_peer += c[i].peer == MSR_MPI_ALL_PEERS ? c[i].n_calls : 0;
			s.n_without_node += c[i].node == 0 ? c[i].n_calls : 0;
		}
	}
	free(bytes);
	return s;
}

static void equal_calls_share_a_sum(void **state)
{
	(void)state;
	struct mpi_event e = {.enter_ns = 100,
			      .leave_ns = 150,
			      .sent = 8,
			      .comm = 1,
			      .peer = 2,
			      .call = MPI_CALL_Send};
	add(7, &e);
	e.leave_ns = 120;
	e.sent = 15;
	add(7, &e);
	struct seen s = look();
	assert_int_equal(s.n_sums, 1);
	assert_int_equal(s.first.n_calls, 2);
	assert_int_equal(s.first.sent, 23);
	assert_int_equal(s.first.ns, 70);
	assert_int_equal(s.first.least_ns, 20);
	assert_int_equal(s.first.size_class, 4);
	e.sent = 16;
	add(7, &e);
	e.peer = 3;
	add(7, &e);
	e.comm = 2;
	add(7, &e);
	e.call = MPI_CALL_Ssend;
	add(7, &e);
	add(8, &e);
	assert_int_equal(look().n_sums, 6);
}

static void beyond_the_limits_nothing_is_lost(void **state)
{
	(void)state;
	struct mpi_event e = {.leave_ns = 5, .sent = 8, .comm = 1, .call = MPI_CALL_Send};
	for (uint32_t i = 0; i < MPI_SUMS_WITH_PEERS + 1000; i++) {
		e.peer = (int32_t)i;
		add(7, &e);
	}
	struct seen s = look();
	assert_int_equal(s.n_sums, MPI_SUMS_WITH_PEERS + 1);
	assert_int_equal(s.n_without_peer, 1000);
	for (uint32_t i = 0; i < MPI_SUMS_WITH_PATHS; i++)
		add(100 + i, &e);
	s = look();
	assert_int_equal(s.n_calls, MPI_SUMS_WITH_PEERS + 1000 + MPI_SUMS_WITH_PATHS);
	assert_int_equal(s.ns, 5 * s.n_calls);
	assert_int_equal(s.sent, 8 * s.n_calls);
	assert_true(s.n_sums <= MPI_SUMS_WITH_PATHS + 1);
	assert_true(s.n_without_node > 0);
	/* a sum that exists still takes its calls */
	e.peer = 5;
	add(7, &e);
	assert_int_equal(look().n_without_peer, s.n_without_peer);
}

static void collective_calls_thin_out(void **state)
{
	(void)state;
	struct mpi_event e = {.comm = 1, .call = MPI_CALL_Barrier, .is_collective = true};
	uint64_t n = 0;
	for (e.number = 0; e.number < UINT64_C(1) << 19; e.number++) {
		add(7, &e);
		n += msr_mpi_is_recorded(e.number);
	}
	struct seen s = look();
	assert_int_equal(s.n_calls, 1 << 19);
	assert_int_equal(s.n_collectives, n);
	assert_int_equal(n, (1 << 15) + 4 * (1 << 14));
	assert_true(msr_mpi_is_recorded(0));
	assert_true(msr_mpi_is_recorded((1 << 15) - 1));
	assert_false(msr_mpi_is_recorded((1 << 15) + 1));
	assert_true(msr_mpi_is_recorded((1 << 15) + 2));
}

static void the_file_names_the_call_that_a_thread_is_in(void **state)
{
	(void)state;
	const struct mpi_event e = {.comm = 1, .peer = 5, .call = MPI_CALL_Recv};
	mpi_sums_leave(&thread); /* nothing yet: harmless */
	mpi_sums_enter(&thread, 7, &e, 1); /* no sums yet: writes nothing */
	mpi_sums_start(&thread, 3);
	mpi_sums_enter(&thread, 7, &e, 12345);
	struct seen s = look();
	assert_int_equal(s.n_opens, 1);
	assert_int_equal(s.open.enter_ns, 12345);
	assert_true(s.open.node == 7 && s.open.comm == 1 && s.open.peer == 5 &&
		    s.open.call == MPI_CALL_Recv);
	mpi_sums_leave(&thread);
	s = look();
	assert_true(s.n_opens == 1 && s.open.enter_ns == 0);
}

int main(void)
{
	assert_non_null(mkdtemp(directory));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_calls_share_a_sum, setup, teardown),
		cmocka_unit_test_setup_teardown(beyond_the_limits_nothing_is_lost, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_file_names_the_call_that_a_thread_is_in, setup,
						teardown),
		cmocka_unit_test_setup_teardown(collective_calls_thin_out, setup, teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
