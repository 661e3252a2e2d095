/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/base/space: small is memory, large is a file without a name, and where no file
 * can be had it is memory again. What is needed for a moment is memory. */
#include "common/base/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <signal.h>

#include <cmocka.h>

static void check(struct space *s, size_t n, bool is_file)
{
	assert_true(space_get(s, n));
	assert_int_equal(s->is_file, is_file);
	unsigned char *at = s->at;
	for (size_t i = 0; i < n; i += 4096)
		assert_int_equal(at[i], 0);
	at[0] = 1;
	at[n - 1] = 2;
	assert_int_equal(at[n - 1], 2);
	space_free(s);
	assert_null(s->at);
}

static void test_small_and_large(void **state)
{
	(void)state;
	struct space s;
	check(&s, 1, false);
	check(&s, SPACE_IN_MEMORY, false);
	check(&s, SPACE_IN_MEMORY + 1, true);
}

static void test_for_a_moment(void **state)
{
	(void)state;
	struct space s;
	assert_true(space_get_memory(&s, SPACE_IN_MEMORY + 1));
	assert_false(s.is_file);
	((char *)s.at)[SPACE_IN_MEMORY] = 1;
	space_free(&s);
	assert_false(space_get_memory(&s, SIZE_MAX / 2));
	assert_null(s.at);
	space_free(&s);
}

static void test_without_a_file(void **state)
{
	(void)state;
	struct rlimit was, none = {0, 0};
	struct space s;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	none.rlim_max = was.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	check(&s, SPACE_IN_MEMORY + 1, false);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	setenv("TMPDIR", "/no/such/directory", 1);
	check(&s, SPACE_IN_MEMORY + 1, true); /* /tmp */
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_and_large),
		cmocka_unit_test(test_for_a_moment),
		cmocka_unit_test(test_without_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
