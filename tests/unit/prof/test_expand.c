/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/expand and load/structures: frames become functions, inlined
 * calls, loops and lines where the structure says so. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/load/structures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t id_app[3] = {0xaa, 0xbb, 0xcc};

/*
 * /bin/app: main at 0x1000 (main.c:10): 0x1010 line 12; 0x1020 line 13 in small (inlined at
 * main.c:13, small.h:3), 0x1030 tiny inlined in small (at small.h:4), small.h:7; 0x1040 line 15;
 * work at 0x2000 with a loop at work.c:22: 0x2010 line 23, in it a loop at work.c:24: 0x2018 line
 * 25; 0x2020 has no line; nothing from 0x3000 on.
 */
static void write_structure(const char *directory)
{
	struct gen_structure *s = gen_structure_new("/bin/app", id_app, sizeof id_app);
	uint32_t main_c = gen_structure_file(s, "/src/main.c"),
		 small_h = gen_structure_file(s, "/src/small.h"),
		 work_c = gen_structure_file(s, "/src/work.c");
	uint32_t d_main = gen_structure_definition(s, "main", main_c, 10),
		 d_small = gen_structure_definition(s, "small", small_h, 2);
	uint32_t d_tiny = gen_structure_definition(s, "tiny", small_h, 6),
		 d_work = gen_structure_definition(s, "work", work_c, 20);
	uint32_t main_ = gen_structure_function(s, d_main, 0x1000);
	uint32_t small = gen_structure_inline(s, main_, d_small, main_c, 13, 0x1020);
	uint32_t tiny = gen_structure_inline(s, small, d_tiny, small_h, 4, 0x1030);
	uint32_t work = gen_structure_function(s, d_work, 0x2000);
	uint32_t loop = gen_structure_loop(s, work, work_c, 22, 0x2010);
	uint32_t inner = gen_structure_loop(s, loop, work_c, 24, 0x2018);
	gen_structure_interval(s, 0x1000, main_, main_c, 10);
	gen_structure_interval(s, 0x1010, main_, main_c, 12);
	gen_structure_interval(s, 0x1020, small, small_h, 3);
	gen_structure_interval(s, 0x1030, tiny, small_h, 7);
	gen_structure_interval(s, 0x1040, main_, main_c, 15);
	gen_structure_interval(s, 0x1050, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	gen_structure_interval(s, 0x2000, work, work_c, 20);
	gen_structure_interval(s, 0x2010, loop, work_c, 23);
	gen_structure_interval(s, 0x2018, inner, work_c, 25);
	gen_structure_interval(s, 0x2020, work, STRUCTURE_NONE, 0);
	gen_structure_interval(s, 0x3000, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

struct run {
	char *directory;
	struct gen *g;
	uint16_t app, bare;
	uint32_t metric, thread, entry;
	struct model *m;
};

static void begin(struct run *r)
{
	r->directory = fixture_directory();
	r->g = gen_open(r->directory, &(struct gen_process){.pid = 1, .rank = -1});
	r->app = gen_module(r->g, "/bin/app", id_app, sizeof id_app, MSR_MODULE_MAIN);
	r->bare = gen_module(r->g, "/lib/libbare.so", NULL, 0, 0);
	r->metric = gen_metric(r->g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	r->thread = gen_thread(r->g, "t");
	r->entry = gen_entry(r->g, r->thread, MSR_ENTRY_MAIN);
}

static uint32_t call(struct run *r, uint32_t parent, uint64_t link_addr)
{
	return gen_child(r->g, r->thread, parent, msr_addr_make(r->app, link_addr, false));
}

static void sample(struct run *r, uint32_t node)
{
	gen_sample(r->g, r->thread, node, r->metric, 0, 1000000000);
}

static void end(struct run *r, bool structures)
{
	free(gen_close(r->g, MSR_EXIT_RETURN, 0));
	if (structures)
		write_structure(r->directory);
	r->m = fixture_model(r->directory, 1);
	fixture_check_model(r->m);
}

static void clean(struct run *r)
{
	model_free(r->m);
	fixture_remove(r->directory);
}

static double at(const struct run *r, uint32_t context, enum model_scope scope)
{
	const struct model_total *t = model_find_total(r->m, context, 0);
	return t ? t->sum[scope] : 0;
}

static void test_inlined_calls(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, r.entry, 0x1010)); /* main.c:12 */
	sample(&r, call(&r, r.entry, 0x1024)); /* small */
	sample(&r, call(&r, r.entry, 0x1034)); /* tiny in small */
	sample(&r, call(&r, r.entry, 0x103c)); /* the same line of tiny */
	end(&r, true);
	uint32_t main_ = fixture_find_function(r.m, 1, "main");
	assert_int_not_equal(main_, MODEL_NONE);
	assert_int_equal(r.m->contexts[main_].relation, MODEL_CALL);
	assert_int_equal(r.m->contexts[main_].line, 10);
	uint32_t site = fixture_find_line(r.m, main_, 13),
		 small = fixture_find_function(r.m, site, "small");
	assert_int_equal(r.m->contexts[small].relation, MODEL_INLINED);
	uint32_t inner = fixture_find_line(r.m, small, 4),
		 tiny = fixture_find_function(r.m, inner, "tiny"),
		 leaf = fixture_find_line(r.m, tiny, 7);
	assert_int_equal(r.m->contexts[leaf].function, r.m->contexts[tiny].function);
	assert_string_equal(r.m->files[r.m->contexts[leaf].file].path, "/src/small.h");
	assert_true(at(&r, leaf, MODEL_POINT) == 2 &&
		    at(&r, fixture_find_line(r.m, small, 3), MODEL_POINT) == 1);
	assert_true(at(&r, site, MODEL_EXECUTION) == 3 && at(&r, site, MODEL_POINT) == 0);
	/* what is inlined counts for itself, in the function scope */
	assert_true(at(&r, main_, MODEL_FUNCTION) == 1 && at(&r, main_, MODEL_POINT) == 0 &&
		    at(&r, main_, MODEL_LEX_AWARE) == 1);
	assert_true(at(&r, small, MODEL_FUNCTION) == 1 && at(&r, site, MODEL_FUNCTION) == 0 &&
		    at(&r, main_, MODEL_EXECUTION) == 4);
	assert_int_equal(r.m->modules[r.m->contexts[main_].module].structure,
			 MODEL_STRUCTURE_LINES);
	clean(&r);
}

static void test_calls_hang_on_their_line_and_recursion_stays(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t m1 = call(&r, r.entry, 0x1040), m2 = call(&r, m1, 0x1044),
		 m3 = call(&r, m2, 0x1048);
	sample(&r, call(&r, m3, 0x2012));
	sample(&r, m2);
	end(&r, true);
	uint32_t c = 1;
	for (int depth = 0; depth < 3; depth++) {
		c = fixture_find_function(r.m, c, "main");
		assert_int_not_equal(c, MODEL_NONE);
		assert_true(at(&r, c, MODEL_EXECUTION) == (depth < 2 ? 2 : 1));
		assert_true(at(&r, c, MODEL_FUNCTION) ==
			    (depth == 1 ? 1 : 0)); /* calls are not the function's own */
		c = fixture_find_line(r.m, c, 15);
		assert_int_not_equal(c, MODEL_NONE);
	}
	c = fixture_find_function(r.m, c, "work");
	assert_int_equal(r.m->contexts[c + 1].kind, MODEL_CONTEXT_LOOP);
	assert_int_equal(r.m->contexts[c + 1].line, 22);
	assert_int_equal(r.m->contexts[c + 2].kind, MODEL_CONTEXT_LINE);
	assert_int_equal(r.m->contexts[c + 2].line, 23);
	assert_true(at(&r, c, MODEL_LEX_AWARE) == 1 && at(&r, c + 1, MODEL_LEX_AWARE) == 1);
	clean(&r);
}

static void test_loops(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, r.entry, 0x2010));
	sample(&r, call(&r, r.entry, 0x2018));
	sample(&r, call(&r, r.entry, 0x201c));
	end(&r, true);
	uint32_t work = fixture_find_function(r.m, 1, "work"), outer = work + 1, inner = outer + 1;
	assert_true(r.m->contexts[outer].kind == MODEL_CONTEXT_LOOP &&
		    r.m->contexts[outer].line == 22);
	assert_true(r.m->contexts[inner].kind == MODEL_CONTEXT_LOOP &&
		    r.m->contexts[inner].line == 24 && r.m->contexts[inner].parent == outer);
	assert_true(at(&r, outer, MODEL_FUNCTION) == 3 && at(&r, outer, MODEL_LEX_AWARE) == 1 &&
		    at(&r, outer, MODEL_POINT) == 0);
	assert_true(at(&r, inner, MODEL_LEX_AWARE) == 2 && at(&r, work, MODEL_LEX_AWARE) == 3);
	clean(&r);
}

