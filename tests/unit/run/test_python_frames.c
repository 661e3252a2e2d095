/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/python/frames.c on memory that is made up as an interpreter's: whole chains
 * of each kind, and what a thread that is interrupted in the middle of a call or return has of
 * them. Interpreters: tests/cli/python/python_frames.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/python/frames.h"

#include <string.h>

enum { ROOM = 16, N_OBJECTS = 16, BYTES = 128 };

static struct {
	_Alignas(64) uint8_t frame[N_OBJECTS][BYTES], cframe[N_OBJECTS][BYTES],
		code[N_OBJECTS][BYTES];
	uint8_t thread[512];
} memory;
static struct frames_frame frame_room[ROOM + 1];
static struct frames_run run_room[ROOM + 1];
static struct frames f;
static struct reader r;

static void put(uint8_t *object, uint16_t offset, uint64_t word)
{
	memcpy(object + offset, &word, sizeof word);
}
static uint64_t frame_at(unsigned i) { return (uintptr_t)memory.frame[i]; }
static uint64_t cframe_at(unsigned i) { return (uintptr_t)memory.cframe[i]; }

static void collect(unsigned minor, uint32_t max)
{
	f = (struct frames){.frame = frame_room, .run = run_room, .max = max};
	reader_begin(&r, 0, 0);
	r.direct = true;
	frames_collect(&f, python_layout_of(minor), &r, memory.thread, (uintptr_t)memory.thread);
}

/* Frame i runs code i, at instruction 100 + i. */
static void make_frame(const struct python_layout *l, unsigned i, uint64_t previous)
{
	put(memory.frame[i], l->frame.previous, previous);
	put(memory.frame[i], l->frame.code, (uintptr_t)memory.code[i]);
	put(memory.frame[i], l->frame.instruction, 100 + i);
}

/* The frames that were found are those from `first` on, in order. */
static void expect(unsigned first, uint32_t n, bool broken)
{
	assert_int_equal(f.n_frames, n);
	assert_int_equal(f.broken, broken);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(f.frame[i].code, (uintptr_t)memory.code[first + i]);
		assert_int_equal(f.frame[i].instruction, 100 + first + i);
	}
}

static void expect_run(uint32_t i, uintptr_t place, uint32_t end)
{
	assert_true(i < f.n_runs);
	assert_int_equal(f.run[i].place, place);
	assert_int_equal(f.run[i].end, end);
}

/* ---- 3.11: frames 0 and 1 in one C call, 2, 3 and 4 in another, 5 in the outermost ---- */

static void make_cframes(void)
{
	const struct python_layout *l = python_layout_of(11);
	static const uint8_t innermost[] = {0, 2, 5}, is_entry[] = {0, 1, 0, 0, 1, 1};
	memset(&memory, 0, sizeof memory);
	for (unsigned i = 0; i < 6; i++) {
		make_frame(l, i, i < 5 ? frame_at(i + 1) : 0);
		memory.frame[i][l->frame.is_entry] = is_entry[i];
	}
	for (unsigned i = 0; i < 3; i++) {
		put(memory.cframe[i], l->cframe.frame, frame_at(innermost[i]));
		put(memory.cframe[i], l->cframe.previous,
		    cframe_at(i + 1)); /* the last is the thread state's own, without a frame */
	}
	put(memory.thread, l->thread.cframe, cframe_at(0));
}

static void cframes(void **state)
{
	(void)state;
	make_cframes();
	collect(11, ROOM);
	expect(0, 6, false);
	assert_int_equal(f.n_runs, 3);
	expect_run(0, cframe_at(0), 2);
	expect_run(1, cframe_at(1), 5);
	expect_run(2, cframe_at(2), 6);
	assert_false(f.frame[3].is_generator);
	memory.frame[3][python_layout_of(11)->frame.owner] = 1;
	collect(11, ROOM);
	assert_true(f.frame[3].is_generator);
	collect(11, 4); /* no room for all: those that are there are of a run that is not whole */
	assert_true(f.is_cut);
	assert_false(f.broken);
	assert_int_equal(f.n_frames, 4);
}

/* A call of the interpreter that has not set itself up: its CFrame still leads where the one before
 * it leads, or to frames that go back elsewhere. Its run does not count, and the others do. */
