/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to sample.c, the handler; sample_record.c, which records; and sample_hold.c, which holds
 * back. All functions are for the calling thread, and signal-safe. Test:
 * tests/unit/run/test_sample.c.
 */
#ifndef HPCRUN_LITE_RUNTIME_SAMPLE_INTERNAL_H
#define HPCRUN_LITE_RUNTIME_SAMPLE_INTERNAL_H

#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/thread.h"

#include <ucontext.h>

/* ---- sample_record.c ---- */

/* Records samples of n metrics at one place. */
void sample_take(struct thread *t, struct source_expiry *expiry, unsigned n,
		 const ucontext_t *context, uint64_t now_ns);
/* Records a sample whose node is known. */
void sample_record(struct thread *t, uint32_t node, const struct source_expiry *e, uint64_t now_ns);
void sample_count_path(struct msr_thread *r, const struct unwind_path *walked);
void sample_count_busy(struct thread *t);
/* Adds the weight of a sample that was lost as busy to the next sample of its metric. */
void sample_carry(struct thread *t, uint32_t metric, uint64_t weight);
/* The path of a sample could not be stored. Its loss has been counted. */
void sample_carry_if_busy(struct thread *t, const struct source_expiry *e, enum msr_loss cause);

/* ---- sample_hold.c ---- */

/*
 * Called in the handler. Keeps only the first sample of a metric or of a wait; adds the weights of
 * later ones to it. Does not change held samples while they are being recorded.
 */
void sample_hold_back(struct thread *t, const struct source_expiry *e);
/* Called in the handler: ends a hold that the interrupted code has jumped out of. */
void sample_break_stale_hold(struct thread *t, const ucontext_t *context);

#endif
