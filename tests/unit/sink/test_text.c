/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/sink/text_print and text_table: numbers as people read them, names cut to a
 * width, flat sums that recursion does not inflate. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/model/private.h"
#include "hpcprof-lite/sink/text/text_sink.h"
#include "hpcprof-lite/sink/text/text_lines.h"
#include "hpcprof-lite/sink/text/text_print.h"

#include <stdlib.h>
#include <string.h>

static void test_numbers(void **state)
{
	(void)state;
	char c[TEXT_CELL];
	assert_string_equal(text_value(c, MODEL_SECONDS, 0), "0 s");
	assert_string_equal(text_value(c, MODEL_SECONDS, 12.345), "12.35 s");
	assert_string_equal(text_value(c, MODEL_SECONDS, 123.45), "123.5 s");
	assert_string_equal(text_value(c, MODEL_SECONDS, 12345.6), "12346 s");
	assert_string_equal(text_value(c, MODEL_SECONDS, 0.0567), "56.70 ms");
	assert_string_equal(text_value(c, MODEL_SECONDS, 4.2e-6), "4.20 us");
	assert_string_equal(text_value(c, MODEL_SECONDS, 3e-9), "3.00 ns");
	assert_string_equal(text_value(c, MODEL_COUNT, 1234567), "1,234,567");
	assert_string_equal(text_value(c, MODEL_COUNT, 12345678), "12.35 M");
	assert_string_equal(text_value(c, MODEL_COUNT, 1.5e12), "1.50 T");
	assert_string_equal(text_value(c, MODEL_BYTES, 4096), "4.00 KiB");
	assert_string_equal(text_count(c, 0), "0");
	assert_string_equal(text_count(c, 999), "999");
	assert_string_equal(text_count(c, 1000), "1,000");
	assert_string_equal(text_count(c, UINT64_MAX), "1.845e+19");
	assert_string_equal(text_share(c, 1, 4), "25.0%");
	assert_string_equal(text_share(c, 1, 1e6), "<0.1%");
	assert_string_equal(text_share(c, 0, 1), "");
	assert_string_equal(text_share(c, 1, 0), "");
}

static void check_cell(const char *s, size_t columns, const char *want)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	text_cell(out, s, columns);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void test_cells(void **state)
{
	(void)state;
	check_cell("abc", 5, "abc  ");
	check_cell("abc", 0, "abc");
	check_cell("a\tb\033[1m", 8, "a?b?[1m ");
	check_cell("abcdefghijklmnopqrstuvwxyz", 14, "abcdefgh..wxyz");
	check_cell("abcdefghij", 4, "abcd");
	check_cell("h\xc3\xa9llo", 7, "h\xc3\xa9llo  "); /* e with an accent is one column */
	check_cell("\xff\xfe", 3, "?? ");
	assert_int_equal(text_columns("h\xc3\xa9llo"), 5);
}

static void check_lines(size_t width, const char *s, const char *want)
{
	char *text = NULL;
	size_t n = 0;
	struct text_lines lines;
	const struct text_style style = {.out = open_memstream(&text, &n), .width = width};
	assert_true(text_lines_begin(&lines, &style));
	fputs(s, lines.style.out);
	assert_true(text_lines_end(&lines));
	fclose(style.out);
	assert_string_equal(text, want);
	free(text);
}

static void test_lines(void **state)
{
	(void)state;
	const char *const section =
		"\033[1mLedger: 2 samples = 2 in the tree + 0 lost; it closes\033[0m\n"
		"  of files:   /a/path/that/is/longer/than/a/line/of/the/report and more\n\n";
	check_lines(100, section, section);
	check_lines(100, "  one\vtwo\vthree\nfour\n", "  one\n  two\n  three\nfour\n");
	check_lines(40, "  one\vtwo\nthree\n", "  one two\nthree\n");
	check_lines(40, section,
		    "\033[1mLedger: 2 samples = 2 in the tree + 0\n  lost; it closes\033[0m\n"
		    "  of files:\n    /a/path/that/is/longer/than/a/line/of/the/report\n"
		    "    and more\n\n");
	check_lines(60, "                                           many blanks\n",
		    "                                           many blanks\n");
	check_lines(53, "Ledger: 2 samples = 2 in the tree + 0 lost; it closes\n",
		    "Ledger: 2 samples = 2 in the tree + 0 lost; it closes\n");
}

