/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/python: symbols as dlsym finds them; what an interpreter says of itself and
 * what it must not say; loads that are guarded, in pages and in batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/python/layout.h"
#include "hpcrun-lite/python/reader.h"
#include "hpcrun-lite/python/python_symbols.h"
#include "hpcrun-lite/python/python_tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
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
	static const char *const names[] = {
		"environ", "stdout", "optind",
		"program_invocation_name"}; /* data: functions may be chosen at run time */
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
	assert_ptr_equal((void *)symbols_find(&s, "puts", NULL),
			 dlsym(dlopen("libc.so.6", RTLD_NOW), "puts"));
	assert_int_equal(symbols_find(&s, "_PyRuntime", NULL), 0);
	assert_int_equal(symbols_find(&s, "", NULL), 0);
	assert_int_equal(symbols_find(&s,
				      "a_name_that_is_longer_than_any_symbol_which_is_looked_for_"
				      "in_an_interpreter",
				      NULL),
			 0);
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

/* _Py_DebugOffsets of CPython 3.13.0 and 3.15.2, up to frames; and what we compare of them. */
enum { SAID_WORDS = PYTHON_LAYOUT_SAID_BYTES / 8 };
static const struct {
	unsigned minor;
	uint64_t said[SAID_WORDS];
	unsigned matters[9];
} said_by[] = {
	{13, {0x7970677562656478 /* "xdebugpy" */,
	      0x030d00f0, 0, 283320, 608, 632, 265144, 7216, 7208, 7224, 7368, 7600, 7624, 7632, 16,
	      0, 0, 0, 0, 304, 0, 8, 16, 72, 152, 160, 232, 40, 80, 8, 0, 56, 72, 70},
	 {0, 2 /* no interpreter lock */, 4, 23, 24, 29, 30, 31, 33}},
	{15, {0x7970677562656478, 51315440, 0, 346568, 912, 936, 226240, 7272, 7264, 7336, 7352,
	      7400, 7592, 7576, 7584, 16, 7736, 0, 7752, 7744, 7944, 0, 888, 0, 8, 16, 72, 80, 88,
	      96, 176, 184, 256, 32, 36, 40, 136, 288, 0, 88, 8, 0, 56, 80, 74},
	 {0, 2, 4, 26, 30, 40, 41, 42, 44}},
};

static void layouts(void **state)
{
	(void)state;
	for (unsigned minor = 0; minor < 40; minor++)
		assert_int_equal(python_layout_of(minor) != NULL, minor >= 10 && minor <= 15);
	assert_true(python_layout_agrees(python_layout_of(12), NULL, 0));
	for (size_t k = 0; k < sizeof said_by / sizeof *said_by; k++) {
		const uint64_t *right = said_by[k].said;
		const struct python_layout *l = python_layout_of(said_by[k].minor);
		assert_true(python_layout_agrees(l, right, sizeof said_by[k].said));
		assert_false(python_layout_agrees(l, right, sizeof said_by[k].said - 1));
		assert_false(
			python_layout_agrees(python_layout_of(14), right, sizeof said_by[k].said));
		for (size_t i = 0; i < 9; i++) {
			uint64_t said[SAID_WORDS];
			memcpy(said, right, sizeof said);
			said[said_by[k].matters[i]] += 8;
			assert_false(python_layout_agrees(l, said, sizeof said));
		}
	}
}

/* Code of PyGILState_GetThisThreadState(), with its GOT behind it. */
struct tls_code {
	uint8_t code[64];
	uint64_t got[2];
};

static bool decode(const char *code, size_t n, int got_at, struct python_tls *tls)
{
	static struct tls_code c;
	const int32_t distance = (int32_t)offsetof(struct tls_code, got) - (got_at + 4);
	c = (struct tls_code){.got = {3, 0x100}};
	memcpy(c.code, code, n);
	if (got_at >= 0)
		memcpy(c.code + got_at, &distance, sizeof distance);
	return python_tls_decode(c.code, n, (uintptr_t)c.code, tls);
}
#define DECODE(code, got_at, tls) decode(code, sizeof code - 1, got_at, tls)