static void test_addresses_without_line_or_function(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, r.entry, 0x2020)); /* work, no line */
	sample(&r, call(&r, r.entry, 0x1060)); /* a gap */
	sample(&r, call(&r, r.entry, 0x9000)); /* beyond all code */
	sample(&r, gen_child(r.g, r.thread, r.entry,
			     msr_addr_make(r.bare, 0x40, true))); /* no structure; guessed */
	sample(&r,
	       gen_child(r.g, r.thread, r.entry, msr_addr_make(MSR_MODULE_UNKNOWN, 0x7777, false)));
	end(&r, true);
	uint32_t work = fixture_find_function(r.m, 1, "work");
	assert_int_equal(r.m->contexts[work + 1].kind, MODEL_CONTEXT_INSTRUCTION);
	assert_true(r.m->contexts[work + 1].link_addr == 0x2020 &&
		    r.m->contexts[work].link_addr == 0x2000);
	uint32_t gap = fixture_find_function(r.m, 1, "<unknown function> [app]");
	assert_int_equal(r.m->contexts[gap].subtree_n, 3); /* both addresses */
	uint32_t bare = fixture_find_function(r.m, 1, "<unknown function> [libbare.so] [guessed]");
	assert_true(r.m->contexts[bare].marked && r.m->contexts[bare + 1].marked);
	assert_false(r.m->contexts[work + 1].marked);
	assert_int_equal(r.m->modules[r.m->contexts[bare].module].structure, MODEL_STRUCTURE_NONE);
	assert_int_not_equal(fixture_find_function(r.m, 1, "<code outside every module>"),
			     MODEL_NONE);
	assert_true(at(&r, 0, MODEL_EXECUTION) == 5);
	clean(&r);
}