static void check_wrap(const char *s, const char *want)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	text_wrap(out, s, 10, 2);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void test_wrap(void **state)
{
	(void)state;
	check_wrap("", "");
	check_wrap("load at f.cu:12", "load at\n  f.cu:12\n");
	check_wrap("0123456789 01234 6789 1", "0123456789\n  01234 6789\n  1\n");
	check_wrap("a abcdefghijklmnop b", "a\n  abcdef..op\n  b\n");
	check_wrap("h\xc3\xa9llo 6789 \033[1m", "h\xc3\xa9llo 6789\n  ?[1m\n");
}

static void test_files(void **state)
{
	char name[TEXT_FILE];
	(void)state;
	assert_string_equal(text_file(name, "/a/b.c"), "b.c");
	assert_string_equal(text_file(name, "/run/gpubins/14aa5672c33c91840c3837ee8542690d.cl"),
			    "14aa5672.cl");
	assert_string_equal(text_file(name, "14aa5672c33c91840c3837ee8542690.cl"),
			    "14aa5672c33c91840c3837ee8542690.cl");
	assert_string_equal(text_file(name, "14aa5672c33c91840c3837ee8542690d"),
			    "14aa5672c33c91840c3837ee8542690d");
}

static void check_short(const char *name, size_t columns, const char *want)
{
	char text[TEXT_NAME];
	strcpy(text, name);
	text_shorten(text, columns);
	assert_string_equal(text, want);
}

static void test_shortened_names(void **state)
{
	(void)state;
	check_short("main", 3, "main");
	check_short("f(int, double)", 40, "f(int, double)");
	check_short("f(int, double)", 8, "f(..)");
	check_short("std::map<int, std::vector<int> >::at(int const&) const", 34,
		    "std::map<..>::at(int const&) const");
	check_short("std::map<int, std::vector<int> >::at(int const&) const", 28,
		    "std::map<..>::at(..) const");
	check_short("bool std::operator< <char, int>(a const&, b const&)", 28,
		    "bool std::operator< <..>(..)");
	check_short("a::operator<<(int, char)", 10, "a::operator<<(..)");
	check_short("a<int, char>::operator->() const", 10, "a<..>::operator->() const");
	check_short("f::{lambda(int, char)#1}::operator()(int, char) const", 40,
		    "f::{lambda(..)#1}::operator()(..) const");
	check_short("auto f()::{lambda(auto:1)#2}::operator()<int>(int) const::{lambda(auto:1)"
		    "#1}::operator()<int>(int) const",
		    28, "f()::{lambda#2}::{lambda#1}");
	check_short("f::{lambda", 3, "f::{lambda");
	check_short("(anonymous namespace)::go(int, int)", 10, "(anonymous namespace)::go(..)");
	check_short("<unknown function> [libx.so]", 10, "<unknown function> [libx.so]");
	check_short("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", 10,
		    "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend");
	check_short("f<a->b, c>::g", 3, "f<..>::g");
	check_short("broken<<<(((", 3, "broken<..>");
	check_short("my_operator(int, int)", 3, "my_operator(..)");
	check_short("bool std::operator< <char, int>(a const&, b const&)", 24,
		    "std::operator< <..>(..)");
	check_short("__gnu_cxx::__normal_iterator<int*, std::vector<int> > "
		    "std::__unguarded_partition<int*, bool (*)(int, int)>(int*, int*)",
		    40, "std::__unguarded_partition<..>(..)");
	check_short("void (anonymous namespace)::go<long>(int, int)", 30,
		    "(anonymous namespace)::go<..>(..)");
	check_short("std::pair<int, long> const& f<int, long>(a)::{lambda(int, "
		    "char)#1}::operator()(int, char) const",
		    30, "f<..>(a)::{lambda#1}");
	check_short("a::operator bool() const", 3, "a::operator bool() const");
	check_short("void* a::operator new<int, long>(unsigned long)", 3,
		    "a::operator new<..>(..)");
	check_short("non-virtual thunk to std::stream::f(int, int)", 3,
		    "non-virtual thunk to std::stream::f(..)");
	check_short("<alloc::string::String as core::fmt::Write>::write_str [inlined]", 3,
		    "<alloc::string::String as core::fmt::Write>::write_str [inlined]");
	check_short("work.part.0 [inlined]", 3, "work.part.0 [inlined]");
	check_short("? int f<long>(int, int)", 12, "? f<..>(..)");
	check_short("<unknown at 0x1cee0> [hpcc]", 27, "<unknown at 0x1cee0> [hpcc]");
	check_short("<unknown at 0x1cee0> [hpcc]", 26, "<0x1cee0> [hpcc]");
	check_short("<unknown at 0x1cee0> [hpcc]", 15, "<0x1cee0> [hpcc]"); /* "<0x1cee0>..pcc]" */
	check_short("<unknown at 0x1cee0> [hpcc]", 14, "<0x1cee0>");
	check_short("? <unknown at 0x1cee0> [hpcc]", 18, "? <0x1cee0> [hpcc]");
	check_short("<unknown at 0x1cee0>@plt", 20, "<0x1cee0>@plt");
	check_short("? <code outside every module>", 12, "? <code outside every module>");
}