static void tls_code(void **state)
{
	struct python_tls t;
	(void)state;
	/* Debian 3.15.2, the program */
	assert_true(
		DECODE("\xf3\x0f\x1e\xfa\x64\x48\x8b\x04\x25\xd8\xff\xff\xff\xc3", -1, &t));
	assert_int_equal(t.module, 0);
	assert_int_equal(t.offset, -0x28);
	/* with a stack protector, whose canary is not the variable */
	assert_true(DECODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00\x48\x89\x45\xf8"
			   "\x64\x48\x8b\x04\x25\xf0\xff\xff\xff\xc3",
			   -1, &t));
	assert_int_equal(t.offset, -0x10);
	/* libpython3.15 */
	assert_true(DECODE("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x48\x8d\x3d....\xe8....\x5d"
			   "\x48\x8b\x80\x28\x00\x00\x00\xc3",
			   11, &t));
	assert_int_equal(t.module, 3);
	assert_int_equal(t.offset, 0x128);
	/* one that is not position-dependent, by clang with -fno-plt */
	assert_true(DECODE("\x50\x66\x48\x8d\x3d....\x66\x48\xff\x15....\x48\x8b\x00\x59\xc3", 5,
			   &t));
	assert_int_equal(t.module, 3);
	assert_int_equal(t.offset, 0x100);
	assert_true(DECODE("\x48\x8d\x3d....\xe8....\x48\x8b\x40\xf8\xc3", 3, &t));
	assert_int_equal(t.offset, 0xf8);
	/* initial exec */
	assert_true(DECODE("\x48\x8b\x05....\x64\x48\x8b\x00\xc3", 3, &t));
	assert_int_equal(t.module, 0);
	assert_int_equal(t.offset, 3);
	/* CPython 3.14: a key */
	assert_false(DECODE("\x48\x8b\x05....\x8b\x78\x04\xe9....", 3, &t));
	assert_false(DECODE("\x48\x8d\x3d....\xe8....\x48\x8b", 3, &t));
	assert_false(DECODE("\x48\x8d\x3d....\xe8...", 3, &t));
	assert_false(DECODE("\x64\x48\x8b\x04\x25\xd8\xff\xff", -1, &t));
}

static int take_libc(struct dl_phdr_info *info, size_t n, void *to)
{
	(void)n;
	if (!strstr(info->dlpi_name, "libc.so.6"))
		return 0;
	*(struct python_tls *)to =
		(struct python_tls){info->dlpi_tls_modid,
				    (uint64_t)((char *)&errno - (char *)info->dlpi_tls_data)};
	return 1;
}

static void *take_places(void *tls)
{
	static _Thread_local int own;
	const uintptr_t thread = python_tls_place(&(struct python_tls){0});
	const struct python_tls here = {0, (uintptr_t)&own - thread};
	assert_ptr_equal((void *)python_tls_place(&here), &own);
	assert_ptr_equal((void *)python_tls_place(tls), &errno);
	return NULL;
}

