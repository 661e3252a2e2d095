/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of the report for people (hpcprof-lite/sink/text*): guessed frames are marked wherever they
 * are shown, tables name the right function, processes have names, figures add up.
 */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/sink/text/text_sink.h"

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

static const uint8_t id_app[3] = {1, 2, 3};

/*
 * /bin/app: main at 0x1000 (main.c:10) calls at line 12; solve at 0x2000 (main.c:30) calls at line
 * 32; yield and name at 0x3000 and 0x3100 are made by one line of a macro, calls.S:120; bare at
 * 0x4000 has no lines, and a loop at 0x4010; _start at 0x6000.
 */
static void write_structure(const char *directory)
{
	struct gen_structure *s = gen_structure_new("/bin/app", id_app, sizeof id_app);
	uint32_t main_c = gen_structure_file(s, "/src/main.c"),
		 calls = gen_structure_file(s, "/src/calls.S");
	uint32_t none = STRUCTURE_NONE;
	uint32_t main_ =
		gen_structure_function(s, gen_structure_definition(s, "main", main_c, 10), 0x1000);
	uint32_t solve =
		gen_structure_function(s, gen_structure_definition(s, "solve", main_c, 30), 0x2000);
	uint32_t yield =
		gen_structure_function(s, gen_structure_definition(s, "yield", none, 0), 0x3000);
	uint32_t name =
		gen_structure_function(s, gen_structure_definition(s, "name", none, 0), 0x3100);
	uint32_t bare =
		gen_structure_function(s, gen_structure_definition(s, "bare", none, 0), 0x4000);
	uint32_t loop = gen_structure_loop(s, bare, none, 0, 0x4010);
	gen_structure_interval(s, 0x1000, main_, main_c, 12);
	gen_structure_interval(s, 0x2000, solve, main_c, 32);
	gen_structure_interval(s, 0x3000, yield, calls, 120);
	gen_structure_interval(s, 0x3100, name, calls, 120);
	gen_structure_interval(s, 0x4000, bare, none, 0);
	gen_structure_interval(s, 0x4010, loop, none, 0);
	gen_structure_interval(s, 0x4020, bare, none, 0);
	gen_structure_interval(s, 0x5000, none, none, 0);
	uint32_t start =
		gen_structure_function(s, gen_structure_definition(s, "_start", none, 0), 0x6000);
	gen_structure_interval(s, 0x6000, start, none, 0);
	gen_structure_interval(s, 0x7000, none, none, 0);
	free(gen_structure_close(s, directory));
}

struct run {
	char *directory;
	struct gen *g;
	uint16_t app;
	uint32_t metric, thread, main;
};

/* A process whose thread is in main. */
static void begin_process(struct run *r, const struct gen_process *p, const char *executable)
{
	r->g = gen_open(r->directory, p);
	gen_info(r->g, "executable", executable);
	r->app = gen_module(r->g, "/bin/app", id_app, sizeof id_app, MSR_MODULE_MAIN);
	r->metric = gen_metric(r->g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	r->thread = gen_thread(r->g, "app");
	r->main = gen_child(r->g, r->thread, gen_entry(r->g, r->thread, MSR_ENTRY_MAIN),
			    msr_addr_make(r->app, 0x1000, false));
}

static void begin(struct run *r)
{
	r->directory = fixture_directory();
	write_structure(r->directory);
	begin_process(r, &(struct gen_process){.pid = 1, .rank = -1}, "/bin/app");
}

static uint32_t call(const struct run *r, uint32_t parent, uint64_t link_addr, bool guessed)
{
	return gen_child(r->g, r->thread, parent, msr_addr_make(r->app, link_addr, guessed));
}

static void sample(const struct run *r, uint32_t node, uint64_t seconds)
{
	gen_sample(r->g, r->thread, node, r->metric, 0, seconds * SECOND);
}

/* Owned by the caller. */
static char *write_report(const struct run *r, const struct sink_text_options *how)
{
	struct model *m = fixture_model(r->directory, 1);
	struct sink_text_options t = *how;
	char *text = NULL;
	size_t n = 0;
	t.out = open_memstream(&text, &n);
	assert_non_null(t.out);
	assert_int_equal(sink_text.write(m, &(struct sink_options){.n_workers = 1, .settings = &t}),
			 STATUS_OK);
	fclose(t.out);
	model_free(m);
	return text;
}

/* With a threshold, because these runs have few samples. */
static char *report(const struct run *r, unsigned views)
{
	return write_report(
		r, &(struct sink_text_options){.threshold = 1, .width = 120, .views = views});
}

/* Without what is between words, so that columns may be as wide as they like. */
static char *squeeze(char *text)
{
	char *to = text;
	for (const char *s = text; *s; s++)
		if (*s != ' ' || (s > text && s[-1] != ' '))
			*to++ = *s;
	*to = 0;
	return text;
}

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("'%s' is not in:\n%s", what, text);
}

