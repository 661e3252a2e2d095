/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths through parallel regions; see region_path.h. The stack of another thread is read only with
 * guarded loads. A read is valid if the generation of the region was the same before and after it.
 * Must not allocate except by mmap, and must not wait. Test:
 * tests/unit/openmp/test_region.c.
 */
#include "hpcrun-lite/regions/region_path.h"

#include "common/format/measurement.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"

#include <string.h>
#include <sys/mman.h>

static uint32_t max_depth;

/* A path that grows outwards. It is cut if there is no more room. */
struct chain {
	uint64_t *addr;
	uint32_t n;
	enum unwind_end end;
	bool heuristic, broken, is_main;
};

/* The memory of one thread, made when it first needs it. */
struct region_paths {
	struct unwind_thread *walker; /* of other threads' stacks */
	struct python_thread *python; /* of other threads; NULL: not needed so far */
	struct chain other;           /* path of a fork, innermost frame first */
	const struct region *region;  /* the region that it forked; NULL: none */
	uint64_t generation;
	bool is_found;
	uint64_t *made;               /* scratch for a new path, innermost frame first */
	uint64_t *last;               /* the last path, which ends at last + max_depth */
	uint32_t n_last;
	enum unwind_end end;
	bool is_idle, is_main;
};

void region_path_start(uint32_t depth)
{
	max_depth = depth;
}

/* Returns anonymous memory that is never freed; NULL: none. */
static void *take_memory(size_t n)
{
	if (!room_take(n))
		return NULL;
	const long at = sys_mmap(NULL, n, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!sys_is_error(at))
		return (void *)at;
	room_give(n);
	return NULL;
}

static struct region_paths *make_paths(void)
{
	const size_t array = (size_t)max_depth * sizeof(uint64_t),
		     head = (sizeof(struct region_paths) + 63) & ~(size_t)63;
	struct region_paths *p = take_memory(head + 3 * array + unwind_thread_bytes(max_depth));
	if (!p)
		return NULL;
	p->other.addr = (uint64_t *)((uint8_t *)p + head);
	p->made = p->other.addr + max_depth;
	p->last = p->made + max_depth;
	p->walker = unwind_thread_init(p->last + max_depth, max_depth, &(struct unwind_stack){0});
	return p;
}

static struct python_thread *make_python(void)
{
	void *memory = take_memory(python_thread_bytes(max_depth));
	return memory ? python_thread_init(memory, max_depth, false) : NULL;
}

static struct region_paths *paths_of(struct region_thread *t)
{
	if (!t->paths)
		t->paths = make_paths();
	return t->paths;
}

static bool is_alive(const struct region_entry *e)
{
	return atomic_load_explicit(&e->region->generation, memory_order_acquire) ==
	       e->generation;
}

/* ---- appending ---- */

static void append(struct chain *c, uint64_t addr)
{
	if (c->n < max_depth)
		c->addr[c->n++] = addr;
	else
		c->end = UNWIND_DEEP;
}

/* In a walked path, module 0 means code in no module. */
static void append_walked(struct chain *c, const uint64_t *addr, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		append(c, msr_addr_module(addr[i]) == MSR_MODULE_NONE
				  ? addr[i] | (uint64_t)MSR_MODULE_UNKNOWN << 48
				  : addr[i]);
}

#define WAIT_AT_END (MSR_WAIT + MSR_WAIT_OMP_END) /* module 0 */

static void append_pieces(struct chain *c, const uint64_t *addr, const struct region_plan *plan)
{
	for (uint32_t i = 0; i < plan->n_pieces; i++) {
		append_walked(c, addr + plan->cut[2 * i], plan->cut[2 * i + 1] - plan->cut[2 * i]);
		if (plan->outside[i])
			append(c, plan->outside[i]);
	}
}

/* ---- where the path of a thread leaves a region ---- */

/* The thread whose stack was walked, and how far the path has been used. */
struct own {
	const struct unwind_thread *walk;
	const struct region_thread *thread;
	struct unwind_scan scan;
	uint32_t at, n; /* next address; number of addresses */
};

/* Sets *index to that of the frame that contains the place. */
static bool find(struct own *o, uintptr_t place, uint32_t *index)
{
	*index = place ? unwind_find_outside(o->walk, &o->scan, place) : UINT32_MAX;
	return *index != UINT32_MAX;
}

