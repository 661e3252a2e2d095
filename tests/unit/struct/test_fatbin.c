/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcstruct-lite/image/fatbin: finding fat binaries and their entries among other bytes,
 * and leaving alone what makes no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/image/fatbin.h"

#include <stdlib.h>
#include <string.h>

static uint8_t file[4096];
static size_t n_bytes;

static void put(const void *p, size_t n)
{
	memcpy(file + n_bytes, p, n);
	n_bytes += n;
}
static void put_u16(uint16_t v)
{
	put(&v, sizeof v);
}
static void put_u32(uint32_t v)
{
	put(&v, sizeof v);
}
static void put_u64(uint64_t v)
{
	put(&v, sizeof v);
}

static void put_header(uint64_t size)
{
	put_u32(0xba55ed50);
	put_u16(1);
	put_u16(16);
	put_u64(size);
}

static void put_entry(uint16_t kind, uint32_t architecture, uint64_t flags, uint64_t full_bytes,
		      const char *contents)
{
	uint64_t size = strlen(contents);
	put_u16(kind);
	put_u16(0x101);
	put_u32(64);
	put_u64(size);
	put_u32(flags ? (uint32_t)size : 0);
	put_u32(0);
	put_u32(0);
	put_u32(architecture);
	put_u64(0);
	put_u64(flags);
	put_u64(0);
	put_u64(full_bytes);
	put(contents, size);
}

/* Two fat binaries among other bytes; the second one lies at an odd place. */
static void make(void)
{
	n_bytes = 0;
	memset(file, 0, sizeof file);
	put("other bytes, and the mark alone: \x50\xed\x55\xba", 37);
	put_header(2 * 64 + 8 + 4);
	put_entry(2, 75, 0, 0, "cubin 75");
	put_entry(1, 90, 0, 0, "ptx!");
	put("xyz", 3);
	put_header(64 + 8);
	put_entry(2, 90, 0, 0, "cubin 90");
	put("end", 3);
}

static void test_finds_entries(void **state)
{
	struct fatbin_search s = {0};
	struct fatbin_entry e;
	uint8_t *bytes;
	(void)state;
	make();
	assert_true(fatbin_next(file, n_bytes, &s, &e));
	assert_int_equal(e.form, FATBIN_CUBIN);
	assert_int_equal(e.architecture, 75);
	assert_int_equal(fatbin_unpack(&e, &bytes), FATBIN_OK);
	assert_int_equal(e.full_bytes, 8);
	assert_memory_equal(bytes, "cubin 75", 8);
	free(bytes);
	assert_true(fatbin_next(file, n_bytes, &s, &e));
	assert_int_equal(e.form, FATBIN_PTX);
	assert_true(fatbin_next(file, n_bytes, &s, &e));
	assert_int_equal(e.architecture, 90);
	assert_memory_equal(e.bytes, "cubin 90", 8);
	assert_false(fatbin_next(file, n_bytes, &s, &e));
	assert_int_equal(s.n_damaged, 0);
	assert_false(fatbin_next(file, n_bytes, &s, &e));
}

/* Every end of the file, and every byte changed, is survived; entries stay inside. */
static void test_damage(void **state)
{
	(void)state;
	make();
	for (size_t n = 0; n <= n_bytes; n++) {
		uint8_t *copy = malloc(n + 1);
		struct fatbin_search s = {0};
		struct fatbin_entry e;
		assert_non_null(copy);
		memcpy(copy, file, n);
		while (fatbin_next(copy, n, &s, &e))
			assert_true(e.bytes >= copy && e.bytes + e.n_bytes <= copy + n);
		free(copy);
	}
	for (size_t i = 0; i < n_bytes; i++) {
		struct fatbin_search s = {0};
		struct fatbin_entry e;
		file[i] ^= 0xff;
		while (fatbin_next(file, n_bytes, &s, &e))
			assert_true(e.bytes >= file && e.bytes + e.n_bytes <= file + n_bytes);
		file[i] ^= 0xff;
	}
}

static void test_damaged_entry_ends_its_fat_binary(void **state)
{
	struct fatbin_search s = {0};
	struct fatbin_entry e;
	(void)state;
	make();
	file[37 + 16 + 8] = 0xf0; /* size of the first entry: beyond the fat binary */
	assert_true(fatbin_next(file, n_bytes, &s, &e));
	assert_int_equal(e.architecture, 90);
	assert_int_equal(e.form, FATBIN_CUBIN);
	assert_int_equal(s.n_damaged, 1);
}

static void test_refuses_impossible_sizes(void **state)
{
	static const uint64_t flags[] = {0x2000, 0x8000};
	static const uint64_t sizes[] = {0, 7, 1000, UINT64_MAX};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < 4; k++) {
			struct fatbin_search s = {0};
			struct fatbin_entry e;
			uint8_t *bytes;
			n_bytes = 0;
			put_header(64 + 8);
			put_entry(2, 90, flags[i], sizes[k], "garbage!");
			assert_true(fatbin_next(file, n_bytes, &s, &e));
			enum fatbin_result r = fatbin_unpack(&e, &bytes);
			assert_true(r == FATBIN_DAMAGED || r == FATBIN_NO_UNPACKER);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_entries),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_damaged_entry_ends_its_fat_binary),
		cmocka_unit_test(test_refuses_impossible_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
