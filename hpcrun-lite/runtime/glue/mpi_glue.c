/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See mpi_glue.h. Before an MPI call, the thread walks the stack outside of handlers, as for a GPU
 * launch (gpu_glue.c). Samples arrive during the call as always. Tests: tests/cli/mpi/mpi_truth.sh,
 * tests/bench/bench_mpi.sh.
 */
#include "hpcrun-lite/runtime/glue/mpi_glue.h"

#include "common/safe/clock.h"
#include "common/safe/find_object.h"
#include "common/safe/one_writer.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/call_path.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <link.h>

#define COST_EVERY 128u /* reading the thread's CPU clock twice costs as much as a call */

static struct {
	_Atomic uint32_t generation;
	_Atomic uint32_t module;      /* number of the module; 0: not looked up yet */
	_Atomic uint32_t n_comms;
} glue = {.generation = 1};

#define OPEN_MOST 8u /* nested calls of one thread, made by handlers of the program */

/* The calls that the thread is in. A jump may leave a call that then never ends. */
static __thread struct {
	struct thread *thread;
	struct call_path path;
	uint32_t n_turns, n_open;
	uint32_t node[OPEN_MOST]; /* nodes of the last calls */
} now;

static uint32_t module_with(const void *text)
{
	struct dl_find_object object;
	uintptr_t bias;
	uint32_t module = atomic_load_explicit(&glue.module, memory_order_relaxed);
	if (module || find_object((void *)(uintptr_t)text, &object) != 0)
		return module;
	module = module_of(&object, &bias);
	atomic_store_explicit(&glue.module, module, memory_order_relaxed);
	return module;
}

/* Number of innermost frames of the module, without the outermost one. */
static uint32_t inner_frames(const struct unwind_path *w, uint64_t module)
{
	uint32_t n = 0;
	while (n < w->n && module && msr_addr_module(w->addr[n]) == module)
		n++;
	return n ? n - 1 : 0;
}

static void count_lost(void)
{
	store_count_loss(MSR_LOSS_MPI);
}

static uint64_t begin(const void *text, const struct mpi_event *e)
{
	struct thread *t = thread_self;
	if (atomic_load_explicit(&process.off, memory_order_relaxed) || !process_is_alive())
		return 0;
	if (!t || sample_hold(t) != SAMPLE_HELD) {
		if (!atomic_load_explicit(&process.ending, memory_order_relaxed))
			count_lost();
		return 0;
	}
	const struct sample_cost cost = sample_begin_call_cost(t, &now.n_turns, COST_EVERY);
	now.thread = t;
	call_path_find(t, &(struct call_kind){inner_frames, module_with(text)}, &now.path);
	sample_end_call_cost(t, cost, COST_EVERY);
	const uint32_t node = now.path.place.has_node ? now.path.place.node : 0;
	now.node[now.n_open++ % OPEN_MOST] = node;
	sample_release(t, &now.path.place);
	bool is_stale;
	if (e->is_poll || !sample_begin_call(t, &t->mpi.call_sp, &is_stale))
		return clock_mono_ns();
	mpi_sums_start(&t->mpi, t->record->number);
	const uint64_t enter_ns = clock_mono_ns();
	mpi_sums_enter(&t->mpi, node, e, enter_ns);
	sample_end_call(&t->mpi.call_sp);
	return enter_ns;
}

/*
 * Only calls write the sums, so samples may interrupt. Holding samples back once more would add a
 * fifth to the cost of a call.
 */
static _Atomic uint64_t *end(const struct mpi_event *e)
{
	struct thread *t = now.thread;
	enum msr_loss cause;
	const uint32_t node = now.node[--now.n_open % OPEN_MOST];
	if (t != thread_self || !process_is_alive() ||
	    atomic_load_explicit(&process.ending, memory_order_relaxed))
		return NULL;
	_Atomic uint64_t *sum = NULL;
	bool is_stale;
	if (sample_begin_call(t, &t->mpi.call_sp, &is_stale)) {
		mpi_sums_leave(&t->mpi);
		if (mpi_sums_add(&t->mpi, t->record->number, node, e, &cause))
			sum = mpi_sums_last(&t->mpi);
		sample_end_call(&t->mpi.call_sp);
	}
	if (!sum)
		count_lost();
	return sum;
}

static bool again(_Atomic uint64_t *n_calls)
{
	if (atomic_load_explicit(&process.off, memory_order_relaxed) || !process_is_alive() ||
	    atomic_load_explicit(&process.ending, memory_order_relaxed))
		return false;
	one_writer_add(n_calls, 1);
	return true;
}

static uint32_t comm(const struct msr_mpi_comm *c)
{
	enum msr_loss cause;
	struct thread *t = thread_self;
	struct msr_mpi_comm with_id = *c;
	if (!process_is_alive() || !t ||
	    atomic_load_explicit(&process.ending, memory_order_relaxed))
		return 0;
	with_id.id = 1 + atomic_fetch_add_explicit(&glue.n_comms, 1, memory_order_relaxed);
	bool is_stale, ok = false;
	if (sample_begin_call(t, &t->mpi.call_sp, &is_stale)) {
		ok = mpi_sums_comm(&t->mpi, t->record->number, &with_id, &cause);
		sample_end_call(&t->mpi.call_sp);
	}
	if (!ok)
		count_lost();
	return ok ? with_id.id : 0;
}

static uint32_t generation(void)
{
	return process_is_alive() && process.config.mpi
		       ? atomic_load_explicit(&glue.generation, memory_order_relaxed)
		       : 0;
}

static const struct mpi_host host = {.version = MPI_HOST_VERSION,
				     .generation = generation,
				     .begin = begin,
				     .end = end,
				     .again = again,
				     .comm = comm};

const struct mpi_host *mpi_glue_host(void)
{
	return process_is_alive() && process.config.mpi ? &host : NULL;
}

/* ---- a row of runtime/life/parts.h ---- */

void mpi_glue_forked(void)
{
	if (!process.config.mpi)
		return;
	atomic_store_explicit(&glue.n_comms, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&glue.generation, 1, memory_order_relaxed);
}

void mpi_glue_thread_reset(struct thread *t)
{
	mpi_sums_free(&t->mpi, false);
}

void mpi_glue_thread_ends(struct thread *t)
{
	mpi_sums_free(&t->mpi, true);
}

void mpi_glue_trim(struct thread *self, enum msr_exit_kind kind)
{
	(void)kind;
	mpi_sums_trim(&self->mpi);
}
