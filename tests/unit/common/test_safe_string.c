/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/safe/string.c, whose functions are this program's: each against its definition,
 * byte by byte, at all small sizes and places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

enum { ROOM = 700 };

static uint8_t a[ROOM], b[ROOM];

/* The same bytes each time. */
static void fill(uint8_t *to, unsigned seed)
{
	for (unsigned i = 0; i < ROOM; i++)
		to[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
}

static void check_move(size_t to, size_t from, size_t n)
{
	fill(a, 1);
	fill(b, 1);
	void *result = memmove(a + to, a + from, n);
	assert_ptr_equal(result, a + to);
	for (size_t i = 0; i < ROOM; i++) {
		uint8_t wanted = i >= to && i - to < n ? b[i - to + from] : b[i];
		if (a[i] != wanted)
			fail_msg("memmove(%zu, %zu, %zu): byte %zu", to, from, n, i);
	}
}

static void moves(void **state)
{
	(void)state;
	for (size_t n = 0; n < 140; n++)
		for (size_t shift = 0; shift < 40; shift++) {
			check_move(200, 200 + shift, n);
			check_move(200 + shift, 200, n);
		}
	check_move(0, 100, 600);
	check_move(100, 0, 600);
}

static void copies_and_sets(void **state)
{
	(void)state;
	for (size_t n = 0; n < 300; n++) {
		fill(a, 1);
		fill(b, 2);
		assert_ptr_equal(memcpy(a + 3, b + 5, n), a + 3);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(a[3 + i], b[5 + i]);
		fill(b, 1);
		assert_int_equal(a[2], b[2]);
		assert_int_equal(a[3 + n], b[3 + n]);
		assert_ptr_equal(memset(a + 1, 0x1a5, n), a + 1);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(a[1 + i], 0xa5);
		assert_int_equal(a[0], b[0]);
	}
}

static void compares(void **state)
{
	(void)state;
	fill(a, 1);
	fill(b, 1);
	for (size_t n = 0; n < 40; n++)
		for (size_t at = 0; at < 40; at++) {
			b[at] = (uint8_t)(a[at] ^ 0x80);
			int wanted = at >= n ? 0 : a[at] < b[at] ? -1 : 1, got = memcmp(a, b, n);
			assert_int_equal((got > 0) - (got < 0), wanted);
			b[at] = a[at];
		}
	assert_true(strcmp("ab", "ab") == 0 && strcmp("ab", "abc") < 0 && strcmp("b", "abc") > 0 &&
		    strcmp("", "") == 0 && strcmp("\xff", "a") > 0);
	assert_true(strncmp("abx", "aby", 2) == 0 && strncmp("abx", "aby", 3) < 0 &&
		    strncmp("a", "a", 9) == 0 && strncmp("x", "y", 0) == 0);
}

static void finds(void **state)
{
	(void)state;
	const char *s = "a needle, a need";
	assert_ptr_equal(memchr(s, 'n', 16), s + 2);
	assert_null(memchr(s, 'n', 2));
	assert_ptr_equal(memchr(s, 0, 17), s + 16);
	assert_ptr_equal(memmem(s, 16, "need", 4), s + 2);
	assert_ptr_equal(memmem(s + 3, 13, "need", 4), s + 12);
	assert_null(memmem(s, 5, "need", 4));
	assert_ptr_equal(memmem(s, 16, "", 0), s);
	assert_ptr_equal(strstr(s, "a need"), s);
	assert_ptr_equal(strstr(s, ""), s);
	assert_null(strstr(s, "needles"));
	assert_ptr_equal(strchr(s, 'd'), s + 5);
	assert_ptr_equal(strchr(s, 0), s + 16);
	assert_null(strchr(s, 'z'));
	assert_ptr_equal(strrchr(s, 'd'), s + 15);
	assert_ptr_equal(strrchr(s, 0), s + 16);
	assert_null(strrchr(s, 'z'));
	assert_int_equal(strlen(s), 16);
	assert_int_equal(strnlen(s, 5), 5);
	assert_int_equal(strnlen(s, 50), 16);
	assert_int_equal(strspn(s, "a ne"), 5);
	assert_int_equal(strspn(s, ""), 0);
	assert_int_equal(strcspn(s, ",d"), 5);
	assert_int_equal(strcspn(s, "z"), 16);
}

/* Strings of all lengths that end at the end of readable memory. */
static void lengths(void **state)
{
	(void)state;
	enum { PAGE = 4096 };
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	memset(pages, 0xff, PAGE);
	for (size_t n = 0; n < 80; n++) {
		const char *s = pages + PAGE - n;
		assert_int_equal(strnlen(s, n), n);
		for (size_t end = 0; end < n; end++) {
			pages[PAGE - n + end] = 0;
			assert_int_equal(strlen(s), end);
			assert_int_equal(strnlen(s, n), end);
			assert_int_equal(strnlen(s, end / 2), end / 2);
			pages[PAGE - n + end] = (char)(n & 1 ? 0x80 : 1);
		}
	}
	munmap(pages, 2 * PAGE);
}

static void copies_strings(void **state)
{
	(void)state;
	char to[16] = "0123456789";
	assert_ptr_equal(strcpy(to, "abc"), to);
	assert_string_equal(to, "abc");
	assert_int_equal(to[4], '4');
	assert_ptr_equal(stpcpy(to, ""), to);
	assert_int_equal(to[0], 0);
	assert_int_equal(to[1], 'b');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves),    cmocka_unit_test(copies_and_sets),
		cmocka_unit_test(compares), cmocka_unit_test(finds),
		cmocka_unit_test(lengths),  cmocka_unit_test(copies_strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