static void has_not(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("'%s' is in:\n%s", what, text);
}

/* main calls solve by the rules for 6 s, and by a guess for 2 s; yield is called by both. */
static void make_guesses(struct run *r)
{
	begin(r);
	uint32_t exact = call(r, r->main, 0x2000, false), guess = call(r, r->main, 0x2000, true);
	sample(r, call(r, exact, 0x3000, false), 6);
	sample(r, call(r, guess, 0x3000, false), 2);
	free(gen_close(r->g, MSR_EXIT_RETURN, 0));
}

static void test_guesses_in_the_tree(void **state)
{
	(void)state;
	struct run r;
	make_guesses(&r);
	char *text = squeeze(report(&r, SINK_TEXT_PATHS));
	has(text, "?: a guessed frame");
	has(text, " total self total guessed call path");
	has(text, "100.0% 8.00 s 25.0% main\n");
	has(text, "75.0% 6.00 s ");
	has(text, " solve main.c:12\n");
	has(text, "25.0% 2.00 s 100.0% ");
	has(text, " ? solve main.c:12\n");
	has(text, "25.0% 25.0% 2.00 s 100.0% yield main.c:32\n");
	free(text);
	fixture_remove(r.directory);
}

static void test_guesses_in_tables(void **state)
{
	(void)state;
	struct run r;
	make_guesses(&r);
	char *text = squeeze(report(&r, SINK_TEXT_FUNCTIONS | SINK_TEXT_MODULES));
	has(text, "?: a guessed frame");
	has(text, "100.0% 8.00 s 100.0% 2 yield app\n"); /* runs for sure, whoever called it */
	has(text, " 100.0% 25.0% main main.c:10\n");
	has(text, " 75.0% solve main.c:30\n");
	has(text, " 25.0% 100.0% ? solve main.c:30\n");
	has(text, "100.0% 8.00 s 100.0% 25.0% 2 /bin/app\n");
	free(text);
	fixture_remove(r.directory);
}

static void test_guesses_are_not_complete(void **state)
{
	(void)state;
	struct run r;
	make_guesses(&r);
	char *text = report(&r, SINK_TEXT_PATHS);
	has(text, "call paths: 1 complete (50.00%), 1 with a guessed frame (50.00%)\n");
	free(text);
	text = write_report(&r, &(struct sink_text_options){.all = true});
	has(text, "\nfunction\t2\t0\t1\t30\t0x2000\tsolve [guessed]\t");
	has(text, "\nguessed\t1\t0\n");
	has(text, "\npaths\tall\t-\tguessed\t1\n");
	free(text);
	fixture_remove(r.directory);
}

static void test_no_guess_no_word(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, r.main, 0x2000, false), 1);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	char *text = report(&r, 0);
	has_not(text, "guess");
	has_not(text, "?");
	free(text);
	fixture_remove(r.directory);
}

