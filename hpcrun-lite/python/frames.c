/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects the Python frames of a thread; see frames.h. The thread may have been interrupted
 * anywhere, so its innermost frames may be incomplete. A value that does not fit ends the walk, and
 * incomplete frames are left out. Must not follow more frames than there is room for. Tests:
 * tests/unit/run/test_python_frames.c, tests/unit/run/test_python_ahead.c,
 * tests/cli/python/python_frames.sh.
 */
#include "hpcrun-lite/python/frames.h"

enum {
	GENERATOR = 1,
	TAG = 7 /* bits of a reference that 3.14 reserves */,
	FRAME_BYTES = 104,
	CFRAME_BYTES = 24,
	SHIM = 3,
	LAST_OWNER = 4,
	STATE_BYTES = 280 /* of a PyThreadState of 3.10 */
};

/* A frame and its loaded bytes. */
struct source {
	const struct python_layout *l;
	struct reader *r;
	uintptr_t at;
	const uint8_t *bytes;
};

/* Loads the first local variable. A frame without arguments has something else there. */
static void load_local(const struct source *s, struct frames_frame *frame)
{
	uint64_t copy;
	const uint8_t *local = reader_load(s->r, &copy, s->at + s->l->frame.locals, sizeof copy);
	if (local)
		frame->first_local = reader_word(local, 0) & ~(uint64_t)TAG;
}

static bool add_frame(struct frames *f, const struct source *s, uint64_t instruction,
		      unsigned owner)
{
	const uintptr_t tag = s->l->chain == PYTHON_CHAIN_SHIMS ? TAG : 0,
			code = reader_word(s->bytes, s->l->frame.code) & ~tag;
	f->is_cut = f->n_frames == f->max;
	if (f->is_cut || !reader_is_plausible(code))
		return false;
	struct frames_frame *frame = &f->frame[f->n_frames++];
	*frame = (struct frames_frame){.code = code,
				       .instruction = instruction,
				       .at = s->at,
				       .is_generator = owner == GENERATOR};
	if (f->with_locals && !s->r->direct)
		load_local(s, frame);
	return true;
}

static bool end_run(struct frames *f, uintptr_t place)
{
	if (f->n_runs == f->max)
		return false;
	f->run[f->n_runs++] = (struct frames_run){place, f->n_frames};
	return true;
}

static uint32_t run_begin(const struct frames *f)
{
	return f->n_runs ? f->run[f->n_runs - 1].end : 0;
}

/* ---- 3.12 and later ---- */

static bool follow_shims(struct frames *f, const struct python_layout *l, struct reader *r,
			 uintptr_t at)
{
	uint8_t copy[FRAME_BYTES];
	const uint8_t *frame;
	for (; at; at = reader_word(frame, l->frame.previous)) {
		if (!(frame = reader_load(r, copy, at, l->frame.owner + 1)) ||
		    frame[l->frame.owner] > LAST_OWNER)
			return false;
		if (frame[l->frame.owner] >= SHIM
			    ? !end_run(f, at)
			    : !add_frame(f, &(struct source){l, r, at, frame},
					 reader_word(frame, l->frame.instruction),
					 frame[l->frame.owner]))
			return false;
	}
	return true;
}

static bool collect_shims(struct frames *f, const struct python_layout *l, struct reader *r,
			  const uint8_t *thread_state, uintptr_t address)
{
	uint64_t copy;
	const uint8_t *cframe;
	(void)address;
	if (l->thread.cframe == PYTHON_NOWHERE)
		return follow_shims(f, l, r, reader_word(thread_state, l->thread.frame));
	cframe =
		reader_load(r, &copy, reader_word(thread_state, l->thread.cframe) + l->cframe.frame,
			    sizeof copy);
	return cframe && follow_shims(f, l, r, reader_word(cframe, 0));
}

/* ---- 3.11 ---- */

/*
 * Follows a run from its innermost frame to its entry frame. *outer is the next frame after the
 * entry frame.
 */
static bool follow_to_entry(struct frames *f, const struct python_layout *l, struct reader *r,
			    uintptr_t at, uintptr_t *outer)
{
	uint8_t copy[FRAME_BYTES];
	const uint8_t *frame;
	do {
		if (!(frame = reader_load(r, copy, at, l->frame.owner + 1)) ||
		    frame[l->frame.owner] >= SHIM || frame[l->frame.is_entry] > 1 ||
		    !add_frame(f, &(struct source){l, r, at, frame},
			       reader_word(frame, l->frame.instruction), frame[l->frame.owner]))
			return false;
		*outer = at = reader_word(frame, l->frame.previous);
	} while (!frame[l->frame.is_entry]);
	return true;
}