/* Returns where the frames of the thread's function end; the frames that called it follow. */
static uint32_t find_base(struct own *o)
{
	uint32_t index;
	return find(o, o->thread->base, &index) ? index : o->n;
}

/* A part of the path inside a region, and how the path continues outside it. */
struct part {
	uint32_t from, to;
	bool waits;
	bool is_forked_by_other;
};

/*
 * Finds the next part of the path, up to the region of *e. Returns false on failure: the walk ended
 * before it, or was too deep. The region is alive, and `origin` belongs to it.
 */
static bool next_part(struct own *o, const struct region_entry *e,
		      const struct region_origin *origin, struct part *part)
{
	uintptr_t place = e->place_at ? atomic_load_explicit(e->place_at, memory_order_relaxed)
				      : e->place;
	const bool at_end = atomic_load_explicit(&e->state, memory_order_relaxed) ==
			    REGION_AT_END;
	uint32_t caller;
	part->from = o->at;
	part->waits = at_end;
	part->is_forked_by_other = origin->owner != o->thread;
	if (at_end)
		place = 0;
	if (place && !find(o, place, &part->to))
		return false;
	if (!part->is_forked_by_other) {
		if (!find(o, origin->fork.place, &caller))
			return false;
		part->to = place ? part->to : caller;
		o->at = caller;
	} else if (!place) {
		part->to = find_base(o);
	}
	return true;
}

/* ---- the path of a fork ---- */

static bool copy_origin(const struct region_entry *e, struct region_origin *to)
{
	if (!is_alive(e))
		return false;
	*to = e->region->origin;
	atomic_thread_fence(memory_order_acquire);
	return is_alive(e);
}

static void add_piece(struct region_plan *plan, uint32_t from, uint32_t to, bool waits)
{
	const uint32_t i = plan->n_pieces++;
	plan->cut[2 * i] = from;
	plan->cut[2 * i + 1] = to;
	plan->outside[i] = waits ? WAIT_AT_END : 0;
}

/* Puts a frame outside the address before `index`. Returns false if that is in no piece. */
static bool split_piece(struct region_plan *plan, uint32_t index, uint64_t frame)
{
	uint32_t k = 0;
	while (k < plan->n_pieces && !(plan->cut[2 * k] <= index && index < plan->cut[2 * k + 1]))
		k++;
	if (k == plan->n_pieces || plan->n_pieces == REGION_MAX_PIECES)
		return false;
	const uint32_t n = plan->n_pieces++;
	memmove(&plan->cut[2 * k + 3], &plan->cut[2 * k + 1],
		(2 * n - (2 * k + 1)) * sizeof *plan->cut);
	memmove(&plan->outside[k + 1], &plan->outside[k], (n - k) * sizeof *plan->outside);
	plan->cut[2 * k + 1] = plan->cut[2 * k + 2] = index;
	plan->outside[k] = frame;
	return true;
}

/* Adds the frames of marks to the plan for the path that `walk` walked last. */
static bool add_marks(struct region_plan *plan, const struct stack_marks *marks,
		      const struct unwind_thread *walk, const struct unwind_path *walked)
{
	struct unwind_scan scan = {0};
	bool any = false;
	for (uint32_t i = 0; i < STACK_MARKS_MAX && stack_marks_any(marks); i++) {
		uint32_t index;
		uint64_t frame;
		if (stack_marks_find(marks, i, walk, walked, &scan, &index, &frame))
			any |= split_piece(plan, index, frame);
	}
	return any;
}

/* NULL: no Python, or no memory. */
static struct python_thread *python_of(struct region_paths *p)
{
	if (!p->python && python_is_there())
		p->python = make_python();
	return p->python;
}

/* Adds Python frames to the walked path, if the thread has any, and appends its pieces. */
static void append_other(struct region_paths *p, const struct unwind_path *walked,
			 const struct python_place *place, struct region_plan *plan)
{
	struct python_thread *python = place->state ? python_of(p) : NULL;
	const struct python_cuts cuts = {plan->cut, 2 * plan->n_pieces};
	struct python_path spliced = {.addr = walked->addr, .end = walked->end};
	p->other.broken |= place->state && !python && python_is_there(); /* no memory */
	if (python)
		python_splice(python, p->walker, walked, 0, true, &cuts, place, &spliced);
	p->other.broken |= spliced.broken;
	p->other.end = spliced.end;
	append_pieces(&p->other, spliced.addr, plan);
}

