/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of MPI from the file to the view: a job of two ranks whose calls are known, what the model
 * and the tables say of them, and the same job with damaged records.
 */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/view/view_mpi.h"
#include "hpcprof-lite/view/view_mpi_open.h"
#include "tests/gen/gen_mpi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2 };

static char *directory;
static char *paths[RANKS];

static void sum_up(struct msr_mpi_call *c, unsigned call, uint32_t node, int32_t peer,
		   const uint64_t v[5])
{
	*c = (struct msr_mpi_call){.node = node,
				   .call = (uint16_t)call,
				   .size_class = msr_mpi_size_class(
					   (v[1] > v[2] ? v[1] : v[2]) / v[0]),
				   .comm = call == MPI_CALL_Wait ? 0 : 1,
				   .peer = peer,
				   .n_calls = v[0],
				   .sent = v[1],
				   .received = v[2],
				   .ns = v[3],
				   .least_ns = v[4]};
}

/*
 * Each rank calls from one node: 10 sends of 8 bytes to the other (1000 ns in all, the shortest 50
 * ns), a wait, a call without a path, and 2 barriers. Rank 1 comes 1 ms late to the first and rank
 * 0 2 ms late to the second. Rank 0 loses a call, and rank 1 two.
 */
static void write_rank(uint32_t rank)
{
	const int64_t start = 1000000;
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 100 + rank,
								  .rank = (int32_t)rank,
								  .n_ranks = RANKS,
								  .start_mono_ns = 1000,
								  .start_real_ns = 5000});
	static const uint8_t id[4] = {1, 2, 3, 4};
	uint16_t module = gen_module(g, "/bin/a", id, sizeof id, MSR_MODULE_MAIN);
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000, MSR_SOURCE_TEST);
	gen_thread(g, "t");
	uint32_t node = gen_child(g, 0, gen_entry(g, 0, MSR_ENTRY_MAIN),
				  msr_addr_make(module, 0x1000, false));
	gen_sample(g, 0, node, metric, 2000, 1000);
	gen_process_loss(g, MSR_LOSS_MPI, 1 + rank);
	paths[rank] = gen_close(g, MSR_EXIT_RETURN, 0);

	const struct msr_mpi_comm comm = {
		.id = 1, .size = RANKS, .rank = rank, .flags = MSR_MPI_COMM_WORLD, .identity = 1};
	struct msr_mpi_call calls[4];
	sum_up(&calls[0], MPI_CALL_Send, node, (int32_t)(1 - rank),
	       (uint64_t[]){10, 80, 0, 1000, 50});
	sum_up(&calls[1], MPI_CALL_Wait, node, MSR_MPI_NO_PEER, (uint64_t[]){1, 0, 0, 30, 30});
	sum_up(&calls[2], MPI_CALL_Isend, 0, MSR_MPI_ALL_PEERS, (uint64_t[]){1, 4, 0, 20, 20});
	sum_up(&calls[3], MPI_CALL_Barrier, node, MSR_MPI_NO_PEER,
	       (uint64_t[]){2, 0, 0, rank ? 2004000 : 1004000, 2000});
	const struct msr_mpi_collective barriers[2] = {
		{.enter_ns = (uint64_t)start + (rank ? 1000000 : 0),
		 .leave_ns = (uint64_t)start + 1002000,
		 .node = node, .comm = 1, .root = -1, .call = MPI_CALL_Barrier},
		{.enter_ns = (uint64_t)start + 2000000 + (rank ? 0 : 2000000),
		 .leave_ns = (uint64_t)start + 4002000,
		 .number = 1, .node = node, .comm = 1, .root = -1, .call = MPI_CALL_Barrier}};
	gen_mpi_add(paths[rank], MSR_MPI_COMM, 0, &comm, 1);
	gen_mpi_add(paths[rank], MSR_MPI_CALL, 0, calls, 4);
	gen_mpi_add(paths[rank], MSR_MPI_COLLECTIVE, 0, barriers, 2);
}

static int setup(void **state)
{
	(void)state;
	directory = fixture_directory();
	for (uint32_t r = 0; r < RANKS; r++)
		write_rank(r);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (uint32_t r = 0; r < RANKS; r++)
		free(paths[r]);
	fixture_remove(directory);
	return 0;
}

static double total(const struct model *m, enum model_metric_role role)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].role == role)
			return model_find_total(m, 0, i)->sum[MODEL_EXECUTION];
	fail_msg("no such metric");
	return 0;
}

static void close_to(double got, double wanted)
{
	if (fabs(got - wanted) > 1e-12)
		fail_msg("%.12g, not %.12g", got, wanted);
}

