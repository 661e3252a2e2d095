/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See nvtx_glue.h. When a range begins, the thread walks the stack outside of handlers, as for an
 * MPI call (mpi_glue.c). Tests: tests/cli/nvtx/nvtx_ranges.sh, tests/cli/nvtx/nvtx_limits.sh.
 */
#include "hpcrun-lite/runtime/nvtx/nvtx_glue.h"

#include "common/safe/clock.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_names.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_started.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_strings.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/call_path.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/sums/nvtx_sums.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>

#define COST_EVERY 128u /* reading the thread's CPU clock twice costs as much as a range */

/* Where the calling thread last began a range. */
static __thread struct {
	struct call_path path;
	uint32_t n_turns;
} now;

/* All frames of a path are the program's. */
static uint32_t no_inner(const struct unwind_path *walked, uint64_t tag)
{
	(void)walked;
	(void)tag;
	return 0;
}
static const struct call_kind kind_of_call = {no_inner, UINT64_C(0x4e565458) << 32};

static bool is_ending(void)
{
	return atomic_load_explicit(&process.ending, memory_order_relaxed);
}

static bool is_off(void)
{
	return atomic_load_explicit(&process.off, memory_order_relaxed);
}

static uint32_t events_most(void)
{
	return process.config.trace ? NVTX_TRACED_EVENTS_MOST : NVTX_EVENTS_MOST;
}

static void count(enum msr_loss loss)
{
	if (!is_ending())
		store_count_loss(loss);
}

/* Returns the id of the sum of a range that begins here; 0: it is not measured. */
static uint32_t begin(struct thread *t, uint32_t name, enum msr_nvtx_range_kind kind)
{
	enum msr_loss cause;
	if (is_off())
		return 0;
	if (sample_hold(t) != SAMPLE_HELD) {
		count(MSR_LOSS_NVTX);
		return 0;
	}
	const struct sample_cost cost = sample_begin_call_cost(t, &now.n_turns, COST_EVERY);
	call_path_find(t, &kind_of_call, &now.path);
	sample_end_call_cost(t, cost, COST_EVERY);
	sample_release(t, &now.path.place);
	const struct nvtx_key key = {.node = now.path.place.has_node ? now.path.place.node : 0,
				     .name = name,
				     .kind = kind};
	const uint32_t id = nvtx_sums_find(&t->nvtx, t->record->number, key, &cause);
	if (!id)
		count(MSR_LOSS_NVTX);
	else if (!now.path.place.has_node)
		count(MSR_LOSS_NVTX_DETAIL);
	nvtx_sums_begin(&t->nvtx, id);
	return id;
}

/* NULL: nothing may be recorded. */
static struct thread *measured_thread(void)
{
	struct thread *t = process_is_alive() && !is_ending() ? thread_self : NULL;
	return t && t->record ? t : NULL;
}

static void add(struct thread *t, uint32_t id, uint64_t enter_ns, uint64_t leave_ns,
		const double *value)
{
	enum msr_loss cause;
	const struct nvtx_event e = {enter_ns, leave_ns, value};
	if (!nvtx_sums_add(&t->nvtx, id, &e, events_most(), &cause))
		count(MSR_LOSS_NVTX_DETAIL);
}

/* ---- the calls of the program ---- */

/*
 * Returns false if a handler of the program has interrupted another call of this thread, whose
 * stack and sums may be half changed.
 */
static bool enter(struct thread *t)
{
	bool is_stale;
	const bool entered = sample_begin_call(t, &t->nvtx.call_sp, &is_stale);
	if (is_stale)
		t->nvtx.n_lost_pushes = 0;
	return entered;
}

static void leave(struct thread *t)
{
	sample_end_call(&t->nvtx.call_sp);
}

static void push(struct thread *t, const struct nvtx_begin *b)
{
	const bool is_deep = nvtx_sums_is_full(&t->nvtx);
	if (is_deep && !is_off())
		count(MSR_LOSS_NVTX);
	struct nvtx_pushed p = {.id = is_deep ? 0 : begin(t, b->name, MSR_NVTX_PUSHED),
				.domain = b->domain,
				.has_value = b->has_value,
				.value = b->value};
	p.enter_ns = clock_mono_ns();
	nvtx_sums_push(&t->nvtx, t->record->number, &p);
}

void nvtx_glue_push(const struct nvtx_begin *b)
{
	const int saved_errno = errno;
	struct thread *t = measured_thread();
	if (t && enter(t)) {
		push(t, b);
		leave(t);
	} else if (t) {
		t->nvtx.n_lost_pushes++; /* the handler also pops it */
		if (!is_off())
			count(MSR_LOSS_NVTX);
	}
	errno = saved_errno;
}

