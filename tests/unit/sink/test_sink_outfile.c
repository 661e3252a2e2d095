/* SPDX-License-Identifier: BSD-3-Clause */
/* outfile: exclusive creation, offsets, streams, the first error once, removal. */
#include "common/base/log.h"
#include "hpcprof-lite/sink/outfile.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_sink_outfile.XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	outdir_remove(dir);
	return access(dir, F_OK) == 0 ? -1 : 0;
}

static size_t read_back(const char *name, char *buffer, size_t n_bytes)
{
	char *path = outfile_path(dir, name);
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(buffer, 1, n_bytes, f) : 0;
	if (f)
		fclose(f);
	free(path);
	return n;
}

static bool exists(const char *name)
{
	char *path = outfile_path(dir, name);
	bool found = access(path, F_OK) == 0;
	free(path);
	return found;
}

static void writes_at_offsets(void **state)
{
	struct outfile f;
	char buffer[16];
	(void)state;
	assert_int_equal(outfile_create(&f, dir, "a"), STATUS_OK);
	assert_int_equal(outfile_write(&f, "world", 5, 6), STATUS_OK);
	assert_int_equal(outfile_write(&f, "hello", 5, 0), STATUS_OK);
	assert_int_equal(outfile_close(&f), STATUS_OK);
	assert_int_equal(read_back("a", buffer, sizeof buffer), 11);
	assert_memory_equal(buffer, "hello\0world", 11);
}

static void refuses_an_existing_file(void **state)
{
	struct outfile f;
	uint64_t before = log_n_errors();
	(void)state;
	assert_int_equal(outfile_create(&f, dir, "a"), STATUS_IO);
	assert_int_equal(log_n_errors(), before + 1);
	outfile_abandon(&f);
	assert_true(exists("a"));
}

static void a_stream_flushes_and_tells_its_offset(void **state)
{
	struct outfile f;
	struct outstream s;
	char buffer[64];
	(void)state;
	assert_int_equal(outfile_create(&f, dir, "s"), STATUS_OK);
	assert_int_equal(outstream_open(&s, &f, 3, 8), STATUS_OK);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(outstream_offset(&s), 3 + 3 * i);
		memset(outstream_room(&s, 3), 'a' + i, 3);
	}
	assert_int_equal(outstream_close(&s), STATUS_OK);
	assert_int_equal(outfile_close(&f), STATUS_OK);
	assert_int_equal(read_back("s", buffer, sizeof buffer), 33);
	assert_memory_equal(buffer, "\0\0\0aaabbbcccdddeeefffggghhhiiijjj", 33);
}

/* What a gap had before stays, but for a small one behind bytes that are not written yet. */
static void a_stream_moves(void **state)
{
	struct outfile f;
	struct outstream s;
	char buffer[256];
	(void)state;
	assert_int_equal(outfile_create(&f, dir, "moves"), STATUS_OK);
	memset(buffer, '-', sizeof buffer);
	assert_int_equal(outfile_write(&f, buffer, 150, 0), STATUS_OK);
	assert_int_equal(outstream_open(&s, &f, 0, 16), STATUS_OK);
	outstream_move(&s, 2); /* nothing is before it */
	memset(outstream_room(&s, 2), 'a', 2);
	outstream_move(&s, 7); /* a small gap */
	memset(outstream_room(&s, 2), 'b', 2);
	outstream_move(&s, 20); /* no room for the gap */
	memset(outstream_room(&s, 2), 'c', 2);
	outstream_move(&s, 100); /* far away */
	memset(outstream_room(&s, 2), 'd', 2);
	outstream_move(&s, 90); /* back */
	memset(outstream_room(&s, 2), 'e', 2);
	assert_int_equal(outstream_close(&s), STATUS_OK);
	assert_int_equal(outfile_close(&f), STATUS_OK);
	assert_int_equal(read_back("moves", buffer, sizeof buffer), 150);
	assert_memory_equal(buffer, "--aa\0\0\0bb-----------cc--", 24);
	assert_memory_equal(buffer + 88, "--ee--------dd--", 16);
}

static void abandons(void **state)
{
	struct outfile f, none = {0};
	(void)state;
	assert_int_equal(outfile_create(&f, dir, "gone"), STATUS_OK);
	outfile_abandon(&f);
	outfile_abandon(&f);
	outfile_abandon(&none);
	assert_false(exists("gone"));
}

static void a_size_limit_is_an_error_and_leaves_nothing(void **state)
{
	struct outfile f;
	struct rlimit old, limit;
	static char page[4096];
	uint64_t before = log_n_errors();
	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){8192, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(outfile_create(&f, dir, "big"), STATUS_OK);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(outfile_write(&f, page, sizeof page, 0), STATUS_OK);
	assert_int_equal(outfile_write(&f, page, sizeof page, 6000), STATUS_IO);
	assert_int_equal(outfile_write(&f, page, sizeof page, 0), STATUS_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(outfile_close(&f), STATUS_IO);
	assert_int_equal(log_n_errors(), before + 1);
	assert_false(exists("big"));
}

static void removes_a_tree_without_following_links(void **state)
{
	char *tree = outfile_path(dir, "tree"), *sub = outfile_path(tree, "sub"),
	     *link = outfile_path(sub, "link"), *kept = outfile_path(dir, "kept");
	struct outfile f;
	(void)state;
	assert_int_equal(outdir_make(kept), STATUS_OK);
	assert_int_equal(outfile_create(&f, kept, "file"), STATUS_OK);
	assert_int_equal(outfile_close(&f), STATUS_OK);
	assert_int_equal(outdir_make(tree), STATUS_OK);
	assert_int_equal(outdir_make(tree), STATUS_IO);
	assert_int_equal(outdir_make(sub), STATUS_OK);
	assert_int_equal(symlink(kept, link), 0);
	outdir_remove(tree);
	assert_false(exists("tree"));
	assert_true(exists("kept/file"));
	free(kept);
	free(link);
	free(sub);
	free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_at_offsets),
		cmocka_unit_test(refuses_an_existing_file),
		cmocka_unit_test(a_stream_flushes_and_tells_its_offset),
		cmocka_unit_test(a_stream_moves),
		cmocka_unit_test(abandons),
		cmocka_unit_test(a_size_limit_is_an_error_and_leaves_nothing),
		cmocka_unit_test(removes_a_tree_without_following_links),
	};
	log_set_program("test_sink_outfile");
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