/* A guess in a path that was cut as well: the path counts once. */
static void test_paths_add_up(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t real = gen_metric(r.g, "REALTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	uint32_t cut = gen_entry(r.g, r.thread, MSR_ENTRY_PARTIAL + MSR_END_NO_CFI);
	sample(&r, r.main, 1);
	gen_sample(r.g, r.thread, r.main, real, 0, SECOND);
	sample(&r, call(&r, r.main, 0x2000, true), 1);
	sample(&r, call(&r, cut, 0x2000, true), 1);
	sample(&r, call(&r, cut, 0x3000, false), 1);
	gen_thread_record(r.g, r.thread)->path_ends[MSR_END_ROOT] =
		2; /* one walk for both events */
	gen_thread_record(r.g, r.thread)->path_ends[MSR_END_NO_CFI] = 2;
	gen_thread_record(r.g, r.thread)->n_marked = 2;
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	char *text = report(&r, SINK_TEXT_PATHS);
	has(text, "Ledger: 5 samples delivered = 5 in the tree + 0 lost");
	has(text, "call paths: 2 complete (40.00%), 1 with a guessed frame (20.00%), 2 ended by: ");
	free(text);
	fixture_remove(r.directory);
}

/* What a macro of assembler makes is one line in several functions. */
static void test_lines_name_their_function(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, r.main, 0x3000, false), 9);
	sample(&r, call(&r, r.main, 0x3100, false), 1);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	char *text = squeeze(report(&r, SINK_TEXT_LINES));
	has(text, "90.0% 9.00 s 90.0% 1 calls.S:120 yield\n");
	has(text, "10.0% 1.00 s 10.0% 1 calls.S:120 name\n");
	free(text);
	fixture_remove(r.directory);
}

/* Functions that only call are in the table; the order is to be had, and said. */
static void test_order(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, call(&r, r.main, 0x2000, false), 0x3000, false), 6);
	sample(&r, call(&r, r.main, 0x3100, false), 4);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	char *text = squeeze(report(&r, SINK_TEXT_FUNCTIONS));
	has(text, "Functions by their own CPUTIME (sec), then by total\n");
	const char *yield = strstr(text, "yield"), *name = strstr(text, "name app"),
		   *main_ = strstr(text, " 100.0% main");
	const char *solve = strstr(text, " 60.0% solve");
	assert_true(yield && name && main_ && solve && yield < name && name < main_ &&
		    main_ < solve);
	free(text);
	text = squeeze(write_report(&r, &(struct sink_text_options){.threshold = 1,
								    .width = 120,
								    .by_total = true,
								    .views = SINK_TEXT_FUNCTIONS}));
	has(text, "Functions by total CPUTIME (sec)\n");
	main_ = strstr(text, " 100.0% main");
	solve = strstr(text, " 60.0% solve");
	yield = strstr(text, "yield");
	name = strstr(text, "name app");
	assert_true(main_ && solve && yield && name && main_ < solve && solve < name &&
		    yield < name);
	free(text);
	fixture_remove(r.directory);
}

/* At every width, each call of a recursion is further to the right than its caller. */
static void check_recursion(const char *text, unsigned n_calls)
{
	size_t column = 0;
	unsigned n = 0, n_pieces = 0;
	for (const char *at; (at = strstr(text, "solve ")); text = at + 1) {
		size_t here = 0; /* counts each character of UTF-8 once */
		for (const char *c = at; c[-1] != '\n'; c--)
			here += ((unsigned char)c[-1] & 0xc0) != 0x80;
		const bool is_piece = strncmp(at - 4, "[", 1) == 0;
		assert_true(here > column || is_piece);
		column = is_piece ? 0 : here;
		n_pieces += is_piece;
		n++;
	}
	assert_int_equal(n_pieces, 1);
	assert_int_equal(n, n_calls + 1); /* the first row of a piece is there twice */
}

static void test_deep_recursion(void **state)
{
	(void)state;
	enum { CALLS = 40 };
	struct run r;
	begin(&r);
	uint32_t node = r.main;
	for (unsigned i = 0; i < CALLS; i++)
		sample(&r, node = call(&r, node, 0x2000, false), 1);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	static const unsigned widths[] = {80, 100, 120, 160, 200};
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		char *text = write_report(
			&r, &(struct sink_text_options){
				    .threshold = 1, .width = widths[i], .views = SINK_TEXT_PATHS});
		check_recursion(strstr(text, "Call paths"), CALLS);
		free(text);
	}
	fixture_remove(r.directory);
}

