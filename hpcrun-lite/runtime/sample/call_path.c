/* SPDX-License-Identifier: BSD-3-Clause */
/* See call_path.h. Test: tests/cli/mpi/mpi_memo.sh. */
#include "hpcrun-lite/runtime/sample/call_path.h"

#include "common/safe/quiet.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/process.h"

#include <string.h>
#include <sys/mman.h>

/*
 * With `check=1`: numbers of remembered paths that were walked again, and of those that differed.
 */
static struct {
	_Atomic uint64_t n_walked, n_wrong;
} checked;

static struct unwind_memo *make_memo(void)
{
	if (!room_take(unwind_memo_bytes()))
		return NULL;
	const long at = sys_mmap(NULL, unwind_memo_bytes(), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!sys_is_error(at))
		return (struct unwind_memo *)at;
	room_give(unwind_memo_bytes());
	return NULL;
}

static struct unwind_memo *memo_of(struct call_thread *t)
{
	if (__builtin_expect(!t->memo && !t->has_no_memory, 0)) {
		t->memo = make_memo();
		t->has_no_memory = !t->memo;
	}
	return t->memo;
}

void call_path_forget(struct thread *t)
{
	if (t->calls.memo) {
		sys_munmap(t->calls.memo, unwind_memo_bytes());
		room_give(unwind_memo_bytes());
	}
	t->calls = (struct call_thread){0};
}

static void check(const struct unwind_memo_value *old, const struct unwind_memo_value *new)
{
	atomic_fetch_add_explicit(&checked.n_walked, 1, memory_order_relaxed);
	if (old->node != new->node || old->n_frames != new->n_frames || old->end != new->end ||
	    old->heuristic != new->heuristic)
		atomic_fetch_add_explicit(&checked.n_wrong, 1, memory_order_relaxed);
}

/* What the node depends on besides the stack and Python's frames. */
static uint64_t tag_of(const struct thread *t, const struct call_kind *kind)
{
	return kind->tag ^ region_path_tag(&t->regions) ^
	       nvtx_sums_current(&t->nvtx) * UINT64_C(0x9E3779B97F4A7C15);
}

/* Number of paths with losses. They are not remembered, so that each call counts its loss. */
static uint64_t n_lost_paths(const struct thread *t)
{
	const struct msr_thread *r = t->record;
	return atomic_load_explicit(&r->losses[MSR_LOSS_PYTHON], memory_order_relaxed) +
	       atomic_load_explicit(&r->losses[MSR_LOSS_OMP_PATHS], memory_order_relaxed);
}

/* A search for a call: what its path depends on. */
struct search {
	struct unwind_regs regs;
	uint64_t part;   /* besides the stack and Python's frames */
	uint64_t python; /* the tag of the frames */
	bool has_frames; /* of Python, with a tag of their own */
};

/* Gives the value that was just found or kept the words that the frames' tag was made from. */
static struct unwind_memo_guard guard_of(struct thread *t, const struct search *s)
{
	void *words = unwind_memo_room(t->calls.memo);
	const uint32_t n =
		s->has_frames ? python_guard(t->python, words, UNWIND_MEMO_GUARD_BYTES) : 0;
	return (struct unwind_memo_guard){.part = s->part, .words = words, .n_bytes = n};
}

static const struct unwind_memo_value *find_by_tag(struct thread *t, const struct search *s)
{
	const struct unwind_memo_value *known =
		unwind_memo_find(t->calls.memo, t->unwind, &s->regs, s->python ^ s->part);
	if (known && s->has_frames && unwind_memo_wants_guard(t->calls.memo)) {
		const uint64_t mask = quiet_begin();
		const struct unwind_memo_guard guard = guard_of(t, s);
		unwind_memo_set_guard(t->calls.memo, &guard);
		quiet_end(mask);
	}
	return known;
}

/* Returns NULL if the path is not remembered. *may: it may be. */
static const struct unwind_memo_value *find(struct thread *t, struct search *s, bool *may)
{
	const struct unwind_memo_value *known = NULL;
	const bool has_memo = memo_of(&t->calls);
	s->python = PYTHON_TAG_PLAIN;
	if ((s->has_frames = python_enter(t->python, t->unwind))) {
		if (has_memo)
			known = unwind_memo_next(t->calls.memo, t->unwind, &s->regs, s->part,
						 python_holds, t->python);
		if (known && !process.config.check)
			return known;
		s->python = python_tag(t->python);
	}
	*may = has_memo && s->python != PYTHON_TAG_NONE;
	return known || !*may ? known : find_by_tag(t, s);
}

void call_path_find(struct thread *t, const struct call_kind *kind, struct call_path *p)
{
	struct unwind_path *w = &p->walked;
	struct search s = {.part = tag_of(t, kind)};
	bool may = false;
	const uint64_t n_lost = n_lost_paths(t);
	unwind_here(&s.regs);
	const struct unwind_memo_value *known = find(t, &s, &may);
	p->place.walked = w;
	if (known && !process.config.check) {
		*w = (struct unwind_path){.n = known->n_frames,
					  .end = known->end,
					  .heuristic = known->heuristic};
		p->place.node = known->node;
		p->place.has_node = true;
		return;
	}
	/*
	 * Block signals: a jump out of here would leave locks taken, and the tree and the walk's
	 * memory half changed.
	 */
	const uint64_t mask = quiet_begin();
	unwind_walk_regs(t->unwind, &s.regs, w);
	p->place.has_node = sample_insert(t, w, kind->n_inner(w, kind->tag), true, &p->place.node,
					  &p->place.cause);
	/* The region may have ended meanwhile. */
	may = may && p->place.has_node && n_lost == n_lost_paths(t) &&
	      python_may_remember(t->python, s.python) && s.part == tag_of(t, kind);
	const struct unwind_memo_value new = {p->place.node, w->n, w->end, w->heuristic};
	if (may && known) {
		check(known, &new);
	} else if (may) {
		const struct unwind_memo_guard guard = guard_of(t, &s);
		unwind_memo_keep(t->calls.memo, t->unwind, &s.regs, s.python ^ s.part, &guard,
				 &new);
	}
	quiet_end(mask);
}

void call_path_report(void)
{
	char line[160];
	struct text t = text_in(line, sizeof line);
	if (!process.config.check)
		return;
	text_put(&t, "remembered call paths: ");
	text_put_u64(&t, atomic_load_explicit(&checked.n_walked, memory_order_relaxed));
	text_put(&t, " checked, ");
	text_put_u64(&t, atomic_load_explicit(&checked.n_wrong, memory_order_relaxed));
	text_put(&t, " differed");
	runtime_note(line);
}
