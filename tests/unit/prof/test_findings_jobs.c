/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings of jobs of two ranks, with calls of MPI that were measured or not and with threads; and
 * of parts of a run: the rules say of a part what they say of a run that was no longer.
 */
#include "tests/unit/prof/findings_fixture.h"

#include "hpcprof-lite/view/parallel/view_processors.h"
#include "tests/gen/gen_mpi.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6)

/* ---- ranks ---- */

/* A rank of one thread that works and then waits in MPI, for 10 s in all. */
static void add_rank(struct run *r, double work)
{
	run_thread(r, 0, 10);
	run_work(r, 0, "solve", work);
	if (work < 10)
		run_work(r, 0, "main/MPI_Allreduce", 10 - work);
}

/* Rank 1 works for 10 s and rank 0 for 7.6 s: 8.8 s each. */
static void a_late_rank(void **state)
{
	struct run r;
	(void)state;
	run_begin_ranks(&r, "0-0");
	add_rank(&r, 7.6);
	run_next(&r, "1-1");
	add_rank(&r, 10);
	run_finish(&r);
	run_has_first(&r, "late-rank", 1.2);
	const struct finding *f = &r.f.list.at[0];
	assert_string_equal(f->subject, "rank 1");
	NEAR(f->facts[0].value, 10);
	NEAR(f->facts[1].value, 8.8);
	assert_int_equal(r.m->contexts[f->places[0].context].line, 2);
	assert_int_equal(r.m->processes[f->process].rank, 1);
	run_has(&r, "mpi-unknown", 0); /* 12 % in MPI, whose calls were not measured */
	run_end(&r);
	run_begin_ranks(&r, "0-0"); /* 9.5 s instead of 10 s, and 5 % in MPI */
	add_rank(&r, 9);
	run_next(&r, "1-1");
	add_rank(&r, 10);
	run_finish(&r);
	run_has(&r, "late-rank", 0.5);
	run_has_not(&r, "mpi-unknown");
	run_end(&r);
	run_begin_ranks(&r, "0-0"); /* rank 0 ends before rank 1, and waits for nobody */
	r.elapsed = 6;
	run_thread(&r, 0, 6);
	run_work(&r, 0, "solve", 6);
	run_next(&r, "1-1");
	r.elapsed = 10;
	add_rank(&r, 10);
	run_finish(&r);
	run_has_not(&r, "late-rank");
	run_end(&r);
	run_begin_ranks(&r, "0-0");
	add_rank(&r, 9.1);
	run_next(&r, "1-1");
	add_rank(&r, 10);
	run_finish(&r);
	run_has_not(&r, "late-rank");
	run_end(&r);
}

/*
 * With PyTorch the lines say who is late: at one of them rank 0 waits for 3 s, at another one rank
 * 1 for 1 s. The late rank may never be seen waiting.
 */
static void a_straggler(void **state)
{
	struct run r;
	(void)state;
	run_begin_ranks(&r, "0-0");
	run_thread(&r, 0, 10);
	run_work(&r, 0, "solve", 5);
	run_wait(&r, 0, "solve/c10d::Work::wait", MSR_WAIT_THREAD, 3);
	run_work(&r, 0, "build", 2);
	run_next(&r, "1-1");
	run_thread(&r, 0, 10);
	run_work(&r, 0, "solve", 8);
	run_work(&r, 0, "build", 1);
	run_work(&r, 0, "build/c10d::Work::wait", 1);
	run_finish(&r);
	const struct finding *f = run_has(&r, "straggler", 3);
	assert_string_equal(f->subject, "rank 1");
	NEAR(f->facts[0].value, 3);
	NEAR(f->facts[1].value, 1);
	assert_int_equal(f->n_places, 1);
	assert_int_equal(r.m->contexts[f->places[0].context].line, 2);
	run_end(&r);
	run_begin_ranks(&r, "0-0"); /* the other rank is never there: it takes no part */
	run_thread(&r, 0, 10);
	run_work(&r, 0, "solve/c10d::Work::wait", 5);
	run_work(&r, 0, "main", 5);
	run_next(&r, "1-1");
	run_thread(&r, 0, 10);
	run_work(&r, 0, "main", 10);
	run_finish(&r);
	run_has_not(&r, "straggler");
	run_end(&r);
}

