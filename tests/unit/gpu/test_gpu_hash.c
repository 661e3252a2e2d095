/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/gpu/hash128 against SMHasher's verification value of MurmurHash3_x64_128 and
 * well-known digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/gpu/hash128.h"

#include <stdlib.h>
#include <string.h>

/* SMHasher, KeysetTest.cpp, VerificationTest: keys {}, {0}, {0,1}, ... with seeds 256, 255, ...;
 * the hash of all hashes with seed 0. */
static void verification(void **state)
{
	uint8_t key[256];
	uint64_t all[256][2], final[2];
	(void)state;
	for (unsigned i = 0; i < 256; i++) {
		key[i] = (uint8_t)i;
		hash128(key, i, 256 - i, all[i]);
	}
	hash128(all, sizeof all, 0, final);
	assert_int_equal((uint32_t) final[0], 0x6384BA69u);
}

static void pieces(void **state)
{
	uint8_t bytes[200];
	(void)state;
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t n = 0; n <= sizeof bytes; n++)
		for (size_t piece = 16; piece <= 64; piece += 16) {
			uint64_t s[2] = {5, 5}, whole[2], got[2];
			for (size_t at = 0; at < n; at += piece)
				hash128_add(s, bytes + at, n - at < piece ? n - at : piece);
			hash128_end(s, bytes + n - n % 16, n, got);
			hash128(bytes, n, 5, whole);
			assert_memory_equal(got, whole, sizeof got);
		}
}

static void digests(void **state)
{
	static const struct {
		const char *text;
		uint64_t hash[2];
	} known[] = {
		{"", {0, 0}},
		{"hello", {UINT64_C(0xcbd8a7b341bd9b02), UINT64_C(0x5b1e906a48ae1d19)}},
		{"The quick brown fox jumps over the lazy dog",
		 {UINT64_C(0xe34bbc7bbc071b6c), UINT64_C(0x7a433ca9c49a9347)}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		uint64_t h[2];
		hash128(known[i].text, strlen(known[i].text), 0, h);
		assert_int_equal(h[0], known[i].hash[0]);
		assert_int_equal(h[1], known[i].hash[1]);
	}
	uint64_t h[2] = {1, 1};
	hash128(NULL, 0, 0, h);
	assert_int_equal(h[0] | h[1], 0);
}

/* Reads no byte outside: every length ends at the end of its allocation, and any alignment gives
 * the same. */
static void edges(void **state)
{
	(void)state;
	for (size_t n = 1; n < 70; n++) {
		uint8_t *exact = malloc(n), shifted[80];
		uint64_t a[2], b[2];
		assert_non_null(exact);
		for (size_t i = 0; i < n; i++)
			exact[i] = (uint8_t)(i * 37 + n);
		memcpy(shifted + 3, exact, n);
		hash128(exact, n, 7, a);
		hash128(shifted + 3, n, 7, b);
		assert_memory_equal(a, b, sizeof a);
		exact[n - 1] ^= 1;
		hash128(exact, n, 7, b);
		assert_true(a[0] != b[0] && a[1] != b[1]);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(verification),
					   cmocka_unit_test(digests), cmocka_unit_test(pieces),
					   cmocka_unit_test(edges)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