static void tls_places(void **state)
{
	struct python_tls libc = {0};
	pthread_t other;
	(void)state;
	assert_int_equal(dl_iterate_phdr(take_libc, &libc), 1);
	assert_int_not_equal(libc.module, 0);
	take_places(&libc);
	assert_int_equal(pthread_create(&other, NULL, take_places, &libc), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	libc.module = 100000;
	assert_int_equal(python_tls_place(&libc), 0);
}

/* Three pages, the second of which cannot be read. */
static uint8_t *make_pages(void)
{
	uint8_t *p =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
	reader_begin(&r, at + 2 * PAGE + 64, at + 3 * PAGE);
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
	assert_ptr_equal(reader_load(&r, copy, at + 2 * PAGE + 64, 8),
			 p + 2 * PAGE + 64); /* the thread's own stack */
	assert_ptr_equal(reader_load(&r, copy, at + 3 * PAGE - 8, 8), p + 3 * PAGE - 8);
	assert_ptr_equal(reader_load(&r, copy, at + 2 * PAGE + 56, 16), copy); /* not all of it */
	assert_ptr_not_equal(reader_load(&r, copy, at + 3 * PAGE - 8, 16), p + 3 * PAGE - 8);
	uint8_t *long_copy = malloc(PAGE);
	assert_non_null(long_copy);
	assert_true(reader_copy(&r, long_copy, at + 33, PAGE - 33));
	assert_memory_equal(long_copy, p + 33, PAGE - 33);
	assert_false(reader_copy(&r, long_copy, at + 33, PAGE));
	assert_false(reader_copy(&r, long_copy, UINTPTR_MAX - 3, 8));
	free(long_copy);
	r.direct = true;
	assert_ptr_equal(reader_load(&r, copy, at + 24, 8), p + 24);
}

static void want_every(struct reader_batch *b, uintptr_t at, uintptr_t n)
{
	reader_clear(b);
	for (uintptr_t i = 0; i < n; i++)
		reader_want(b, at + 64 * (40 - i), i == 17 ? 64 : 48);
}

static void batches(void **state)
{
	static struct reader r;
	static struct reader_batch b;
	uint8_t copy[64];
	const uint8_t *p = make_pages();
	const uintptr_t at = (uintptr_t)p;
	(void)state;
	want_every(&b, at, 40);
	reader_fetch(&b);
	assert_int_equal(b.n, 40);
	reader_begin(&r, 0, 0);
	r.batch[0] = &b;
	for (uintptr_t i = 0; i < 40; i += 1 + i % 3) { /* some are passed over */
		const uint8_t *got = reader_load(&r, copy, at + 64 * (40 - i), 40);
		assert_ptr_equal(got, b.bytes + b.offset[i]); /* in place */
		assert_memory_equal(got, p + 64 * (40 - i), 40);
		assert_ptr_equal(reader_load(&r, copy, at + 64 * (40 - i) + 40, 8), got + 40);
		assert_int_equal(b.next, i);
	}
	assert_int_equal(r.at[0], 0); /* no page was needed */
	assert_null(reader_fetched(&r, at + 64 * 40 + 40, 16)); /* not whole in one */
	assert_ptr_equal(reader_load(&r, copy, at + 64 * 40 + 40, 16), copy);
	assert_memory_equal(copy, p + 64 * 40 + 40, 16);
	assert_int_equal(r.at[0], at);
	reader_clear(&b);
	reader_fetch(&b);
	assert_int_equal(b.n, 0);
	assert_null(reader_fetched(&r, at, 8));
}

/* What cannot be read takes nothing else away with it, unless there is much of it. */
static void batches_with_holes(void **state)
{
	static struct reader r;
	static struct reader_batch b;
	const uint8_t *p = make_pages();
	const uintptr_t at = (uintptr_t)p;
	(void)state;
	for (unsigned n_holes = 0; n_holes < 6; n_holes++) {
		want_every(&b, at, 40);
		for (unsigned i = 0; i < n_holes; i++) {
			b.piece[i * 2].iov_base = (void *)(i % 2 ? at + PAGE : at + PAGE - 8);
			b.piece[i * 2].iov_len = 48;
		}
		reader_fetch(&b);
		reader_begin(&r, 0, 0);
		r.batch[0] = &b;
		for (unsigned i = 0; i < 40; i++) {
			bool is_hole = i < 2 * n_holes && i % 2 == 0,
			     is_given_up = n_holes >= 4 && i > 6;
			const uint8_t *got = reader_fetched(&r, (uintptr_t)b.piece[i].iov_base, 48);
			assert_int_equal(got != NULL, !is_hole && !is_given_up);
			if (got)
				assert_memory_equal(got, p + 64 * (40 - i), 48);
		}
	}
	reader_clear(&b);
	for (unsigned i = 0; i < READER_PIECES; i++) {
		assert_true(reader_has_room(&b, READER_PIECES - i, 8));
		assert_false(reader_has_room(&b, READER_PIECES - i + 1, 8));
		reader_want(&b, at, 8);
	}
	reader_clear(&b);
	assert_true(reader_has_room(&b, 1, READER_BATCH_BYTES));
	assert_false(reader_has_room(&b, 1, READER_BATCH_BYTES + 1));
}

enum { FRAME = 88, APART = 120, N_FRAMES = 10 };

/* A walk of frames that lie below each other, then of one elsewhere: whether all are what memory
 * holds now. */
static bool walk_frames(struct reader *r, struct reader_batch *b, const uint8_t *innermost,
			const uint8_t *other)
{
	uint8_t copy[FRAME];
	bool all = true;
	reader_begin(r, 0, 0);
	reader_begin_frames(r, b);
	for (unsigned i = 0; i <= N_FRAMES; i++) {
		const uint8_t *frame = i < N_FRAMES ? innermost - APART * i : other,
			      *got = reader_load(r, copy, (uintptr_t)frame, FRAME);
		all = all && got && memcmp(got, frame, FRAME) == 0;
	}
	reader_end_frames(r);
	return all;
}

/* The frames of a walk are read at once where those of the walk before lay. Places alone are kept,
 * never what stood there. */
static void frames_again(void **state)
{
	static struct reader r;
	static struct reader_batch b;
	uint8_t *p = make_pages(), *other = p + 2 * PAGE + 1600;
	(void)state;
	assert_true(walk_frames(&r, &b, p + 2000, other));
	assert_int_equal(b.n, 0);
	assert_int_not_equal(r.at[0] | r.at[1], 0); /* pages */
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < PAGE; i++)
			p[i] += (uint8_t)(round + i);
		assert_true(walk_frames(&r, &b, p + 2000 + 104 * round,
					other)); /* and a bit further in */
		assert_int_equal(b.n, 2);
		for (unsigned i = 0; i < READER_PAGES; i++)
			assert_int_equal(r.at[i], 0);
		assert_null(r.batch[0]);
	}
	assert_true(walk_frames(&r, &b, p + PAGE - FRAME,
				other)); /* nothing of the next page, which cannot be read */
	assert_true(walk_frames(&r, &b, p + PAGE - FRAME, other));
	assert_int_equal(b.n, 2);
	assert_int_equal(mprotect(p, PAGE, PROT_NONE), 0);
	assert_false(walk_frames(&r, &b, p + PAGE - FRAME, other));
	assert_int_equal(mprotect(p, PAGE, PROT_READ | PROT_WRITE), 0);
	assert_true(walk_frames(&r, &b, other, p + 2000)); /* in another order */
}

