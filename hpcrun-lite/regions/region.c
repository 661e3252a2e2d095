/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors of parallel regions, and the regions that a thread is in; see region.h. A sample may
 * interrupt every function here, so the word with the number of entries is written last. Must not
 * allocate except by mmap. Test: tests/unit/openmp/test_region.c.
 */
#include "hpcrun-lite/regions/region.h"

#include "common/format/measurement.h"
#include "common/safe/one_writer.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/regions/region_sums.h"

#include <sys/mman.h>

static _Atomic uint32_t n_closes;

/* Relaxed: dlclose and the code after it provide the order. */
void region_modules_changed(void)
{
	atomic_fetch_add_explicit(&n_closes, 1, memory_order_relaxed);
}

uint32_t region_n_closes(void)
{
	return atomic_load_explicit(&n_closes, memory_order_relaxed);
}

void region_reset(struct region_thread *t, const struct unwind_stack *stack, uintptr_t base,
		  bool is_main)
{
	atomic_store_explicit(&t->n_entries, 0, memory_order_relaxed);
	atomic_store_explicit(&t->n_forks, 0, memory_order_relaxed);
	atomic_store_explicit(&t->is_worker, false, memory_order_relaxed);
	atomic_store_explicit(&t->marks.n, 0, memory_order_relaxed);
	t->is_main = is_main;
	t->base = base;
	t->stack = stack;
	t->n_lost = 0;
}

