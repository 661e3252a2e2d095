/* SPDX-License-Identifier: BSD-3-Clause */
/* Folded call paths (sink/folded) of the hand-made model: names of files, lines and frames. */
#include "hpcprof-lite/sink/folded_sink.h"
#include "hpcprof-lite/sink/outfile.h"
#include "tests/unit/sink/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char directory[] = "/tmp/test_sink_folded.XXXXXX";

/* The content of a file of the sink; NULL: there is none. The caller frees it. */
static char *read_folded(const char *name)
{
	char path[128];
	char *text = NULL;
	size_t n = 0;
	snprintf(path, sizeof path, "%s/folded/%s", directory, name);
	FILE *f = fopen(path, "r");
	if (f && getdelim(&text, &n, '\0', f) < 0) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

static void remove_folded(void)
{
	char path[128];
	snprintf(path, sizeof path, "%s/folded", directory);
	outdir_remove(path);
}

static enum status write_model(const struct model *m)
{
	return sink_folded.write(m, &(struct sink_options){.directory = directory});
}

static void test_lines(void **state)
{
	(void)state;
	struct model *m = fixture_make(&(struct fixture_options){
		.n_processes = 1, .n_threads = 1, .n_metrics = 3, .n_samples = 20, .recursion = 2});
	assert_int_equal(write_model(m), STATUS_OK);
	char *cpu = read_folded("CPUTIME.folded"),
	     *faults = read_folded("perf--PAGE-FAULTS.folded");
	assert_non_null(cpu);
	assert_non_null(strstr(cpu, "main thread;main;work;inlined;std::vector<int, "));
	assert_non_null(strstr(cpu, "main thread;main;recurse;recurse "));
	assert_null(strstr(cpu, "loop"));
	assert_non_null(faults);
	free(cpu);
	free(faults);
	remove_folded();
	fixture_free(m);
}

/* The address of a function without a name is one in its module. */
static void test_unnamed(void **state)
{
	(void)state;
	char wanted[256];
	struct model *m = fixture_make(&(struct fixture_options){
		.n_processes = 1, .n_threads = 1, .n_metrics = 1, .n_samples = 20});
	const char *path = NULL, *slash;
	for (size_t i = 0; i < m->n_functions; i++)
		if (strcmp(m->functions[i].name, "work") == 0) {
			((struct model_function *)&m->functions[i])->name = "<unknown at 0x10>";
			path = m->modules[m->functions[i].module].path;
		}
	assert_non_null(path);
	slash = strrchr(path, '/');
	snprintf(wanted, sizeof wanted, ";main;<unknown at 0x10> [%s];", slash ? slash + 1 : path);
	assert_int_equal(write_model(m), STATUS_OK);
	char *cpu = read_folded("CPUTIME.folded");
	assert_non_null(cpu);
	assert_non_null(strstr(cpu, wanted));
	free(cpu);
	remove_folded();
	fixture_free(m);
}

/* Metrics whose names differ in signs or case alone get files of their own. */
static void test_equal_names(void **state)
{
	(void)state;
	struct model *m = fixture_make(&(struct fixture_options){
		.n_processes = 1, .n_threads = 1, .n_metrics = 3, .n_samples = 20});
	struct model_metric *metrics = (struct model_metric *)(uintptr_t)m->metrics;
	metrics[0].name = "../A;b (sec)";
	metrics[1].name = "../a:B (sec)";
	metrics[2].name = "";
	assert_int_equal(write_model(m), STATUS_OK);
	static const char *const names[] = {"-.-A-b.folded", "-.-a-B-2.folded", "metric.folded"};
	for (unsigned i = 0; i < 3; i++) {
		char *text = read_folded(names[i]);
		if (!text)
			fail_msg("no %s", names[i]);
		free(text);
	}
	remove_folded();
	fixture_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_unnamed),
		cmocka_unit_test(test_equal_names),
	};
	if (!mkdtemp(directory))
		return 99;
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	outdir_remove(directory);
	return n_failed;
}