/* What every path leads through has a row only if it took time itself. */
static void test_frames_above_main(void **state)
{
	(void)state;
	for (unsigned own = 0; own < 2; own++) {
		struct run r;
		begin(&r);
		const uint32_t start =
			gen_child(r.g, r.thread, gen_entry(r.g, r.thread, MSR_ENTRY_MAIN),
				  msr_addr_make(r.app, 0x6000, false));
		sample(&r, call(&r, call(&r, start, 0x1000, false), 0x3000, false), 9);
		if (own)
			sample(&r, start, 1);
		free(gen_close(r.g, MSR_EXIT_RETURN, 0));
		char *text = squeeze(report(&r, SINK_TEXT_PATHS | SINK_TEXT_FUNCTIONS));
		has(text, own ? " 100.0% 10.0% 10.00 s _start\n"
			      : " <main thread>\n 100.0% 9.00 s main\n");
		has(text, "0.0% main main.c:10\n");
		has(text, own ? " 10.0% 1.00 s 100.0% 1 _start app\n" : " 9.00 s main\n");
		if (!own)
			has_not(text, "_start");
		free(text);
		fixture_remove(r.directory);
	}
}

/* By default a row needs three samples, whatever their share; a threshold asks for the share. */
static void test_few_samples(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	const unsigned views = SINK_TEXT_PATHS | SINK_TEXT_FUNCTIONS;
	for (unsigned i = 0; i < 14; i++)
		sample(&r, call(&r, r.main, i < 9 ? 0x3000 : i < 12 ? 0x2000 : 0x3100, false), 1);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	char *text = squeeze(report(&r, views));
	has(text, " name main.c:12\n");
	has(text, "14.3% 2.00 s 14.3% 2 name app\n");
	free(text);
	text = squeeze(write_report(
		&r, &(struct sink_text_options){.threshold = -1, .width = 120, .views = views}));
	has(text, " solve main.c:12\n");
	has(text, "21.4% 3.00 s 21.4% 3 solve main.c:30\n");
	has(text, " 1 more below 3 samples\n");
	has_not(text, "name");
	free(text);
	fixture_remove(r.directory);
}

static void test_modules_are_in_the_report(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, r.main, 1);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	char *text = squeeze(report(&r, 0));
	has(text, "Modules by their own CPUTIME (sec)");
	has(text, "100.0% 1.00 s 100.0% 1 /bin/app\n");
	free(text);
	fixture_remove(r.directory);
}

/* A loop without a line is no row; what is in it is one. */
/* Many modules without functions: those that matter, and the others on one line. */
static void test_modules_without_functions(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	for (unsigned i = 0; i < 10; i++) {
		char path[32];
		snprintf(path, sizeof path, "/lib/lib%u.so", i);
		uint16_t module = gen_module(r.g, path, NULL, 0, 0);
		sample(&r, gen_child(r.g, r.thread, r.main, msr_addr_make(module, 16, false)),
		       i == 4 ? 991 : 1);
	}
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	char *text = report(&r, SINK_TEXT_PATHS);
	has(text, "  /lib/lib4.so has no structure file: its functions are unknown (99.1% of");
	has(text, "  9 more modules without known functions (0.9% of CPUTIME)\n");
	has_not(text, "/lib/lib3.so has no");
	free(text);
	text = write_report(&r, &(struct sink_text_options){.width = 120});
	has(text, "  /lib/lib3.so has no structure file: its functions are unknown (0.1% of");
	has_not(text, "more modules without known");
	free(text);
	fixture_remove(r.directory);
}

static void test_loops_without_lines(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t bare = call(&r, r.main, 0x4010, false);
	sample(&r, bare, 1);
	sample(&r, call(&r, bare, 0x3000, false), 2);
	sample(&r, call(&r, call(&r, r.main, 0x4000, false), 0x3100, false), 1);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	char *text = squeeze(report(&r, SINK_TEXT_PATHS));
	has_not(text, "loop at");
	has(text, "100.0% 25.0% 4.00 s bare main.c:12\n"); /* its own time is in the loop */
	has(text, " yield +0x10\n");
	has(text, " name +0\n");
	free(text);
	text = write_report(&r, &(struct sink_text_options){.all = true});
	has(text, "\tloop\t");
	free(text);
	fixture_remove(r.directory);
}

