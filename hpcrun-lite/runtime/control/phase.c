/* SPDX-License-Identifier: BSD-3-Clause */
/* See phase.h. Must not wait or allocate. Test: tests/cli/parallel/phases.sh. */
#include "hpcrun-lite/runtime/control/phase.h"

#include "common/safe/clock.h"
#include "common/safe/forked.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/store/store.h"

static struct {
	struct msr_phase *now; /* in the file; NULL: none */
	uint32_t n;
	uint32_t thread;       /* the thread that began it */
	uint64_t mpi_ns;       /* that thread's time in MPI before the phase; UINT64_MAX: unknown */
} phases WRITTEN_BY_FORKED;

void phase_start(void)
{
	phases.now = NULL; /* in a forked child it would be in the parent's file */
	phases.n = 0;
}

struct phase_place phase_here(void)
{
	struct phase_place here = {.thread = UINT32_MAX};
	struct unwind_path walked;
	struct sample_place place;
	struct thread *t = thread_self;
	if (!t || sample_hold(t) != SAMPLE_HELD)
		return here;
	sample_find_here(t, &walked, &place);
	here.thread = t->record->number;
	here.node = place.has_node ? place.node : 0;
	sample_release(t, &place);
	return here;
}

/* The time of the calling thread in MPI, if it is that thread; else UINT64_MAX. */
static uint64_t mpi_ns_of(uint32_t thread)
{
	return thread_self && thread_self->record->number == thread ? thread_self->mpi.ns
								    : UINT64_MAX;
}

void phase_begin(struct phase_place place)
{
	enum msr_loss cause;
	struct msr_phase *p = NULL;
	phase_end();
	if (phases.n < PHASES_MOST)
		p = records_begin(MSR_PHASE, sizeof *p, &cause);
	if (!p) {
		store_count_loss(MSR_LOSS_PHASE);
		return;
	}
	p->enter_ns = clock_mono_ns();
	p->thread = place.thread;
	p->node = place.node;
	records_end(MSR_PHASE, sizeof *p);
	phases.now = p;
	phases.n++;
	phases.thread = place.thread;
	phases.mpi_ns = mpi_ns_of(place.thread);
}

void phase_end(void)
{
	struct msr_phase *p = phases.now;
	if (!p)
		return;
	const uint64_t before = phases.mpi_ns, now = mpi_ns_of(phases.thread);
	const bool is_known = before != UINT64_MAX && now != UINT64_MAX;
	atomic_store_explicit(&p->mpi_ns, is_known ? now - before : UINT64_MAX,
			      memory_order_relaxed);
	/* release: a reader that sees the end also sees the time in MPI */
	atomic_store_explicit(&p->leave_ns, clock_mono_ns(), memory_order_release);
	phases.now = NULL;
}