static void pop(struct thread *t, uint32_t domain)
{
	struct nvtx_pushed p;
	if (nvtx_sums_pop(&t->nvtx, domain, &p) && p.id)
		add(t, p.id, p.enter_ns, clock_mono_ns(), p.has_value ? &p.value : NULL);
}

void nvtx_glue_pop(uint32_t domain)
{
	struct thread *t = measured_thread();
	if (!t)
		return;
	const bool entered = enter(t);
	if (t->nvtx.n_lost_pushes)
		t->nvtx.n_lost_pushes--;
	else if (entered)
		pop(t, domain);
	else if (!is_off())
		count(MSR_LOSS_NVTX);
	if (entered)
		leave(t);
}

/* Returns the number of the range; 0: it is not measured. */
static uint64_t start(struct thread *t, const struct nvtx_begin *b)
{
	struct nvtx_started s = {.thread = t->record->number,
				 .name = b->name,
				 .has_value = b->has_value,
				 .value = b->value};
	const unsigned slot = nvtx_started_reserve();
	if (slot == NVTX_STARTED_MOST) {
		count(MSR_LOSS_NVTX);
		return 0;
	}
	if (enter(t)) {
		s.id = begin(t, b->name, MSR_NVTX_STARTED);
		leave(t);
	} else {
		count(MSR_LOSS_NVTX);
	}
	s.enter_ns = clock_mono_ns();
	if (s.id)
		return nvtx_started_add(slot, &s);
	nvtx_started_return(slot);
	return 0;
}

uint64_t nvtx_glue_range_start(const struct nvtx_begin *b)
{
	const int saved_errno = errno;
	struct thread *t = measured_thread();
	const uint64_t number = t && !is_off() ? start(t, b) : 0;
	errno = saved_errno;
	return number;
}

/*
 * A sum belongs to one thread. If another thread ends the range, the range counts in a sum of that
 * thread, without a path.
 */
void nvtx_glue_range_end(uint64_t number)
{
	struct nvtx_started s;
	enum msr_loss cause;
	struct thread *t = measured_thread();
	const int saved_errno = errno;
	if (!nvtx_started_take(number, &s) || !t)
		return;
	if (!enter(t)) {
		count(MSR_LOSS_NVTX);
		return;
	}
	if (s.thread != t->record->number)
		s.id = nvtx_sums_find(&t->nvtx, t->record->number,
				      (struct nvtx_key){0, s.name, MSR_NVTX_STARTED}, &cause);
	if (s.id)
		add(t, s.id, s.enter_ns, clock_mono_ns(), s.has_value ? &s.value : NULL);
	else
		count(MSR_LOSS_NVTX);
	leave(t);
	errno = saved_errno;
}

void nvtx_glue_mark(const struct nvtx_begin *b)
{
	const int saved_errno = errno;
	struct thread *t = measured_thread();
	if (t && enter(t)) {
		const uint32_t id = begin(t, b->name, MSR_NVTX_MARKED);
		const uint64_t when_ns = clock_mono_ns();
		if (id)
			add(t, id, when_ns, when_ns, b->has_value ? &b->value : NULL);
		leave(t);
	} else if (t && !is_off()) {
		count(MSR_LOSS_NVTX);
	}
	errno = saved_errno;
}

uint32_t nvtx_glue_thread_of(uint32_t tid)
{
	for (struct thread *t = thread_first(); t; t = t->next_made)
		if (atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE &&
		    (uint32_t)atomic_load_explicit(&t->tid, memory_order_relaxed) == tid &&
		    t->record)
			return t->record->number;
	return UINT32_MAX;
}

/* ---- the process ---- */

bool nvtx_glue_start(void)
{
	const int saved_errno = errno;
	runtime_start();
	process_check_fork();
	const bool ok = process_is_alive() && process.config.nvtx && nvtx_names_start();
	errno = saved_errno;
	return ok;
}

/*
 * Called when the thread ends, or ends the process. Open ranges of other threads get no records,
 * because their stacks may change meanwhile.
 */
static void close_open_ranges(struct nvtx_thread *t)
{
	nvtx_sums_close(t, clock_mono_ns(), events_most());
}

void nvtx_glue_forked(void)
{
	if (!process.config.nvtx)
		return;
	nvtx_names_forked();
	nvtx_strings_forked();
	nvtx_started_forked();
}

void nvtx_glue_thread_reset(struct thread *t)
{
	nvtx_sums_free(&t->nvtx, false);
}

void nvtx_glue_thread_ends(struct thread *t)
{
	close_open_ranges(&t->nvtx);
	nvtx_sums_free(&t->nvtx, true);
}

void nvtx_glue_trim(struct thread *self, enum msr_exit_kind kind)
{
	if (kind != MSR_EXIT_EXEC) /* if the exec fails, ranges continue */
		close_open_ranges(&self->nvtx);
	nvtx_sums_trim(&self->nvtx);
}