static void add_comm(const struct run *r)
{
	const struct msr_mpi_comm comm = {.id = 1,
					  .size = 2,
					  .rank = (uint32_t)r->rank,
					  .flags = MSR_MPI_COMM_WORLD,
					  .identity = 1};
	gen_mpi_add(r->path, MSR_MPI_COMM, 0, &comm, 1);
}

/* The ranks wait for each other in turn: each is 2 s late once. */
static void ranks_in_turn(void **state)
{
	struct run r;
	(void)state;
	run_begin_ranks(&r, "0-0");
	for (uint32_t rank = 0; rank < 2; rank++) {
		add_rank(&r, 8);
		const uint32_t node = run_node(&r, 0, "main/MPI_Allreduce");
		run_write(&r);
		add_comm(&r);
		const struct msr_mpi_call sum = {.node = node,
						 .call = MPI_CALL_Allreduce,
						 .comm = 1,
						 .peer = MSR_MPI_NO_PEER,
						 .n_calls = 2,
						 .ns = 2 * SECOND + 2000,
						 .least_ns = 1000};
		const struct msr_mpi_collective calls[] = {
			{.enter_ns = (rank ? 13 : 11) * SECOND,
			 .leave_ns = 13 * SECOND + 1000,
			 .node = node, .comm = 1, .root = -1, .call = MPI_CALL_Allreduce},
			{.enter_ns = (rank ? 16 : 18) * SECOND,
			 .leave_ns = 18 * SECOND + 1000,
			 .number = 1, .node = node, .comm = 1, .root = -1,
			 .call = MPI_CALL_Allreduce}};
		gen_mpi_add(r.path, MSR_MPI_CALL, 0, &sum, 1);
		gen_mpi_add(r.path, MSR_MPI_COLLECTIVE, 0, calls, 2);
		if (rank == 0)
			run_next(&r, "1-1");
	}
	run_finish(&r);
	const struct finding *f = run_has(&r, "rank-waits", 1);
	assert_true(f->low == 0 && f->facts[1].value == 4);
	assert_true(fabs(f->cost - 2) < 1e-4 && fabs(f->high - 2.7) < 1e-4);
	run_has_not(&r, "late-rank");
	run_has_not(&r, "mpi-unknown");
	run_end(&r);
}

/* ---- messages ---- */

/* Each rank sends so many messages in 2 s of its 10 s. */
static void send_messages(struct run *r, uint64_t n, uint64_t bytes)
{
	run_begin_ranks(r, "0-0");
	for (int32_t rank = 0; rank < 2; rank++) {
		run_thread(r, 0, 10);
		run_work(r, 0, "main", 8);
		run_work(r, 0, "solve/MPI_Send", 2);
		const uint32_t node = run_node(r, 0, "solve/MPI_Send");
		run_write(r);
		add_comm(r);
		gen_mpi_add(r->path, MSR_MPI_CALL, 0,
			    &(struct msr_mpi_call){.node = node,
						   .call = MPI_CALL_Send,
						   .size_class = msr_mpi_size_class(bytes),
						   .comm = 1,
						   .peer = 1 - rank,
						   .n_calls = n,
						   .sent = n * bytes,
						   .ns = 2 * SECOND,
						   .least_ns = 2 * SECOND / n},
			    1);
		if (rank == 0)
			run_next(r, "1-1");
	}
	run_finish(r);
}