static void test_processes_have_names(void **state)
{
	(void)state;
	struct run r = {.directory = fixture_directory()};
	for (uint32_t pid = 1; pid <= 2; pid++) {
		begin_process(&r, &(struct gen_process){.host = "h", .pid = pid, .rank = -1},
			      pid == 1 ? "/bin/first" : "/opt/second");
		sample(&r, r.main, pid);
		free(gen_close(r.g, MSR_EXIT_RETURN, pid == 2 ? 7 : 0));
	}
	char *text = report(&r, SINK_TEXT_THREADS);
	has(text, "  1 process ended with exit status 7: second pid 2\n");
	has(text, "  h pid 1 first, 1 thread\n");
	has(text, "  h pid 2 second, 1 thread\n");
	has_not(text, "Threads by"); /* would say the same */
	free(text);

	begin_process(&r, &(struct gen_process){.host = "h", .pid = 3, .rank = -1}, "/bin/third");
	uint32_t other = gen_thread(r.g, "other");
	gen_sample(r.g, other, gen_entry(r.g, other, MSR_ENTRY_THREAD), r.metric, 0, SECOND);
	sample(&r, r.main, 1);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	text = report(&r, SINK_TEXT_THREADS);
	has(text, "Processes by");
	has(text, "Threads by");
	has(text, "  h pid 3 thread 1 other\n");
	free(text);
	fixture_remove(r.directory);
}

/* Two runs of 2 s and 3 s with a quarter of an hour between them. */
static void test_runs_far_apart(void **state)
{
	(void)state;
	struct run r = {.directory = fixture_directory()};
	static const uint64_t tenth = SECOND / 10;
	static const uint64_t starts[] = {10000, 19020, 19030, 19055}, lengths[] = {20, 20, 20, 10};
	for (uint32_t i = 0; i < 4; i++) {
		begin_process(&r,
			      &(struct gen_process){.pid = i + 1,
						    .rank = -1,
						    .start_mono_ns = starts[i] * tenth,
						    .start_real_ns = starts[i] * tenth},
			      "/bin/app");
		gen_sample(r.g, r.thread, r.main, r.metric, (starts[i] + lengths[i]) * tenth,
			   SECOND);
		free(gen_close(r.g, MSR_EXIT_RETURN, 0));
		char *text = report(&r, SINK_TEXT_PATHS);
		has(text, i == 0   ? ", 2.00 s elapsed\n"
			  : i == 1 ? ", 4.00 s elapsed in 2 runs, without 900.0 s between them\n"
			  : i == 2 ? ", 5.00 s elapsed in 2 runs, without 900.0 s between them\n"
				   : ", 6.00 s elapsed in 3 runs, without 900.5 s between them\n");
		free(text);
	}
	fixture_remove(r.directory);
}

/* Eight jobs are named, and no more. */
static void test_jobs(void **state)
{
	(void)state;
	struct run r = {.directory = fixture_directory()};
	for (uint32_t pid = 1; pid <= 9; pid++) {
		char job[16];
		snprintf(job, sizeof job, "%u", 100 + pid);
		begin_process(&r, &(struct gen_process){.host = "h", .pid = pid, .rank = -1},
			      "/bin/app");
		gen_info(r.g, "job", job);
		sample(&r, r.main, pid);
		free(gen_close(r.g, MSR_EXIT_RETURN, 0));
		if (pid < 8)
			continue;
		char *text = report(&r, SINK_TEXT_PATHS);
		has(text, pid == 8 ? "  job 101, 102, 103, 104, 105, 106, 107, 108\n"
				   : "  job 101, 102, 103, 104, 105, 106, 107, 108, ...\n");
		free(text);
	}
	fixture_remove(r.directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guesses_in_the_tree),
		cmocka_unit_test(test_guesses_in_tables),
		cmocka_unit_test(test_guesses_are_not_complete),
		cmocka_unit_test(test_no_guess_no_word),
		cmocka_unit_test(test_paths_add_up),
		cmocka_unit_test(test_lines_name_their_function),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_deep_recursion),
		cmocka_unit_test(test_frames_above_main),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_modules_are_in_the_report),
		cmocka_unit_test(test_modules_without_functions),
		cmocka_unit_test(test_loops_without_lines),
		cmocka_unit_test(test_processes_have_names),
		cmocka_unit_test(test_runs_far_apart),
		cmocka_unit_test(test_jobs),
	};
	setenv("LC_ALL", "C.UTF-8", 1); /* for the lines of the tree */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
