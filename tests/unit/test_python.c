/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/python: symbols as dlsym finds them; what an interpreter says of itself and what it must not say; loads that are guarded, in pages and in batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/python/layout.h"
#include "hpcrun-lite/python/reader.h"
#include "hpcrun-lite/python/symbols.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = READER_PAGE_BYTES };

static struct link_map *map_of(const char *library)
{
	struct link_map *map = NULL;
	void *handle = dlopen(library, RTLD_NOW);
	assert_non_null(handle);
	assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
	return map;
}

static void symbols(void **state)
{
	static const char *const names[] = {"environ", "stdout", "optind", "program_invocation_name"}; /* data: functions may be chosen at run time */
	struct symbols s;
	(void)state;
	assert_true(symbols_open(map_of("libc.so.6"), &s));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint64_t n_bytes = 0;
		uintptr_t at = symbols_find(&s, names[i], &n_bytes);
		Dl_info info;
		assert_int_not_equal(at, 0);
		assert_true(n_bytes == 8 || n_bytes == 4);
		assert_int_not_equal(dladdr((void *)at, &info), 0);
		assert_ptr_equal(info.dli_fbase, (void *)map_of("libc.so.6")->l_addr);
	}
	assert_ptr_equal((void *)symbols_find(&s, "puts", NULL), dlsym(dlopen("libc.so.6", RTLD_NOW), "puts"));
	assert_int_equal(symbols_find(&s, "_PyRuntime", NULL), 0);
	assert_int_equal(symbols_find(&s, "", NULL), 0);
	assert_int_equal(symbols_find(&s, "a_name_that_is_longer_than_any_symbol_which_is_looked_for_in_an_interpreter", NULL), 0);
}

/* Tables that lie: nothing is found, nothing faults, nothing goes on for ever. */
static void symbols_of_liars(void **state)
{
	uint32_t hash[64];
	(void)state;
	struct symbols s = {.names = 64, .table = 64, .hash = (uintptr_t)hash};
	for (unsigned i = 0; i < 64; i++)
		hash[i] = UINT32_MAX;
	assert_int_equal(symbols_find(&s, "_PyRuntime", NULL), 0);
	hash[0] = 1;
	hash[1] = 0;
	hash[2] = 1;
	assert_int_equal(symbols_find(&s, "_PyRuntime", NULL), 0);
	memset(hash, 0, sizeof hash);
	assert_int_equal(symbols_find(&s, "_PyRuntime", NULL), 0);
	assert_false(symbols_open(&(struct link_map){.l_ld = (ElfW(Dyn) *)64}, &s));
}

/* _Py_DebugOffsets of CPython 3.13.0, up to frames. */
static const uint64_t said_3_13[] = {
	0x7970677562656478 /* "xdebugpy" */, 0x030d00f0, 0, 283320, 608, 632, 265144, 7216, 7208, 7224, 7368, 7600, 7624, 7632, 16, 0, 0, 0, 0, 304, 0, 8, 16, 72, 152, 160, 232, 40, 80, 8,
	0, 56, 72, 70, 0, 0, 0};

static void layouts(void **state)
{
	uint64_t said[PYTHON_LAYOUT_SAID_BYTES / 8];
	const struct python_layout *l = python_layout_of(13);
	(void)state;
	assert_int_equal(sizeof said_3_13, sizeof said);
	for (unsigned minor = 0; minor < 40; minor++)
		assert_int_equal(python_layout_of(minor) != NULL, minor >= 10 && minor <= 14);
	assert_true(python_layout_agrees(python_layout_of(12), NULL, 0));
	assert_true(python_layout_agrees(l, said_3_13, sizeof said_3_13));
	assert_false(python_layout_agrees(l, said_3_13, sizeof said_3_13 - 1));
	assert_false(python_layout_agrees(python_layout_of(14), said_3_13, sizeof said_3_13));
	static const unsigned matters[] = {0, 2 /* no interpreter lock */, 4, 23, 24, 29, 30, 31, 33};
	for (size_t i = 0; i < sizeof matters / sizeof *matters; i++) {
		memcpy(said, said_3_13, sizeof said);
		said[matters[i]] += 8;
		assert_false(python_layout_agrees(l, said, sizeof said));
	}
}

/* Three pages, the second of which cannot be read. */
static uint8_t *make_pages(void)
{
	uint8_t *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	for (unsigned i = 0; i < 3 * PAGE; i++)
		p[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_NONE), 0);
	return p;
}

static void guarded(void **state)
{
	static struct reader r;
	uint8_t copy[256];
	const uint8_t *p = make_pages();
	const uintptr_t at = (uintptr_t)p;
	(void)state;
	reader_begin(&r);
	assert_ptr_equal(reader_load(&r, copy, at + 16, 100), copy);
	assert_memory_equal(copy, p + 16, 100);
	assert_ptr_equal(reader_load(&r, copy, at + PAGE - 104, 104), copy);
	assert_memory_equal(copy, p + PAGE - 104, 104);
	assert_null(reader_load(&r, copy, at + PAGE - 96, 104)); /* across the edge */
	assert_null(reader_load(&r, copy, at + PAGE, 8));
	assert_null(reader_load(&r, copy, at + 17, 8));          /* no object lies so */
	assert_null(reader_load(&r, copy, 8, 8));
	assert_null(reader_load(&r, copy, UINT64_C(1) << 47, 8));
	assert_null(reader_load(&r, copy, UINTPTR_MAX - 7, 8));
	r.direct = true;
	assert_ptr_equal(reader_load(&r, copy, at + 24, 8), p + 24);
}

static void batches(void **state)
{
	static struct reader r;
	static struct reader_batch b;
	uint8_t copy[READER_ITEM_BYTES];
	const uint8_t *p = make_pages();
	const uintptr_t at = (uintptr_t)p;
	(void)state;
	b.n = 40;
	for (uintptr_t i = 0; i < b.n; i++)
		b.at[i] = at + 64 * (40 - i);
	reader_fetch(&b, 64);
	assert_int_equal(b.n, 40);
	reader_begin(&r);
	r.batch[1] = &b;
	for (uintptr_t i = 0; i < 40; i += 1 + i % 3) { /* some are passed over */
		assert_ptr_equal(reader_load(&r, copy, at + 64 * (40 - i), 40), copy);
		assert_memory_equal(copy, p + 64 * (40 - i), 40);
		assert_ptr_equal(reader_load(&r, copy, at + 64 * (40 - i) + 40, 24), copy);
		assert_memory_equal(copy, p + 64 * (40 - i) + 40, 24);
		assert_int_equal(b.next, i);
	}
	assert_int_equal(r.at[0], 0); /* no page was needed */
	assert_ptr_equal(reader_load(&r, copy, at + 64 * 40 + 40, 32), copy); /* not whole in it, and not in the next */
	assert_memory_equal(copy, p + 64 * 40 + 40, 32);
	assert_int_equal(r.at[0], at);
	b.n = 20;
	b.at[17] = at + PAGE;
	reader_fetch(&b, 48);
	assert_int_equal(b.n, 17);
	b.n = 0;
	reader_fetch(&b, 48);
	assert_int_equal(b.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(symbols), cmocka_unit_test(symbols_of_liars), cmocka_unit_test(layouts), cmocka_unit_test(guarded),
		cmocka_unit_test(batches)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