/* Names of Rust that begin with a bracket are names all the same. */
static void test_made_up_names(void **state)
{
	(void)state;
	assert_true(text_is_made_up("<unknown at 0x1234>"));
	assert_true(text_is_made_up("<module>"));
	assert_false(text_is_made_up("<unknown function> [libx.so]"));
	assert_false(text_is_made_up("<u64>::rotate_left"));
	assert_false(text_is_made_up("<alloc::raw_vec::RawVecInner<_>>::push<u8>"));
	assert_false(text_is_made_up("<A as core::slice::SlicePartialEq<B>>::eq"));
	assert_false(text_is_made_up("main"));
}

static void add_sampled(const char *directory, uint32_t pid, uint64_t period,
			enum msr_source source)
{
	struct gen *g = gen_open(directory,
				 &(struct gen_process){.pid = pid, .rank = -1, .no_trace = true});
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, period, source),
		 t = gen_thread(g, "a");
	gen_sample(g, t, gen_entry(g, t, MSR_ENTRY_MAIN), metric, 0, 1000000000);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
}

static void add_process(const char *directory, uint32_t pid, const char *thread,
			enum msr_exit_kind kind, int32_t code)
{
	struct gen *g = gen_open(directory,
				 &(struct gen_process){.pid = pid, .rank = -1, .no_trace = true});
	gen_info(g, "executable", "/bin/a");
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1, MSR_SOURCE_TEST),
		 t = gen_thread(g, thread);
	gen_sample(g, t, gen_entry(g, t, MSR_ENTRY_MAIN), metric, 0, 1000000000);
	free(gen_close(g, kind, code));
}

/* The report. Owned by the caller. */
static char *report_at(const struct model *m, unsigned width)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	const struct sink_text_options t = {.out = out, .threshold = -1, .width = width};
	assert_non_null(out);
	assert_int_equal(sink_text.write(m, &(struct sink_options){.n_workers = 1, .settings = &t}),
			 STATUS_OK);
	fclose(out);
	return text;
}

static char *report_model(const struct model *m)
{
	return report_at(m, 120);
}

static char *report(char *directory)
{
	struct model *m = fixture_model(directory, 1);
	char *text = report_model(m);
	model_free(m);
	return text;
}

/* Processes that ended in the same way share a line. */
static void test_how_processes_ended(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	add_process(directory, 1, "a", MSR_EXIT_RETURN, 3);
	add_process(directory, 2, "a", MSR_EXIT_QUICK, 3);
	add_process(directory, 3, "a", MSR_EXIT_SIGNAL, 15);
	char *text = report(directory);
	assert_non_null(strstr(text, "  2 processes ended with exit status 3: a pid 1, a pid 2\n"));
	assert_non_null(strstr(text, "  1 process ended with signal SIGTERM: a pid 3\n"));
	free(text);
	add_process(directory, 4, "a", MSR_EXIT_RETURN, 2);
	add_process(directory, 5, "a", MSR_EXIT_SIGNAL, 9);
	text = report(directory);
	assert_non_null(strstr(text, "  2 processes ended with exit status 3: a pid 1, a pid 2\n"
				     "  1 process ended with signal SIGTERM: a pid 3\n"
				     "  1 process ended with exit status 2: a pid 4\n"));
	assert_non_null(strstr(text, "  1 process ended with signal SIGKILL: a pid 5\n"));
	free(text);
	fixture_remove(directory);
}

