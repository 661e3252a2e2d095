/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings made here byte by byte: what is sound is read, nested and found again; what is damaged
 * is counted and passed over. */
#include "common/base/log.h"
#include "hpcrun-lite/replay/player.h"
#include "hpcrun-lite/replay/tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 16384u

static struct {
	_Alignas(64) uint8_t bytes[BYTES];
	uint64_t order;
	struct recording_chunk *chunk;
} made;

static struct recording_header *header(void)
{
	return (struct recording_header *)(void *)made.bytes;
}

static int begin(void **state)
{
	(void)state;
	memset(&made, 0, sizeof made);
	memcpy(header()->magic, RECORDING_MAGIC, sizeof header()->magic);
	header()->version_major = RECORDING_VERSION_MAJOR;
	header()->header_bytes = RECORDING_HEADER_BYTES;
	return 0;
}

static void chunk(uint32_t stream, uint64_t at, uint64_t length)
{
	made.chunk = (struct recording_chunk *)(void *)(made.bytes + at);
	*made.chunk = (struct recording_chunk){
		.magic = RECORDING_CHUNK_MAGIC, .stream = stream, .length = length};
}

static void *event(enum recording_type type, unsigned what, size_t n)
{
	struct recording_event *e =
		(struct recording_event *)(void *)((uint8_t *)(made.chunk + 1) + made.chunk->used);
	*e = (struct recording_event){.bytes = (uint32_t)recording_round(n, 8),
				      .type = (uint16_t)type,
				      .what = (uint16_t)what,
				      .order = ++made.order,
				      .time_ns = 1000 * made.order};
	made.chunk->used += e->bytes;
	return e;
}

static void init(void)
{
	chunk(0, RECORDING_HEADER_BYTES, 4096);
	event(RECORDING_STREAM, 0, sizeof(struct recording_stream));
	event(RECORDING_ENTER, RECORDING_INIT, sizeof(struct recording_enter));
}

static struct recording_call *call(enum recording_function f, uint64_t key, uint64_t answer)
{
	struct recording_call *c = event(RECORDING_CALL, f, sizeof *c + 8);
	c->key[0] = key;
	c->n_out = 8;
	memcpy(c + 1, &answer, 8);
	return c;
}

static void load(struct tape *t)
{
	assert_int_equal(tape_load_bytes("made", made.bytes, BYTES, t), STATUS_OK);
}

static void string(uint64_t pointer, const char *text)
{
	struct recording_string *s = event(RECORDING_STRING, 0, sizeof *s + strlen(text) + 1);
	s->pointer = pointer;
	memcpy(s + 1, text, strlen(text) + 1);
}

static void test_sound(void **state)
{
	struct tape t;
	(void)state;
	init();
	call(RECORDING_GET_CONTEXT_ID, 7, 1);
	struct recording_leave *l = event(RECORDING_LEAVE, RECORDING_INIT, sizeof *l);
	l->enter = 2;
	string(0x10, "first");
	struct recording_driver *d = event(RECORDING_ENTER, RECORDING_DRIVER, sizeof *d);
	d->correlation = 5;
	struct recording_driver *e = event(RECORDING_ENTER, RECORDING_DRIVER, sizeof *e);
	e->correlation = 5;
	e->site = 1;
	string(0x10, "second");
	call(RECORDING_GET_CONTEXT_ID, 7, 2);
	load(&t);
	assert_int_equal(t.n_damaged, 0);
	assert_int_equal(t.n_streams, 1);
	assert_true(tape_is_enter(&t.event[0], RECORDING_INIT));
	assert_int_equal(t.event[1].parent, 0);
	assert_int_equal(t.event[0].leave, 2);
	assert_int_equal(t.event[3].partner, 4);
	assert_int_equal(t.event[4].partner, 3);
	assert_string_equal(tape_text_at(&t, 0x10, 6), "first");
	assert_string_equal(tape_text_at(&t, 0x10, 100), "second");
	assert_string_equal(tape_text_at(&t, 0x10, 1), "first");
	assert_null(tape_text_at(&t, 0x11, 100));
	assert_int_equal(*(const uint64_t *)recording_out(
				 tape_answer(&t, RECORDING_GET_CONTEXT_ID, 7, 0, 5)),
			 1);
	assert_int_equal(*(const uint64_t *)recording_out(
				 tape_answer(&t, RECORDING_GET_CONTEXT_ID, 7, 0, 100)),
			 2);
	assert_int_equal(*(const uint64_t *)recording_out(
				 tape_answer(&t, RECORDING_GET_CONTEXT_ID, 7, 0, 1)),
			 1);
	assert_null(tape_answer(&t, RECORDING_GET_CONTEXT_ID, 8, 0, 100));
	assert_null(tape_answer(&t, RECORDING_GET_DEVICE_ID, 7, 0, 100));
	tape_free(&t);
}

static void refused(const char *why)
{
	struct tape t;
	if (tape_load_bytes("made", made.bytes, BYTES, &t) != STATUS_BAD_INPUT)
		fail_msg("%s", why);
}

static void test_header(void **state)
{
	struct tape t;
	(void)state;
	init();
	load(&t);
	tape_free(&t);
	assert_int_equal(tape_load_bytes("made", made.bytes, RECORDING_HEADER_BYTES - 1, &t),
			 STATUS_BAD_INPUT);
	assert_int_equal(tape_load_bytes("made", made.bytes, RECORDING_HEADER_BYTES, &t),
			 STATUS_BAD_INPUT);
	header()->version_major++;
	refused("another version");
	header()->version_major--;
	memcpy(header()->measurement, "../x", 5);
	refused("a name with directories");
	memset(header()->measurement, 'x', sizeof header()->measurement);
	refused("a name without an end");
}