static void messages(void **state)
{
	static const struct {
		uint64_t n, bytes;
		const char *key;
		double likely;
	} cases[] = {{1000000, 8, "small-messages", 1.8},
		     {1000000, 2047, "small-messages", 1.8},
		     {10000, 65536, "large-messages", 1.2}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run r;
		send_messages(&r, cases[i].n, cases[i].bytes);
		const struct finding *f = run_has(&r, cases[i].key, cases[i].likely);
		NEAR(f->low, 0.6);
		NEAR(f->facts[0].value, 2 * (double)cases[i].n);
		NEAR(f->facts[1].value, (double)cases[i].bytes);
		assert_int_equal(r.m->contexts[f->places[0].context].line, 2);
		run_has_not(&r, i == 2 ? "small-messages" : "large-messages");
		run_end(&r);
	}
	struct run r;
	send_messages(&r, 100000, 2048); /* neither small nor large */
	run_has_not(&r, "small-messages");
	run_has_not(&r, "large-messages");
	run_end(&r);
}

/* ---- ranks with threads ---- */

/* Both threads of a rank are in a region for `seconds`; then the rank waits in MPI. */
static void add_team(struct run *r, double seconds, double first, double second)
{
	const double work[2] = {first, second};
	for (uint32_t t = 0; t < 2; t++) {
		run_thread(r, 0, 10);
		run_work(r, t, "solve/solve._omp_fn.0", work[t]);
		if (work[t] < seconds)
			run_work(r, t, "solve/solve._omp_fn.0/GOMP_barrier", seconds - work[t]);
	}
	if (seconds < 10) {
		run_work(r, 0, "main/MPI_Allreduce", 10 - seconds);
		run_idle(r, 1, 10 - seconds);
	}
	const uint64_t ns = (uint64_t)llround(seconds * 1e9);
	gen_region(r->g, 0,
		   &(struct msr_omp_region){.call = run_address("solve"),
					    .function = run_address("solve._omp_fn.0"),
					    .n_threads = 2,
					    .instances = 10,
					    .elapsed_ns = ns,
					    .n_timed = 20,
					    .busy_ns = 2 * ns,
					    .max_ns = ns,
					    .min_ns = ns});
}

/* Rank 1 takes 10 s and rank 0 takes 4 s: 7 s each, while a worker in rank 0 is idle. */
static void begin_hybrid(struct run *r, double first, double second)
{
	run_begin_ranks(r, "0-1");
	add_team(r, 4, 4, 4);
	run_next(r, "2-3");
	add_team(r, 10, first, second);
}

static void hybrid(void **state)
{
	struct run r;
	(void)state;
	begin_hybrid(&r, 10, 6);
	run_finish(&r);
	run_has_first(&r, "late-rank", 3);
	/* of 7 s that the regions take: 24 of 28 s of their threads are work */
	const struct finding *f = run_has(&r, "imbalance", 1);
	NEAR(f->facts[1].value, 2. / 14); /* (4 + 10) - (4 + 8) of 14 s */
	run_has_not(&r, "processors");
	run_end(&r);
	/* threads of a rank with equal work: not those of different ranks */
	begin_hybrid(&r, 8.8, 8.8);
	run_finish(&r);
	run_has_not(&r, "imbalance");
	run_has_not(&r, "barrier");
	run_end(&r);
}

/* A part of it that is one rank has no other rank that it is later than. */
static void a_rank(void **state)
{
	struct run r;
	(void)state;
	begin_hybrid(&r, 10, 6);
	run_finish_part(&r, &(struct filter){.ranks = "1"});
	run_has_first(&r, "imbalance", 2);
	run_has_not(&r, "late-rank");
	run_end(&r);
}

/* ---- parts and ends of a run ---- */

/* In the first half one thread works, in the second half both. */
static void begin_halves(struct run *r)
{
	run_begin(r, "0-1");
	for (uint32_t t = 0; t < 2; t++) {
		run_thread(r, 0, 10);
		if (t == 0)
			run_work_at(r, 0, "build", 0, 5);
		else
			run_idle_at(r, 1, 0, 5);
		run_work_at(r, t, "solve", 5, 9.99);
	}
	gen_header(r->g)->usage.page_faults = 4000000;
	gen_header(r->g)->usage.system_ns = 4 * SECOND;
}