static void cframes_in_a_call(void **state)
{
	const struct python_layout *l = python_layout_of(11);
	(void)state;
	make_cframes();
	put(memory.cframe[0], l->cframe.frame, frame_at(2));
	collect(11, ROOM);
	expect(2, 4, true);
	expect_run(0, cframe_at(1), 3);
	make_cframes();
	put(memory.frame[1], l->frame.previous, frame_at(3));
	collect(11, ROOM);
	expect(2, 4, true);
	assert_int_equal(f.n_runs, 2);
	make_cframes(); /* further out that cannot be: what is inside of it stands */
	put(memory.frame[4], l->frame.previous, frame_at(0));
	collect(11, ROOM);
	expect(0, 2, true);
	assert_int_equal(f.n_runs, 1);
	make_cframes();
	put(memory.frame[4], l->frame.previous, frame_at(2)); /* back to itself */
	put(memory.cframe[1], l->cframe.previous, cframe_at(1));
	collect(11, ROOM);
	assert_true(f.n_frames <= ROOM);
	make_cframes();
	memory.frame[1][l->frame.is_entry] = 7; /* no frame at all */
	collect(11, ROOM);
	expect(2, 4, true);
	make_cframes();
	memory.frame[1][l->frame.owner] = 3;
	collect(11, ROOM);
	expect(2, 4, true);
	make_cframes();
	memory.frame[1][l->frame.is_entry] =
		0; /* and what it goes back to is none: nothing of either run is known */
	put(memory.frame[2], l->frame.code, 12);
	collect(11, ROOM);
	expect(0, 0, true);
	make_cframes();
	put(memory.frame[0], l->frame.code, 12); /* no code object */
	collect(11, ROOM);
	expect(2, 4, true);
}

/* ---- 3.13: a shim, which lies on the C stack, behind each run ---- */

static void make_shims(void)
{
	const struct python_layout *l = python_layout_of(13);
	memset(&memory, 0, sizeof memory);
	for (unsigned i = 0; i < 6; i++)
		make_frame(l, i, i < 5 ? frame_at(i + 1) : 0);
	memory.frame[2][l->frame.owner] = memory.frame[5][l->frame.owner] = 3;
	put(memory.thread, l->thread.frame, frame_at(0));
}

static void shims(void **state)
{
	const struct python_layout *l = python_layout_of(13);
	(void)state;
	make_shims();
	collect(13, ROOM);
	assert_int_equal(f.n_frames, 4);
	assert_false(f.broken);
	assert_int_equal(f.n_runs, 2);
	expect_run(0, frame_at(2), 2);
	expect_run(1, frame_at(5), 4);
	assert_int_equal(f.frame[2].instruction, 103);
	put(memory.frame[1], l->frame.code,
	    (uintptr_t)memory.code[1] + 1); /* 3.14 keeps bits of its own in references */
	collect(13, ROOM);
	assert_int_equal(f.frame[1].code, (uintptr_t)memory.code[1]);
	memory.frame[4][l->frame.owner] = 5; /* no frame: of its run nothing is kept */
	collect(13, ROOM);
	expect(0, 2, true);
	make_shims();
	collect(13, 3);
	assert_true(f.is_cut);
	assert_false(f.broken);
	assert_int_equal(f.n_frames, 3);
	make_shims();
	put(memory.frame[2], l->frame.previous, frame_at(2)); /* back to itself */
	collect(13, ROOM);
	expect(0, 2, true);
	assert_int_equal(f.n_runs, ROOM);
}

/* ---- 3.10: a CFrame for each frame object, and one in the thread state ---- */

static void make_objects(unsigned n_frames, unsigned n_cframes)
{
	const struct python_layout *l = python_layout_of(10);
	memset(&memory, 0, sizeof memory);
	for (unsigned i = 0; i < n_frames; i++)
		make_frame(l, i, i + 1 < n_frames ? frame_at(i + 1) : 0);
	for (unsigned i = 0; i < n_cframes; i++)
		put(memory.cframe[i], l->cframe.previous,
		    i + 1 < n_cframes ? cframe_at(i + 1) : (uintptr_t)memory.thread + 200);
	put(memory.thread, l->thread.frame, frame_at(0));
	put(memory.thread, l->thread.cframe, cframe_at(0));
}

static void objects(void **state)
{
	(void)state;
	make_objects(4, 4);
	collect(10, ROOM);
	expect(0, 4, false);
	for (uint32_t i = 0; i < 4; i++)
		expect_run(i, cframe_at(i), i + 1);
	make_objects(4, 5); /* in the middle of a call: the innermost CFrame has no frame yet */
	collect(10, ROOM);
	expect(0, 4, false);
	expect_run(0, cframe_at(1), 1);
	expect_run(3, cframe_at(4), 4);
	make_objects(5, 4); /* of a return: the innermost frame has none any more */
	collect(10, ROOM);
	expect(1, 4, false);
	expect_run(0, cframe_at(0), 1);
	make_objects(4, 6);
	collect(10, ROOM);
	expect(0, 0, true);
	make_objects(6, 4);
	collect(10, ROOM);
	expect(0, 0, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(cframes),
					   cmocka_unit_test(cframes_in_a_call),
					   cmocka_unit_test(shims), cmocka_unit_test(objects)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
