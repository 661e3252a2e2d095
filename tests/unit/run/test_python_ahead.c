/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/python/frames with guarded loads: chains of frames in memory that somebody
 * changes between two samples, as returns, calls, generators and copies of stacks do, and as nobody
 * should: what is fetched ahead changes nothing of what is read. Frames that are right are found;
 * chains that lead back to themselves, or to where nothing is, end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/python/frames.h"

#include <string.h>
#include <sys/mman.h>

enum {
	PAGE = READER_PAGE_BYTES,
	N_PAGES = 32,
	STATE_AT = 0,
	MOST = 64,
	OWNER_GENERATOR = 1,
	OWNER_SHIM = 3
};

static uint8_t *arena;
static uint64_t seed = 88172645463325252u;

static uint32_t any(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

static int make_arena(void **state)
{
	(void)state;
	arena = mmap(NULL, N_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	return arena == MAP_FAILED;
}

static void put(uintptr_t at, uint16_t offset, uint64_t word, size_t n)
{
	if (offset != PYTHON_NOWHERE)
		memcpy((void *)(at + offset), &word, n);
}

struct result {
	struct frames frames;
	struct frames_frame frame[MOST];
	struct frames_run run[MOST];
};

/* As python.c does. */
static void collect(struct result *to, const struct python_layout *l, struct reader *r,
		    struct reader_batch *b, bool from_afresh)
{
	uint8_t copy[FRAMES_THREAD_BYTES];
	memset(to, 0, sizeof *to);
	to->frames = (struct frames){.frame = to->frame, .run = to->run, .max = MOST};
	memcpy(copy, arena + STATE_AT, sizeof copy);
	if (from_afresh)
		r->n_ranges = 0;
	reader_begin(r, 0, 0);
	reader_begin_frames(r, b);
	frames_collect(&to->frames, l, r, copy, (uintptr_t)arena + STATE_AT);
	reader_end_frames(r);
}

static void assert_same(const struct result *a, const struct result *b)
{
	assert_int_equal(a->frames.n_frames, b->frames.n_frames);
	assert_int_equal(a->frames.n_runs, b->frames.n_runs);
	assert_int_equal(a->frames.broken, b->frames.broken);
	assert_int_equal(a->frames.is_cut, b->frames.is_cut);
	for (uint32_t i = 0; i < a->frames.n_frames; i++) {
		assert_int_equal(a->frame[i].code, b->frame[i].code);
		assert_int_equal(a->frame[i].instruction, b->frame[i].instruction);
		assert_int_equal(a->frame[i].is_generator, b->frame[i].is_generator);
	}
	for (uint32_t i = 0; i < a->frames.n_runs; i++) {
		assert_int_equal(a->run[i].place, b->run[i].place);
		assert_int_equal(a->run[i].end, b->run[i].end);
	}
}

static uintptr_t place(void)
{
	return (uintptr_t)arena + PAGE + 8 * (uintptr_t)any((N_PAGES - 2) * PAGE / 8);
}

enum { BYTES = 136, CFRAMES_AT = 512, CFRAME_BYTES = 32 };

static uintptr_t cframe_at(unsigned i)
{
	return (uintptr_t)arena + CFRAMES_AT + CFRAME_BYTES * i;
}

/* 3.12 on: behind `each` frames, and at the outermost end, comes a shim. */
static void link_shims(const struct python_layout *l, uintptr_t bottom, unsigned n, unsigned each)
{
	for (unsigned i = 0; i < n; i++) {
		put(bottom + BYTES * i, l->frame.previous, i ? bottom + BYTES * (i - 1) : 0, 8);
		put(bottom + BYTES * i, l->frame.owner,
		    i % each == 0 ? OWNER_SHIM
		    : i % 7 == 6  ? OWNER_GENERATOR
				  : 0,
		    1);
	}
	put((uintptr_t)arena + STATE_AT, l->thread.frame, bottom + BYTES * (n - 1), 8);
	put((uintptr_t)arena + STATE_AT, l->thread.cframe, cframe_at(0), 8);
	put(cframe_at(0), l->cframe.frame, bottom + BYTES * (n - 1), 8);
}

/* 3.11: a CFrame for `each` frames, of which the outermost says so; the last CFrame has none. */
static void link_cframes(const struct python_layout *l, uintptr_t bottom, unsigned n, unsigned each)
{
	unsigned n_runs = (n - 1) / each + 1;
	for (unsigned i = 0; i < n; i++) {
		put(bottom + BYTES * i, l->frame.previous, i ? bottom + BYTES * (i - 1) : 0, 8);
		put(bottom + BYTES * i, l->frame.is_entry, i % each == 0, 1);
		put(bottom + BYTES * i, l->frame.owner, i % 7 == 6 ? OWNER_GENERATOR : 0, 1);
	}
	put(cframe_at(0), l->cframe.frame, 0, 8);
	for (unsigned i = 1; i <= n_runs; i++) {
		unsigned innermost = i * each < n ? i * each - 1 : n - 1;
		put(cframe_at(i), l->cframe.frame, bottom + BYTES * innermost, 8);
		put(cframe_at(i), l->cframe.previous, cframe_at(i - 1), 8);
	}
	put((uintptr_t)arena + STATE_AT, l->thread.cframe, cframe_at(n_runs), 8);
}

/* 3.10: a CFrame for each frame; the outermost lies in the thread's state. */
static void link_objects(const struct python_layout *l, uintptr_t bottom, unsigned n, unsigned each)
{
	(void)each;
	for (unsigned i = 0; i < n; i++) {
		put(bottom + BYTES * i, l->frame.previous, i ? bottom + BYTES * (i - 1) : 0, 8);
		put(cframe_at(i), l->cframe.previous,
		    i ? cframe_at(i - 1) : (uintptr_t)arena + STATE_AT + 200, 8);
	}
	put((uintptr_t)arena + STATE_AT, l->thread.frame, bottom + BYTES * (n - 1), 8);
	put((uintptr_t)arena + STATE_AT, l->thread.cframe, cframe_at(n - 1), 8);
}

/* A stack of n frames from `bottom` up, the innermost last; what they hold differs with `salt`. */
static void call(const struct python_layout *l, uintptr_t bottom, unsigned n, unsigned each,
		 uint64_t salt)
{
	static void (*const link[])(const struct python_layout *, uintptr_t, unsigned,
				    unsigned) = {[PYTHON_CHAIN_OBJECTS] = link_objects,
						 [PYTHON_CHAIN_CFRAMES] = link_cframes,
						 [PYTHON_CHAIN_SHIMS] = link_shims};
	for (unsigned i = 0; i < n; i++) {
		put(bottom + BYTES * i, l->frame.code, (uintptr_t)arena + 64 * (salt + i), 8);
		put(bottom + BYTES * i, l->frame.instruction, salt * 1000 + i,
		    l->chain == PYTHON_CHAIN_OBJECTS ? 4 : 8);
	}
	link[l->chain](l, bottom, n, each);
}

static uintptr_t any_bottom(void)
{
	return (uintptr_t)arena + PAGE * (1 + any(3)) + 8 * any(64);
}

/* Calls, returns, other code at the same places, another stack: always what stands there now. */
static void calls_and_returns(void **state)
{
	static struct reader r;
	static struct reader_batch b;
	static struct result found;
	(void)state;
	for (unsigned minor = 10; minor <= 14; minor++) {
		const struct python_layout *l = python_layout_of(minor);
		for (unsigned round = 0; round < 500; round++) {
			unsigned n = 1 + any(MOST - 1), each = 3 + any(9),
				 salt = round % 5 ? round : 1, k = 0;
			call(l, any_bottom(), n, each, salt);
			collect(&found, l, &r, &b, false);
			assert_false(found.frames.broken);
			assert_int_equal(found.frames.n_runs,
					 l->chain == PYTHON_CHAIN_OBJECTS ? n : (n - 1) / each + 1);
			for (unsigned i = n; i-- > 0;)
				if (l->chain != PYTHON_CHAIN_SHIMS || i % each) {
					assert_int_equal(found.frame[k].code,
							 (uintptr_t)arena + 64 * (salt + i));
					assert_int_equal(found.frame[k++].instruction,
							 (uint64_t)salt * 1000 + i);
				}
			assert_int_equal(found.frames.n_frames, k);
		}
	}
}

/* Words of frames that lead anywhere else, as in a stack that is being copied, and pages that are
 * gone. */
static void anything(void **state)
{
	static struct reader r, fresh;
	static struct reader_batch b;
	static struct result found, truth;
	(void)state;
	for (unsigned minor = 10; minor <= 14; minor++) {
		const struct python_layout *l = python_layout_of(minor);
		unsigned n_whole = 0, n_broken = 0;
		for (unsigned round = 0; round < 3000; round++) {
			unsigned n = 1 + any(MOST + 10 * (l->chain == PYTHON_CHAIN_SHIMS));
			uintptr_t bottom = any_bottom();
			call(l, bottom, n, 3 + any(9), round);
			for (unsigned k = any(4); k > 0; k--) {
				uintptr_t at = any(2) ? bottom + BYTES * any(n) : cframe_at(any(n)),
					  in_it = 8 * any(BYTES / 8);
				put(at, (uint16_t)(at < bottom ? in_it % CFRAME_BYTES : in_it),
				    any(8)   ? bottom + BYTES * any(n)
				    : any(2) ? place()
					     : seed,
				    8);
			}
			uint8_t *hidden =
				arena + PAGE * (any(4) ? 1 + any(N_PAGES - 2) : 1 + any(3));
			assert_int_equal(mprotect(hidden, PAGE,
						  round % 2 ? PROT_NONE : PROT_READ | PROT_WRITE),
					 0);
			collect(&found, l, &r, &b, false);
			collect(&truth, l, &fresh, &b, true);
			assert_int_equal(mprotect(hidden, PAGE, PROT_READ | PROT_WRITE), 0);
			assert_same(&found, &truth);
			n_whole += !found.frames.broken && found.frames.n_frames;
			n_broken += found.frames.broken;
		}
		assert_in_range(n_whole, 100, 2999);
		assert_in_range(n_broken, 100, 2999);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(calls_and_returns),
					   cmocka_unit_test(anything)};
	return cmocka_run_group_tests_name("python_ahead", tests, make_arena, NULL);
}