/* The call that a thread was in when the process was killed counts until then; damage does not. */
static void a_call_that_did_not_end(void **state)
{
	(void)state;
	const uint64_t second = 1000000000;
	char *own = fixture_directory();
	struct gen *g = gen_open(own, &(struct gen_process){.pid = 1,
							    .n_ranks = 2,
							    .start_mono_ns = second,
							    .start_real_ns = 50 * second});
	uint16_t module = gen_module(g, "/bin/a", NULL, 0, MSR_MODULE_MAIN);
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000, MSR_SOURCE_TEST);
	gen_thread(g, "t");
	uint32_t node = gen_child(g, 0, gen_entry(g, 0, MSR_ENTRY_MAIN),
				  msr_addr_make(module, 0x1000, false));
	gen_sample(g, 0, node, metric, 9 * second - 1000, 1000);
	char *path = gen_close(g, MSR_EXIT_RETURN, 0); /* at 9 s */
	const struct msr_mpi_open open[] = {
		{.enter_ns = 4 * second, .node = node, .peer = 1, .call = MPI_CALL_Recv},
		{.enter_ns = 0, .node = node, .call = MPI_CALL_Send},
		{.enter_ns = UINT64_C(1) << 61, .node = node, .call = MPI_CALL_Send},
		{.enter_ns = 4 * second, .node = 12345, .call = MPI_CALL_Send},
		{.enter_ns = 4 * second, .node = node, .call = MPI_CALL_Wait, .way = 4},
		{.enter_ns = 4 * second, .node = node, .call = MPI_N_CALLS}};
	gen_mpi_add(path, MSR_MPI_OPEN, 0, open, 6);
	free(path);
	struct model *m = fixture_model(own, 1);
	struct view_mpi_open *groups;
	size_t n;
	assert_int_equal(m->mpi->n_calls, 1);
	const struct model_mpi_call *c = &m->mpi->calls[0];
	assert_true(c->is_open && c->call == MPI_CALL_Recv && c->peer == 1);
	assert_int_equal(c->ns, 5 * second);
	close_to(total(m, MODEL_ROLE_MPI_TIME), 5);
	char name[VIEW_MPI_CALL];
	assert_true(view_mpi_open_make(m, &groups, &n) && n == 1 && groups->longest == c);
	assert_string_equal(view_mpi_open_name(groups, name),
			    "MPI_Recv from rank 1 of its communicator");
	const struct model_mpi_call probe = {
		.call = MPI_CALL_Probe, .peer = 2, .peer_world = 3};
	groups->longest = &probe;
	assert_string_equal(view_mpi_open_name(groups, name), "MPI_Probe from rank 3");
	struct model_mpi_call wait = {
		.call = MPI_CALL_Wait, .peer = 2, .peer_world = 3, .way = MSR_MPI_WAY_TO};
	groups->longest = &wait;
	assert_string_equal(view_mpi_open_name(groups, name), "MPI_Wait for a message to rank 3");
	wait.way = MSR_MPI_WAY_BOTH; /* some of the requests may be complete */
	assert_string_equal(view_mpi_open_name(groups, name),
			    "MPI_Wait for a message from or to rank 3");
	free(groups);
	model_free(m);
	fixture_remove(own);
}

/* 25 messages of 800 bytes, each late by 40 ms: no network takes that long for them. */
static void a_sender_that_is_always_late(void **state)
{
	(void)state;
	char *own = fixture_directory();
	struct gen *g = gen_open(own, &(struct gen_process){.pid = 1,
							    .n_ranks = 2,
							    .start_mono_ns = 1000,
							    .start_real_ns = 5000});
	uint16_t module = gen_module(g, "/bin/a", NULL, 0, MSR_MODULE_MAIN);
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000, MSR_SOURCE_TEST);
	gen_thread(g, "t");
	uint32_t node = gen_child(g, 0, gen_entry(g, 0, MSR_ENTRY_MAIN),
				  msr_addr_make(module, 0x1000, false));
	gen_sample(g, 0, node, metric, 2000, 1000);
	char *path = gen_close(g, MSR_EXIT_RETURN, 0);
	struct msr_mpi_call call;
	sum_up(&call, MPI_CALL_Recv, node, MSR_MPI_NO_PEER,
	       (uint64_t[]){25, 0, 20000, 1010000000, 40100000});
	gen_mpi_add(path, MSR_MPI_CALL, 0, &call, 1);
	free(path);
	struct model *m = fixture_model(own, 1);
	assert_int_equal(m->mpi->calls[0].wait_ns, 1010000000 - 25 * 100000 - 20000 * 10);
	model_free(m);
	fixture_remove(own);
}

