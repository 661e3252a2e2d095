/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings that names of functions and modules tell: start-up, files, code without names. Made runs
 * of one thread of 10 s with one cause each.
 */
#include "tests/unit/prof/findings_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6)

/* A run whose thread works in `path` for some seconds, and for the rest in main. */
static void begin_with(struct run *r, const char *path, double seconds)
{
	run_begin(r, "0-0");
	run_thread(r, 0, 10);
	run_work(r, 0, path, seconds);
	run_work(r, 0, "main", 10 - seconds);
}

/* ---- start-up ---- */

/* Sources of Python are modules of their own; the generator has none. */
static void find_with_python(struct run *r)
{
	run_model(r);
	for (uint32_t i = 0; i < r->m->n_modules; i++)
		if (strcmp(r->m->modules[i].path, "/src/tool.py") == 0)
			r->m->private_->modules[i].is_python = true;
	run_find(r);
}

static void start_up(void **state)
{
	static const struct {
		const char *path, *key;
	} cases[] = {{"main/<module>/<module> of b/helper", "import"},
		     {"_dl_relocate_object", "load"},
		     {"main/cuModuleLoadData/plain", "compile"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run r;
		begin_with(&r, cases[i].path, 1.1); /* a tenth, and a little */
		find_with_python(&r);
		const struct finding *f = run_has(&r, cases[i].key, 0.55);
		assert_true(f->low == 0);
		NEAR(f->cost, 1.1);
		NEAR(f->high, 1.1 * 1.1 + 0.5);
		NEAR(f->facts[0].value, 0.11);
		run_end(&r);
		begin_with(&r, cases[i].path, 0.9);
		find_with_python(&r);
		run_has_not(&r, cases[i].key);
		run_end(&r);
	}
}

/* The module that runs is no import, and neither is a function of this name in other code. */
static void no_import(void **state)
{
	static const char *const paths[] = {"main/<module>/helper", "main/helper/plain"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct run r;
		begin_with(&r, paths[i], 5);
		find_with_python(&r);
		run_has_not(&r, "import");
		run_end(&r);
	}
	struct run r;
	begin_with(&r, "main/<module>/<module> of b", 5);
	run_finish(&r); /* no Python */
	run_has_not(&r, "import");
	run_end(&r);
}

/* What an import loads counts once, and that of another thread as well. */
static void start_up_of_threads(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-1");
	run_thread(&r, 0, 10);
	run_thread(&r, 0, 10);
	run_work(&r, 0, "main/_dl_relocate_object/_dl_relocate_object", 2);
	run_work(&r, 0, "main/_dl_relocate_object/plain", 1);
	run_work(&r, 0, "main", 7);
	run_work(&r, 1, "_dl_relocate_object", 1);
	run_work(&r, 1, "main", 9);
	run_finish(&r);
	run_has(&r, "load", 1); /* half of (3 + 1) / 2 threads */
	run_end(&r);
}

/* ---- names ---- */

/* Code in a file without symbols. */
static void no_names(void **state)
{
	struct run r;
	(void)state;
	begin_with(&r, "main/?", 1.1);
	run_finish(&r);
	const struct finding *f = run_has(&r, "no-names", 0);
	assert_string_equal(f->subject, "libbare.so.1");
	assert_true(f->high == 0 && f->cost == 0);
	NEAR(f->facts[0].value, 0.11);
	run_end(&r);
	begin_with(&r, "main/?", 0.9);
	run_finish(&r);
	run_has_not(&r, "no-names");
	run_end(&r);
}

/* Vendors of GPUs keep their names, and what waits needs none. */
static void names_that_are_not_missed(void **state)
{
	struct run r;
	(void)state;
	begin_with(&r, "main/?", 5);
	run_model(&r);
	for (uint32_t i = 0; i < r.m->n_modules; i++)
		if (strcmp(r.m->modules[i].path, "/opt/libbare.so.1") == 0)
			r.m->private_->modules[i].role = MODEL_MODULE_LAUNCH;
	run_find(&r);
	run_has_not(&r, "no-names");
	run_end(&r);
	run_begin(&r, "0-0");
	run_thread(&r, 0, 10);
	run_work(&r, 0, "main", 5);
	run_wait(&r, 0, "main/?", MSR_WAIT_SLEEP, 5);
	run_finish(&r);
	run_has_not(&r, "no-names");
	run_end(&r);
	begin_with(&r, "main/MPI_Send/?", 5); /* a transport of MPI */
	fixture_internals = true;
	run_finish(&r);
	fixture_internals = false;
	run_has_not(&r, "no-names");
	run_end(&r);
}

static void no_lines(void **state)
{
	struct run r;
	(void)state;
	begin_with(&r, "main/plain", 3.1);
	run_finish(&r);
	assert_string_equal(run_has(&r, "no-lines", 0)->subject, "libplain.so");
	run_end(&r);
	begin_with(&r, "main/plain", 2.9);
	run_finish(&r);
	run_has_not(&r, "no-lines");
	run_end(&r);
	begin_with(&r, "main/system_call", 9); /* of the system */
	run_finish(&r);
	run_has_not(&r, "no-lines");
	run_end(&r);
}

/* Code without names has no lines either: one finding is enough. */
static void names_come_before_lines(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-0");
	run_thread(&r, 0, 10);
	run_work(&r, 0, "main/plain", 4);
	run_work(&r, 0, "main/?", 6);
	run_finish(&r);
	run_has(&r, "no-names", 0);
	run_has_not(&r, "no-lines");
	run_end(&r);
}

/* ---- files ---- */

static void begin_with_calls(struct run *r, const char *path, uint64_t calls, uint64_t bytes)
{
	begin_with(r, path, 4);
	gen_header(r->g)->usage.reads = calls;
	gen_header(r->g)->usage.read_bytes = calls * bytes;
}

/* 4 s in calls: what is left is what calls of 4 KiB would take. */
static void small_reads(void **state)
{
	struct run r;
	(void)state;
	begin_with_calls(&r, "readers/__GI___libc_read/internal", 1000, 1024);
	run_finish(&r);
	const struct finding *f = run_has(&r, "file-calls", 3);
	NEAR(f->cost, 4);
	NEAR(f->low, 1.5);
	NEAR(f->high, 1.1 * 1.1 * 4 + 0.5);
	assert_true(f->n_facts == 3 && f->facts[1].value == 1000 && f->facts[2].value == 1024);
	assert_true(f->n_places == 1 && r.m->contexts[f->places[0].context].line == 5);
	run_has_not(&r, "files");
	run_end(&r);
	begin_with_calls(&r, "readers/__write_nocancel", 1000, 4096);
	run_finish(&r);
	run_has_not(&r, "file-calls");
	NEAR(run_has(&r, "files", 2)->high, 1.1 * 4 + 0.5);
	run_end(&r);
}

/* No calls were counted, as of a killed process. */
static void waits_for_files(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-0");
	r.is_killed = true;
	run_thread(&r, 0, 10);
	run_work(&r, 0, "main", 6);
	run_wait(&r, 0, "main/write", MSR_WAIT_FILE, 3);
	run_wait(&r, 0, "main/write", MSR_WAIT_OTHER, 1);
	run_finish(&r);
	const struct finding *f = run_has(&r, "files", 2);
	assert_int_equal(f->n_facts, 1);
	NEAR(f->facts[0].value, 0.4);
	run_end(&r);
}

static void fsync_and_its_kin(void **state)
{
	struct run r;
	(void)state;
	run_begin(&r, "0-0");
	run_thread(&r, 0, 10);
	run_work(&r, 0, "main", 6);
	run_wait(&r, 0, "build/fsync", MSR_WAIT_SYNC, 4);
	run_finish(&r);
	const struct finding *f = run_has(&r, "file-sync", 3.6);
	NEAR(f->low, 1.8);
	assert_true(f->n_places == 1 && r.m->contexts[f->places[0].context].line == 4);
	run_has_not(&r, "files");
	run_end(&r);
}

/*
 * Not in files: functions whose names only contain or begin those of calls, sockets, code that a
 * call of libc calls back, and a wait for something else in such a call.
 */
static void other_calls(void **state)
{
	static const char *const paths[] = {"readers", "pre", "main/recv", "main/write/readers"};
	struct run r;
	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		begin_with(&r, paths[i], 9);
		run_finish(&r);
		run_has_not(&r, "files");
		run_end(&r);
	}
	run_begin(&r, "0-0");
	run_thread(&r, 0, 10);
	run_work(&r, 0, "main", 6);
	run_wait(&r, 0, "main/write", MSR_WAIT_RUN_QUEUE, 4);
	run_finish(&r);
	run_has_not(&r, "files");
	run_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_up),
		cmocka_unit_test(no_import),
		cmocka_unit_test(start_up_of_threads),
		cmocka_unit_test(no_names),
		cmocka_unit_test(names_that_are_not_missed),
		cmocka_unit_test(no_lines),
		cmocka_unit_test(names_come_before_lines),
		cmocka_unit_test(small_reads),
		cmocka_unit_test(waits_for_files),
		cmocka_unit_test(fsync_and_its_kin),
		cmocka_unit_test(other_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