static void test_damage(void **state)
{
	struct tape t;
	(void)state;
	init();
	struct recording_event *bad = event(RECORDING_NOW, 0, sizeof(struct recording_now));
	call(RECORDING_GET_CONTEXT_ID, 7, 1);
	static const struct {
		uint32_t bytes;
		uint16_t type;
		uint64_t order;
	} damages[] = {
		{0, RECORDING_NOW, 3},     {12, RECORDING_NOW, 3},  {1 << 20, RECORDING_NOW, 3},
		{24, RECORDING_NOW, 3},    {32, RECORDING_CALL, 3}, {32, RECORDING_LEAVE, 3},
		{32, RECORDING_STRING, 3}, {32, RECORDING_NOW, 2},  {32, RECORDING_NOW, 0}};
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		memset(bad + 1, 0xff, 8);
		bad->bytes = damages[i].bytes;
		bad->type = damages[i].type;
		bad->order = damages[i].order;
		load(&t);
		if (t.n_events != 1 || !t.n_damaged)
			fail_msg("damage %zu: %u events, %llu bytes damaged", i, t.n_events,
				 (unsigned long long)t.n_damaged);
		tape_free(&t);
	}
	bad->bytes = 32;
	bad->type = RECORDING_NOW + 1; /* of a later version */
	bad->order = 3;
	load(&t);
	assert_int_equal(t.n_events, 2);
	assert_int_equal(t.n_damaged, 0);
	tape_free(&t);
}

/* A chunk whose head is lost is passed over, the next one is found. */
static void test_chunks(void **state)
{
	struct tape t;
	(void)state;
	init();
	chunk(1, 8192, 4096);
	event(RECORDING_STREAM, 0, sizeof(struct recording_stream));
	event(RECORDING_ENTER, RECORDING_REQUEST, sizeof(struct recording_enter));
	struct recording_chunk *lost = made.chunk;
	chunk(2, 12288, 4096);
	event(RECORDING_STREAM, 0, sizeof(struct recording_stream));
	event(RECORDING_ENTER, RECORDING_REQUEST, sizeof(struct recording_enter));
	load(&t);
	assert_int_equal(t.n_events, 3);
	tape_free(&t);
	lost->magic++;
	load(&t);
	assert_int_equal(t.n_events, 2);
	assert_true(t.n_damaged > 0);
	tape_free(&t);
	made.chunk->length = UINT64_MAX & ~UINT64_C(63);
	made.chunk->used = UINT64_MAX;
	load(&t);
	assert_true(t.n_events >= 1);
	tape_free(&t);
}

static void test_parts(void **state)
{
	struct tape t;
	(void)state;
	init();
	struct recording_complete *c =
		event(RECORDING_ENTER, RECORDING_COMPLETE, sizeof *c + 8 + 64);
	c->n_bytes = c->n_valid = 64;
	c->n_records = 2;
	((uint32_t *)(c + 1))[1] = 32;
	load(&t);
	assert_int_equal(t.n_events, 2);
	assert_int_equal(recording_offsets(c)[1], 32);
	tape_free(&t);
	static const uint32_t bad[] = {0, 4, 64, UINT32_MAX};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		((uint32_t *)(c + 1))[1] = bad[i];
		load(&t);
		assert_int_equal(t.n_events, 1);
		tape_free(&t);
	}
	struct recording_call *p = (struct recording_call *)(void *)c;
	memset(p, 0, sizeof *p);
	p->n_out = sizeof(struct recording_pc_data) + sizeof(struct recording_pc);
	((struct recording_pc_data *)(p + 1))->n_pcs = 1;
	assert_non_null(recording_pc_data(p));
	((struct recording_pc *)((struct recording_pc_data *)(p + 1) + 1))->n_reasons = 1;
	assert_null(recording_pc_data(p));
	((struct recording_pc_data *)(p + 1))->n_pcs = UINT32_MAX;
	assert_null(recording_pc_data(p));
}

static void took_time(enum recording_function f, int32_t result)
{
	struct recording_call *c = call(f, 0, 0);
	c->begin = c->head.order; /* as if it had taken none */
	c->result = result;
}

/* A thread that comes out of a call goes on as late as it can have; but one that has the lock
 * before another took it. */
static void test_lock_order(void **state)
{
	(void)state;
	struct player p = {.n_stuck = 0};
	init();
	took_time(RECORDING_LOCK, 1);       /* event 1 */
	took_time(RECORDING_PC_DISABLE, 0); /* 2: behind it the lock was given back */
	chunk(1, RECORDING_HEADER_BYTES + 4096, 2048);
	event(RECORDING_STREAM, 0, sizeof(struct recording_stream));
	took_time(RECORDING_LOCK, 1);       /* 3 */
	took_time(RECORDING_FLUSH_ALL, 0);
	took_time(RECORDING_WAIT, 0);
	chunk(0, RECORDING_HEADER_BYTES + 6144, 2048);
	made.chunk->sequence = 1;
	took_time(RECORDING_WAIT, 0);
	load(&p.tape);
	assert_int_equal(p.tape.n_events, 7);
	assert_int_equal(plan_make(&p, NULL), STATUS_OK);
	assert_int_equal(p.n_plan, 7);
	unsigned at[7];
	for (unsigned i = 0; i < p.n_plan; i++)
		at[p.plan[i]] = i;
	assert_true(at[1] < at[2]);
	assert_true(at[2] < at[3]);
	free(p.plan);
	tape_free(&p.tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sound, begin),
		cmocka_unit_test_setup(test_header, begin),
		cmocka_unit_test_setup(test_damage, begin),
		cmocka_unit_test_setup(test_chunks, begin),
		cmocka_unit_test_setup(test_parts, begin),
		cmocka_unit_test_setup(test_lock_order, begin),
	};
	log_set_program("test_recording");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
