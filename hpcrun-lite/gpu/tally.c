/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledgers of the GPU core, and the state of the core. A ledger has several parts, so that
 * threads rarely count in the same one. Never allocates. Test: tests/unit/gpu/test_gpu_core.c.
 */
#include "common/safe/clock.h"
#include "common/safe/quiet.h"
#include "common/safe/text.h"
#include "hpcrun-lite/gpu/core_internal.h"
#include "hpcrun-lite/gpu/lock.h"

struct gpu_core gpu_core;

static struct msr_gpu_tally *tally_in_file(const struct gpu_backend *b)
{
	const struct store_request request = {
		.kind = MSR_GPU_TALLY,
		.record_bytes = sizeof(struct msr_gpu_tally),
		.thread = UINT32_MAX,
		.sequence = gpu_number_of(b),
		.n_bytes = sizeof(struct msr_extent) + sizeof(struct msr_gpu_tally),
	};
	enum msr_gpu_loss cause;
	struct msr_extent *e = extent_take(&request, &cause);
	return e ? (struct msr_gpu_tally *)(e + 1) : NULL;
}

static struct msr_gpu_tally *make_tally(struct gpu_backend *b, unsigned part)
{
	struct msr_gpu_tally *t = atomic_load_explicit(&b->tally[part], memory_order_acquire),
			     *first =
				     part ? atomic_load_explicit(&b->tally[0], memory_order_acquire)
					  : &b->spare;
	if (t)
		return t;
	t = tally_in_file(b);
	bool in_file = t != NULL;
	t = in_file ? t : first;
	if (part && !in_file) {
		atomic_store_explicit(&b->tally[part], t, memory_order_release);
		return t;
	}
	struct text name = text_in(t->backend, sizeof t->backend),
		    entrance = text_in(t->entrance, sizeof t->entrance);
	text_put(&name, b->name);
	text_put(&entrance, b->entrance);
	if (!part && atomic_load_explicit(&gpu_core.aggregating, memory_order_relaxed))
		atomic_store_explicit(&t->aggregate_from_ns, clock_mono_ns(), memory_order_relaxed);
	if (in_file)
		extent_publish((struct msr_extent *)t - 1, sizeof *t);
	atomic_store_explicit(&b->tally[part], t, memory_order_release);
	return t;
}

/*
 * Returns NULL if the lock could not be taken. Signals are blocked, because a longjmp out of a
 * handler would leave the lock taken.
 */
static struct msr_gpu_tally *make_locked(struct gpu_backend *b, unsigned part)
{
	struct msr_gpu_tally *t = NULL;
	const uint64_t mask = quiet_begin();
	if (gpu_lock_take(&gpu_core.tally_lock)) {
		t = make_tally(b, part);
		gpu_lock_give(&gpu_core.tally_lock);
	}
	quiet_end(mask);
	return t;
}

struct msr_gpu_tally *gpu_tally_of(struct gpu_backend *b)
{
	struct msr_gpu_tally *t = atomic_load_explicit(&b->tally[0], memory_order_acquire);
	if (t)
		return t;
	/*
	 * NULL, for example, if a signal handler of the program interrupted the thread that makes
	 * it.
	 */
	t = make_locked(b, 0);
	return t ? t : &b->spare;
}

struct msr_gpu_tally *gpu_tally_of_thread(struct gpu_backend *b, uint32_t thread)
{
	unsigned part = thread == UINT32_MAX ? 0 : thread % GPU_N_TALLIES;
	struct msr_gpu_tally *t = atomic_load_explicit(&b->tally[part], memory_order_acquire),
			     *first = t ? t : gpu_tally_of(b);
	if (t || first == &b->spare)
		return first;
	t = make_locked(b, part);
	return t ? t : first;
}

const struct msr_gpu_tally *gpu_tally(unsigned number, unsigned part)
{
	struct gpu_backend *b = &gpu_core.backend[number];
	const struct msr_gpu_tally *t = atomic_load_explicit(&b->tally[part], memory_order_acquire);
	return part && t == atomic_load_explicit(&b->tally[0], memory_order_acquire) ? NULL : t;
}

void gpu_note_once(uint32_t bit, const char *text)
{
	if (!(atomic_fetch_or_explicit(&gpu_core.noted, bit, memory_order_relaxed) & bit))
		gpu_core.runtime->note(text);
}

void gpu_count_record_bytes(struct gpu_backend *b, uint64_t n_bytes)
{
	gpu_count(&gpu_tally_of(b)->record_bytes, n_bytes);
	uint64_t all =
		atomic_fetch_add_explicit(&gpu_core.record_bytes, n_bytes, memory_order_relaxed) +
		n_bytes;
	if (all < gpu_core.runtime->max_record_bytes ||
	    atomic_exchange_explicit(&gpu_core.aggregating, true, memory_order_acq_rel))
		return;
	for (struct gpu_backend *each = gpu_core.backend;
	     each < gpu_core.backend + GPU_MAX_BACKENDS; each++) {
		struct msr_gpu_tally *t =
			atomic_load_explicit(&each->tally[0], memory_order_acquire);
		if (t)
			atomic_store_explicit(&t->aggregate_from_ns, clock_mono_ns(),
					      memory_order_relaxed);
	}
	gpu_note_once(NOTED_AGGREGATING, "the limit on records of GPU operations was reached; "
					 "later operations are summed up");
}
