/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcstruct-lite/debug/go_*.c on a table that is made up, in both layouts, and on damaged
 * ones.
 */
#include "hpcstruct-lite/debug/go_table.h"
#include "tests/struct/go_made.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct go_made made;

static void read_unit(struct debug_unit *u, bool is_1_20)
{
	go_make_image(&made, made.table, sizeof made.table, is_1_20);
	assert_int_equal(go_read_table(&made.image, u), STATUS_OK);
	go_free_image(&made);
}

static const char *name_of(const struct debug_unit *u, uint32_t scope)
{
	return u->definitions.at[u->scopes.at[scope].definition].name;
}

/* Innermost scope at an address, by the ranges that hold it. */
static uint32_t scope_at(const struct debug_unit *u, uint64_t addr)
{
	uint32_t best = DEBUG_NONE;
	for (size_t i = 0; i < u->ranges.n; i++) {
		const struct debug_range *r = &u->ranges.at[i];
		if (r->start <= addr && addr < r->end && (best == DEBUG_NONE || r->scope > best))
			best = r->scope;
	}
	return best;
}

static void check_place(const struct debug_unit *u, uint64_t addr, const char *file, uint32_t line)
{
	const struct debug_row *last = NULL;
	for (size_t i = 0; i < u->rows.n && u->rows.at[i].link_addr <= addr; i++)
		last = &u->rows.at[i];
	if (!last) {
		fail_msg("no line");
		return;
	}
	assert_false(last->is_end);
	assert_string_equal(strtab_get(&u->files, last->file), file);
	assert_int_equal(last->line, line);
}

static void check(bool is_1_20)
{
	struct debug_unit u = {0};
	go_make_table(made.table, is_1_20);
	read_unit(&u, is_1_20);
	assert_false(u.incomplete);
	assert_int_equal(u.scopes.n, 5);
	assert_string_equal(name_of(&u, scope_at(&u, GO_TEXT)), "main.f");
	assert_string_equal(name_of(&u, scope_at(&u, GO_TEXT + 0x100)), "main.g");
	assert_string_equal(name_of(&u, scope_at(&u, GO_TEXT + 0x2ff)), "main.h");
	assert_int_equal(scope_at(&u, GO_TEXT + 0x300), DEBUG_NONE);
	check_place(&u, GO_TEXT, "/a.go", 10);
	check_place(&u, GO_TEXT + 0x13f, "/a.go", 10);
	check_place(&u, GO_TEXT + 0x140, "/a.go", 20);
	check_place(&u, GO_TEXT + 0x180, "/b.go", 30);
	check_place(&u, GO_TEXT + 0x1c0, "/a.go", 10);
	uint32_t h = scope_at(&u, GO_TEXT + 0x140), inner = scope_at(&u, GO_TEXT + 0x1bf);
	assert_string_equal(name_of(&u, h), "main.h");
	assert_string_equal(name_of(&u, inner), "main.inner");
	assert_string_equal(name_of(&u, u.scopes.at[h].parent), "main.g");
	assert_int_equal(u.scopes.at[inner].parent, h);
	assert_int_equal(u.scopes.at[h].call_line, 10);
	assert_int_equal(u.scopes.at[inner].call_line, 20);
	assert_string_equal(name_of(&u, scope_at(&u, GO_TEXT + 0x1c0)), "main.g");
	/* an inlined function that exists by itself too is the same function */
	assert_int_equal(u.scopes.at[h].definition,
		u.scopes.at[scope_at(&u, GO_TEXT + 0x200)].definition);
	assert_int_equal(u.definitions.at[u.scopes.at[h].definition].line, is_1_20 ? 7 : 10);
	debug_unit_free(&u);
}

static void test_1_18(void **state)
{
	(void)state;
	check(false);
}

static void test_1_20(void **state)
{
	(void)state;
	check(true);
}

/* Later versions of Go do not say where the text begins. */
static void test_no_text(void **state)
{
	(void)state;
	struct debug_unit u = {0};
	go_make_table(made.table, true);
	go_put64(made.table, 24, 0);
	read_unit(&u, true);
	assert_string_equal(name_of(&u, scope_at(&u, GO_TEXT)), "main.f");
	debug_unit_free(&u);
}

static void test_damage(void **state)
{
	(void)state;
	struct debug_unit u = {0};
	go_make_table(made.table, true);
	go_put32(made.table, GO_CALLS + 16 + 8, 0x90); /* call 1 is called from itself */
	read_unit(&u, true);
	assert_true(u.incomplete);
	assert_string_equal(name_of(&u, scope_at(&u, GO_TEXT + 0x140)), "main.g");
	debug_unit_free(&u);

	u = (struct debug_unit){0};
	go_make_table(made.table, true);
	go_put32(made.table, 256 + 192 + 4, 5000); /* a name that is not there */
	read_unit(&u, true);
	assert_true(u.incomplete);
	assert_int_equal(scope_at(&u, GO_TEXT + 0x100), DEBUG_NONE);
	assert_string_equal(name_of(&u, scope_at(&u, GO_TEXT)), "main.f");
	debug_unit_free(&u);

	u = (struct debug_unit){0};
	made.table[0] = 0xfb; /* Go 1.2 */
	read_unit(&u, true);
	assert_int_equal(u.scopes.n, 0);
	debug_unit_free(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_1_18), cmocka_unit_test(test_1_20),
		cmocka_unit_test(test_no_text), cmocka_unit_test(test_damage)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