static void the_model(void **state)
{
	(void)state;
	struct model *m = fixture_model(directory, 1);
	fixture_check_model(m);
	assert_non_null(m->mpi);
	close_to(total(m, MODEL_ROLE_MPI_TIME), (2 * 1050 + 3008000) * 1e-9);
	close_to(total(m, MODEL_ROLE_MPI_CALLS), 28);
	close_to(total(m, MODEL_ROLE_MPI_SENT), 168);
	/* 1000 - 10 x 50 of the sends; 1 and 2 ms of the barriers; the only wait is its shortest */
	close_to(total(m, MODEL_ROLE_MPI_WAIT), (2 * 500 + 1000000 + 2000000) * 1e-9);
	assert_int_equal(m->mpi->n_matched, 2);
	assert_int_equal(m->mpi->n_unmatched, 0);
	assert_int_equal(m->mpi->n_lost, 3);
	assert_int_equal(m->mpi->n_all_peers, 2);
	assert_int_equal(m->mpi->n_comms, 1);
	assert_int_equal(m->mpi->comms[0].n_members, 2);
	assert_int_equal(m->mpi->n_sites, 1);
	assert_int_equal(m->mpi->sites[0].n_calls, 2);
	assert_int_equal(m->mpi->sites[0].waited_ns, 3000000);
	assert_int_equal(m->mpi->n_late, 2);
	assert_int_equal(m->profiles[m->mpi->late[0].profile].process, 0);
	assert_int_equal(m->mpi->late[0].waited_ns, 2000000);
	assert_int_equal(m->mpi->late[1].waited_ns, 1000000);
	model_free(m);
}

/* It has the losses of its own processes, and nobody knows which of its calls are matched. */
static void a_part_of_the_run(void **state)
{
	(void)state;
	struct model *m = fixture_model(directory, 1);
	assert_int_equal(filter_apply(&m, &(struct filter){.ranks = "1"}, 1), STATUS_OK);
	fixture_check_model(m);
	assert_int_equal(m->mpi->n_calls, 4);
	assert_int_equal(m->mpi->n_lost, 2);
	assert_int_equal(m->mpi->n_all_peers, 1);
	assert_true(m->mpi->n_matched == UINT64_MAX && m->mpi->n_unmatched == UINT64_MAX);
	char *text = fixture_text(m);
	assert_non_null(strstr(text, "\nmpi-ledger\t-\t-\t2\t1\t1\t0\n"));
	free(text);
	model_free(m);
}

static void the_tables(void **state)
{
	(void)state;
	struct model *m = fixture_model(directory, 1);
	struct view_mpi v;
	assert_true(view_mpi_make(m, &v));
	assert_int_equal(v.n_processes, 2);
	assert_int_equal(v.processes[0].sums.n_calls, 14);
	assert_int_equal(v.processes[0].n_threads, 1);
	assert_int_equal(v.n_functions, 4);
	assert_int_equal(v.functions[0].call, MPI_CALL_Barrier);
	assert_true(v.functions[0].sums.wait_is_known);
	assert_false(v.functions[1].sums.wait_is_known);
	assert_int_equal(v.n_pairs, 2);
	assert_int_equal(v.pairs[0].from, 0);
	assert_int_equal(v.pairs[0].to, 1);
	assert_int_equal(v.pairs[0].bytes, 80);
	/* without bytes; 4 bytes; 8 bytes; barriers */
	assert_int_equal(v.n_sizes, 4);
	assert_int_equal(v.sizes[2].size_class, 4);
	assert_int_equal(v.sizes[2].sums.n_calls, 20);
	assert_true(v.sizes[3].is_collective);
	view_mpi_free(&v);
	model_free(m);
}

/* Each word of the MPI records gets odd values. Nothing may fail, and what is sound remains. */
static void damaged_records(void **state)
{
	static const uint64_t odd[] = {0, 1, UINT32_MAX, INT64_MAX, UINT64_MAX,
				       UINT64_C(0x0001000100010001)};
	size_t n_bytes;
	(void)state;
	uint8_t *bytes = fixture_read(paths[0], &n_bytes);
	size_t from = n_bytes - 3 * sizeof(struct msr_extent) - 64 - 4 * 64 - 128;
	for (size_t at = from & ~(size_t)7; at + 8 <= n_bytes; at += 8)
		for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
			uint64_t before;
			struct load_job job = {0};
			struct load_file *f = vec_push(&job.files);
			struct model *m = NULL;
			memcpy(&before, bytes + at, 8);
			memcpy(bytes + at, &odd[k], 8);
			assert_int_equal(load_file_bytes("damaged", bytes, n_bytes, f), STATUS_OK);
			assert_int_equal(fixture_try_model(&job, NULL, 1, &m), STATUS_OK);
			fixture_check_model(m);
			free(fixture_text(m));
			model_free(m);
			memcpy(bytes + at, &before, 8);
		}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_call_that_did_not_end),
					   cmocka_unit_test(a_sender_that_is_always_late),
					   cmocka_unit_test(the_model),
					   cmocka_unit_test(a_part_of_the_run),
					   cmocka_unit_test(the_tables),
					   cmocka_unit_test(damaged_records)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
