/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/base: vec, sorted, map, strtab, cursor, pool, options, mapfile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/cursor.h"
#include "common/base/cutguard.h"
#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/mapfile.h"
#include "common/base/options.h"
#include "common/base/pool.h"
#include "common/base/sorted.h"
#include "common/base/standard_files.h"
#include "common/base/strtab.h"
#include "common/base/vec.h"
#include "common/safe/newer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void vec_grows_and_zeroes(void **state)
{
	(void)state;
	VEC(int) v = {0};
	for (int i = 0; i < 1000; i++) {
		int *p = vec_push(&v);
		assert_non_null(p);
		assert_int_equal(*p, 0);
		*p = i;
	}
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.at[i], i);
	assert_null(vec_extend(&v, SIZE_MAX / 2));
	assert_int_equal(v.n, 1000);
	vec_free(&v);
	assert_null(v.at);
}

static void sorted_counts_as_a_walk_does(void **state)
{
	(void)state;
	static const struct {
		uint64_t key;
	} items[] = {{0}, {3}, {3}, {3}, {7}, {UINT32_MAX}, {UINT64_MAX - 1}};
	static const uint64_t keys[] = {
		0, 1, 3, 4, 7, 8, UINT32_MAX, (uint64_t)UINT32_MAX + 1, UINT64_MAX - 1, UINT64_MAX};
	for (size_t n = 0; n <= sizeof items / sizeof items[0]; n++)
		for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
			size_t below = 0, up_to = 0;
			while (below < n && items[below].key < keys[k])
				below++;
			while (up_to < n && items[up_to].key <= keys[k])
				up_to++;
			assert_int_equal(sorted_below(items, n, key, keys[k]), below);
			assert_int_equal(sorted_up_to(items, n, key, keys[k]), up_to);
			assert_int_equal(sorted_prefix(n, i, items[i].key < keys[k]), below);
		}
}

static void map_keeps_first_value(void **state)
{
	(void)state;
	struct map m = {0};
	assert_true(map_get(&m, 1, 2) == MAP_NONE);
	for (uint64_t i = 0; i < 5000; i++)
		assert_int_equal(map_put(&m, i, i * 7, i), i);
	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(map_put(&m, i, i * 7, 99), i);
		assert_true(map_get(&m, i, i * 7 + 1) == MAP_NONE);
	}
	assert_int_equal(m.n, 5000);
	map_free(&m);
}

static void strtab_is_distinct(void **state)
{
	(void)state;
	struct strtab t = {0};
	assert_int_equal(strtab_add_z(&t, ""), 0);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 2000; i++) {
			char s[16];
			snprintf(s, sizeof s, "s%u", i);
			assert_int_equal(strtab_add_z(&t, s), i + 1);
		}
	assert_string_equal(strtab_get(&t, 1234), "s1233");
	assert_string_equal(t.bytes.at + strtab_offset(&t, 7), "s6");
	assert_int_equal(strtab_add(&t, "s12345", 2), 2);
	strtab_free(&t);
}

static void cursor_error_is_sticky(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {1, 2, 0, 0xe5, 0x8e, 0x26, 0x7f, 'h', 'i', 0, 9};
	struct cursor c = cursor_make(bytes, sizeof bytes);
	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 2);
	assert_int_equal(cursor_uleb(&c), 624485);
	assert_int_equal(cursor_sleb(&c), -1);
	assert_string_equal(cursor_string(&c), "hi");
	assert_true(cursor_ok(&c));
	assert_int_equal(cursor_u32(&c), 0);
	assert_false(cursor_ok(&c));
	assert_int_equal(cursor_u8(&c), 0);
}

