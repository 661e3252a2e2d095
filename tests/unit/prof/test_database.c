/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/database: runs that end at the same time keep their databases. */
#include "hpcprof-lite/database.h"
#include "tests/unit/prof/prof_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A database of two runs: both begin before one is named. */
struct fixture {
	char *directory;
	struct database runs[2];
};

static void put_file(const struct database *d)
{
	char path[512];
	assert_true(snprintf(path, sizeof path, "%s/meta.db", d->partial) < (int)sizeof path);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void begin(struct fixture *x, const char *wanted)
{
	x->directory = fixture_directory();
	assert_int_equal(chdir(x->directory), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(database_begin(&x->runs[i], wanted, "in", "solver"), STATUS_OK);
		put_file(&x->runs[i]);
	}
}

static void end(struct fixture *x)
{
	for (unsigned i = 0; i < 2; i++)
		database_end(&x->runs[i]);
	assert_int_equal(chdir("/"), 0);
	fixture_remove(x->directory);
}

static void test_numbered(void **state)
{
	(void)state;
	struct fixture x = {0};
	begin(&x, NULL);
	assert_string_equal(x.runs[1].path, "hpctoolkit-lite-solver-database");
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(database_commit(&x.runs[i]), STATUS_OK);
	assert_string_equal(x.runs[0].path, "hpctoolkit-lite-solver-database");
	assert_string_equal(x.runs[1].path, "hpctoolkit-lite-solver-database-2");
	assert_int_equal(access("hpctoolkit-lite-solver-database/meta.db", F_OK), 0);
	assert_int_equal(access("hpctoolkit-lite-solver-database-2/meta.db", F_OK), 0);
	end(&x);
}

/* A program may be called anything, and a measurement may be somebody else's. */
static void test_titles_that_are_no_names(void **state)
{
	static const char *const titles[] = {"", "foo/", "../evil/", "a\nb\033[31m"};
	struct fixture x = {.directory = fixture_directory()};
	(void)state;
	assert_int_equal(chdir(x.directory), 0);
	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
		assert_int_equal(database_begin(&x.runs[0], NULL, "in", titles[i]), STATUS_OK);
		assert_string_equal(x.runs[0].path, "hpctoolkit-lite-unnamed-database");
		database_end(&x.runs[0]);
	}
	end(&x);
}

static void test_named(void **state)
{
	(void)state;
	struct fixture x = {0};
	begin(&x, "here/");
	assert_int_equal(database_commit(&x.runs[0]), STATUS_OK);
	assert_int_equal(database_commit(&x.runs[1]), STATUS_IO);
	assert_string_equal(x.runs[1].path, "here");
	assert_int_equal(access("here/meta.db", F_OK), 0);
	end(&x);
}

/* A process with a watcher that names one database and ends with another, `is_open` or not. */
static void end_without_a_word(bool is_open)
{
	struct database d;
	database_watch();
	if (database_begin(&d, "whole", "in", "solver") != STATUS_OK ||
	    database_commit(&d) != STATUS_OK)
		_exit(1);
	database_end(&d);
	if (is_open && database_begin(&d, "half", "in", "solver") != STATUS_OK)
		_exit(1);
	kill(getpid(), SIGKILL);
}

/* Becomes the parent of the watchers, to wait for them. */
static void test_watched(void **state)
{
	char *directory = fixture_directory();
	(void)state;
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1L), 0);
	for (int is_open = 0; is_open < 2; is_open++) {
		int status;
		const pid_t child = fork();
		if (child == 0)
			end_without_a_word(is_open);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		assert_true(wait(NULL) > 0);
		assert_int_equal(access("whole", F_OK), 0);
		assert_int_equal(rmdir("whole"), 0);
		assert_int_equal(chdir("/"), 0);
		assert_int_equal(rmdir(directory), 0); /* nothing else is there */
		assert_int_equal(mkdir(directory, 0700), 0);
		assert_int_equal(chdir(directory), 0);
	}
	assert_int_equal(chdir("/"), 0);
	fixture_remove(directory);
}

/* The only child of this process. */
static pid_t only_child(void)
{
	char path[64];
	int pid = 0;
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	FILE *f = fopen(path, "r");
	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

static void test_watcher_that_was_killed(void **state)
{
	(void)state;
	struct fixture x = {0};
	database_watch();
	const pid_t watcher = only_child();
	if (!watcher) {
		database_end_watch();
		skip(); /* a kernel without lists of children */
	}
	assert_int_equal(kill(watcher, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)watcher, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	begin(&x, NULL);
	assert_int_equal(database_commit(&x.runs[0]), STATUS_OK);
	end(&x);
	database_end_watch();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbered),
		cmocka_unit_test(test_titles_that_are_no_names),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_watched),
		cmocka_unit_test(test_watcher_that_was_killed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
