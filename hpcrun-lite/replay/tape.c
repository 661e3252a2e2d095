/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads recordings; see tape.h. It checks every field, because a file may contain anything. Test:
 * tests/unit/cupti/test_recording.c, tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/replay/tape.h"

#include "common/base/log.h"
#include "common/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STREAMS (1u << 20)
#define MAX_DEPTH 64u

struct loading {
	VEC(struct tape_event) events;
	VEC(struct tape_text) texts;
	VEC(struct tape_stream) streams;
	VEC(uint32_t) answers;
	uint64_t n_damaged;
};

/* ---- events ---- */

static bool add_event(struct loading *l, const struct recording_event *e, uint32_t stream)
{
	if (e->type == RECORDING_STREAM) {
		l->streams.at[stream].tid = ((const struct recording_stream *)e)->tid;
		return true;
	}
	if (e->type == RECORDING_STRING) {
		const struct recording_string *s = (const void *)e;
		struct tape_text *t = vec_push(&l->texts);
		if (t)
			*t = (struct tape_text){.pointer = s->pointer,
						.order = e->order,
						.text = recording_text(s)};
		return t != NULL;
	}
	if (e->type > RECORDING_NOW ||
	    (e->type == RECORDING_ENTER && e->what >= RECORDING_N_ENTRIES) ||
	    (e->type == RECORDING_CALL && e->what >= RECORDING_N_FUNCTIONS))
		return true; /* a type of a later version */
	struct tape_event *to = vec_push(&l->events);
	if (to)
		*to = (struct tape_event){.head = e,
					  .stream = stream,
					  .parent = TAPE_NONE,
					  .leave = TAPE_NONE,
					  .partner = TAPE_NONE,
					  .next = TAPE_NONE};
	return to != NULL;
}

static bool add_chunk(struct loading *l, const struct recording_chunk *c, uint64_t used)
{
	const uint8_t *at = (const uint8_t *)(c + 1);
	while (used) {
		const struct recording_event *e = recording_event_at(at, used);
		if (!e || e->order <= l->streams.at[c->stream].last_order) {
			l->n_damaged += used;
			return true;
		}
		l->streams.at[c->stream].last_order = e->order;
		if (!add_event(l, e, c->stream))
			return false;
		at += e->bytes;
		used -= e->bytes;
	}
	return true;
}

static bool have_stream(struct loading *l, uint32_t stream)
{
	while (l->streams.n <= stream) {
		struct tape_stream *s = vec_push(&l->streams);
		if (!s)
			return false;
		*s = (struct tape_stream){.first = TAPE_NONE, .last = TAPE_NONE};
	}
	return true;
}

static bool add_chunks(struct loading *l, const uint8_t *bytes, size_t n_bytes)
{
	uint64_t offset = RECORDING_HEADER_BYTES, used;
	const struct recording_chunk *c;
	while ((c = recording_next_chunk(bytes, n_bytes, &offset, &used, &l->n_damaged))) {
		if (c->stream >= MAX_STREAMS) {
			l->n_damaged += used;
			continue;
		}
		if (!have_stream(l, c->stream) || !add_chunk(l, c, used))
			return false;
	}
	return true;
}

/* ---- order ---- */

static int by_order(const void *a, const void *b)
{
	const struct tape_event *x = a, *y = b;
	return x->head->order < y->head->order ? -1 : x->head->order > y->head->order;
}

