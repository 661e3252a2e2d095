/* SPDX-License-Identifier: BSD-3-Clause */
/* See phase.h. Must not wait or allocate. Test: tests/cli/parallel/phases.sh. */
#include "hpcrun-lite/runtime/phases/phase.h"

#include "common/safe/clock.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/runtime/sample.h"

static struct {
	struct msr_phase *now; /* in the file; NULL: none */
	uint32_t n;
} phases;

void phase_start_process(void)
{
	phases.now = NULL; /* a child's would be in the file of its parent */
	phases.n = 0;
}

struct phase_place phase_here(void)
{
	struct phase_place here = {.thread = UINT32_MAX};
	struct unwind_path walked;
	struct sample_place place = {.walked = &walked};
	struct thread *t = thread_self;
	if (!t || sample_hold(t) != SAMPLE_HELD)
		return here;
	sample_walk_here(t, &walked);
	place.has_node = sample_insert(t, &walked, 0, true, &place.node, &place.cause);
	here.thread = t->record->number;
	here.node = place.has_node ? place.node : 0;
	sample_release(t, &place);
	return here;
}

void phase_begin(struct phase_place place)
{
	enum msr_loss cause;
	phase_end();
	if (phases.n == PHASES_MOST)
		return;
	struct msr_phase *p = records_begin(MSR_PHASE, sizeof *p, &cause);
	if (!p)
		return;
	p->enter_ns = clock_mono_ns();
	p->thread = place.thread;
	p->node = place.node;
	records_end(MSR_PHASE, sizeof *p);
	phases.now = p;
	phases.n++;
}

void phase_end(void)
{
	if (phases.now)
		atomic_store_explicit(&phases.now->leave_ns, clock_mono_ns(), memory_order_relaxed);
	phases.now = NULL;
}