/* What was asked for, and how it was had, is said of all processes and not of the first alone. */
static void test_several_rates(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	add_sampled(directory, 1, 10000000, MSR_SOURCE_PERF);
	char *text = report(directory);
	assert_non_null(strstr(text, " (asked: 10.00 ms), perf_event\n"));
	free(text);
	add_sampled(directory, 2, 1000000, MSR_SOURCE_TIMER_CPU);
	text = report(directory);
	assert_non_null(strstr(text, " (asked: 1.00 ms to 10.00 ms), perf_event and others\n"));
	free(text);
	fixture_remove(directory);
}

/* A process that ended with no word has no CPU clocks: its samples say what it used. */
static void test_distortion_without_clocks(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	add_sampled(directory, 1, 1000000, MSR_SOURCE_PERF);
	struct model *m = fixture_model(directory, 1);
	struct model_profile *p = &m->private_->profiles[0];
	p->cpu_ns = 0;
	p->source_use = (struct model_source_use){
		.event_ns = 1000000000, .event_samples = 1000, .event_switches = 400};
	char *text = report_model(m);
	assert_null(strstr(text, "SLOWED DOWN"));
	free(text);
	p->source_use.event_switches = 40000;
	text = report_model(m);
	assert_non_null(strstr(text, "  SLOWED DOWN: 40,000 context switches while"));
	assert_non_null(strstr(text, " cost up to 480.0 ms of CPU time"));
	assert_non_null(strstr(text, "  measure with -e CPUTIME, which avoids this"));
	free(text);
	model_free(m);
	fixture_remove(directory);
}

/* A definition whose line is unknown has a file alone. */
static void test_definition_without_line(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	gen_job(directory, &(struct gen_job){.n_processes = 1, .n_threads = 1, .n_nodes = 16,
		.n_samples = 40, .n_metrics = 1, .seed = 4, .structs = true});
	struct model *m = fixture_model(directory, 1);
	size_t n_files = 0;
	for (size_t i = 0; i < m->n_functions; i++) {
		n_files += m->functions[i].file != MODEL_NONE;
		m->private_->functions[i].line = 0;
	}
	char *text = report_model(m);
	char *end = strstr(text, "Lines by their own");
	assert_true(n_files > 0 && end);
	*end = 0;
	char *table = strstr(text, "Functions by their own");
	assert_non_null(table);
	assert_null(strstr(table, ":0\n"));
	assert_non_null(strstr(table, " step.cc\n"));
	free(text);
	model_free(m);
	fixture_remove(directory);
}

/*
 * Threads that change between the kernel's event and a timer: the line of CPUTIME names both, and
 * what switches cost goes by CPUTIME's period, whatever else was measured.
 */
static void test_both_sources(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = gen_open(
		directory, &(struct gen_process){.pid = 1, .rank = -1, .no_trace = true});
	uint32_t faults = gen_metric(g, "perf::PAGE-FAULTS", MSR_UNIT_COUNT, 100, MSR_SOURCE_PERF);
	uint32_t cpu = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 10000000, MSR_SOURCE_PERF);
	uint32_t t = gen_thread(g, "a"), main = gen_entry(g, t, MSR_ENTRY_MAIN);
	gen_sample(g, t, main, faults, 0, 100);
	gen_sample(g, t, main, cpu, 0, 1000000000);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	struct model_profile *p = (struct model_profile *)&m->profiles[0]; /* ours alone */
	p->cpu_ns = 1000000000;
	p->source_use = (struct model_source_use){.event_ns = 900000000,
		.event_samples = 90,
		.event_switches = 10000,
		.timer_ns = 100000000,
		.timer_samples = 25};
	char *text = report_model(m);
	assert_non_null(strstr(text, " (asked: 10.00 ms), perf_event and CPU timer\n"));
	assert_non_null(strstr(text, " (asked: 100), perf_event\n"));
	assert_null(strstr(text, "SLOWED DOWN")); /* 3 us each; with a period of 100, 12 us */
	free(text);
	p->source_use.event_switches = 20000;
	text = report_model(m);
	assert_non_null(strstr(text, "SLOWED DOWN: 20,000 context switches"));
	assert_non_null(strstr(text, "  measure with -e CPUTIME,timer, which avoids this"));
	free(text);
	model_free(m);
	fixture_remove(directory);
}

