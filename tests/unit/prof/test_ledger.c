/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/ledger and describe: the ledger closes exactly when every sample
 * is accounted for; times are of the wall clock. */
#include "hpcprof-lite/attribute/describe/ledger.h"
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/load/job/load_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
	char *directory;
	struct gen *g;
	uint32_t metric, thread, node;
};

static void begin(struct run *r)
{
	r->directory = fixture_directory();
	r->g = gen_open(r->directory, &(struct gen_process){.host = "h",
							    .pid = 3,
							    .rank = 4,
							    .n_ranks = 8,
							    .start_mono_ns = 1000,
							    .start_real_ns = 9000});
	gen_info(r->g, "command", "app one two");
	gen_info(r->g, "executable", "/opt/bin/app-1.2");
	uint16_t module = gen_module(r->g, "/opt/bin/app", NULL, 0, 0);
	r->metric = gen_metric(r->g, "CPUTIME", MSR_UNIT_NS, 100, MSR_SOURCE_TEST);
	r->thread = gen_thread(r->g, "first");
	r->node = gen_child(r->g, r->thread, gen_entry(r->g, r->thread, MSR_ENTRY_MAIN),
			    msr_addr_make(module, 16, false));
	for (int i = 0; i < 10; i++)
		gen_sample(r->g, r->thread, r->node, r->metric, 1100 + i * 100, 100);
}

static struct model *finish(struct run *r, enum msr_exit_kind kind)
{
	free(gen_close(r->g, kind, 0));
	return fixture_model(r->directory, 1);
}

static void clean(struct run *r, struct model *m)
{
	model_free(m);
	fixture_remove(r->directory);
}

static void test_closes(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	gen_loss(r.g, r.thread, MSR_LOSS_BUSY, 3);
	gen_loss(r.g, r.thread, MSR_LOSS_COALESCED, 50);
	gen_process_loss(r.g, MSR_LOSS_NO_THREAD, 2);
	gen_process_loss(r.g, MSR_LOSS_FORK, 1);
	struct model *m = finish(&r, MSR_EXIT_RETURN);
	assert_true(m->ledger_closes);
	assert_int_equal(m->ledger.delivered, 15);
	assert_int_equal(m->ledger.in_tree, 10);
	assert_int_equal(m->ledger.losses[MSR_LOSS_BUSY], 3);
	assert_int_equal(m->ledger.losses[MSR_LOSS_COALESCED], 50);
	assert_int_equal(m->ledger.losses[MSR_LOSS_NO_THREAD], 2);
	assert_int_equal(m->ledger.losses[MSR_LOSS_FORK], 1);
	assert_int_equal(m->ledger.losses[MSR_LOSS_IN_FLIGHT], 0);
	clean(&r, m);
}

/* One flipped bit in a cell's sum must not become the program's CPU time: eight of these even add
 * up to nothing. */
static void test_a_sum_that_cannot_be(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t n = r.node;
	for (int i = 0; i < 8; i++) {
		n = gen_child(r.g, r.thread, n, msr_addr_make(1, 32 + 16 * (unsigned)i, false));
		gen_sample(r.g, r.thread, n, r.metric, 2200, UINT64_C(1) << 61);
	}
	struct model *m = finish(&r, MSR_EXIT_RETURN);
	assert_false(m->ledger_closes);
	assert_int_equal(m->ledger.delivered, 18);
	assert_int_equal(m->ledger.in_tree, 10);
	assert_int_equal(m->ledger.bytes_damaged, 8 * sizeof(struct msr_cell));
	const struct model_total *t = model_find_total(m, 0, 0);
	assert_non_null(t);
	assert_true(t->sum[MODEL_EXECUTION] == 1000 / 1e9);
	for (size_t i = 0; i < m->n_totals; i++)
		assert_true(m->totals[i].sum[MODEL_EXECUTION] <= 1000 / 1e9);
	clean(&r, m);
}

