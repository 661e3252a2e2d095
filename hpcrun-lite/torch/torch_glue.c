/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See torch_glue.h. When a node is made, we walk the stack as for a call of MPI (mpi_glue.c). When
 * it is evaluated, we look it up and mark its frame. Test: tests/cli/torch/torch_backward.sh.
 */
#include "hpcrun-lite/torch/torch_glue.h"

#include "common/safe/find_object.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/call_path.h"
#include "hpcrun-lite/torch/torch_nodes.h"


#define COST_EVERY 128u /* reading the thread's CPU clock twice costs as much as a node */

static _Atomic uint32_t module; /* number of our module for PyTorch; 0: not looked up */

static uint32_t module_with(const void *text)
{
	struct dl_find_object object;
	uintptr_t bias;
	uint32_t found = atomic_load_explicit(&module, memory_order_relaxed);
	if (found || find_object((void *)(uintptr_t)text, &object) != 0)
		return found;
	found = module_of(&object, &bias);
	atomic_store_explicit(&module, found, memory_order_relaxed);
	return found;
}

static uint32_t inner_frames(const struct unwind_path *w, uint64_t number)
{
	uint32_t n = 0;
	while (n < w->n && number && msr_addr_module(w->addr[n]) == number)
		n++;
	return n;
}

static void made(const struct torch_node *node, const void *text)
{
	static __thread uint32_t n_turns;
	struct thread *t = thread_self;
	struct call_path path;
	if (!t || atomic_load_explicit(&process.off, memory_order_relaxed) || !process_is_alive() ||
	    sample_hold(t) != SAMPLE_HELD)
		return;
	const struct sample_cost cost = sample_begin_call_cost(t, &n_turns, COST_EVERY);
	call_path_find(t, &(struct call_kind){inner_frames, module_with(text)}, &path);
	sample_end_call_cost(t, cost, COST_EVERY);
	if (path.place.has_node && t->record->number <= MSR_FORWARD_THREAD_MAX)
		torch_nodes_put(node, msr_forward_make(t->record->number, path.place.node));
	sample_release(t, &path.place);
}

static void code(const void *start, size_t n_bytes)
{
	struct dl_find_object object;
	uintptr_t bias;
	if (!process_is_alive() || find_object((void *)(uintptr_t)start, &object) != 0)
		return;
	const uint16_t number = module_of(&object, &bias);
	const uint64_t lo = msr_addr_make(number, (uintptr_t)start - bias, false);
	stack_marks_set_code(lo, lo + n_bytes);
}

static void evaluate(const struct torch_node *node, uintptr_t place)
{
	struct thread *t = thread_self;
	if (!t || !process_is_alive())
		return;
	const bool has_number = node->number != TORCH_NO_NUMBER;
	const uint64_t frame = has_number ? torch_nodes_find(node) : 0;
	const bool is_marked = stack_marks_enter(&t->regions.marks, place, frame);
	if (((has_number && !frame) || !is_marked) &&
	    !atomic_load_explicit(&process.off, memory_order_relaxed))
		atomic_fetch_add_explicit(&t->record->losses[MSR_LOSS_FORWARD], 1,
					  memory_order_relaxed);
}

const struct torch_host *torch_glue_host(void)
{
	static const struct torch_host host = {
		.version = TORCH_HOST_VERSION, .made = made, .code = code, .evaluate = evaluate};
	return process_is_alive() && process.config.torch ? &host : NULL;
}

/* The nodes are at paths in the parent's file. */
void torch_glue_forked(void)
{
	if (!process.config.torch)
		return;
	torch_nodes_forget();
	if (thread_self)
		atomic_store_explicit(&thread_self->regions.marks.n, 0, memory_order_relaxed);
}
