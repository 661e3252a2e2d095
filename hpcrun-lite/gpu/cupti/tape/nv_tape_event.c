/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the recorder's events: the begin and end of calls into the back end, and calls by the back
 * end. Test: tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"

#include <errno.h>
#include <string.h>

struct nv_library tape_real;

/* ---- calls of the back end ---- */

void tape_push(uint16_t entry, uint64_t order)
{
	struct tape_thread *t = tape_thread();
	if (!t)
		return;
	if (t->depth < TAPE_MAX_DEPTH)
		t->frame[t->depth] = (struct tape_frame){.enter = order, .entry = entry};
	else
		tape_stop("calls of the back end are nested too deeply");
	t->depth++;
}

void tape_pop(uint64_t value0, uint64_t value1)
{
	struct tape_thread *t = tape_thread();
	uint32_t thread = 0, node = 0;
	if (!t || !t->depth || --t->depth >= TAPE_MAX_DEPTH)
		return;
	const struct tape_frame *f = &t->frame[t->depth];
	enum gpu_placed placed = nv.host->last_place(nv.host, &thread, &node);
	struct recording_leave *e =
		tape_event(RECORDING_LEAVE, f->entry, 0, sizeof *e + f->n_now * sizeof *f->now);
	if (!e)
		return;
	e->enter = f->enter;
	e->value[0] = value0;
	e->value[1] = value1;
	e->place = placed;
	e->thread = thread;
	e->node = node;
	e->n_now = f->n_now;
	memcpy(e + 1, f->now, f->n_now * sizeof *f->now);
	tape_commit();
}

uint64_t tape_enter(enum recording_entry entry, const uint64_t *value)
{
	const size_t n_bytes =
		value ? sizeof(struct recording_number) : sizeof(struct recording_enter);
	struct recording_event *e =
		tape_is_on() ? tape_event(RECORDING_ENTER, entry, 0, n_bytes) : NULL;
	uint64_t order = e ? e->order : 0;
	if (!e)
		return 0;
	if (value)
		((struct recording_number *)e)->value = *value;
	tape_commit();
	tape_push((uint16_t)entry, order);
	return order;
}

/* ---- calls by the back end ---- */

uint64_t tape_begin(void)
{
	return tape_is_on() ? tape_order() : 0;
}

struct recording_call *tape_call_event(enum recording_function f, uint64_t begun, int result,
				       uint64_t key0, uint64_t key1, size_t n_out)
{
	struct recording_call *e =
		begun ? tape_event(RECORDING_CALL, f, 0, sizeof *e + n_out) : NULL;
	if (e) {
		e->begin = begun;
		e->result = result;
		e->n_out = (uint32_t)n_out;
		e->key[0] = key0;
		e->key[1] = key1;
	}
	return e;
}

void tape_called(enum recording_function f, uint64_t begun, int result, uint64_t key0,
		 uint64_t key1, const void *out, size_t n_out)
{
	int saved = errno;
	struct recording_call *e = tape_call_event(f, begun, result, key0, key1, n_out);
	if (e && n_out)
		memcpy(e + 1, out, n_out);
	if (e)
		tape_commit();
	errno = saved;
}