static void cursor_refuses_long_leb(void **state)
{
	(void)state;
	static const uint8_t max[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	static const uint8_t over[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03};
	static const uint8_t padded[] = {0x81, 0x80, 0x80, 0x00};
	static const uint8_t min[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f};
	struct cursor c = cursor_make(max, sizeof max);
	assert_true(cursor_uleb(&c) == UINT64_MAX && cursor_ok(&c));
	c = cursor_make(over, sizeof over);
	cursor_uleb(&c);
	assert_false(cursor_ok(&c));
	c = cursor_make(padded, sizeof padded);
	assert_true(cursor_uleb(&c) == 1 && cursor_ok(&c));
	c = cursor_make(min, sizeof min);
	assert_true(cursor_sleb(&c) == INT64_MIN && cursor_ok(&c));
}

static void count(void *arg, size_t i, unsigned worker)
{
	assert_in_range(worker, 0, 3);
	atomic_fetch_add((atomic_int *)arg + i, 1);
}

static void pool_visits_each_once(void **state)
{
	(void)state;
	atomic_int seen[500] = {0};
	assert_in_range(pool_run(500, 4, count, seen), 1, 4);
	for (int i = 0; i < 500; i++)
		assert_int_equal(seen[i], 1);
	pool_run(0, 4, count, seen);
}

struct parsed {
	long long n;
	int flag;
	bool is_on;
	unsigned count, list;
	double share;
	uint64_t size;
	bool choice;
	const char *text, *file;
};

static enum status set_flag(void *arg, const char *value)
{
	assert_null(value);
	((struct parsed *)arg)->flag++;
	return STATUS_OK;
}

static const struct option_spec specs[] = {
	{'n', "number", "N", "a number", OPTION_NUMBER(struct parsed, n, 1, 10)},
	{0, "flag", NULL, "a flag", OPTION_CALL(set_flag)},
	{0, "on", NULL, "", OPTION_FLAG(struct parsed, is_on, true)},
	{0, "off", NULL, "", OPTION_FLAG(struct parsed, is_on, false)},
	{0, "count", "N", "", OPTION_NUMBER(struct parsed, count, 0, 5)},
	{0, "share", "PERCENT", "", OPTION_PERCENT(struct parsed, share)},
	{0, "size", "SIZE", "", OPTION_SIZE(struct parsed, size)},
	{0, "choice", "WORD", "", OPTION_CHOICE(struct parsed, choice, "one, two, three")},
	{0, "list", "LIST", "", OPTION_LIST(struct parsed, list, "one, two, three")},
	{0, "text", "TEXT", "", OPTION_TEXT(struct parsed, text)},
	{0, "file", "FILE", "", OPTION_FILE(struct parsed, file)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};
static const struct option_table table = {
	.program = "t", .synopsis = "t [options] FILE...", .about = "A test.", .specs = specs};

/* Parses one argument. */
static enum status parse(const char *argument, struct parsed *p)
{
	const char *argv[] = {"t", argument, NULL};
	int first, done;
	return options_parse(&table, 2, (char **)(uintptr_t)argv, 0, p, &first, &done);
}

static void option_kinds(void **state)
{
	static const char *const refused[] = {
		"--number=0",   "--number=11",  "--number=",    "--count=-1", "--share=101",
		"--share=nan",  "--share=",     "--share=5%%",  "--share=x",  "--size=",
		"--size=-1",    "--size=1T",    "--size=1KK",   "--size=x",   "--size=9999999999G",
		"--choice=",    "--choice=on",  "--choice=one,two", "--list=", "--list=four",
		"--list=one,,two", "--list=one, two", "--file="};
	struct parsed p = {.list = 4, .text = "", .file = ""};
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		assert_int_equal(parse(refused[i], &p), STATUS_USAGE);
	assert_true(p.n == 0 && p.count == 0 && p.list == 4 && p.size == 0 && !p.choice);
	assert_int_equal(parse("--on", &p), STATUS_OK);
	assert_true(p.is_on && p.count == 0);
	assert_int_equal(parse("--off", &p), STATUS_OK);
	assert_int_equal(parse("--count=5", &p), STATUS_OK);
	assert_int_equal(parse("--share=2.5%", &p), STATUS_OK);
	assert_int_equal(parse("--size=3K", &p), STATUS_OK);
	assert_int_equal(parse("--choice=two", &p), STATUS_OK);
	assert_int_equal(parse("--list=two,one", &p), STATUS_OK);
	assert_int_equal(parse("--text=", &p), STATUS_OK);
	assert_int_equal(parse("--file=x", &p), STATUS_OK);
	assert_true(!p.is_on && p.count == 5 && p.share == 2.5 && p.size == 3072 && p.choice);
	assert_int_equal(p.list, 7);
	assert_string_equal(p.text, "");
	assert_string_equal(p.file, "x");
}

static void options_are_parsed(void **state)
{
	(void)state;
	struct parsed p = {0};
	int first, done;
	const char *mixed[] = {"t", "file", "-n", "3", "--flag", NULL};
	assert_int_equal(options_parse(&table, 5, (char **)mixed, 0, &p, &first, &done), STATUS_OK);
	assert_true(p.n == 3 && p.flag == 1 && !done);
	assert_string_equal(mixed[first], "file");

	struct parsed q = {0};
	const char *command[] = {"t", "--number=4", "app", "-n", "99", NULL};
	assert_int_equal(options_parse(&table, 5, (char **)command, 1, &q, &first, &done),
			 STATUS_OK);
	assert_true(q.n == 4 && first == 2);

	const char *bad[] = {"t", "-n", "11", NULL};
	assert_int_equal(options_parse(&table, 3, (char **)bad, 0, &p, &first, &done),
			 STATUS_USAGE);
	const char *unknown[] = {"t", "--wrong", NULL};
	assert_int_equal(options_parse(&table, 2, (char **)unknown, 0, &p, &first, &done),
			 STATUS_USAGE);
	const char *missing[] = {"t", "-n", NULL};
	assert_int_equal(options_parse(&table, 2, (char **)missing, 0, &p, &first, &done),
			 STATUS_USAGE);
	assert_int_equal(status_exit_code(STATUS_USAGE), 2);
}

#if !defined __SANITIZE_ADDRESS__ && \
	!defined __SANITIZE_THREAD__ /* their allocators need mappings */
/* A job may have more ranks than a process may have mappings. */
static void mapfile_reads_where_there_are_no_mappings(void **state)
{
	enum { PAGE = 4096, MOST = 1 << 21 };
	(void)state;
	char name[] = "/tmp/mapfile-XXXXXX", text[] = "twelve bytes";
	int fd = mkstemp(name);
	assert_true(fd >= 0 && write(fd, text, sizeof text) == sizeof text);
	close(fd);
	/* pages of one mapping with every second one of other rights are a mapping each */
	char *pages = mmap(NULL, (size_t)MOST * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(pages != MAP_FAILED);
	size_t n = 1;
	while (n < MOST && mprotect(pages + n * PAGE, PAGE, PROT_READ) == 0)
		n += 2;
	/* what is left is less than the two that a page in the middle takes */
	void *last[4];
	for (size_t i = 0; i < 4; i++)
		last[i] = n < MOST ? mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
				   : MAP_FAILED;
	struct mapfile m;
	enum status s = mapfile_open(name, &m);
	for (size_t i = 0; i < 4; i++)
		if (last[i] != MAP_FAILED)
			munmap(last[i], PAGE);
	munmap(pages, (size_t)MOST * PAGE);
	assert_int_equal(s, STATUS_OK);
	assert_true(m.is_copy || n >= MOST); /* this kernel has no bound within reach */
	assert_true(m.n_bytes == sizeof text && memcmp(m.bytes, text, sizeof text) == 0 &&
		    (uintptr_t)m.bytes % PAGE == 0);
	mapfile_close(&m);
	assert_int_equal(mapfile_open(name, &m), STATUS_OK);
	assert_false(m.is_copy);
	mapfile_close(&m);
	unlink(name);
}
#endif

static void mapfile_reads_and_refuses(void **state)
{
	(void)state;
	struct mapfile m;
	assert_int_equal(mapfile_open("/nonexistent/file", &m), STATUS_NOT_FOUND);
	assert_int_equal(mapfile_open("/", &m), STATUS_IO);
	char name[] = "/tmp/test_base_XXXXXX";
	int fd = mkstemp(name);
	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	assert_int_equal(mapfile_open(name, &m), STATUS_OK);
	assert_int_equal(m.n_bytes, 3);
	assert_memory_equal(m.bytes, "abc", 3);
	mapfile_close(&m);
	unlink(name);
}

static void say_end(void)
{
	if (write(STDERR_FILENO, "end\n", 4) != 4)
		_exit(9);
}

/* Reads behind the end of a file that was shortened, or writes to what may only be read. */
static void read_cut(const char *name, bool is_file)
{
	struct mapfile m;
	cutguard_start(say_end);
	if (mapfile_open(name, &m) != STATUS_OK || truncate(name, 0) != 0)
		_exit(8);
	if (is_file)
		_exit(((const volatile uint8_t *)m.bytes)[5000] + 7);
	raise(SIGBUS);
	_exit(6);
}

static int run_cut(const char *name, bool is_file, char *said, size_t room)
{
	int ends[2], status = 0;
	char bytes[8192] = {1};
	int fd = open(name, O_WRONLY);
	assert_true(fd >= 0 && write(fd, bytes, sizeof bytes) == sizeof bytes && pipe(ends) == 0);
	close(fd);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		read_cut(name, is_file);
	}
	close(ends[1]);
	size_t n = 0;
	for (ssize_t got; (got = read(ends[0], said + n, room - 1 - n)) > 0;)
		n += (size_t)got;
	said[n] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void cutguard_names_the_file(void **state)
{
	(void)state;
	char said[4096], want[256], name[] = "/tmp/test_base_\033XXXXXX";
	close(mkstemp(name));
	int status = run_cut(name, true, said, sizeof said);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	snprintf(want, sizeof want,
		"test_base: /tmp/test_base_?%s: another process shortened this file while it was "
		"read; try again\nend\n", strrchr(name, '\033') + 1);
	assert_string_equal(said, want);
	status = run_cut(name, false, said, sizeof said); /* of another cause: as always */
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	assert_string_equal(said, "");
	unlink(name);
}

static void nothing_is_said_after_the_end(void **state)
{
	char said[256];
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	const pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		log_error(NULL, "before");
		log_end();
		log_error(NULL, "after");
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	const ssize_t n = read(ends[0], said, sizeof said - 1);
	close(ends[0]);
	assert_true(n >= 0);
	said[n] = '\0';
	assert_string_equal(said, "test_base: before\n");
}

/* Each set of closed standard files; 0: as it should be. */
static int keeps_standard_files(unsigned closed)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (closed & 1u << fd)
			close(fd);
	standard_files_keep();
	const int fd = open("/dev/zero", O_RDWR);
	int wrong = fd != STDERR_FILENO + 1;
	for (int i = 0; i <= STDERR_FILENO; i++)
		if (closed & 1u << i)
			wrong |= read(i, &(char){0}, 1) != 0 || write(i, "", 1) != -1 ||
				 errno != EBADF || fcntl(i, F_GETFD) != FD_CLOEXEC;
	return wrong;
}

static void standard_files_are_kept(void **state)
{
	(void)state;
	for (unsigned closed = 0; closed < 8; closed++) {
		int status = -1;
		const pid_t pid = fork();
		if (pid == 0) {
			newer_close_range(STDERR_FILENO + 1, INT_MAX);
			_exit(keeps_standard_files(closed));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	log_set_program("test_base");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vec_grows_and_zeroes),
		cmocka_unit_test(sorted_counts_as_a_walk_does),
		cmocka_unit_test(map_keeps_first_value),
		cmocka_unit_test(strtab_is_distinct),
		cmocka_unit_test(cursor_error_is_sticky),
		cmocka_unit_test(cursor_refuses_long_leb),
		cmocka_unit_test(pool_visits_each_once),
		cmocka_unit_test(options_are_parsed),
		cmocka_unit_test(option_kinds),
		cmocka_unit_test(mapfile_reads_and_refuses),
		cmocka_unit_test(cutguard_names_the_file),
		cmocka_unit_test(nothing_is_said_after_the_end),
		cmocka_unit_test(standard_files_are_kept),
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
		cmocka_unit_test(mapfile_reads_where_there_are_no_mappings),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
