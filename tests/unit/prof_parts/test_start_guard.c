/* SPDX-License-Identifier: BSD-3-Clause */
/* The guard of the start of MPI: what it says, and that it ends a process that waits in vain. */
#include "hpcprof-lite/parts/start_guard.h"

#include "common/base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A process whose start never ends if it `waits`. Returns its wait status, and what it said. */
static int run(unsigned warn_s, unsigned limit_s, bool waits, char *said, size_t bytes)
{
	int ends[2], status;
	size_t n = 0;
	assert_int_equal(pipe(ends), 0);
	const pid_t child = fork();
	if (child == 0) {
		struct start_guard g = {
			.launcher = "srun", .rank = 3, .warn_s = warn_s, .limit_s = limit_s};
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		start_guard_begin(&g);
		while (waits)
			pause();
		start_guard_end(&g);
		_exit(0);
	}
	close(ends[1]);
	for (ssize_t got; (got = read(ends[0], said + n, bytes - 1 - n)) > 0;)
		n += (size_t)got;
	said[n] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_waits_in_vain(void **state)
{
	(void)state;
	char said[1000];
	const int status = run(0, 1, true, said, sizeof said);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_non_null(strstr(said, "warning: rank 3 of srun waits until all ranks"));
	assert_non_null(strstr(said, "rank 3 of srun waited 1 s for the other ranks"));
}

static void test_all_are_there(void **state)
{
	(void)state;
	char said[1000];
	assert_int_equal(run(3600, 3600, false, said, sizeof said), 0);
	assert_string_equal(said, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_in_vain),
		cmocka_unit_test(test_all_are_there),
	};
	log_set_program("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