static double guessed_at(const struct run *r, uint32_t context, enum model_scope scope)
{
	const struct model_total *t = model_find_total(r->m, context, 1);
	return t ? t->sum[scope] : 0;
}

/*
 * main calls work, once by the rules and three times by a guess; below both of them small is
 * called. What hangs on the guess is apart from the rest, and a metric says how much of main came
 * by it.
 */
static void test_guessed_frames(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t main_ = call(&r, r.entry, 0x1010), exact = call(&r, main_, 0x2012);
	uint32_t guess = gen_child(r.g, r.thread, main_, msr_addr_make(r.app, 0x2012, true));
	sample(&r, call(&r, exact, 0x1024));
	for (int i = 0; i < 3; i++)
		sample(&r, call(&r, guess, 0x1024));
	end(&r, true);
	uint32_t outer = fixture_find_function(r.m, 1, "main"),
		 line = fixture_find_line(r.m, outer, 12);
	uint32_t by_rule = fixture_find_function(r.m, line, "work");
	uint32_t by_guess = fixture_find_function(r.m, line, "work [guessed]");
	assert_true(by_rule != MODEL_NONE && by_guess != MODEL_NONE);
	assert_true(at(&r, by_rule, MODEL_EXECUTION) == 1 &&
		    at(&r, by_guess, MODEL_EXECUTION) == 3);
	assert_true(r.m->contexts[by_guess].marked && !r.m->contexts[by_rule].marked);
	assert_true(r.m->contexts[by_guess + 1].kind == MODEL_CONTEXT_LOOP &&
		    r.m->contexts[by_guess + 1].marked);
	assert_true(r.m->contexts[by_guess + 2].kind == MODEL_CONTEXT_LINE &&
		    r.m->contexts[by_guess + 2].marked);
	assert_int_equal(r.m->functions[r.m->contexts[by_guess].function].link_addr, 0x2000);
	uint32_t leaf =
		fixture_find_function(r.m, by_guess + 2, "main"); /* small is inlined in main */
	assert_false(r.m->contexts[leaf].marked);

	assert_int_equal(r.m->n_metrics, 2);
	assert_string_equal(r.m->metrics[1].name, "CPUTIME:GUESSED (sec)");
	assert_int_equal(r.m->metrics[1].kind, MODEL_METRIC_GUESSED);
	assert_int_equal(r.m->metrics[1].parent, 0);
	assert_true(guessed_at(&r, 0, MODEL_EXECUTION) == 3 &&
		    guessed_at(&r, outer, MODEL_EXECUTION) == 3);
	assert_true(guessed_at(&r, by_rule, MODEL_EXECUTION) == 0);
	assert_true(guessed_at(&r, leaf, MODEL_EXECUTION) == 3);
	assert_int_equal(r.m->ledger.n_complete, 1);
	assert_int_equal(r.m->ledger.n_guessed, 3);
	clean(&r);
}