/*
 * Walks the stack of the thread that forked the region of *e, up to where it left a region that
 * another thread forked. Sets *e to the thread's entry there, or gives it no region at the root.
 * Returns false on failure.
 */
static bool walk_stack(struct region_paths *p, struct region_entry *e)
{
	struct region_origin origin;
	struct region_plan plan = {0};
	struct unwind_path walked;
	if (!copy_origin(e, &origin))
		return false;
	const struct python_place python = origin.python;
	const struct region_thread *const walker = origin.owner;
	unwind_walk_other(p->walker, &origin.stack, &origin.regs, &walked);
	p->other.heuristic |= walked.heuristic;
	p->other.is_main = origin.owner->is_main;
	struct own o = {.walk = p->walker, .thread = origin.owner, .n = walked.n};
	struct part part = {0};
	if (!find(&o, origin.fork.place, &o.at))
		return false;
	while (!part.is_forked_by_other) {
		*e = origin.parent;
		if (!e->region || !copy_origin(e, &origin) || plan.n_pieces == REGION_MAX_NESTED) {
			e->region = NULL;
			add_piece(&plan, o.at, walked.n, false);
			break;
		}
		if (!next_part(&o, e, &origin, &part))
			return false;
		add_piece(&plan, part.from, part.to, part.waits);
	}
	add_marks(&plan, &walker->marks, p->walker, &walked);
	append_other(p, &walked, &python, &plan);
	return true;
}

/* Walks the stacks of all threads from the fork of *e to the root. */
static bool walk_other(struct region_paths *p, const struct region_entry *e)
{
	enum { STACKS_MAX = 64 };
	struct region_entry at = *e;
	p->other.n = 0;
	p->other.heuristic = p->other.broken = false;
	for (unsigned i = 0; i < STACKS_MAX && at.region; i++)
		if (!walk_stack(p, &at))
			return false;
	return !at.region;
}

/* Puts the path of the fork of *e into p->other. */
static bool find_other(struct region_paths *p, const struct region_entry *e)
{
	if (!is_alive(e))
		return false;
	if (p->region != e->region || p->generation != e->generation) {
		p->region = NULL; /* in case a handler of the program jumps out */
		p->is_found = walk_other(p, e);
		atomic_thread_fence(memory_order_acquire);
		if (!is_alive(e))
			return false;
		p->region = e->region;
		p->generation = e->generation;
	}
	return p->is_found;
}

/* ---- the path of the thread ---- */

static bool plan_idle(struct own *o, struct region_plan *plan)
{
	*plan = (struct region_plan){.is_idle = true};
	add_piece(plan, 0, find_base(o), false);
	return true;
}

/* Returns false if the path cannot be joined, although the thread is in a region. */
static bool plan_pieces(struct region_thread *t, struct own *o, const struct region_entry *e,
			struct region_plan *plan)
{
	*plan = (struct region_plan){0};
	while (e && is_alive(e) && plan->n_pieces < REGION_MAX_NESTED) {
		struct part part;
		if (!next_part(o, e, &e->region->origin, &part))
			return false;
		add_piece(plan, part.from, part.to, part.waits);
		if (part.is_forked_by_other) {
			plan->has_other = true;
			return paths_of(t) && find_other(t->paths, e);
		}
		e = e->region->origin.parent.region ? &e->region->origin.parent : NULL;
	}
	add_piece(plan, o->at, o->n, false);
	return true;
}

static bool plan_regions(struct region_thread *t, const struct unwind_thread *unwind,
			 const struct unwind_path *walked, struct region_plan *plan)
{
	const uint32_t n = atomic_load_explicit(&t->n_entries, memory_order_relaxed);
	const struct region_entry *e = n ? &t->entry[n - 1] : NULL;
	const bool is_worker = region_is_worker(t);
	struct own o = {.walk = unwind, .thread = t, .n = walked->n};
	t->is_apart = false;
	if (!e && !is_worker)
		return false;
	if (e && is_alive(e) && plan_pieces(t, &o, e, plan))
		return true;
	/* The region may have ended while we looked at it. */
	if (is_worker && (!e || (atomic_load_explicit(&e->state, memory_order_relaxed) ==
					 REGION_AT_END &&
				 !is_alive(e)))) {
		o = (struct own){.walk = unwind, .thread = t, .n = walked->n};
		t->is_apart = !paths_of(t);
		return !t->is_apart && plan_idle(&o, plan);
	}
	t->is_apart = e && is_alive(e);
	return false;
}

