/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcstruct-lite/debug/range_list: every kind of entry, and every truncation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/debug/range_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define U64(v) (v) & 0xff, (v) >> 8, 0, 0, 0, 0, 0, 0
#define ALL_ONES 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff

static const uint8_t ranges[] = {
	U64(0x10), U64(0x20),       /* + base of the unit */
	U64(0x30), U64(0x30),       /* empty */
	ALL_ONES, U64(0x4000),      /* another base */
	U64(0x1), U64(0x2),
	U64(0), U64(0),
};
static const uint8_t addr[] = {0, 0, 0, 0, 5, 0, 8, 0, U64(0x7000), U64(0x7100), U64(0x7200)};
static const uint8_t rnglists[] = {
	0, 0, 0, 0, 5, 0, 8, 0, 2, 0, 0, 0, /* header: two lists */
	8, 0, 0, 0, 37, 0, 0, 0,            /* their offsets, from 12 on */
	4, 0x10, 0x20,                      /* offset_pair + base of the unit */
	1, 1,                               /* base_addressx 1 */
	4, 0, 5,                            /* offset_pair */
	2, 0, 2,                            /* startx_endx 0 2 */
	3, 2, 0x80, 1,                      /* startx_length 2 128 */
	5, U64(0x500), 4, 0, 1,             /* base_address, offset_pair */
	0, 0,
	6, U64(0x100), U64(0x180),          /* start_end */
	7, U64(0x200), 9,                   /* start_length */
	0,
};

struct sink {
	char text[400];
	unsigned n, stop_after;
};

static bool take(void *arg, uint64_t start, uint64_t end)
{
	struct sink *s = arg;
	size_t used = strlen(s->text);
	snprintf(s->text + used, sizeof s->text - used, "%s%llx-%llx", used ? " " : "",
		 (unsigned long long)start, (unsigned long long)end);
	return ++s->n != s->stop_after;
}

static struct range_context context(unsigned version)
{
	return (struct range_context){.ranges = {ranges, sizeof ranges},
				      .rnglists = {rnglists, sizeof rnglists},
				      .addr = {addr, sizeof addr},
				      .version = version,
				      .offset_bytes = 4,
				      .base = 0x1000,
				      .rnglists_base = 12,
				      .addr_base = 8};
}

static void test_version_4(void **state)
{
	struct range_context c = context(4);
	struct sink sink = {0};
	uint64_t where;
	(void)state;
	assert_int_equal(range_list_read(&c, 0, take, &sink, &where), RANGE_OK);
	assert_string_equal(sink.text, "1010-1020 4001-4002");
}

static void test_version_5(void **state)
{
	struct range_context c = context(5);
	struct sink sink = {0}, second = {0};
	uint64_t where, offset;
	(void)state;
	assert_true(range_list_find(&c, 0, &offset));
	assert_int_equal(offset, 20);
	assert_int_equal(range_list_read(&c, offset, take, &sink, &where), RANGE_OK);
	assert_string_equal(sink.text, "1010-1020 7100-7105 7000-7200 7200-7280 500-501");
	assert_true(range_list_find(&c, 1, &offset));
	assert_int_equal(range_list_read(&c, offset, take, &second, &where), RANGE_OK);
	assert_string_equal(second.text, "100-180 200-209");
	c.rnglists_base = c.addr_base = 0; /* not said: the first table */
	assert_true(range_list_find(&c, 0, &offset));
	assert_int_equal(offset, 20);
	assert_false(range_list_find(&c, 1u << 30, &offset));
	assert_false(range_list_find(&c, UINT64_MAX, &offset));
}

static void test_stop(void **state)
{
	struct range_context c = context(5);
	struct sink sink = {.stop_after = 2};
	uint64_t where;
	(void)state;
	assert_int_equal(range_list_read(&c, 20, take, &sink, &where), RANGE_STOPPED);
	assert_int_equal(sink.n, 2);
}

/* `n` of the bytes, in memory of their own so that a sanitizer sees every byte too many. */
static uint8_t *cut(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, n);
	return copy;
}

static void test_damage(void **state)
{
	struct sink sink = {0};
	uint64_t where;
	(void)state;
	for (size_t n = 0; n < sizeof ranges; n++) {
		struct range_context c = context(4);
		uint8_t *copy = cut(ranges, n);
		c.ranges = (struct section_bytes){copy, n};
		assert_int_equal(range_list_read(&c, 0, take, &sink, &where), RANGE_DAMAGED);
		free(copy);
	}
	for (size_t n = 0; n < 47; n++) {
		struct range_context c = context(5);
		uint8_t *copy = cut(rnglists, n);
		c.rnglists = (struct section_bytes){copy, n};
		assert_int_equal(range_list_read(&c, 20, take, &sink, &where), RANGE_DAMAGED);
		free(copy);
	}
	struct range_context c = context(5);
	c.addr.n_bytes = 20;
	assert_int_equal(range_list_read(&c, 20, take, &sink, &where), RANGE_DAMAGED);
	c = (struct range_context){.version = 5, .offset_bytes = 4};
	assert_int_equal(range_list_read(&c, 0, take, &sink, &where), RANGE_DAMAGED);
	c.version = 4;
	assert_int_equal(range_list_read(&c, 0, take, &sink, &where), RANGE_DAMAGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_4),
		cmocka_unit_test(test_version_5),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
