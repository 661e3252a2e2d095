/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/database: runs that end at the same time keep their databases. */
#include "hpcprof-lite/database.h"
#include "tests/unit/prof/prof_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbered),
		cmocka_unit_test(test_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