/* What a program named its threads is no business of the terminal's. */
static void test_thread_names(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	add_process(directory, 1, "a\033[2Jb\nc", MSR_EXIT_RETURN, 0);
	char *text = report(directory);
	assert_non_null(strstr(text, " thread 0 a?[2Jb?c\n"));
	assert_null(strchr(text, 033));
	free(text);
	fixture_remove(directory);
}

static void check_row_of(const struct model *m, unsigned width, const char *label)
{
	char *text = report_at(m, width);
	if (!strstr(text, label))
		fail_msg("no row ends in \"%s\" at %u columns", label, width);
	free(text);
}

static void check_row(const char *directory, unsigned width, const char *label)
{
	struct model *m = fixture_model(directory, 1);
	check_row_of(m, width, label);
	model_free(m);
}

static void add_named(const char *directory, int32_t rank, uint32_t pid, const char *host)
{
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = pid,
								  .rank = rank,
								  .host = host,
								  .no_trace = true});
	gen_info(g, "executable", "/bin/solver-of-equations");
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1, MSR_SOURCE_TEST), t;
	for (unsigned i = 0; i < 11; i++) {
		t = gen_thread(g, "pool-of-workers");
		gen_sample(g, t, gen_entry(g, t, MSR_ENTRY_MAIN), metric, 0, 1000000000);
	}
	free(gen_close(g, MSR_EXIT_RETURN, 0));
}

/* A narrow report cuts names. Ranks, process ids and numbers of threads tell rows apart. */
static void test_labels_of_rows(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	add_named(directory, -1, 100010, "n");
	check_row(directory, 120, "  n pid 100010 thread 10 pool-of-workers\n");
	check_row(directory, 80, "  pid 100010 thread 10 pool-o..ers\n");
	check_row(directory, 68, "  pid 100010 thread 10\n");
	add_named(directory, -1, 100011, "node-of-the-cluster");
	check_row(directory, 120,
		  "  node-of-the-cluster pid 100011 solver-of-equations, 11 threads\n");
	check_row(directory, 80, "  node-..er pid 100011, 11 threads\n");
	check_row(directory, 80, "  node-..er pid 100011 thread 10\n");
	fixture_remove(directory);
	directory = fixture_directory();
	add_named(directory, 100, 100010, "n");
	add_named(directory, 101, 100011, "m");
	check_row(directory, 120, "  rank 100 n pid 100010 solver-of-equations, 11 threads\n");
	check_row(directory, 80, "  rank 100 solver..ons, 11 threads\n");
	check_row(directory, 80, "  rank 100 thread 10 pool-of-..ers\n");
	add_named(directory, 101, 100012, "m"); /* of one rank: the process tells them apart */
	check_row(directory, 80, "  rank 101 m pid 100012, 11 threads\n");
	check_row(directory, 80, "  rank 100 solver..ons, 11 threads\n");
	struct model *m = fixture_model(directory, 1);
	m->private_->processes[2].role = "DataLoader worker 7";
	check_row_of(m, 80, "  rank 101, DataLo.. 7, 11 threads\n");
	check_row_of(m, 80, "  rank 101, DataLo..r 7, thread 10\n");
	check_row_of(m, 80, "  rank 101 solver..ons, 11 threads\n");
	model_free(m);
	fixture_remove(directory);
}

/* Two ranks, or processes without ranks, of which nobody knows for how long they were blocked. */
static void check_blocked(bool has_ranks, const char *metric, const char *row, const char *foot)
{
	char *directory = fixture_directory();
	for (int32_t i = 0; i < 2; i++) {
		struct gen *g = gen_open(directory,
					 &(struct gen_process){.pid = (uint32_t)i + 1,
							       .rank = has_ranks ? i : -1,
							       .n_ranks = has_ranks ? 2 : 0,
							       .no_trace = true});
		const uint32_t k = gen_metric(g, metric, MSR_UNIT_NS, 1, MSR_SOURCE_TEST),
			       t = gen_thread(g, "a");
		gen_thread_record(g, t)->start_ns = 1;
		gen_thread_record(g, t)->end_ns = 10000000000;
		gen_sample(g, t, gen_entry(g, t, MSR_ENTRY_MAIN), k, 0, 1000000000);
		free(gen_close(g, MSR_EXIT_RETURN, 0));
	}
	struct model *m = fixture_model(directory, 1);
	check_row_of(m, 80, row);
	check_row_of(m, 80, foot);
	model_free(m);
	fixture_remove(directory);
}