static void test_no_guess_no_metric(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, r.entry, 0x2012));
	end(&r, true);
	assert_int_equal(r.m->n_metrics, 1);
	clean(&r);
}

static void test_entries(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t thread = gen_entry(r.g, r.thread, MSR_ENTRY_THREAD),
		 partial = gen_entry(r.g, r.thread, MSR_ENTRY_PARTIAL + MSR_END_NO_PROGRESS);
	uint32_t later = gen_entry(r.g, r.thread, MSR_ENTRY_PARTIAL + 40);
	sample(&r, call(&r, thread, 0x1010));
	sample(&r, call(&r, partial, 0x1010));
	sample(&r, call(&r, later, 0x1010));
	sample(&r, call(&r, r.entry, 0x1010));
	end(&r, true);
	uint32_t c = 1;
	static const uint8_t entries[] = {MODEL_ENTRY_MAIN, MODEL_ENTRY_THREAD, MODEL_ENTRY_PARTIAL,
					  MODEL_ENTRY_PARTIAL};
	static const uint8_t ends[] = {0, 0, MSR_END_NO_PROGRESS, 40};
	for (int i = 0; i < 4; i++, c += r.m->contexts[c].subtree_n) {
		assert_int_equal(r.m->contexts[c].kind, MODEL_CONTEXT_ENTRY);
		assert_int_equal(r.m->contexts[c].entry, entries[i]);
		assert_int_equal(r.m->contexts[c].end, ends[i]);
		assert_true(at(&r, c, MODEL_EXECUTION) == 1);
	}
	clean(&r);
}

static uint32_t wait(struct run *r, uint32_t parent, uint32_t code)
{
	return gen_child(r->g, r->thread, parent, msr_addr_make(MSR_MODULE_NONE, code, false));
}

/* The placeholder of the wait with this name below `parent`. */
static uint32_t find_wait(const struct run *r, uint32_t parent, const char *name, uint8_t wait)
{
	uint32_t c = fixture_find_function(r->m, parent, name);
	assert_int_not_equal(c, MODEL_NONE);
	const struct model_context *x = &r->m->contexts[c];
	assert_int_equal(x->relation, MODEL_CALL);
	assert_int_equal(x->module, MODEL_NONE);
	assert_int_equal(r->m->functions[x->function].wait, wait);
	return c;
}

