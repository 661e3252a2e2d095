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
	uint64_t sum = python_count_interpreters(l);
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
	/* torch_code.c may have forgotten a function that calls modules */
	sum += t->torch_now.n * UINT64_C(0x9E3779B97F4A7C15);
	return sum > PYTHON_TAG_PLAIN ? sum : PYTHON_TAG_PLAIN + 1;
}

uint64_t python_modules(struct python_thread *t, bool *is_due)
{
	const struct python_layout *l = atomic_load_explicit(&python.layout, memory_order_relaxed);
	uint64_t tag = 0;
	*is_due = false;
	t->n_tag_calls = t->torch_now.n;
	if (!t->n_tag_calls)
		return PYTHON_NO_MODULES;
	*is_due = torch_is_due(&t->torch_scratch);
	if (!torch_tag(l, &python.object_types, &t->torch_scratch, &t->torch_now, &tag))
		return PYTHON_TAG_NONE;
	return tag > PYTHON_NO_MODULES ? tag : PYTHON_NO_MODULES + 1;
}

bool python_may_remember(const struct python_thread *t, bool has_frames)
{
	return has_frames ? !t->frames.broken && !t->frames.is_cut && t->torch.n == t->n_tag_calls
			  : !t || t->is_plain;
}

/* ---- guards ---- */

/* A guard is this, then the frames from the innermost, shims too, and then the calls of modules. */
struct guard {
	uint32_t n_frames, n_calls;
	uint64_t known; /* known_now() at that time */
};

struct guard_frame {
	uint64_t at, code, instruction; /* code, instruction, version: 0 in a shim */
	uint32_t version, owner;
};

struct guard_call {
	uintptr_t local; /* where its frame has the module */
	uint64_t frame;  /* among struct frames */
};

/* How many functions call modules, and how many interpreters there were. */
static uint64_t known_now(const struct python_layout *l)
{
	return (uint64_t)python_count_interpreters(l) << 32 | torch_code_count();
}

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

/* Finds the modules that are called now. The frames are the guard's. */
static bool read_calls(struct python_thread *t, const struct guard_call *call, uint32_t n)
{
	t->torch_now.n = n;
	for (uint32_t k = 0; k < n; k++) {
		const uint64_t tag = REFERENCE_TAG;
		const uintptr_t module = reader_word((const uint8_t *)call[k].local, 0) & ~tag;
		if (!reader_is_plausible(module))
			return false;
		t->torch_now.call[k] =
			(struct torch_call){.module = module, .frame = (uint32_t)call[k].frame};
	}
	return true;
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
	for (; frame < end; frame++) {
		if (at != frame->at || !is_same(l, frame))
			return false;
		at = reader_word((const uint8_t *)at, l->frame.previous);
	}
	return !at && g->known == known_now(l) &&
	       read_calls(t, (const struct guard_call *)end, g->n_calls);
}

/* Returns how many frames there are; 0: more than `most`. */
static uint32_t keep_frames(const struct python_layout *l, const struct python_thread *t,
			    struct guard_frame *frame, uint32_t most)
{
	uint32_t n = 0;
	for (uintptr_t at = first_frame(l, t); at; n++) {
		if (n == most)
			return 0;
		frame[n] = read_frame(l, at);
		if (frame[n].owner > LAST_OWNER)
			return 0;
		at = reader_word((const uint8_t *)at, l->frame.previous);
	}
	return n;
}

uint32_t python_guard(struct python_thread *t, void *words, uint32_t most_bytes)
{
	const struct python_layout *l = atomic_load_explicit(&python.layout, memory_order_relaxed);
	const struct torch_calls *calls = &t->torch_now;
	struct guard *g = words;
	struct guard_frame *frame = (struct guard_frame *)(g + 1);
	const uint32_t n_bytes = (uint32_t)(sizeof *g + calls->n * sizeof(struct guard_call));
	*g = (struct guard){.n_calls = calls->n, .known = known_now(l)};
	if (n_bytes > most_bytes)
		return 0;
	g->n_frames = keep_frames(l, t, frame, (most_bytes - n_bytes) / (uint32_t)sizeof *frame);
	struct guard_call *call = (struct guard_call *)&frame[g->n_frames];
	for (uint32_t k = 0; k < calls->n; k++) {
		const uint32_t i = calls->call[k].frame;
		call[k] = (struct guard_call){t->frames.frame[i].at + l->frame.locals, i};
	}
	return g->n_frames ? n_bytes + g->n_frames * (uint32_t)sizeof *frame : 0;
}