/* Each count is one word: only the thread itself writes it, and only its handler reads it. */
static void set(_Atomic uint32_t *n, uint32_t value)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(n, value, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

static uint32_t get(const _Atomic uint32_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static struct region *make_level(void)
{
	if (!room_take(sizeof(struct region)))
		return NULL;
	const long at = sys_mmap(NULL, sizeof(struct region), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at)) {
		room_give(sizeof(struct region));
		return NULL;
	}
	return (struct region *)at;
}

/* Makes the generation even. Release: this comes after everything that readers may have seen. */
static void end(struct region *r)
{
	const uint64_t generation = atomic_load_explicit(&r->generation, memory_order_relaxed);
	if (generation & 1)
		atomic_store_explicit(&r->generation, generation + 1, memory_order_release);
}

/*
 * True if a frame that contains `inner` has ended, because `place`, which is in use, is at least as
 * far out. Only for places on the thread's own stack: stacks of coroutines have no order.
 */
static bool is_left(const struct region_thread *t, uintptr_t inner, uintptr_t place)
{
	return inner && inner <= place && inner >= t->stack->lo && place < t->stack->hi;
}

static uintptr_t place_of(const struct region_entry *e)
{
	return e->place_at ? atomic_load_explicit(e->place_at, memory_order_relaxed) : e->place;
}

/* A longjmp or an exception may have left regions without telling us. */
static void drop_left(struct region_thread *t, uintptr_t place)
{
	uint32_t n = get(&t->n_entries);
	while (n && is_left(t, place_of(&t->entry[n - 1]), place))
		n--;
	set(&t->n_entries, n);
}

static void drop_left_levels(struct region_thread *t, uintptr_t place)
{
	uint32_t n = get(&t->n_forks);
	while (n && is_left(t, t->level[n - 1]->origin.fork.place, place))
		end(t->level[--n]);
	set(&t->n_forks, n);
}

/* ---- the thread that forks ---- */

static struct region_entry innermost(const struct region_thread *t)
{
	const uint32_t n = get(&t->n_entries);
	struct region_entry e = {0};
	if (n) {
		e = t->entry[n - 1];
		e.place = place_of(&e);
		e.place_at = NULL; /* it may be gone when another thread reads it */
	}
	return e;
}

struct region *region_fork(struct region_thread *t, const struct region_fork *fork,
			   const struct unwind_regs *regs, bool is_counted)
{
	drop_left(t, fork->place);
	drop_left_levels(t, fork->place);
	const uint32_t n = get(&t->n_forks);
	if (n == REGION_MAX_NESTED || (!t->level[n] && !(t->level[n] = make_level()))) {
		one_writer_add(&t->n_lost, 1);
		return NULL;
	}
	struct region *r = t->level[n];
	end(r); /* the block's previous thread may have left it alive */
	/* Readers that see a new word must see that the generation has changed. */
	atomic_thread_fence(memory_order_release);
	r->origin.fork = *fork;
	r->origin.regs = *regs;
	r->origin.stack = *t->stack;
	r->origin.parent = innermost(t);
	r->origin.owner = t;
	python_here(&r->origin.python);
	r->is_counted = is_counted;
	atomic_store_explicit(&r->n_threads, 0, memory_order_relaxed);
	atomic_store_explicit(&r->schedule, fork->schedule, memory_order_relaxed);
	r->start_ns = clock_mono_ns();
	atomic_store_explicit(&r->generation,
			      atomic_load_explicit(&r->generation, memory_order_relaxed) + 1,
			      memory_order_release);
	set(&t->n_forks, n + 1);
	return r;
}

void region_join(struct region_thread *t, struct region *r)
{
	const uint64_t elapsed_ns = clock_mono_ns() - r->start_ns;
	uint32_t n = get(&t->n_entries);
	while (n && t->entry[n - 1].region == r)
		n--;
	set(&t->n_entries, n);
	if (r->is_counted)
		region_sums_add(t, r, elapsed_ns);
	end(r);
	for (n = get(&t->n_forks); n && t->level[n - 1] != r; n--)
		end(t->level[n - 1]);
	set(&t->n_forks, n ? n - 1 : 0);
}

/* ---- threads of the team ---- */

static uint32_t push(struct region_thread *t, const struct region_entry *entry)
{
	const uint32_t n = get(&t->n_entries);
	if (n == REGION_MAX_NESTED)
		return UINT32_MAX;
	t->entry[n] = *entry;
	set(&t->n_entries, n + 1);
	return n;
}

void region_enter(struct region_thread *t, struct region *r, uintptr_t place,
		  const _Atomic uintptr_t *place_at, uint32_t number, uint32_t n_threads,
		  struct region_visit *visit)
{
	*visit = (struct region_visit){
		.region = r,
		.generation = atomic_load_explicit(&r->generation, memory_order_relaxed),
		.entry = UINT32_MAX,
		.number = number};
	if (number == 0)
		atomic_store_explicit(&r->n_threads, n_threads, memory_order_relaxed);
	if (t) {
		const struct region_entry entry = {.region = r,
						   .generation = visit->generation,
						   .place = place,
						   .place_at = place_at,
						   .state = REGION_IN_FUNCTION};
		if (r->origin.owner != t)
			atomic_store_explicit(&t->is_worker, true, memory_order_relaxed);
		drop_left(t, place);
		visit->entry = push(t, &entry);
	}
	visit->start_ns = clock_mono_ns();
}

static bool has_entry(const struct region_thread *t, const struct region_visit *visit)
{
	return t && visit->entry < get(&t->n_entries) &&
	       t->entry[visit->entry].region == visit->region;
}

void region_leave(struct region_thread *t, const struct region_visit *visit)
{
	const uint64_t ns = clock_mono_ns() - visit->start_ns;
	if (visit->number < REGION_MAX_TIMED) {
		/* Relaxed: the barrier at the end of the region orders it before the join. */
		struct region_slot *slot = &visit->region->slot[visit->number];
		atomic_store_explicit(&slot->ns, ns, memory_order_relaxed);
		atomic_store_explicit(&slot->generation, visit->generation, memory_order_relaxed);
	}
	if (has_entry(t, visit)) {
		set(&t->n_entries, visit->entry + 1); /* drops entries that a longjmp left behind */
		set(&t->entry[visit->entry].state, REGION_AT_END);
	}
}

void region_exit(struct region_thread *t, const struct region_visit *visit)
{
	if (has_entry(t, visit))
		set(&t->n_entries, visit->entry);
}

/* Threads of the team that arrive at the same time write the same, or one loses its note. */
void region_note_loop(struct region_thread *t, uint32_t schedule)
{
	const uint32_t n = get(&t->n_entries);
	if (n == 0 || get(&t->entry[n - 1].state) != REGION_IN_FUNCTION)
		return;
	struct region *r = t->entry[n - 1].region;
	const uint32_t old = get(&r->schedule), now = msr_omp_schedule_of_both(old, schedule);
	if (now != old)
		set(&r->schedule, now);
}
