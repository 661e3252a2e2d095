/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/safe/load: what is there is read, what is not gives a short count, by both ways; errno stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/load.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* One readable page between two that are not. */
static uint8_t *make_pages(void)
{
	uint8_t *p = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
	memset(p + PAGE, 0x5a, PAGE);
	return p;
}

static void check_edges(void)
{
	uint8_t got[2 * PAGE], *p = make_pages();
	const uintptr_t page = (uintptr_t)p + PAGE;
	errno = 12345;
	assert_int_equal(load_guarded(got, page, 100), 100);
	assert_int_equal(got[99], 0x5a);
	assert_int_equal(load_guarded(got, page + PAGE - 8, 8), 8);
	assert_int_equal(load_guarded(got, page + PAGE - 8, 16), 8);
	assert_int_equal(load_guarded(got, page + PAGE - 1, 2), 1);
	assert_int_equal(load_guarded(got, page + PAGE, 1), 0);
	assert_int_equal(load_guarded(got, page - 1, 2), 0);
	assert_int_equal(load_guarded(got, page, PAGE), PAGE);
	assert_int_equal(load_guarded(got, page, 0), 0);
	assert_int_equal(load_guarded(got, 0, 8), 0);
	assert_int_equal(load_guarded(got, UINTPTR_MAX - 3, 8), 0);
	assert_int_equal(load_guarded(got, UINT64_C(0x8000000000000000), 8), 0);
	assert_int_equal(errno, 12345);
	munmap(p, 3 * PAGE);
}

static void test_copied(void **state)
{
	(void)state;
	load_use_probe(0);
	check_edges();
}

static void test_probed(void **state)
{
	(void)state;
	load_use_probe(1);
	check_edges();
	load_use_probe(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_probed),
	};
	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