static int by_pointer(const void *a, const void *b)
{
	const struct tape_text *x = a, *y = b;
	if (x->pointer != y->pointer)
		return x->pointer < y->pointer ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static const struct recording_call *call_of(const struct tape *t, uint32_t n)
{
	return (const struct recording_call *)t->event[n].head;
}

static int compare_keys(const struct recording_call *a, unsigned f, uint64_t key0, uint64_t key1)
{
	if (a->head.what != f)
		return a->head.what < f ? -1 : 1;
	if (a->key[0] != key0)
		return a->key[0] < key0 ? -1 : 1;
	return a->key[1] < key1 ? -1 : a->key[1] > key1;
}

static int by_keys(const void *a, const void *b, void *tape)
{
	const uint32_t *x = a, *y = b;
	const struct recording_call *c = call_of(tape, *y);
	int r = compare_keys(call_of(tape, *x), c->head.what, c->key[0], c->key[1]);
	return r ? r : *x < *y ? -1 : *x > *y;
}

/* ---- nesting ---- */

struct open_stack {
	uint32_t n;
	uint32_t enter[MAX_DEPTH];
};

static void leave(struct tape *t, struct open_stack *open, uint32_t n)
{
	const struct recording_leave *l = (const void *)t->event[n].head;
	for (uint32_t i = open->n; i-- > 0;)
		if (t->event[open->enter[i]].head->order == l->enter) {
			t->event[open->enter[i]].leave = n;
			open->n = i;
			return;
		}
}

/*
 * The entry and the end of a call are two ENTERs of one stream with the same correlation id. Calls
 * nest.
 */
struct half {
	uint32_t event, correlation, id;
};

static bool pair(struct tape *t, uint32_t n, void *stack)
{
	VEC(struct half) *halves = stack;
	const struct recording_driver *d = (const void *)t->event[n].head;
	if (!d->site) {
		struct half *h = vec_push(halves);
		if (h)
			*h = (struct half){n, d->correlation, d->id};
		return h != NULL;
	}
	for (size_t i = halves->n; i-- > 0;)
		if (halves->at[i].correlation == d->correlation && halves->at[i].id == d->id) {
			t->event[n].partner = halves->at[i].event;
			t->event[halves->at[i].event].partner = n;
			halves->n = i;
			break;
		}
	return true;
}

static bool nest(struct tape *t, uint32_t stream)
{
	struct open_stack open = {.n = 0};
	VEC(struct half) halves = {0};
	bool good = true;
	for (uint32_t n = t->stream[stream].first; good && n != TAPE_NONE; n = t->event[n].next) {
		struct tape_event *e = &t->event[n];
		if (e->head->type == RECORDING_LEAVE) {
			leave(t, &open, n);
			continue;
		}
		e->parent = open.n ? open.enter[open.n - 1] : TAPE_NONE;
		if (e->head->type == RECORDING_ENTER && open.n < MAX_DEPTH)
			open.enter[open.n++] = n;
		if (tape_is_enter(e, RECORDING_DRIVER))
			good = pair(t, n, &halves);
	}
	vec_free(&halves);
	return good;
}

static bool index_all(struct tape *t, struct loading *l)
{
	if (t->n_events)
		qsort(t->event, t->n_events, sizeof *t->event, by_order);
	if (t->n_texts)
		qsort(t->text, t->n_texts, sizeof *t->text, by_pointer);
	for (uint32_t n = 0; n < t->n_events; n++) {
		struct tape_stream *s = &t->stream[t->event[n].stream];
		if (s->first == TAPE_NONE)
			s->first = n;
		else
			t->event[s->last].next = n;
		s->last = n;
		uint32_t *a =
			t->event[n].head->type == RECORDING_CALL ? vec_push(&l->answers) : NULL;
		if (a)
			*a = n;
		else if (t->event[n].head->type == RECORDING_CALL)
			return false;
	}
	for (uint32_t s = 0; s < t->n_streams; s++)
		if (!nest(t, s))
			return false;
	t->answer = l->answers.at;
	t->n_answers = (uint32_t)l->answers.n;
	if (t->n_answers)
		qsort_r(t->answer, t->n_answers, sizeof *t->answer, by_keys, t);
	return true;
}

/* ---- loading ---- */

static enum status refuse(const char *path, const char *why)
{
	log_error(path, "%s", why);
	return STATUS_BAD_INPUT;
}

static enum status read_all(const char *path, const uint8_t *bytes, size_t n_bytes, struct tape *t)
{
	struct loading l = {.n_damaged = 0};
	const char *why = recording_check_header(bytes, n_bytes);
	if (why)
		return refuse(path, why);
	t->header = (const void *)bytes;
	bool good = add_chunks(&l, bytes, n_bytes) && l.events.n < TAPE_NONE;
	t->event = l.events.at;
	t->n_events = good ? (uint32_t)l.events.n : 0;
	t->stream = l.streams.at;
	t->n_streams = (uint32_t)l.streams.n;
	t->text = l.texts.at;
	t->n_texts = (uint32_t)l.texts.n;
	t->n_damaged = l.n_damaged;
	good = good && index_all(t, &l);
	t->answer = l.answers.at;
	if (!good) {
		log_error(path, "there is not enough memory for it");
		return STATUS_NO_MEMORY;
	}
	if (!t->n_events || !tape_is_enter(&t->event[0], RECORDING_INIT))
		return refuse(path, "it does not begin with the start of the back end: there is "
				    "nothing to play");
	return STATUS_OK;
}

enum status tape_load_bytes(const char *name, const void *bytes, size_t n_bytes, struct tape *t)
{
	*t = (struct tape){.event = NULL};
	enum status status = read_all(name, bytes, n_bytes, t);
	if (status != STATUS_OK)
		tape_free(t);
	return status;
}

enum status tape_load(const char *path, struct tape *t)
{
	struct mapfile file;
	enum status status = mapfile_open(path, &file);
	*t = (struct tape){.event = NULL};
	if (status == STATUS_NOT_FOUND)
		log_error(path, "there is no such file");
	if (status != STATUS_OK)
		return status;
	status = tape_load_bytes(path, file.bytes, file.n_bytes, t);
	if (status == STATUS_OK)
		t->file = file;
	else
		mapfile_close(&file);
	return status;
}

void tape_free(struct tape *t)
{
	free(t->event);
	free(t->stream);
	free(t->text);
	free(t->answer);
	if (t->file.bytes)
		mapfile_close(&t->file);
	*t = (struct tape){.event = NULL};
}

/* ---- answers ---- */

const char *tape_text_at(const struct tape *t, uint64_t pointer, uint64_t order)
{
	uint32_t low = 0, high = t->n_texts;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct tape_text *x = &t->text[middle];
		if (x->pointer < pointer || (x->pointer == pointer && x->order <= order))
			low = middle + 1;
		else
			high = middle;
	}
	if (low && t->text[low - 1].pointer == pointer)
		return t->text[low - 1].text;
	return low < t->n_texts && t->text[low].pointer == pointer ? t->text[low].text : NULL;
}

