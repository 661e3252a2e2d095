/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/unwind/code/code_lines.h: what a walk reads of generated code, by how many
 * calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/load.h"
#include "hpcrun-lite/unwind/code/code_lines.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 40 };

static struct code code;
static uint8_t *pages;

/* Byte 100 of page i. */
static uint64_t place(unsigned i)
{
	return (uint64_t)pages + (uint64_t)i * PAGE + 100;
}

/* What code_load() gives of page i; -1: it cannot be read. */
static int load(unsigned i)
{
	uint8_t byte;
	return code_load(&code, place(i), &byte, 1) ? byte : -1;
}

static void begin(void)
{
	code_begin(&code);
	code.n_guarded = 0;
}

static int set_up(void **state)
{
	(void)state;
	load_use_probe(0);
	memset(&code, 0, sizeof code);
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED)
		return -1;
	for (unsigned i = 0; i < PAGES; i++)
		memset(pages + i * PAGE, (int)i, PAGE);
	begin();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(pages, PAGES * PAGE);
}

static void test_hit(void **state)
{
	(void)state;
	uint8_t both[20];
	errno = 4711;
	assert_int_equal(load(1), 1);
	assert_int_equal(load(1), 1);
	assert_int_equal(code.n_guarded, 1);
	assert_int_equal(load(2), 2);
	assert_int_equal(code.n_guarded, 2);
	pages[CODE_LINE_BYTES - 1] = 7; /* across two lines */
	assert_true(code_load(&code, (uint64_t)pages + CODE_LINE_BYTES - 10, both, sizeof both));
	assert_int_equal(both[9], 7);
	assert_int_equal(both[10], 0);
	assert_int_equal(code.n_guarded, 4);
	assert_int_equal(errno, 4711);
}

/* Generated code is replaced between two walks: none sees what was there before. */
static void test_replaced(void **state)
{
	(void)state;
	for (unsigned walk = 0; walk < 20; walk++) {
		for (unsigned i = 0; i < 6; i++)
			pages[i * PAGE + 100] = (uint8_t)(walk * 8 + i);
		begin();
		for (unsigned i = 0; i < 6; i++)
			assert_int_equal(load((i + walk) % 6), walk * 8 + (i + walk) % 6);
	}
}

static void test_gone(void **state)
{
	(void)state;
	uint8_t far[16];
	for (unsigned i = 0; i < 6; i++)
		load(i);
	munmap(pages + 2 * PAGE, PAGE);
	mprotect(pages + 4 * PAGE, PAGE, PROT_NONE);
	for (unsigned walk = 0; walk < 3; walk++) {
		begin();
		for (unsigned i = 0; i < 6; i++)
			assert_int_equal(load(i), i == 2 || i == 4 ? -1 : (int)i);
	}
	assert_false(code_load(&code, place(1) + PAGE - 105, far, sizeof far)); /* into page 2 */
	assert_false(code_load(&code, UINT64_MAX - 7, far, sizeof far));
}

/* More lines than there is room for. */
static void test_evicted(void **state)
{
	(void)state;
	for (unsigned walk = 0; walk < 4; walk++) {
		begin();
		for (unsigned i = 0; i < PAGES; i++)
			assert_int_equal(load(i), i);
		for (unsigned i = 0; i < PAGES; i++)
			assert_int_equal(load(PAGES - 1 - i), PAGES - 1 - i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_evicted, set_up, tear_down),
	};
	return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