static void halves(void **state)
{
	static const char *const times[] = {NULL, ":50%", "50%:"};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct run r;
		begin_halves(&r);
		if (i)
			run_finish_part(&r, &(struct filter){.time = times[i]});
		else
			run_finish(&r);
		NEAR(r.f.elapsed, i ? 5 : 10);
		if (i < 2) {
			const struct finding *f = run_has(&r, "serial", 2.5);
			assert_true(fabs(f->facts[0].value - 5) < 0.02);
			assert_int_equal(r.m->contexts[f->places[0].context].line, 4);
		} else {
			run_has_not(&r, "serial");
		}
		/* the kernel's account is of the whole run */
		assert_int_equal(run_finding(&r, "page-faults") != NULL, i == 0);
		run_has_not(&r, "few-samples");
		run_end(&r);
	}
}

/* There is no account of time below a function, but all of its threads shared the elapsed time. */
static void below(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	for (uint32_t t = 0; t < 2; t++) {
		run_thread(&r, 0, 10);
		run_work(&r, t, "main", 6);
		run_work(&r, t, "build/write", 4);
	}
	run_finish_part(&r, &(struct filter){.below = "build"});
	run_has(&r, "files", 2);
	run_has_not(&r, "no-names");
	run_end(&r);
}

/* Samples say what a killed process did; there is no account of the kernel, and no CPU clock. */
static void killed(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	r.is_killed = true;
	for (uint32_t t = 0; t < 2; t++) {
		run_thread(&r, 0, 10);
		run_work_at(&r, t, "build", 0, t ? 2 : 9.99);
		if (t)
			run_wait(&r, t, "main/pthread_cond_wait", MSR_WAIT_FUTEX, 8);
	}
	run_finish(&r);
	assert_int_equal(r.m->processes[0].exit_kind, MSR_EXIT_NONE);
	run_has_first(&r, "balance", 4);
	assert_int_equal(r.m->contexts[r.f.list.at[0].places[0].context].line, 4);
	run_has_not(&r, "page-faults");
	run_end(&r);
}

/* A launcher and two ranks, with a thread of a driver in each; both helpers work for some time. */
static void check_helpers(double work, bool is_killed, bool they_count)
{
	struct run r;
	run_begin(&r, "0-1");
	r.is_killed = is_killed;
	run_thread(&r, 0, 10);
	run_work(&r, 0, "main", work);
	run_wait(&r, 0, "main", MSR_WAIT_POLL, 10 - work);
	for (int rank = 0; rank < 2; rank++) {
		run_next(&r, "0-1");
		add_rank(&r, 10);
		const uint32_t t = run_thread(&r, 0, 10);
		run_work(&r, t, "cuModuleLoadData", work);
	}
	run_finish(&r);
	for (uint32_t p = 0; p < r.m->n_profiles; p++) {
		const struct model_profile *x = &r.m->profiles[p];
		const bool is_rank = r.m->processes[x->process].rank >= 0;
		assert_int_equal(view_is_used_thread(r.m, x),
				 they_count || (is_rank && x->thread == 0));
	}
	if (!they_count)
		run_has_not(&r, "balance");
	run_end(&r);
}

static void helpers(void **state)
{
	(void)state;
	check_helpers(0.9, false, false);
	check_helpers(0.9, true, false); /* the CPU time is known from samples alone */
	check_helpers(5, false, true);   /* as the workers of OpenCL on processors */
	check_helpers(5, true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_rank),   cmocka_unit_test(a_straggler),
		cmocka_unit_test(ranks_in_turn), cmocka_unit_test(messages),
		cmocka_unit_test(hybrid),        cmocka_unit_test(a_rank),
		cmocka_unit_test(halves),        cmocka_unit_test(below),
		cmocka_unit_test(killed),        cmocka_unit_test(helpers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