/*
 * Collects the runs of all CFrames. A run whose entry frame does not lead to the next CFrame is
 * being set up. Such a run does not count, and it must be the innermost. All chains are bounded,
 * because one may lead back to itself while a stack is copied (greenlet).
 */
static bool collect_cframes(struct frames *f, const struct python_layout *l, struct reader *r,
			    const uint8_t *thread_state, uintptr_t address)
{
	uint8_t copy[CFRAME_BYTES];
	uintptr_t at = reader_word(thread_state, l->thread.cframe), outer;
	const uint8_t *cframe = reader_load(r, copy, at, l->cframe.previous + sizeof at);
	(void)address;
	uint64_t innermost;
	for (uint32_t n = 0; cframe && (innermost = reader_word(cframe, l->cframe.frame)); n++) {
		uintptr_t previous = reader_word(cframe, l->cframe.previous);
		uint32_t begin = run_begin(f);
		bool whole = follow_to_entry(f, l, r, innermost, &outer);
		if (f->is_cut)
			return end_run(f, at);
		cframe = reader_load(r, copy, previous, l->cframe.previous + sizeof at);
		if (!cframe || !whole || outer != reader_word(cframe, l->cframe.frame)) {
			f->n_frames = begin;
			f->broken = true;
			if (n)
				return false;
		} else if (!end_run(f, at)) {
			return false;
		}
		at = previous;
		if (f->n_frames == f->max)
			return false;
	}
	return cframe != NULL;
}

/* ---- 3.10 ---- */

/*
 * Collects frame objects, each with one CFrame. During a call or return the innermost CFrame or
 * frame may have no partner, so they are paired from the outermost.
 */
static bool collect_objects(struct frames *f, const struct python_layout *l, struct reader *r,
			    const uint8_t *thread_state, uintptr_t address)
{
	uint8_t copy[FRAME_BYTES];
	const uint8_t *frame, *cframe;
	uint32_t n_cframes = 0;
	for (uintptr_t at = reader_word(thread_state, l->thread.frame); at && f->n_frames < f->max;
	     at = reader_word(frame, l->frame.previous))
		if (!(frame = reader_load(r, copy, at, l->frame.instruction + sizeof(uint32_t))) ||
		    !add_frame(f, &(struct source){l, r, at, frame},
			       reader_half(frame, l->frame.instruction), 0))
			return false;
	/*
	 * The outermost CFrame is in the thread state and belongs to no call; its link to a
	 * previous one was never set.
	 */
	for (uint64_t at = reader_word(thread_state, l->thread.cframe); at - address >= STATE_BYTES;
	     n_cframes++) {
		if (n_cframes == f->max)
			return false;
		f->run[n_cframes].place = at;
		if (!(cframe = reader_load(r, copy, at + l->cframe.previous, sizeof at)))
			return false;
		at = reader_word(cframe, 0);
	}
	if (n_cframes + 1 < f->n_frames || n_cframes > f->n_frames + 1)
		return false;
	if (n_cframes < f->n_frames)
		memmove(f->frame, f->frame + 1, --f->n_frames * sizeof *f->frame);
	uint32_t alone = n_cframes - f->n_frames;
	for (uint32_t i = 0; i < f->n_frames; i++)
		f->run[i] = (struct frames_run){f->run[i + alone].place, i + 1};
	f->n_runs = f->n_frames;
	return true;
}

void frames_collect(struct frames *f, const struct python_layout *l, struct reader *r,
		    const uint8_t *thread_state, uintptr_t address)
{
	static bool (*const collect[])(struct frames *, const struct python_layout *,
				       struct reader *, const uint8_t *,
				       uintptr_t) = {[PYTHON_CHAIN_OBJECTS] = collect_objects,
						     [PYTHON_CHAIN_CFRAMES] = collect_cframes,
						     [PYTHON_CHAIN_SHIMS] = collect_shims};
	f->n_frames = f->n_runs = 0;
	f->broken = f->is_cut = false;
	if (!collect[l->chain](f, l, r, thread_state, address))
		f->broken = !f->is_cut;
	if (!f->is_cut)
		f->n_frames = run_begin(f);
}
