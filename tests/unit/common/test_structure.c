/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/format/structure: what the writer lays out the reader gives back, and no damage
 * gets past structure_open(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/format/structure.h"
#include "common/format/structure_write.h"

#include <stdlib.h>
#include <string.h>

enum { FOO = 1, BAR = 5, MANGLED = 9, A_C = 19, B_H = 24, BINARY = 29 };
static const char strings[] = "\0foo\0bar\0_Z3barv_x\0/a.c\0/b.h\0/bin/x";

static const uint32_t files[] = {A_C, B_H};
static const struct structure_definition_record definitions[] = {{FOO, 0, 0, 10},
								 {BAR, MANGLED, 1, 3}};
static const struct structure_scope_record scopes[] = {
	{STRUCTURE_FUNCTION, STRUCTURE_FROM_DWARF, 0, STRUCTURE_NONE, 0, STRUCTURE_NONE, 0, 0,
	 0x1000},
	{STRUCTURE_INLINE, STRUCTURE_FROM_DWARF, 0, 0, 1, 0, 12, 0, 0x1010},
	{STRUCTURE_FUNCTION, STRUCTURE_FROM_SYMTAB, 0, STRUCTURE_NONE, 1, STRUCTURE_NONE, 0, 0,
	 0x9000},
};
static const struct structure_region_record regions[] = {{0x1000, 0x100, 0, 4},
							 {0x9000, 0x20, 4, 1}};
static const struct structure_interval_record intervals[] = {
	{0, 0, 0, 11},
	{0x10, 1, 1, 4},
	{0x20, 0, STRUCTURE_NONE, 0},
	{0x40, STRUCTURE_NONE, STRUCTURE_NONE, 0},
	{0x8, 2, STRUCTURE_NONE, 0},
};
static const struct structure_alias_record aliases[] = {{0, BAR}, {0, MANGLED}};
static const struct structure_resources_record resources[] = {
	{0, STRUCTURE_RESOURCES_KERNEL, 32, 1024, 16, 48, 20, 256, 1, 0},
	{2, 0, 24, 0, 0, 0, 0, 0, 0, 0}};
static const struct structure_call_record calls[] = {{0x1004, 2, 0}, {0x1014, STRUCTURE_NONE, 0}};
static const struct structure_wait_record waits[] = {{0x1010, 0}, {0x9008, 2}};
static const struct structure_cause_record causes[] = {
	{0x1000, 300, STRUCTURE_GLOBAL_LOAD,
	 STRUCTURE_WAIT_RESULT | STRUCTURE_CAUSE_USED | STRUCTURE_CAUSE_CARRIED |
		 5 << STRUCTURE_CAUSE_BYTES},
	{0x1004, 8, STRUCTURE_N_OPERATIONS, STRUCTURE_WAIT_OPERANDS},
	{0x9000, 4, STRUCTURE_ARITHMETIC, STRUCTURE_N_WAIT_KINDS},
};
static const uint8_t build_id[] = {0xab, 0xcd};

struct file {
	_Alignas(8) uint8_t bytes[4096];
	size_t n_bytes;
};

static void make(struct file *f)
{
	struct structure_content c = {
		.fingerprint = 77,
		.flags = STRUCTURE_FLAG_LINES,
		.binary = BINARY,
		.build_id = build_id,
		.build_id_bytes = sizeof build_id,
		.binary_bytes = 123,
		.binary_mtime_ns = 456,
		.strings = strings,
		.strings_bytes = sizeof strings,
		.files = files,
		.n_files = 2,
		.definitions = definitions,
		.n_definitions = 2,
		.scopes = scopes,
		.n_scopes = 3,
		.regions = regions,
		.n_regions = 2,
		.intervals = intervals,
		.n_intervals = 5,
		.aliases = aliases,
		.n_aliases = 2,
		.resources = resources,
		.n_resources = 2,
		.calls = calls,
		.n_calls = 2,
		.waits = waits,
		.n_waits = 2,
		.causes = causes,
		.n_causes = 3,
	};
	struct structure_pieces p;
	structure_lay_out(&c, &p);
	memset(f, 0, sizeof *f);
	for (int i = 0; i < p.n; i++) {
		assert_true(f->n_bytes + p.at[i].iov_len <= sizeof f->bytes);
		memcpy(f->bytes + f->n_bytes, p.at[i].iov_base, p.at[i].iov_len);
		f->n_bytes += p.at[i].iov_len;
	}
}

static enum status try_open(const struct file *f)
{
	struct structure *s;
	enum status status = structure_open("test", f->bytes, f->n_bytes, &s);
	if (status == STATUS_OK)
		structure_close(s);
	return status;
}

/* Makes the check value right again, so that damage meets the checks behind it. */
static void seal(struct file *f)
{
	struct structure_header *h = (void *)f->bytes;
	h->check = structure_check_file(f->bytes, f->n_bytes);
}

static void *section(struct file *f, enum structure_section_kind kind)
{
	struct structure_section *s = (void *)(f->bytes + sizeof(struct structure_header));
	return f->bytes + s[kind - 1].offset;
}

static void test_lookup(void **state)
{
	struct file f;
	struct structure *s;
	struct structure_place p;
	(void)state;
	make(&f);
	assert_int_equal(structure_open("test", f.bytes, f.n_bytes, &s), STATUS_OK);
	assert_false(structure_lookup(s, 0xfff, &p));
	assert_true(structure_lookup(s, 0x1000, &p));
	assert_int_equal(p.scope, 0);
	assert_int_equal(p.line, 11);
	assert_true(structure_lookup(s, 0x101f, &p));
	assert_int_equal(p.scope, 1);
	assert_string_equal(structure_get_file(s, p.file), "/b.h");
	assert_true(structure_lookup(s, 0x103f, &p));
	assert_int_equal(p.file, STRUCTURE_NONE);
	assert_false(structure_lookup(s, 0x1040, &p));
	assert_false(structure_lookup(s, 0x1100, &p));
	assert_false(structure_lookup(s, 0x9007, &p));
	assert_true(structure_lookup(s, 0x901f, &p));
	assert_int_equal(p.scope, 2);
	assert_false(structure_lookup(s, 0x9020, &p));
	assert_false(structure_lookup(s, UINT64_MAX, &p));
	structure_close(s);
}

static void test_contents(void **state)
{
	struct file f;
	struct structure *s;
	(void)state;
	make(&f);
	assert_int_equal(structure_open("test", f.bytes, f.n_bytes, &s), STATUS_OK);
	assert_int_equal(structure_n_scopes(s), 3);
	struct structure_scope scope = structure_get_scope(s, 1);
	assert_int_equal(scope.kind, STRUCTURE_INLINE);
	assert_string_equal(scope.name, "bar");
	assert_string_equal(scope.linkage_name, "_Z3barv_x");
	assert_int_equal(scope.parent, 0);
	assert_int_equal(scope.call_line, 12);
	assert_int_equal(scope.definition, structure_get_scope(s, 2).definition);
	size_t n;
	assert_memory_equal(structure_build_id(s, &n), build_id, 2);
	assert_int_equal(n, 2);
	assert_string_equal(structure_binary(s), "/bin/x");
	assert_true(structure_has_lines(s));
	assert_false(structure_is_incomplete(s));
	assert_int_equal(structure_fingerprint(s), 77);
	uint32_t alias_of;
	assert_string_equal(structure_get_alias(s, 0, &alias_of), "bar");
	assert_int_equal(alias_of, 0);
	uint64_t start, end;
	struct structure_place p;
	assert_int_equal(structure_n_intervals(s), 5);
	assert_false(structure_get_interval(s, 3, &start, &end, &p));
	assert_int_equal(start, 0x1040);
	assert_int_equal(end, 0x1100);
	assert_true(structure_get_interval(s, 4, &start, &end, &p));
	assert_int_equal(start, 0x9008);
	assert_int_equal(end, 0x9020);
	structure_close(s);
}

static void test_gpu(void **state)
{
	struct file f;
	struct structure *s;
	struct structure_resources r;
	(void)state;
	make(&f);
	assert_int_equal(structure_open("test", f.bytes, f.n_bytes, &s), STATUS_OK);
	assert_true(structure_get_resources(s, 0, &r));
	assert_true(r.is_kernel);
	assert_int_equal(r.registers, 32);
	assert_int_equal(r.shared_bytes, 1024);
	assert_int_equal(r.frame_bytes, 16);
	assert_int_equal(r.stack_bytes, 48);
	assert_int_equal(r.parameter_bytes, 20);
	assert_int_equal(r.max_threads, 256);
	assert_int_equal(r.barriers, 1);
	assert_false(structure_get_resources(s, 1, &r));
	assert_true(structure_get_resources(s, 2, &r));
	assert_false(r.is_kernel);
	assert_int_equal(r.registers, 24);
	assert_false(structure_get_resources(s, STRUCTURE_NONE, &r));
	assert_int_equal(structure_n_calls(s), 2);
	assert_int_equal(structure_get_call(s, 0).link_addr, 0x1004);
	assert_int_equal(structure_get_call(s, 0).target, 2);
	assert_int_equal(structure_get_call(s, 1).target, STRUCTURE_NONE);
	structure_close(s);
}

static void test_waits(void **state)
{
	struct file f;
	struct structure *s;
	struct structure_wait w;
	(void)state;
	make(&f);
	assert_int_equal(structure_open("test", f.bytes, f.n_bytes, &s), STATUS_OK);
	assert_int_equal(structure_n_waits(s), 2);
	assert_false(structure_find_wait(s, 0x100f, &w));
	assert_false(structure_find_wait(s, 0x9009, &w));
	assert_true(structure_find_wait(s, 0x9008, &w));
	assert_int_equal(w.first, 2);
	assert_int_equal(w.n, 1);
	assert_int_equal(structure_get_cause(s, 2).kind, STRUCTURE_N_WAIT_KINDS);
	assert_true(structure_find_wait(s, 0x1010, &w));
	assert_int_equal(w.link_addr, 0x1010);
	assert_int_equal(w.first, 0);
	assert_int_equal(w.n, 2);
	struct structure_cause c = structure_get_cause(s, 0);
	assert_int_equal(c.link_addr, 0x1000);
	assert_int_equal(c.kind, STRUCTURE_WAIT_RESULT);
	assert_int_equal(c.cycles, 300);
	assert_true(c.is_used && c.is_carried);
	assert_int_equal(c.bytes, 16);
	assert_string_equal(structure_operation_name(c.operation), "global load");
	c = structure_get_cause(s, 1);
	assert_int_equal(c.kind, STRUCTURE_WAIT_OPERANDS);
	assert_int_equal(c.operation, STRUCTURE_OTHER_OPERATION); /* of a newer version */
	assert_false(c.is_used || c.is_carried);
	assert_int_equal(c.bytes, 0);
	for (int i = 0; i < STRUCTURE_N_OPERATIONS; i++)
		assert_non_null(structure_operation_name((enum structure_operation)i));
	structure_close(s);
}

/* bar is the shown name of a function and an alias of another; inlined calls do not count. */
static void test_names(void **state)
{
	struct file f;
	struct structure *s;
	bool several = true;
	(void)state;
	make(&f);
	assert_int_equal(structure_open("test", f.bytes, f.n_bytes, &s), STATUS_OK);
	assert_int_equal(structure_find_function(s, "foo", NULL), STRUCTURE_NONE);
	assert_int_equal(structure_index_names(s, "test"), STATUS_OK);
	assert_int_equal(structure_find_function(s, "foo", &several), 0);
	assert_false(several);
	assert_int_equal(structure_find_function(s, "_Z3barv_x", &several), 2);
	assert_false(several);
	assert_int_equal(structure_find_function(s, "bar", &several), 0);
	assert_true(several);
	assert_int_equal(structure_find_function(s, "ba", &several), STRUCTURE_NONE);
	assert_int_equal(structure_find_function(s, "", NULL), STRUCTURE_NONE);
	assert_int_equal(structure_index_names(s, "test"), STATUS_OK);
	assert_int_equal(structure_find_function(s, "foo", NULL), 0);
	structure_close(s);
}

static void test_refuses_other_files(void **state)
{
	struct file f;
	(void)state;
	make(&f);
	((struct structure_header *)f.bytes)->version_major = 2;
	assert_int_equal(try_open(&f), STATUS_UNSUPPORTED);
	make(&f);
	f.bytes[0] = 'X';
	assert_int_equal(try_open(&f), STATUS_BAD_INPUT);
	for (size_t n = 0; n < 300; n += 7) {
		make(&f);
		f.n_bytes = n;
		assert_int_equal(try_open(&f), STATUS_BAD_INPUT);
	}
	make(&f);
	f.bytes[f.n_bytes - 20] ^= 1;
	assert_int_equal(try_open(&f), STATUS_BAD_INPUT);
}

/* Each rule of the specification, broken alone. */
static void test_refuses_broken_rules(void **state)
{
	struct file f;
	(void)state;
#define BROKEN(change) \
	do { \
		make(&f); \
		change; \
		seal(&f); \
		assert_int_equal(try_open(&f), STATUS_BAD_INPUT); \
	} while (0)
	BROKEN(((struct structure_section *)(f.bytes + 128))[0].offset = 1u << 20);
	BROKEN(((struct structure_section *)(f.bytes + 128))[1].record_bytes = 3);
	BROKEN(((struct structure_section *)(f.bytes + 128))[2].kind = STRUCTURE_FILES);
	BROKEN(((char *)section(&f, STRUCTURE_STRINGS))[sizeof strings - 1] = 'x');
	BROKEN(((uint32_t *)section(&f, STRUCTURE_FILES))[1] = sizeof strings);
	BROKEN(((struct structure_definition_record *)section(&f, STRUCTURE_DEFINITIONS))[1].file =
		       2);
	BROKEN(((struct structure_definition_record *)section(&f, STRUCTURE_DEFINITIONS))[0].name =
		       5000);
	BROKEN(((struct structure_scope_record *)section(&f, STRUCTURE_SCOPES))[1].parent = 1);
	BROKEN(((struct structure_scope_record *)section(&f, STRUCTURE_SCOPES))[1].parent =
		       STRUCTURE_NONE);
	BROKEN(((struct structure_scope_record *)section(&f, STRUCTURE_SCOPES))[2].parent = 0);
	BROKEN(((struct structure_scope_record *)section(&f, STRUCTURE_SCOPES))[2].definition = 2);
	BROKEN(((struct structure_scope_record *)section(&f, STRUCTURE_SCOPES))[2].kind = 9);
	BROKEN(((struct structure_region_record *)section(&f, STRUCTURE_REGIONS))[1].start =
		       0x10ff);
	BROKEN(((struct structure_region_record *)section(&f, STRUCTURE_REGIONS))[1].first = 3);
	BROKEN(((struct structure_region_record *)section(&f, STRUCTURE_REGIONS))[1].n_intervals =
		       0);
	BROKEN(((struct structure_region_record *)section(&f, STRUCTURE_REGIONS))[0].n_bytes =
		       0x40);
	BROKEN(((struct structure_interval_record *)section(&f, STRUCTURE_INTERVALS))[1].offset =
		       0);
	BROKEN(((struct structure_interval_record *)section(&f, STRUCTURE_INTERVALS))[1].scope = 3);
	BROKEN(((struct structure_interval_record *)section(&f, STRUCTURE_INTERVALS))[1].file = 2);
	BROKEN(((struct structure_interval_record *)section(&f, STRUCTURE_INTERVALS))[2].line = 7);
	BROKEN(((struct structure_alias_record *)section(&f, STRUCTURE_ALIASES))[0].scope = 3);
	BROKEN(((struct structure_resources_record *)section(&f, STRUCTURE_RESOURCES))[0].scope =
		       1); /* no function */
	BROKEN(((struct structure_resources_record *)section(&f, STRUCTURE_RESOURCES))[1].scope =
		       0);
	BROKEN(((struct structure_resources_record *)section(&f, STRUCTURE_RESOURCES))[1].scope =
		       3);
	BROKEN(((struct structure_call_record *)section(&f, STRUCTURE_CALLS))[0].target = 1);
	BROKEN(((struct structure_call_record *)section(&f, STRUCTURE_CALLS))[0].target = 3);
	BROKEN(((struct structure_call_record *)section(&f, STRUCTURE_CALLS))[1].link_addr =
		       0x1004);
	BROKEN(((struct structure_wait_record *)section(&f, STRUCTURE_WAITS))[0].first = 1);
	BROKEN(((struct structure_wait_record *)section(&f, STRUCTURE_WAITS))[1].first = 3);
	BROKEN(((struct structure_wait_record *)section(&f, STRUCTURE_WAITS))[1].first = 0);
	BROKEN(((struct structure_wait_record *)section(&f, STRUCTURE_WAITS))[1].link_addr =
		       0x1010);
	BROKEN(((struct structure_section *)(f.bytes + 128))[STRUCTURE_WAITS - 1].kind = 1000);
#undef BROKEN
	make(&f);
	seal(&f);
	assert_int_equal(try_open(&f), STATUS_OK);
}

/* A newer minor version may bring longer records and sections of new kinds. */
static void test_accepts_what_is_newer(void **state)
{
	struct file f;
	(void)state;
	make(&f);
	struct structure_header *h = (void *)f.bytes;
	struct structure_section *s = (void *)(f.bytes + sizeof *h);
	h->version_minor = 9;
	s[STRUCTURE_ALIASES - 1].kind = 1000;
	seal(&f);
	assert_int_equal(try_open(&f), STATUS_OK);
}

static void test_key(void **state)
{
	char key[STRUCTURE_KEY_BYTES], other[STRUCTURE_KEY_BYTES];
	(void)state;
	structure_key(key, build_id, sizeof build_id, "/bin/x", 1, 2, 0);
	assert_string_equal(key, "abcd");
	structure_key(key, NULL, 0, "/bin/x", 1, 2, 0);
	assert_int_equal(strlen(key), 17);
	assert_int_equal(key[0], 'x');
	structure_key(other, NULL, 0, "/bin/x", 1, 3, 0);
	assert_string_not_equal(key, other);
	structure_key(other, NULL, 0, "/bin/x", 1, 2, 4);
	assert_string_not_equal(key, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_refuses_other_files),
		cmocka_unit_test(test_refuses_broken_rules),
		cmocka_unit_test(test_accepts_what_is_newer),
		cmocka_unit_test(test_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
