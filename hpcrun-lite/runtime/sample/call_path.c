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
	uint64_t part;    /* besides the stack and Python's frames */
	uint64_t python;  /* the tag of the frames */
	uint64_t modules; /* the tag of the modules of PyTorch that they call */
	bool has_frames;  /* of Python, with a tag of their own */
	bool may;         /* the path may be remembered */
	bool has_entry;   /* the memo knows the path, perhaps with other modules */
};

/* The words that the frames' tag was made from. */
static struct unwind_memo_guard guard_of(struct thread *t, const struct search *s)
{
	void *words = unwind_memo_room(t->calls.memo);
	const uint32_t n =
		s->has_frames ? python_guard(t->python, words, UNWIND_MEMO_GUARD_BYTES) : 0;
	return (struct unwind_memo_guard){.part = s->part, .words = words, .n_bytes = n};
}

static const struct unwind_memo_value *find_by_tag(struct thread *t, struct search *s)
{
	if (s->has_frames)
		s->python = python_tag(t->python);
	s->may = s->may && s->python != PYTHON_TAG_NONE;
	const struct unwind_memo_value *known =
		s->may ? unwind_memo_find(t->calls.memo, t->unwind, &s->regs, s->python ^ s->part)
		       : NULL;
	if (known && s->has_frames && unwind_memo_wants_guard(t->calls.memo)) {
		const uint64_t mask = quiet_begin();
		const struct unwind_memo_guard guard = guard_of(t, s);
		unwind_memo_set_guard(t->calls.memo, &guard);
		quiet_end(mask);
	}
	return known;
}

/* Returns true if the path is remembered. */
static bool find(struct thread *t, struct search *s, struct unwind_memo_value *value)
{
	const struct unwind_memo_value *known = NULL;
	bool is_due = false;
	s->python = PYTHON_TAG_PLAIN;
	s->modules = PYTHON_NO_MODULES;
	s->may = memo_of(&t->calls);
	s->has_frames = python_enter(t->python, t->unwind);
	if (s->has_frames && s->may)
		known = unwind_memo_next(t->calls.memo, t->unwind, &s->regs, s->part, python_holds,
					 t->python);
	if (!known)
		known = find_by_tag(t, s);
	if (s->has_frames && s->may)
		s->modules = python_modules(t->python, &is_due);
	s->may = s->may && s->modules != PYTHON_TAG_NONE;
	s->has_entry = s->may && known;
	if (!s->has_entry || is_due)
		return false;
	*value = *known;
	return s->modules == PYTHON_NO_MODULES ||
	       unwind_memo_variant(t->calls.memo, s->modules, &value->node);
}

/* Remembers the last walk. */
static void keep(struct thread *t, const struct search *s, const struct unwind_memo_value *value)
{
	struct unwind_memo *memo = t->calls.memo;
	if (!s->has_entry && value->n_frames > UNWIND_MEMO_WORDS + 1)
		return; /* it would be refused at each call, after its guard was made */
	if (!s->has_entry) {
		const struct unwind_memo_guard guard = guard_of(t, s);
		if (!unwind_memo_keep(memo, t->unwind, &s->regs, s->python ^ s->part, &guard,
				      value))
			return;
	}
	if (s->modules != PYTHON_NO_MODULES)
		unwind_memo_keep_variant(memo, s->modules, value->node);
}

void call_path_find(struct thread *t, const struct call_kind *kind, struct call_path *p)
{
	struct unwind_path *w = &p->walked;
	struct search s = {.part = tag_of(t, kind)};
	struct unwind_memo_value old;
	const uint64_t n_lost = n_lost_paths(t);
	unwind_here(&s.regs);
	const bool is_known = find(t, &s, &old);
	p->place.walked = w;
	if (is_known && !process.config.check) {
		*w = (struct unwind_path){
			.n = old.n_frames, .end = old.end, .heuristic = old.heuristic};
		p->place.node = old.node;
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
	s.may = s.may && p->place.has_node && n_lost == n_lost_paths(t) &&
		python_may_remember(t->python, s.has_frames) && s.part == tag_of(t, kind);
	const struct unwind_memo_value new = {p->place.node, w->n, w->end, w->heuristic};
	if (s.may && is_known)
		check(&old, &new);
	else if (s.may)
		keep(t, &s, &new);
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