const struct recording_call *tape_answer(const struct tape *t, enum recording_function f,
					 uint64_t key0, uint64_t key1, uint64_t order)
{
	uint32_t low = 0, high = t->n_answers;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct recording_call *c = call_of(t, t->answer[middle]);
		int r = compare_keys(c, f, key0, key1);
		if (r < 0 || (r == 0 && c->head.order <= order))
			low = middle + 1;
		else
			high = middle;
	}
	if (low && compare_keys(call_of(t, t->answer[low - 1]), f, key0, key1) == 0)
		return call_of(t, t->answer[low - 1]);
	return low < t->n_answers && compare_keys(call_of(t, t->answer[low]), f, key0, key1) == 0
		       ? call_of(t, t->answer[low])
		       : NULL;
}

bool tape_is_long(const struct tape_event *e)
{
	if (e->head->type != RECORDING_CALL)
		return false;
	switch (e->head->what) {
	case RECORDING_FLUSH_ALL:
	case RECORDING_WAIT:
	case RECORDING_LOCK:
	case RECORDING_PC_ENABLE:
	case RECORDING_PC_DISABLE:
	case RECORDING_PC_GET_DATA:
	case RECORDING_CTX_SYNCHRONIZE:
	case RECORDING_POINT:
	case RECORDING_AGREE:
		return true;
	default:
		return false;
	}
}

bool tape_has_turn(const struct tape_event *e)
{
	return e->head->type == RECORDING_ENTER || e->head->type == RECORDING_LEAVE ||
	       e->head->type == RECORDING_NOW || tape_is_long(e);
}