static void test_waits(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t fork = call(&r, r.entry, 0x1010), end_of_region = wait(&r, fork, MSR_WAIT);
	sample(&r, end_of_region);
	sample(&r, call(&r, end_of_region, 0x2012)); /* a task: it goes below the fork */
	uint32_t file = wait(&r, fork, MSR_WAIT + MSR_WAIT_FILE);
	sample(&r, file);
	sample(&r, wait(&r, file, MSR_WAIT_ON + 3)); /* there is no record: it adds nothing */
	sample(&r, wait(&r, file, MSR_WAIT_ON + 4));
	sample(&r, wait(&r, fork, MSR_WAIT_ON + 5));
	sample(&r, wait(&r, r.entry, MSR_WAIT + MSR_N_WAITS)); /* of a later version */
	end(&r, true);
	assert_int_equal(r.m->ledger.bytes_damaged, 0);
	uint32_t line = fixture_find_line(r.m, fixture_find_function(r.m, 1, "main"), 12);
	uint32_t c = find_wait(&r, line, "<waits at the end of the region>", 1 + MSR_WAIT_OMP_END);
	assert_true(at(&r, c, MODEL_POINT) == 1 && at(&r, c, MODEL_EXECUTION) == 1);
	assert_int_not_equal(fixture_find_function(r.m, line, "work"), MODEL_NONE);
	c = find_wait(&r, line, "<blocked: file>", 1 + MSR_WAIT_FILE);
	assert_true(at(&r, c, MODEL_POINT) == 3 && r.m->contexts[c].subtree_n == 1);
	c = find_wait(&r, line, "<blocked: unknown cause>", MODEL_WAIT_UNKNOWN);
	assert_true(at(&r, c, MODEL_POINT) == 1);
	c = find_wait(&r, 1, "<blocked: unknown cause>", MODEL_WAIT_UNKNOWN);
	assert_true(at(&r, c, MODEL_POINT) == 1);
	clean(&r);
}

static void test_idle_entry(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, gen_entry(r.g, r.thread, MSR_ENTRY_OMP_IDLE), 0x2012));
	end(&r, true);
	const struct model_context *c = &r.m->contexts[1 + r.m->contexts[1].subtree_n];
	assert_int_equal(c->kind, MODEL_CONTEXT_ENTRY);
	assert_int_equal(c->entry, MODEL_ENTRY_OMP_IDLE);
	assert_int_equal(r.m->ledger.n_complete, 1);
	clean(&r);
}

/* A wait is no entry and an entry is no wait. */
static void test_misplaced_synthetic_frames(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, r.entry, 0x1010));
	sample(&r, wait(&r, 0, MSR_WAIT + MSR_WAIT_FUTEX));
	sample(&r, wait(&r, 0, MSR_WAIT_ON + 1));
	sample(&r, wait(&r, call(&r, r.entry, 0x1010), MSR_ENTRY_OMP_IDLE));
	sample(&r, wait(&r, call(&r, r.entry, 0x1010), 0));
	end(&r, true);
	assert_true(r.m->ledger.bytes_damaged >= 4 * sizeof(struct msr_node));
	assert_int_equal(r.m->ledger.in_tree, 1);
	assert_false(r.m->ledger_closes);
	clean(&r);
}

static void test_damaged_structure_is_left_out(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	sample(&r, call(&r, r.entry, 0x1010));
	write_structure(r.directory);
	char *path;
	assert_true(asprintf(&path, "%s/structs/aabbcc.hpcstruct", r.directory) > 0);
	FILE *f = fopen(path, "r+");
	assert_non_null(f);
	fseek(f, 300, SEEK_SET);
	fputs("damage", f);
	fclose(f);
	free(path);
	end(&r, false);
	assert_int_not_equal(fixture_find_function(r.m, 1, "<unknown function> [app]"), MODEL_NONE);
	clean(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inlined_calls),
		cmocka_unit_test(test_calls_hang_on_their_line_and_recursion_stays),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_addresses_without_line_or_function),
		cmocka_unit_test(test_guessed_frames),
		cmocka_unit_test(test_no_guess_no_metric),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_idle_entry),
		cmocka_unit_test(test_misplaced_synthetic_frames),
		cmocka_unit_test(test_damaged_structure_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