static void test_blocked(void **state)
{
	(void)state;
	check_blocked(false, "CPUTIME", " blocked, or ready without a processor (-e OFFCPU says)\n",
		      "");
	check_blocked(true, "CPUTIME", " blocked [*]\n",
		      "\n  [*] or ready without a processor: -e OFFCPU says\n");
	check_blocked(false, "REALTIME", " worked, or was blocked [*]\n",
		      "\n  [*] measure with -e CPUTIME -e OFFCPU to see which\n");
	check_blocked(false, "REALTIME", " blocked, or ready without a processor [*]\n", "");
	check_blocked(true, "REALTIME", " worked or blocked [*]\n",
		      "\n  [*] or without a processor: measure with -e CPUTIME -e OFFCPU to see "
		      "which\n");
}

/* The head of a narrow report is a command that can be copied. */
static void test_command(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	add_process(directory, 1, "a", MSR_EXIT_RETURN, 0);
	struct model *m = fixture_model(directory, 1);
	const char *const command =
		"./app --first 'eee eee' one two three four five six seven "
		"'it'\\''s seven' 'a b c d e f g h i j k l m n o p q r' the-end";
	m->private_->processes[0].command_line = command;
	char *text = report_at(m, 60);
	static const char wanted[] =
		"./app --first 'eee eee' one two three four five six seven \\\n"
		"  'it'\\''s seven' 'a b c d e f g h i j k l m n o p q r' \\\n"
		"  the-end\n  1 process ";
	assert_int_equal(strncmp(text, wanted, sizeof wanted - 1), 0);
	free(text);
	text = report_at(m, 100);
	assert_int_equal(strncmp(text, command, strlen(command)), 0);
	free(text);
	m->private_->processes[0].command_line =
		"./app one two three four five six $'six\\'seven eight nine\\n' 'ten\\' eleven";
	text = report_at(m, 60);
	static const char escaped[] = "./app one two three four five six \\\n"
				      "  $'six\\'seven eight nine\\n' 'ten\\' eleven\n";
	assert_int_equal(strncmp(text, escaped, sizeof escaped - 1), 0);
	free(text);
	m->private_->processes[0].command_line = "a 'b c";
	text = report_at(m, 60);
	assert_int_equal(strncmp(text, "a 'b c\n", 7), 0);
	free(text);
	model_free(m);
	fixture_remove(directory);
}

/* A thousand ranks have ten million samples within seconds: their columns stay in line. */
static void test_many_samples(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	gen_job(directory, &(struct gen_job){.n_processes = 1,
					     .n_threads = 1,
					     .n_nodes = 16,
					     .n_samples = 40,
					     .n_metrics = 1,
					     .seed = 4,
					     .structs = true});
	struct model *m = fixture_model(directory, 1);
	for (size_t i = 0; i < m->n_totals; i++)
		m->private_->totals[i].n_samples = m->totals[i].n_samples ? 12345678901 : 0;
	m->private_->ledgers[0].in_tree = 123456789;
	char *text = report_model(m);
	size_t n_rows = 0;
	for (const char *at = strstr(text, "Functions by their own");
	     (at = strstr(at, "  12.35 G  ")); at++, n_rows++) {
		const char *begin = at;
		while (begin[-1] != '\n')
			begin--;
		assert_int_equal(at - begin, 7 + 1 + 11 + 1 + 7 + 1);
	}
	assert_true(n_rows > 1);
	assert_non_null(strstr(text, "   123.5 M  "));
	free(text);
	model_free(m);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_how_processes_ended),
		cmocka_unit_test(test_several_rates),
		cmocka_unit_test(test_distortion_without_clocks),
		cmocka_unit_test(test_definition_without_line),
		cmocka_unit_test(test_both_sources),
		cmocka_unit_test(test_thread_names),
		cmocka_unit_test(test_labels_of_rows),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_many_samples),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_shortened_names),
		cmocka_unit_test(test_made_up_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