static void test_one_sample_may_be_in_flight_when_killed(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	gen_in_flight(r.g, r.thread);
	struct model *m = finish(&r, MSR_EXIT_NONE);
	assert_true(m->ledger_closes);
	assert_int_equal(m->ledger.losses[MSR_LOSS_IN_FLIGHT], 1);
	clean(&r, m);

	begin(&r);
	gen_in_flight(r.g, r.thread);
	gen_in_flight(r.g, r.thread); /* two cannot be: there is one metric */
	m = finish(&r, MSR_EXIT_NONE);
	assert_false(m->ledger_closes);
	clean(&r, m);

	begin(&r);
	gen_in_flight(r.g, r.thread); /* nor one when the thread has ended */
	m = finish(&r, MSR_EXIT_RETURN);
	assert_false(m->ledger_closes);
	clean(&r, m);

	begin(&r);
	gen_metric(r.g, "REALTIME", MSR_UNIT_NS, 1,
		   MSR_SOURCE_TEST); /* one signal for both may be on its way */
	gen_in_flight(r.g, r.thread);
	gen_in_flight(r.g, r.thread);
	m = finish(&r, MSR_EXIT_NONE);
	assert_true(m->ledger_closes);
	assert_int_equal(m->ledger.losses[MSR_LOSS_IN_FLIGHT], 2);
	clean(&r, m);

	for (int n = 4; n <= 5; n++) { /* three of OFFCPU and the other metric */
		begin(&r);
		gen_metric(r.g, MSR_METRIC_OFFCPU, MSR_UNIT_NS, 1, MSR_SOURCE_TEST);
		for (int i = 0; i < n; i++)
			gen_in_flight(r.g, r.thread);
		m = finish(&r, MSR_EXIT_NONE);
		assert_int_equal(m->ledger_closes, n == 4);
		clean(&r, m);
	}
}

static void test_or_when_another_thread_ended_the_process(void **state)
{
	(void)state;
	struct run r;
	for (int together = 0; together < 2; together++) {
		begin(&r);
		gen_in_flight(r.g, r.thread);
		uint32_t other = gen_thread(r.g, "other");
		if (!together)
			gen_thread_record(r.g, other)->end_ns =
				1500; /* by itself, earlier; then the first ended the process and
					 was in no handler */
		struct model *m = finish(&r, MSR_EXIT_RETURN);
		assert_int_equal(m->ledger_closes, together);
		assert_int_equal(m->ledger.losses[MSR_LOSS_IN_FLIGHT], together);
		clean(&r, m);
	}
}

static void test_recorded_lags_behind_when_killed(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	gen_thread_record(r.g, r.thread)->recorded--; /* killed between the cell and its count */
	struct model *m = finish(&r, MSR_EXIT_NONE);
	assert_true(m->ledger_closes);
	assert_int_equal(m->ledger.losses[MSR_LOSS_IN_FLIGHT], 0);
	clean(&r, m);
}

/* The process has samples while its file is read: nothing is missing. */
static void test_still_being_written(void **state)
{
	(void)state;
	struct run r;
	struct load_job job = {0};
	begin(&r);
	char *path = gen_close(r.g, MSR_EXIT_NONE, 0);
	assert_int_equal(load_job_open(&r.directory, 1, 1, &job), STATUS_OK);
	const struct load_file *f = &job.files.at[0];
	struct msr_thread record = *f->threads.at[0].record;
	long at = (long)((const uint8_t *)f->threads.at[0].now - f->map.bytes);
	record.delivered += 7; /* more than can be in flight */
	record.recorded += 6;
	FILE *file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fwrite(&record, sizeof record, 1, file), 1);
	assert_int_equal(fclose(file), 0);
	struct model *m = fixture_model_of(&job, NULL, 1);
	assert_true(m->ledger_closes);
	assert_true(m->processes[0].is_live && m->profiles[0].ledger->is_live);
	assert_int_equal(m->ledger.delivered, 10);
	assert_int_equal(m->ledger.in_tree, 10);
	free(path);
	clean(&r, m);

	begin(&r); /* one that has stopped is none */
	m = finish(&r, MSR_EXIT_NONE);
	assert_true(m->ledger_closes && !m->processes[0].is_live);
	clean(&r, m);
}

