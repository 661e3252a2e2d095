/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises the Python frames of a call, by a tag or by a guard; see python.h. The frames are read
 * in place, since the calling thread called us. Must not wait, nor touch a reference count. Tests:
 * tests/cli/python/python_memo.sh, tests/unit/run/test_python_call.c.
 */
#include "hpcrun-lite/python/python_internal.h"
#include "hpcrun-lite/python/torch_code.h"

#include <string.h>

enum { REFERENCE_TAG = 7 /* bits of a reference that 3.14 reserves */, SHIM = 3, LAST_OWNER = 4 };

bool python_enter(struct python_thread *t, const struct unwind_thread *unwind)
{
	const struct python_layout *l = atomic_load_explicit(&python.layout, memory_order_acquire);
	uintptr_t own_lo, own_hi;
	if (!l || !t || !t->is_main || l->code.version == PYTHON_NOWHERE)
		return false;
	unwind_own_stack(unwind, &own_lo, &own_hi);
	reader_begin(&t->reader, own_lo, own_hi);
	if (!python_find_state(l, t, NULL, &t->call) || !t->call.is_held)
		return false;
	t->reader.direct = true;
	return true;
}

uint64_t python_tag(struct python_thread *t)
{
	const struct python_layout *l = atomic_load_explicit(&python.layout, memory_order_relaxed);
	const struct frames *f = &t->frames;
	uint64_t sum = 0;
	frames_collect(&t->frames, l, &t->reader, t->call.bytes, t->call.at);
	if (f->broken || f->is_cut)
		return PYTHON_TAG_NONE;
	t->torch_now.n = 0;
	for (uint32_t i = 0; i < f->n_frames; i++) {
		if (!code_tag(l, &python.types, &f->frame[i], i, &sum))
			return PYTHON_TAG_NONE;
		if (torch_code_is_call(l, f->frame[i].code) &&
		    !torch_add(&t->torch_now, l, &f->frame[i], i, 0, true))
			return PYTHON_TAG_NONE;
	}
	for (uint32_t i = 0; i < f->n_runs; i++)
		sum += code_tag_run(&f->run[i], i);
	t->n_tag_calls = t->torch_now.n;
	if (t->n_tag_calls &&
	    !torch_tag(&python.object_types, &t->torch_scratch, &t->torch_now, &sum))
		return PYTHON_TAG_NONE;
	return sum > PYTHON_TAG_PLAIN ? sum : PYTHON_TAG_PLAIN + 1;
}

bool python_may_remember(const struct python_thread *t, uint64_t tag)
{
	return tag == PYTHON_TAG_PLAIN ? !t || t->is_plain
				       : tag != PYTHON_TAG_NONE && !t->frames.broken &&
						 !t->frames.is_cut && t->torch.n == t->n_tag_calls;
}

/* ---- guards ---- */

/* A guard is this, then the frames from the innermost, shims too, and then the words. */
struct guard {
	uint32_t n_frames, n_words;
	uint32_t n_calls; /* of modules */
	uint32_t known;   /* torch_known() at that time */
};

struct guard_frame {
	uint64_t at, code, instruction; /* code, instruction, version: 0 in a shim */
	uint32_t version, owner;
};

/* Reads a frame of CPython 3.12 or later. */
static struct guard_frame read_frame(const struct python_layout *l, uintptr_t at)
{
	const uint8_t *frame = (const uint8_t *)at;
	const uint64_t tag = REFERENCE_TAG, code = reader_word(frame, l->frame.code) & ~tag;
	if (frame[l->frame.owner] >= SHIM)
		return (struct guard_frame){.at = at, .owner = frame[l->frame.owner]};
	return (struct guard_frame){.at = at,
				    .owner = frame[l->frame.owner],
				    .code = code,
				    .instruction = reader_word(frame, l->frame.instruction),
				    .version = reader_half((const uint8_t *)code, l->code.version)};
}

/*
 * A frame that leads to the frames further out is one, and so is its code object, because it has a
 * reference to it. So each is known to be one before it is read.
 */
static bool is_same(const struct python_layout *l, const struct guard_frame *g)
{
	const uint8_t *frame = (const uint8_t *)(uintptr_t)g->at;
	const uint64_t tag = REFERENCE_TAG;
	if (frame[l->frame.owner] != g->owner)
		return false;
	return g->owner >= SHIM ||
	       ((reader_word(frame, l->frame.code) & ~tag) == g->code &&
		reader_word(frame, l->frame.instruction) == g->instruction &&
		reader_half((const uint8_t *)(uintptr_t)g->code, l->code.version) == g->version);
}

/* Returns the innermost frame of the call, as frames_collect() finds it. */
static uintptr_t first_frame(const struct python_layout *l, const struct python_thread *t)
{
	const uint8_t *state = t->call.bytes;
	if (l->thread.cframe == PYTHON_NOWHERE)
		return reader_word(state, l->thread.frame);
	return reader_word((const uint8_t *)reader_word(state, l->thread.cframe), l->cframe.frame);
}

bool python_holds(void *thread, const void *words, uint32_t n_bytes)
{
	struct python_thread *t = thread;
	const struct python_layout *l = atomic_load_explicit(&python.layout, memory_order_relaxed);
	const struct guard *g = words;
	const struct guard_frame *frame = (const struct guard_frame *)(g + 1),
				 *end = frame + g->n_frames;
	uintptr_t at = first_frame(l, t);
	(void)n_bytes;
	if (g->n_calls && (g->known != torch_known() || torch_is_due(&t->torch_scratch)))
		return false;
	for (; frame < end; frame++) {
		if (at != frame->at || !is_same(l, frame))
			return false;
		at = reader_word((const uint8_t *)at, l->frame.previous);
	}
	if (at || !torch_holds((const struct torch_word *)end, g->n_words))
		return false;
	if (g->n_calls)
		torch_use(&t->torch_scratch);
	return true;
}

uint32_t python_guard(struct python_thread *t, void *words, uint32_t most_bytes)
{
	const struct python_layout *l = atomic_load_explicit(&python.layout, memory_order_relaxed);
	struct guard *g = words;
	struct guard_frame *frame = (struct guard_frame *)(g + 1);
	uint32_t room = (most_bytes - (uint32_t)sizeof *g) / (uint32_t)sizeof *frame;
	*g = (struct guard){.n_frames = 0};
	for (uintptr_t at = first_frame(l, t); at; g->n_frames++) {
		if (g->n_frames == room)
			return 0;
		frame[g->n_frames] = read_frame(l, at);
		if (frame[g->n_frames].owner > LAST_OWNER)
			return 0;
		at = reader_word((const uint8_t *)at, l->frame.previous);
	}
	room -= g->n_frames;
	g->n_calls = t->n_tag_calls;
	if (g->n_calls) {
		struct torch_words kept = {
			.word = (struct torch_word *)&frame[g->n_frames],
			.most = room * (uint32_t)(sizeof *frame / sizeof(struct torch_word))};
		g->known = torch_known();
		if (!torch_keep_words(l, &python.object_types, &t->torch_scratch, &t->frames,
				      &t->torch_now, &kept))
			return 0;
		g->n_words = kept.n;
	}
	return (uint32_t)(sizeof *g + g->n_frames * sizeof *frame +
			  g->n_words * sizeof(struct torch_word));
}
