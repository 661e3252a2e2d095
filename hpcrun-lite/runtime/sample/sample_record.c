/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample becomes a node and a value of the thread's tree, or a counted loss. Runs in the handler;
 * the rules of sample.c hold. Tests: tests/unit/run/test_sample.c, tests/cli/run/run_*.sh.
 */
#include "common/safe/one_writer.h"
#include "common/safe/patience.h"
#include "hpcrun-lite/runtime/code/jit_code.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample_internal.h"
#include "hpcrun-lite/runtime/waits/wait_sample.h"

void sample_carry(struct thread *t, uint32_t metric, uint64_t weight)
{
	if (weight)
		atomic_fetch_add_explicit(&t->sample.carried[metric], weight, memory_order_relaxed);
}

void sample_carry_if_busy(struct thread *t, const struct source_expiry *e, enum msr_loss cause)
{
	if (cause == MSR_LOSS_BUSY && !e->wait)
		sample_carry(t, e->metric, e->weight);
}

void sample_record(struct thread *t, uint32_t node, const struct source_expiry *e, uint64_t now_ns)
{
	struct msr_thread *r = t->record;
	enum msr_loss cause;
	if (e->wait && !e->is_again && !wait_sample_enter(t, e, &node, &cause)) {
		one_writer_add(&r->losses[cause], 1);
		atomic_store_explicit(&t->sample.wait_node, 0, memory_order_relaxed);
		return;
	}
	if (process.has_offcpu && e->metric == process.blame_metric)
		t->blame.node = node;
	if (e->wait && e->wait - 1 != MSR_WAIT_RUN_QUEUE)
		atomic_store_explicit(&t->sample.wait_node, node, memory_order_relaxed);
	/*
	 * An exchange, because the handler may interrupt this. Relaxed, because only this thread
	 * uses it.
	 */
	const uint64_t carried = atomic_exchange_explicit(&t->sample.carried[e->metric], 0,
							  memory_order_relaxed),
		       weight = e->weight + carried;
	if (!cct_add(t->cct, node, e->metric, 1, weight, &cause)) {
		one_writer_add(&r->losses[cause], 1);
		sample_carry(t, e->metric, cause == MSR_LOSS_BUSY && !e->wait ? weight : carried);
		return;
	}
	one_writer_add(&r->recorded, 1);
	if (process.is_cputime[e->metric])
		one_writer_add(&t->watch.cpu_given_ns, weight);
	else if (e->wait)
		one_writer_add(&t->sample.offcpu_given_ns, weight);
	if (e->n_merged)
		one_writer_add(&r->losses[MSR_LOSS_COALESCED], e->n_merged);
	wait_sample_trace(t, node, e, now_ns);
}

/* The ends of walks are written without conversion. */
_Static_assert((int)UNWIND_ROOT == (int)MSR_END_ROOT && (int)UNWIND_NO_CFI == (int)MSR_END_NO_CFI &&
		       (int)UNWIND_NO_MODULE == (int)MSR_END_NO_MODULE &&
		       (int)UNWIND_UNREADABLE == (int)MSR_END_UNREADABLE &&
		       (int)UNWIND_BAD_CFI == (int)MSR_END_BAD_CFI &&
		       (int)UNWIND_LOOP == (int)MSR_END_NO_PROGRESS &&
		       (int)UNWIND_DEEP == (int)MSR_END_TOO_DEEP &&
		       (int)UNWIND_THROWING == (int)MSR_END_THROWING &&
		       (int)UNWIND_N_ENDS == (int)MSR_END_GUESSED,
	       "enum unwind_end is enum msr_path_end");

/* `at_call`: waits for a limited time while another thread makes the file grow. */
static bool insert(struct thread *t, const struct cct_path *path, bool at_call, uint32_t *node,
		   enum msr_loss *cause)
{
	struct patience patience = {0};
	bool ok;
	while (!(ok = cct_insert(t->cct, path, node, cause) &&
		      nvtx_sums_enter(&t->nvtx, t->cct, node, cause)) &&
	       at_call && *cause == MSR_LOSS_BUSY && patience_wait(&patience))
		continue;
	return ok;
}

/*
 * A path that is too deep still has its place in the tree if only frames in the middle are missing.
 */
static bool has_root(const struct unwind_path *walked, const struct region_path *joined)
{
	return joined->end == UNWIND_DEEP && walked->n_root && joined->n &&
	       joined->addr[joined->n - 1] == walked->addr[walked->n - 1];
}