static void test_false_claims_are_found(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	gen_thread_record(r.g, r.thread)->delivered++;
	gen_thread_record(r.g, r.thread)->recorded++; /* says eleven; ten are there */
	struct model *m = finish(&r, MSR_EXIT_RETURN);
	assert_false(m->ledger_closes);
	assert_int_equal(m->ledger.in_tree, 10);
	clean(&r, m);
}

/* A damaged end, or a damaged step of a time line: what is on the time line lies within the
 * thread's time all the same. */
static void test_a_time_line_beyond_the_end(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	gen_thread_record(r.g, r.thread)->start_ns = 1500;
	gen_thread_record(r.g, r.thread)->end_ns = 1600;
	struct model *m = finish(&r, MSR_EXIT_RETURN);
	assert_int_equal(
		m->profiles[0].start_ns,
		9000 + 100); /* samples from 1100 to 2000, 1000 is 9000 of the real clock */
	assert_int_equal(m->profiles[0].end_ns, 9000 + 1000);
	clean(&r, m);
}

/* The title is what the program was called, if that is a name at all. */
static void test_title(void **state)
{
	const struct {
		const char *called, *title;
	} cases[] = {
		{"/bin/sh", "sh"}, {"-sh", "sh"}, {"-", "dash"}, {"foo/", "dash"},
		{"../../../tmp/evil/", "dash"}, {"a\nb\033[31m", "dash"},
		{"h\xc3\xa9llo", "h\xc3\xa9llo"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run r;
		begin(&r);
		gen_info(r.g, "command", cases[i].called);
		gen_info(r.g, "executable", "/bin/dash");
		struct model *m = finish(&r, MSR_EXIT_RETURN);
		assert_string_equal(m->title, cases[i].title);
		clean(&r, m);
	}
}

static void test_description(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	gen_info(r.g, "note", "the timer was coarse");
	gen_thread_record(r.g, r.thread)->cpu_start_ns = 10;
	gen_thread_record(r.g, r.thread)->cpu_end_ns = 510;
	struct model *m = finish(&r, MSR_EXIT_RETURN);
	assert_string_equal(m->title, "app");
	assert_string_equal(m->processes[0].command, "app one two");
	assert_int_equal(m->processes[0].n_notes, 1);
	assert_string_equal(m->processes[0].notes[0], "the timer was coarse");
	assert_string_equal(m->processes[0].host, "h");
	assert_int_equal(m->processes[0].rank, 4);
	assert_int_equal(m->processes[0].start_ns, 9000);
	assert_int_equal(m->processes[0].end_ns,
			 9000 + 1000 + 1000); /* last sample at 2000, and the generator's 1000 */
	assert_string_equal(m->profiles[0].name, "first");
	assert_int_equal(m->profiles[0].cpu_ns, 500);
	assert_int_equal(m->profiles[0].n_trace_records, 10);
	assert_string_equal(m->metrics[0].name, "CPUTIME (sec)");
	assert_string_equal(m->metrics[0].event, "CPUTIME");
	assert_int_equal(m->metrics[0].unit, MODEL_SECONDS);
	assert_int_equal(m->metrics[0].period, 100);
	assert_true(m->has_traces);
	clean(&r, m);

	begin(&r);
	m = finish(&r, MSR_EXIT_NONE);
	assert_int_equal(m->processes[0].end_ns, 9000 + 1000); /* killed: the last record */
	assert_int_equal(m->profiles[0].end_ns, 9000 + 1000);
	clean(&r, m);
}

/* Of a thread whose end is not known, time without samples is its own and counts once. */
static void test_unknown_end(void **state)
{
	enum { MS = 1000000 };
	struct run r;
	(void)state;
	begin(&r);
	gen_header(r.g)->cpu_start_ns = 0;
	gen_header(r.g)->cpu_end_ns = 500 * MS;
	struct msr_thread *t = gen_thread_record(r.g, r.thread);
	t->cpu_end_ns = 0;
	atomic_store(&t->use.event_ns, 100 * MS);
	atomic_store(&t->use.timer_ns, 200 * MS);
	atomic_store(&t->cpu_unseen_ns, 50 * MS);
	struct model *m = finish(&r, MSR_EXIT_RETURN);
	assert_int_equal(m->ledger.cpu_unseen_ns, 50 * MS);
	assert_int_equal(m->ledger.cpu_strange_ns, 150 * MS);
	clean(&r, m);
}

/* Causes that take no sample, and ones that this version does not know, count as well. */
static void test_losses_that_wrap(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	atomic_store(&gen_header(r.g)->losses[MSR_LOSS_COALESCED], UINT64_MAX - 20);
	struct model *m = finish(&r, MSR_EXIT_RETURN);
	assert_true(m->ledger_closes);
	clean(&r, m);
	begin(&r);
	atomic_store(&gen_header(r.g)->losses[MSR_LOSS_ROOM - 1], UINT64_MAX - 1);
	gen_thread_record(r.g, r.thread)->losses[MSR_LOSS_ROOM - 1] = 2;
	m = finish(&r, MSR_EXIT_RETURN);
	assert_true(m->ledger.losses[MSR_LOSS_ROOM - 1] == UINT64_MAX);
	assert_false(m->ledger_closes);
	clean(&r, m);
}

/* 64 cells of 2^58 samples and values, each of which may be, add up to 2^64: that is not nothing,
 * and no ledger that closes. */
static void test_sums_that_wrap(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t n = r.node;
	for (int i = 0; i < 64; i++) {
		n = gen_child(r.g, r.thread, n, msr_addr_make(1, 32 + 16 * (unsigned)i, false));
		gen_weight(r.g, r.thread, n, r.metric, UINT64_C(1) << 58, UINT64_C(1) << 58);
	}
	struct model *m = finish(&r, MSR_EXIT_RETURN);
	assert_true(m->sums_overflow);
	assert_false(m->ledger_closes);
	assert_true(m->ledger.in_tree == UINT64_MAX);
	const struct model_total *t = model_find_total(m, 0, 0);
	assert_non_null(t);
	assert_true(t->sum[MODEL_EXECUTION] > 1.8e10);
	clean(&r, m);
}

/* Counts that agree only because all of them wrapped, or stopped at the bound, do not close. */
static void test_counts_at_the_bound(void **state)
{
	(void)state;
	struct model_ledger a = {.delivered = UINT64_MAX,
				 .recorded = UINT64_MAX,
				 .in_tree = UINT64_MAX},
			    b = {.delivered = 5, .recorded = 5, .in_tree = 5};
	assert_true(ledger_closes(&b));
	assert_false(ledger_closes(&a));
	ledger_add(&b, &a);
	assert_true(b.delivered == UINT64_MAX && b.in_tree == UINT64_MAX);
	assert_false(ledger_closes(&b));
	struct model_ledger c = {.delivered = 3, .recorded = 4, .in_tree = 4};
	c.losses[MSR_LOSS_BUSY] = UINT64_MAX; /* 4 + 2^64 - 1 = 3 */
	assert_false(ledger_closes(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closes),
		cmocka_unit_test(test_a_sum_that_cannot_be),
		cmocka_unit_test(test_losses_that_wrap),
		cmocka_unit_test(test_sums_that_wrap),
		cmocka_unit_test(test_counts_at_the_bound),
		cmocka_unit_test(test_one_sample_may_be_in_flight_when_killed),
		cmocka_unit_test(test_or_when_another_thread_ended_the_process),
		cmocka_unit_test(test_recorded_lags_behind_when_killed),
		cmocka_unit_test(test_still_being_written),
		cmocka_unit_test(test_false_claims_are_found),
		cmocka_unit_test(test_a_time_line_beyond_the_end),
		cmocka_unit_test(test_title),
		cmocka_unit_test(test_description),
		cmocka_unit_test(test_unknown_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