/* More places than are kept, and one that is longer than a batch takes. */
static void many_frames(void **state)
{
	static struct reader r;
	static struct reader_batch b;
	uint8_t *p = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0),
		copy[FRAME];
	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	for (unsigned round = 0; round < 3; round++) {
		reader_begin(&r, 0, 0);
		reader_begin_frames(&r, &b);
		for (unsigned i = 0; i < 200; i++) {
			assert_non_null(reader_load(&r, copy, (uintptr_t)p + i * 1200, FRAME));
		}
		reader_end_frames(&r);
		assert_int_equal(r.n_ranges, READER_RANGES);
	}
	for (unsigned round = 0; round < 3; round++) {
		reader_begin(&r, 0, 0);
		reader_begin_frames(&r, &b);
		for (unsigned i = 0; i < 2000; i++)
			assert_non_null(reader_load(&r, copy, (uintptr_t)p + i * 120, FRAME));
		reader_end_frames(&r);
		assert_in_range(b.n_bytes, 0, READER_BATCH_BYTES);
	}
	munmap(p, 64 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols),      cmocka_unit_test(symbols_of_liars),
		cmocka_unit_test(layouts),      cmocka_unit_test(tls_code),
		cmocka_unit_test(tls_places),   cmocka_unit_test(guarded),
		cmocka_unit_test(batches),      cmocka_unit_test(batches_with_holes),
		cmocka_unit_test(frames_again), cmocka_unit_test(many_frames)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