bool sample_insert(struct thread *t, struct unwind_path *walked, uint32_t n_inner, bool at_call,
		   uint32_t *node, enum msr_loss *cause)
{
	struct python_path spliced;
	struct region_plan plan;
	const bool is_planned = region_path_plan(&t->regions, t->unwind, walked, &plan);
	const struct python_cuts cuts = {plan.cut, is_planned ? 2 * plan.n_pieces : 0};
	thread_need_python(t);
	python_splice(t->python, t->unwind, walked, n_inner, at_call, is_planned ? &cuts : NULL,
		      NULL, &spliced);
	/* only the new part of the path */
	jit_look_at(spliced.addr,
		    spliced.n - (spliced.n_same < spliced.n ? spliced.n_same : spliced.n));
	struct region_path joined = {.addr = spliced.addr,
				     .n = spliced.n,
				     .n_same = spliced.n_same,
				     .end = spliced.end,
				     .heuristic = walked->heuristic,
				     .broken = spliced.broken};
	region_path_make(&t->regions, is_planned ? &plan : NULL, &joined);
	if (joined.broken)
		one_writer_add(&t->record->losses[MSR_LOSS_PYTHON], 1);
	if (joined.is_lost)
		one_writer_add(&t->record->losses[MSR_LOSS_OMP_PATHS], 1);
	walked->end = joined.end;
	walked->heuristic = joined.heuristic;
	const struct cct_path path = {.addr = joined.addr,
				      .n = joined.n,
				      .n_same = joined.n_same,
				      .end = has_root(walked, &joined)
						     ? MSR_END_ROOT
						     : (enum msr_path_end)joined.end,
				      .has_synthetic = joined.is_joined,
				      .entry = joined.is_idle   ? MSR_ENTRY_OMP_IDLE
					       : joined.is_main ? MSR_ENTRY_MAIN
								: MSR_ENTRY_THREAD};
	return insert(t, &path, at_call, node, cause);
}

/* A path is complete if it reaches the root without a guess. */
void sample_count_path(struct msr_thread *r, const struct unwind_path *walked)
{
	const bool is_guessed = walked->heuristic && walked->end == UNWIND_ROOT;
	const unsigned end = is_guessed ? (unsigned)MSR_END_GUESSED : (unsigned)walked->end;
	one_writer_add(&r->n_frames, walked->n);
	one_writer_add(&r->path_ends[end], 1);
	if (walked->heuristic)
		one_writer_add(&r->n_marked, 1);
}

/*
 * Records samples of the thread's last wait. Moves the others, which need the path of this place,
 * to the front, and returns their number.
 */
static unsigned record_again(struct thread *t, struct source_expiry *expiry, unsigned n,
			     uint64_t now_ns)
{
	unsigned n_here = 0;
	for (unsigned i = 0; i < n; i++) {
		const uint32_t node = wait_sample_last_node(t, &expiry[i]);
		if (!node) {
			expiry[n_here] = expiry[i];
			expiry[n_here++].is_again = false;
		} else if (wait_sample_is_mark(&expiry[i])) {
			wait_sample_trace(t, node, &expiry[i], now_ns);
		} else {
			sample_record(t, node, &expiry[i], now_ns);
		}
	}
	return n_here;
}

void sample_take(struct thread *t, struct source_expiry *expiry, unsigned n,
		 const ucontext_t *context, uint64_t now_ns)
{
	struct msr_thread *r = t->record;
	struct unwind_path walked;
	enum msr_loss cause;
	uint32_t node;
	unsigned n_samples = 0;
	for (unsigned i = 0; i < n; i++)
		n_samples += !wait_sample_is_mark(&expiry[i]);
	one_writer_add(&r->delivered, n_samples);
	thread_need_tree(t);
	n = record_again(t, expiry, n, now_ns);
	n_samples = 0;
	for (unsigned i = 0; i < n; i++)
		n_samples += !wait_sample_is_mark(&expiry[i]);
	if (n == 0 || (n_samples == 0 && !process.config.trace))
		return;
	unwind_walk(t->unwind, context, &walked);
	const bool is_inserted = sample_insert(t, &walked, 0, false, &node, &cause);
	sample_count_path(r, &walked);
	if (!is_inserted) {
		one_writer_add(&r->losses[cause], n_samples);
		for (unsigned i = 0; i < n; i++)
			sample_carry_if_busy(t, &expiry[i], cause);
		atomic_store_explicit(&t->sample.wait_node, 0, memory_order_relaxed);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (wait_sample_is_mark(&expiry[i]))
			wait_sample_trace(t, node, &expiry[i], now_ns);
		else
			sample_record(t, node, &expiry[i], now_ns);
}

void sample_count_busy(struct thread *t)
{
	one_writer_add(&t->record->delivered, 1);
	one_writer_add(&t->record->losses[MSR_LOSS_BUSY], 1);
}
