/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/unwind/go: a table of Go's that is made up here, in both forms; what it says
 * at each place; and what is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/unwind/go.h"

#include <stdlib.h>
#include <string.h>

enum {
	TEXT = 0x400000,
	TEXT_BYTES = 0x1000,
	BYTES = 1024,
	NAMES = 128,
	VALUES = 256,
	FUNCTIONS = 512,
	FUNC = 128,
	FUNC_STEP = 64
};

struct made {
	const char *name;
	uint32_t place;
	uint8_t flags;
	char values[10]; /* steps of the sp delta and of the place, until a step of 0; empty: none
			  */
};

/* Frames of 0, 24 and again 0 bytes; nobody's; one that moves sp; one without a row. */
static const struct made made[] = {
	{"main.main", 0, 0, "\x02\x07\x30\x20\x2f\x05"},
	{"runtime.goexit", 0x40, 1, "\x02\x20"},
	{"runtime.systemstack", 0x80, 2, "\x02\x20"},
	{"runtime.gogo", 0xc0, 2, "\x02\x20"},
	{"runtime.asyncPreempt", 0x100, 0, "\x02\x04\x12\x3c"},
	{"_cgo_start", 0x140, 0, ""},
	{"main.big", 0x180, 0, "\x02\x04\x80\x80\x80\x02\x20"},
};
enum { N = sizeof made / sizeof *made };

static void put(uint8_t *to, uint64_t value, size_t n)
{
	memcpy(to, &value, n);
}

/* As cmd/link writes it; see go.h. */
static void make(uint8_t *t, uint32_t magic)
{
	const unsigned id = magic == 0xfffffff0 ? 36 : 40;
	size_t name = 1, value = 1;
	memset(t, 0, BYTES);
	put(t, magic, 4);
	t[6] = 1, t[7] = 8;
	put(t + 8, N, 8);
	put(t + 24, TEXT, 8);
	put(t + 32, NAMES, 8);
	put(t + 56, VALUES, 8);
	put(t + 64, FUNCTIONS, 8);
	for (size_t i = 0; i < N; i++) {
		uint8_t *entry = t + FUNCTIONS + 8 * i,
			*func = t + FUNCTIONS + FUNC + i * (FUNC_STEP - 8);
		put(entry, made[i].place, 4);
		put(entry + 4, (uint64_t)(func - t) - FUNCTIONS, 4);
		put(func, made[i].place, 4);
		put(func + 4, name, 4);
		put(func + 16, made[i].values[0] ? value : 0, 4);
		func[id + 1] = made[i].flags;
		strcpy((char *)t + NAMES + name, made[i].name);
		name += strlen(made[i].name) + 1;
		if (made[i].values[0]) {
			memcpy(t + VALUES + value, made[i].values, sizeof made[i].values);
			value += sizeof made[i].values;
		}
	}
	put(t + FUNCTIONS + 8 * N, 0x1c0, 4);
}

static const struct {
	uint32_t distance;
	bool found;
	enum go_kind kind;
	int64_t delta;
} expected[] = {
	{0, true, GO_FRAME, 0},
	{6, true, GO_FRAME, 0},
	{7, true, GO_FRAME, 24},
	{0x26, true, GO_FRAME, 24},
	{0x27, true, GO_FRAME, 0},
	{0x2b, true, GO_FRAME, 0},
	{0x2c, true, GO_UNKNOWN, 0},
	{0x40, true, GO_ROOT, 0},
	{0x90, true, GO_SYSTEMSTACK, 0},
	{0xc5, true, GO_UNKNOWN, 0},
	{0x103, true, GO_INTERRUPTED, 0},
	{0x105, true, GO_INTERRUPTED, 9},
	{0x150, true, GO_UNKNOWN, 0},
	{0x185, true, GO_FRAME, 1 << 21},
	{0x1c0, false, 0, 0},
	{0xfff, false, 0, 0},
};

static void check(uint32_t magic)
{
	uint8_t *bytes = malloc(BYTES);
	struct go_table t;
	struct go_function f;
	make(bytes, magic);
	assert_true(go_table_at((uintptr_t)bytes, (uintptr_t)bytes + BYTES, TEXT, TEXT + TEXT_BYTES,
				&t));
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		assert_int_equal(go_find(&t, TEXT + expected[i].distance, &f), expected[i].found);
		if (!expected[i].found)
			continue;
		assert_int_equal(f.kind, expected[i].kind);
		assert_true(f.lo <= TEXT + expected[i].distance &&
			    TEXT + expected[i].distance < f.hi);
		if (f.kind == GO_FRAME || f.kind == GO_INTERRUPTED)
			assert_int_equal(f.sp_delta, expected[i].delta);
	}
	assert_false(go_find(&t, TEXT - 1, &f));
	free(bytes);
}

static void test_1_18(void **state)
{
	(void)state;
	check(0xfffffff0);
}

static void test_1_20(void **state)
{
	(void)state;
	check(0xfffffff1);
}

/* Any byte may be any other: all is read within the table, which ends where a page that cannot be
 * read begins, and every search ends. */
static void test_damage(void **state)
{
	(void)state;
	uint8_t *bytes = malloc(BYTES);
	struct go_table t;
	struct go_function f;
	uint64_t seed = 1, n_tables = 0;
	for (unsigned i = 0; i < 4000; i++) {
		make(bytes, 0xfffffff0 + i % 2);
		for (unsigned k = 0; k < 3; k++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			bytes[k == 0 ? seed % 72 : seed % BYTES] = (uint8_t)(seed >> 32);
		}
		const size_t n = i % 3 ? BYTES : seed % BYTES;
		if (!go_table_at((uintptr_t)bytes, (uintptr_t)bytes + n, TEXT, TEXT + TEXT_BYTES,
				 &t))
			continue;
		n_tables++;
		for (uintptr_t pc = TEXT - 1; pc < TEXT + 0x200; pc += 7)
			if (go_find(&t, pc, &f))
				assert_true(f.lo <= pc && pc < f.hi);
	}
	assert_true(n_tables > 100);
	make(bytes, 0xffffffff);
	assert_false(go_table_at((uintptr_t)bytes, (uintptr_t)bytes + BYTES, TEXT,
				 TEXT + TEXT_BYTES, &t));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_1_18), cmocka_unit_test(test_1_20),
					   cmocka_unit_test(test_damage)};
	return cmocka_run_group_tests_name("go", tests, NULL, NULL);
}
