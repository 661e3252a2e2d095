/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sinks when memory is short: each allocation of ours fails in turn (linked with --wrap), one
 * for each run. The sink then says so, returns a failure and leaves nothing behind. One worker, so
 * that the n-th allocation is the same in each run.
 */
#include "config.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/cctdb/cctdb_sink.h"
#include "hpcprof-lite/sink/folded_sink.h"
#include "hpcprof-lite/sink/html/html_sink.h"
#include "hpcprof-lite/sink/json/json_sink.h"
#include "hpcprof-lite/sink/otf2/otf2_sink.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/perfetto/perfetto_sink.h"
#include "hpcprof-lite/sink/pprof/pprof_sink.h"
#include "hpcprof-lite/sink/sqlite/sqlite_sink.h"
#include "hpcprof-lite/sink/text/text_sink.h"
#include "tests/unit/sink/model_fixture.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t n, size_t n_bytes);
void *__real_realloc(void *p, size_t n_bytes);
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t n, size_t n_bytes);
void *__wrap_realloc(void *p, size_t n_bytes);

static long until_failure = -1; /* allocations that still succeed; below 0: all do */
static bool has_failed;

static bool fails(void)
{
	if (until_failure < 0 || until_failure-- > 0)
		return false;
	has_failed = true;
	return true;
}

void *__wrap_malloc(size_t n_bytes)
{
	return fails() ? NULL : __real_malloc(n_bytes);
}
void *__wrap_calloc(size_t n, size_t n_bytes)
{
	return fails() ? NULL : __real_calloc(n, n_bytes);
}
void *__wrap_realloc(void *p, size_t n_bytes)
{
	return fails() ? NULL : __real_realloc(p, n_bytes);
}

static unsigned count_entries(const char *path)
{
	unsigned n = 0;
	DIR *d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

static void fail_each(const struct sink_ops *sink, unsigned at_least, uint32_t n_gpu_ops)
{
	struct model *m = fixture_make(&(struct fixture_options){.n_gpu_ops = n_gpu_ops,
								 .n_processes = 2,
								 .n_threads = 2,
								 .n_metrics = 2,
								 .n_samples = 50,
								 .traces = true,
								 .loops = true,
								 .source = "/proc/self/comm"});
	unsigned n_failures = 0;
	for (long n = 0;; n++) {
		char dir[] = "/tmp/test_sink_alloc.XXXXXX";
		assert_non_null(mkdtemp(dir));
		uint64_t errors = log_n_errors();
		has_failed = false;
		until_failure = n;
		enum status status =
			sink->write(m, &(struct sink_options){.directory = dir, .n_workers = 1});
		until_failure = -1;
		if (status != STATUS_OK) {
			n_failures++;
			assert_true(has_failed);
			assert_true(log_n_errors() > errors);
			assert_int_equal(count_entries(dir), 0);
		}
		outdir_remove(dir);
		if (!has_failed) { /* beyond the last allocation */
			assert_int_equal(status, STATUS_OK);
			break;
		}
	}
	assert_true(n_failures >= at_least);
	fixture_free(m);
}

static void cctdb_without_memory(void **state)
{
	(void)state;
	fail_each(&sink_cctdb, 60, 20);
}

static void html_without_memory(void **state)
{
	(void)state;
	fail_each(&sink_html, 10, 20);
}

static void folded_without_memory(void **state)
{
	(void)state;
	fail_each(&sink_folded, 40, 20);
}

static void perfetto_without_memory(void **state)
{
	(void)state;
	fail_each(&sink_perfetto, 40, 20);
}

static void pprof_without_memory(void **state)
{
	(void)state;
	fail_each(&sink_pprof, 40, 20);
}

static void json_without_memory(void **state)
{
	(void)state;
	fail_each(&sink_json, 2, 20);
}

#ifdef HAVE_SQLITE3
static void sqlite_without_memory(void **state)
{
	(void)state;
	fail_each(&sink_sqlite, 40, 20);
}
#endif

#ifdef HAVE_OTF2
static void otf2_without_memory(void **state)
{
	(void)state;
	fail_each(&sink_otf2, 40, 20);
}
#endif

/* The text leaves no file behind: what it has written so far may stand on the terminal. */
static void text_without_memory(void **state)
{
	struct model *m = fixture_make(&(struct fixture_options){.n_processes = 2,
								 .n_threads = 2,
								 .n_metrics = 2,
								 .n_samples = 50,
								 .n_gpu_ops = 20,
								 .traces = true});
	FILE *out = fopen("/dev/null", "w");
	(void)state;
	assert_non_null(out);
	for (int all = 0; all < 2; all++) {
		unsigned n_failures = 0;
		for (long n = 0;; n++) {
			uint64_t errors = log_n_errors();
			has_failed = false;
			until_failure = n;
			enum status status = sink_text.write(
				m, &(struct sink_options){
					   .settings = &(struct sink_text_options){.out = out,
										   .all = all,
										   .threshold = -1,
										   .width = 120}});
			until_failure = -1;
			if (status != STATUS_OK) {
				n_failures++;
				assert_true(has_failed);
				assert_int_equal(status, STATUS_NO_MEMORY);
				assert_int_equal(log_n_errors(), errors + 1);
			}
			if (!has_failed) {
				assert_int_equal(status, STATUS_OK);
				break;
			}
		}
		assert_true(n_failures >= 15);
	}
	fclose(out);
	fixture_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cctdb_without_memory),
		cmocka_unit_test(html_without_memory),
		cmocka_unit_test(folded_without_memory),
		cmocka_unit_test(perfetto_without_memory),
		cmocka_unit_test(pprof_without_memory),
		cmocka_unit_test(json_without_memory),
#ifdef HAVE_SQLITE3
		cmocka_unit_test(sqlite_without_memory),
#endif
		cmocka_unit_test(text_without_memory),
#ifdef HAVE_OTF2
		cmocka_unit_test(otf2_without_memory),
#endif
	};
	log_set_program("test_sink_alloc");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