bool region_path_plan(struct region_thread *t, const struct unwind_thread *unwind,
		      const struct unwind_path *walked, struct region_plan *plan)
{
	const bool is_planned = plan_regions(t, unwind, walked, plan);
	if (!stack_marks_any(&t->marks))
		return is_planned;
	if (!is_planned) {
		*plan = (struct region_plan){0};
		add_piece(plan, 0, walked->n, false);
	}
	return add_marks(plan, &t->marks, unwind, walked) || is_planned;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Has the same loop as plan_pieces(). */
uint64_t region_path_tag(const struct region_thread *t)
{
	const uint32_t n = atomic_load_explicit(&t->n_entries, memory_order_relaxed);
	const struct region_entry *e = n ? &t->entry[n - 1] : NULL;
	uint64_t hash = (uint64_t)n << 1 | region_is_worker(t);
	hash ^= stack_marks_tag(&t->marks, (uintptr_t)__builtin_frame_address(0));
	for (uint32_t i = 0; e && i < REGION_MAX_NESTED; i++) {
		const struct region *r = e->region;
		const uint64_t now = atomic_load_explicit(&r->generation, memory_order_acquire),
			       state = atomic_load_explicit(&e->state, memory_order_relaxed);
		const bool is_alive_now = now == e->generation;
		hash = mix(hash, state << 1 | is_alive_now);
		hash = mix(hash, e->place_at ? atomic_load_explicit(e->place_at,
								    memory_order_relaxed)
					     : e->place);
		/* The thread that forks a region always forks it: the owner does not change. */
		if (r->origin.owner != t)
			return mix(mix(mix(hash, (uintptr_t)r), e->generation), now);
		hash = mix(hash, r->origin.fork.place);
		e = is_alive_now && r->origin.parent.region ? &r->origin.parent : NULL;
	}
	return hash;
}

/* Copies the path to the end of p->last. Counts the outermost frames that have not changed. */
static void publish(struct region_paths *p, const struct chain *c, struct region_path *path)
{
	uint64_t *const end = p->last + max_depth;
	uint32_t same = 0;
	if (path->is_idle == p->is_idle && c->is_main == p->is_main && c->end == p->end)
		while (same < p->n_last && same < c->n &&
		       c->addr[c->n - 1 - same] == end[-1 - (int64_t)same])
			same++;
	memcpy(end - c->n, c->addr, (c->n - same) * sizeof *c->addr);
	p->n_last = c->end == UNWIND_DEEP ? 0 : c->n;
	p->end = c->end;
	p->is_idle = path->is_idle;
	p->is_main = path->is_main = c->is_main;
	path->addr = end - c->n;
	path->n = c->n;
	path->n_same = same;
	path->end = c->end;
	path->heuristic = c->heuristic;
	path->broken = c->broken;
}

void region_path_make(struct region_thread *t, const struct region_plan *plan,
		      struct region_path *path)
{
	struct region_paths *p = t->paths;
	path->is_joined = plan && (p || (p = paths_of(t)));
	path->is_idle = path->is_joined && plan->is_idle;
	path->is_main = t->is_main;
	path->is_lost = !path->is_joined && (plan || t->is_apart);
	if (!path->is_joined) {
		path->n_same = t->was_joined ? 0 : path->n_same;
		t->was_joined = false;
		return;
	}
	if (!t->was_joined)
		p->n_last = 0;
	struct chain c = {.addr = p->made,
			  .end = path->end,
			  .heuristic = path->heuristic,
			  .broken = path->broken,
			  .is_main = t->is_main};
	append_pieces(&c, path->addr, plan);
	if (plan->has_other) {
		c.end = p->other.end;
		c.is_main = p->other.is_main;
		c.heuristic |= p->other.heuristic;
		c.broken |= p->other.broken;
		for (uint32_t i = 0; i < p->other.n; i++)
			append(&c, p->other.addr[i]);
	}
	publish(p, &c, path);
	t->was_joined = true;
}
