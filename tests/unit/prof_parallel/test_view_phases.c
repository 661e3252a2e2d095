/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases that a program marked: from the file to their efficiencies (view_pop.h). */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/view/parallel/view_pop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define START (10 * SECOND) /* of each process on its own clock; REAL on that of the day */
#define REAL (500 * SECOND)

static const uint8_t id_app[2] = {0xab, 1};

/* main at 0x1000, where line 12 begins, and line 13 at 0x1010; the static library at 0x2000. */
static void write_structure(const char *directory)
{
	struct gen_structure *s = gen_structure_new("/bin/app", id_app, sizeof id_app);
	uint32_t file = gen_structure_file(s, "/src/main.c"),
		 library = gen_structure_file(s, "/src/hpctoolkit.c");
	uint32_t main_ =
		gen_structure_function(s, gen_structure_definition(s, "main", file, 10), 0x1000);
	uint32_t start = gen_structure_function(
		s, gen_structure_definition(s, "hpctoolkit_sampling_start_", library, 1), 0x2000);
	gen_structure_interval(s, 0x1000, main_, file, 12);
	gen_structure_interval(s, 0x1010, main_, file, 13);
	gen_structure_interval(s, 0x1020, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	gen_structure_interval(s, 0x2000, start, library, 2);
	gen_structure_interval(s, 0x2010, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

/* Nodes of a thread: line 12 of main, and line 13 in the static library. */
struct nodes {
	uint32_t line12, line13;
};

static struct gen *begin(const char *directory, int32_t rank, uint32_t n_threads, struct nodes *n)
{
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 100 + (uint32_t)rank,
								  .rank = rank,
								  .n_ranks = 2,
								  .start_mono_ns = START,
								  .start_real_ns = REAL});
	gen_module(g, "/bin/app", id_app, sizeof id_app, MSR_MODULE_MAIN);
	gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	for (uint32_t t = 0; t < n_threads; t++) {
		gen_thread(g, "t");
		uint32_t entry = gen_entry(g, t, MSR_ENTRY_MAIN);
		n->line12 = gen_child(g, t, entry, msr_addr_make(1, 0x1004, false));
		n->line13 = gen_child(g, t, entry, msr_addr_make(1, 0x1014, false));
		n->line13 = gen_child(g, t, n->line13, msr_addr_make(1, 0x2004, false));
		gen_thread_record(g, t)->start_ns = START;
		gen_thread_record(g, t)->end_ns = START + 10 * SECOND;
	}
	return g;
}

/* One sample a second in (from, to], each of one second of CPU time. */
static void work(struct gen *g, uint32_t thread, uint32_t node, uint64_t from, uint64_t to)
{
	for (uint64_t i = from + 1; i <= to; i++)
		gen_sample(g, thread, node, 0, START + i * SECOND - 1000, SECOND);
}

static void phase(struct gen *g, uint64_t from, uint64_t to, uint32_t node)
{
	gen_phase(g, &(struct msr_phase){.enter_ns = START + from * SECOND,
					 .leave_ns = to ? START + to * SECOND : 0,
					 .node = node});
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-5;
}

/* Two ranges of the first phase and one of the second, which lasts to the end. */
static void test_efficiencies(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct nodes n;
	struct view_pops p;
	write_structure(directory);
	struct gen *g = begin(directory, -1, 2, &n);
	work(g, 0, n.line12, 0, 10);
	work(g, 1, n.line12, 1, 2);
	work(g, 1, n.line12, 4, 5);
	work(g, 1, n.line12, 8, 10);
	phase(g, 1, 3, n.line13);
	phase(g, 4, 6, n.line13);
	phase(g, 6, 0, n.line12);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	fixture_check_model(m);
	assert_int_equal(m->n_phases, 2);
	assert_int_equal(m->n_ranges, 3);
	assert_string_equal(m->phases[0].name, "phase 1: main.c:13");
	assert_string_equal(m->phases[1].name, "phase 2: main.c:12");
	assert_int_equal(m->ranges[0].enter_ns, REAL + SECOND);
	assert_int_equal(m->ranges[1].leave_ns, REAL + 6 * SECOND);
	assert_int_equal(m->ranges[2].leave_ns, m->processes[0].end_ns);
	assert_true(view_pop_make(m, &p));
	assert_int_equal(p.n, 3);
	assert_true(near(p.at[0].elapsed, 10) && p.at[0].phase == MODEL_NONE);
	assert_true(near(p.at[1].elapsed, 4) && near(p.at[1].parallel, 6. / 8));
	assert_true(near(p.at[1].load_balance, 3. / 4) && near(p.at[1].communication, 1));
	assert_true(near(p.at[2].elapsed, 4) && near(p.at[2].parallel, 6. / 8));
	char name[64];
	assert_string_equal(view_pop_name(m, &p.at[2], "", name, sizeof name),
			    "phase 2: main.c:12");
	model_free(m);
	fixture_remove(directory);
}

/* Ranks make one phase of one line; the order is that of the first range of any rank. */
static void test_ranks(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct nodes n;
	struct view_pops p;
	write_structure(directory);
	for (int32_t rank = 0; rank < 2; rank++) {
		struct gen *g = begin(directory, rank, 1, &n);
		work(g, 0, n.line12, 0, rank ? 6 : 10);
		phase(g, 2, rank ? 5 : 4, n.line12);
		if (rank)
			phase(g, 1, 2, 0);
		free(gen_close(g, MSR_EXIT_RETURN, 0));
	}
	struct model *m = fixture_model(directory, 1);
	assert_int_equal(m->n_phases, 2);
	assert_string_equal(m->phases[0].name, "phase 1");
	assert_string_equal(m->phases[1].name, "phase 2: main.c:12");
	assert_true(view_pop_make(m, &p));
	assert_int_equal(p.n, 3);
	assert_true(near(p.at[2].elapsed, 3) && near(p.at[2].parallel, 5. / 6) &&
		    near(p.at[2].load_balance, 5. / 6));
	model_free(m);
	fixture_remove(directory);
}

/* A part of the run has the phases, and their ranges in it. */
static void test_part(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct nodes n;
	struct view_pops p;
	write_structure(directory);
	for (int32_t rank = 0; rank < 2; rank++) {
		struct gen *g = begin(directory, rank, 2, &n);
		work(g, 0, n.line12, 0, 10);
		work(g, 1, n.line12, 0, rank ? 10 : 5);
		phase(g, 2, 4, n.line12);
		phase(g, 6, 9, n.line12);
		free(gen_close(g, MSR_EXIT_RETURN, 0));
	}
	struct model *m = fixture_model(directory, 1);
	const struct filter f = {.ranks = "1", .time = "3:8"};
	assert_int_equal(filter_apply(&m, &f, 1), STATUS_OK);
	assert_int_equal(m->n_phases, 1);
	assert_int_equal(m->n_ranges, 2);
	assert_int_equal(m->ranges[0].process, 0);
	assert_int_equal(m->ranges[0].enter_ns, REAL + 3 * SECOND);
	assert_int_equal(m->ranges[1].leave_ns, REAL + 8 * SECOND);
	assert_true(view_pop_make(m, &p));
	assert_true(p.n == 2 && near(p.at[1].elapsed, 3) && near(p.at[1].parallel, 1));
	model_free(m);
	fixture_remove(directory);
}

/* The five longest have rows, in the order of time. */
static void test_many(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct nodes n;
	struct view_pops p;
	write_structure(directory);
	struct gen *g = begin(directory, -1, 2, &n);
	work(g, 0, n.line12, 0, 10);
	work(g, 1, n.line12, 0, 10);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	const struct model_phase phases[8] = {{.name = "a"},     {.name = "b"}, {.name = "c"},
					      {.name = "d"},     {.name = "e"}, {.name = "f"},
					      {.name = "short"}, {.name = "g"}};
	static const unsigned tenths[8] = {11, 10, 12, 11, 12, 11, 1, 20};
	struct model_range ranges[8];
	uint64_t now = REAL;
	for (uint32_t i = 0; i < 8; i++) {
		ranges[i] = (struct model_range){
			.phase = i, .profile = MODEL_NONE, .enter_ns = now, .mpi_ns = UINT64_MAX};
		ranges[i].leave_ns = now += tenths[i] * (SECOND / 10);
	}
	m->phases = phases;
	m->ranges = ranges;
	m->n_phases = 8;
	m->n_ranges = 8;
	assert_true(view_pop_make(m, &p));
	assert_int_equal(p.n, VIEW_POP_MOST);
	assert_int_equal(p.n_more, 3);
	static const uint32_t rows[] = {0, 2, 3, 4, 7}; /* not f, which is as long as a and d */
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(p.at[i + 1].phase, rows[i]);
	assert_true(near(p.at[5].elapsed, 2));
	m->n_phases = 0;
	m->n_ranges = 0;
	model_free(m);
	fixture_remove(directory);
}

/* Ranges of threads, and ranges that overlap, as other sources of ranges have them. */
static void test_threads_and_overlaps(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct nodes n;
	struct view_pops p;
	write_structure(directory);
	struct gen *g = begin(directory, -1, 2, &n);
	work(g, 0, n.line12, 0, 10);
	work(g, 1, n.line12, 0, 10);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	const struct model_phase phases[] = {{.name = "solve"}, {.name = "short"}};
	const struct model_range ranges[] = {{0, 0, 0, REAL + SECOND, REAL + 4 * SECOND, 0},
					     {0, 0, 0, REAL + 2 * SECOND, REAL + 3 * SECOND, 0},
					     {0, 0, 1, REAL + 3 * SECOND, REAL + 6 * SECOND, 0},
					     {1, 0, MODEL_NONE, REAL, REAL + SECOND / 10, 0}};
	m->phases = phases;
	m->n_phases = 2;
	m->ranges = ranges;
	m->n_ranges = 4;
	assert_true(view_pop_make(m, &p));
	assert_int_equal(p.n, 2); /* one phase is too short */
	/* 1 to 6 s, of which each thread worked for 3 s in its own ranges */
	assert_true(near(p.at[1].elapsed, 5) && near(p.at[1].parallel, 3. / 5) &&
		    near(p.at[1].load_balance, 1));
	m->n_phases = 0;
	m->n_ranges = 0;
	model_free(m);
	fixture_remove(directory);
}

/* Damaged records are counted. A phase whose place is damaged remains. */
static void test_damage(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct nodes n;
	write_structure(directory);
	struct gen *g = begin(directory, -1, 1, &n);
	work(g, 0, n.line12, 0, 10);
	const struct msr_phase bad[] = {
		/* ends before it begins; after all time; no such thread; no such node */
		{.enter_ns = START + 2 * SECOND, .leave_ns = START + SECOND, .node = n.line12},
		{.enter_ns = UINT64_MAX, .node = n.line12},
		{.enter_ns = START, .leave_ns = START + SECOND, .thread = 7, .node = n.line12},
		{.enter_ns = START, .leave_ns = START + SECOND, .node = 1000}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		gen_phase(g, &bad[i]);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	assert_int_equal(m->ledger.bytes_damaged, 4 * sizeof(struct msr_phase));
	assert_int_equal(m->n_ranges, 2);
	assert_int_equal(m->n_phases, 1);
	assert_string_equal(m->phases[0].name, "phase 1");
	model_free(m);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_efficiencies),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_threads_and_overlaps),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
