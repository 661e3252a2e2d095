/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See gpu_idle_sweep.h. The sweep takes operations of a queue in the order of their starts.
 * Launches are taken in the same order, because no operation is launched after it starts. Test:
 * tests/unit/prof_gpu/test_gpu_idle.c.
 */
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.h"

/* If the time of the call is unknown, takes the start of the operation. */
static uint64_t enter_of(const struct model_gpu_item *i)
{
	return i->enter_ns && i->enter_ns < i->start_ns ? i->enter_ns : i->start_ns;
}

/* Moves the last of the running operations up to its place in the heap. */
static void rise(struct idle_queue *q)
{
	size_t at = q->running.n - 1;
	struct idle_running *all = q->running.at, moved = all[at];
	for (; at && moved.end_ns < all[(at - 1) / 2].end_ns; at = (at - 1) / 2)
		all[at] = all[(at - 1) / 2];
	all[at] = moved;
}

/* Takes the operation that ends first out of the heap. */
static struct idle_running take_first(struct idle_queue *q)
{
	struct idle_running *all = q->running.at, first = all[0], moved = all[--q->running.n];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < q->running.n; at = child) {
		if (child + 1 < q->running.n && all[child + 1].end_ns < all[child].end_ns)
			child++;
		if (moved.end_ns <= all[child].end_ns)
			break;
		all[at] = all[child];
	}
	all[at] = moved;
	return first;
}

uint64_t idle_queue_next(const struct idle_queue *q)
{
	uint64_t next = q->running.n ? q->running.at[0].end_ns : IDLE_NEVER;
	if (q->n_started < q->line->n && q->line->items[q->n_started].start_ns < next)
		next = q->line->items[q->n_started].start_ns;
	if (q->n_entered < q->line->n && enter_of(&q->line->items[q->n_entered]) < next)
		next = enter_of(&q->line->items[q->n_entered]);
	return next;
}

static bool is_kernel(const struct idle_sweep *s, const struct idle_queue *q, uint32_t cell)
{
	uint32_t context = q->line->cells[cell].context, function;
	if (context == MODEL_NONE)
		return true;
	function = s->m->contexts[context].function;
	return function >= s->m->n_functions ||
	       s->m->functions[function].gpu_kind == MSR_GPU_KERNEL ||
	       s->m->functions[function].gpu_kind == MSR_GPU_NO_KIND;
}

static void enter(struct idle_sweep *s, struct idle_queue *q, uint64_t ns)
{
	const struct model_gpu_item *item = &q->line->items[q->n_entered++];
	struct idle_thread *t = idle_sweep_thread(s, q->line->cells[item->cell].launcher);
	if (t)
		t->launched_on |= idle_bit(q->device);
	idle_device_launch(s, &s->devices.at[q->device], ns, item->start_ns - enter_of(item));
}

static void start(struct idle_sweep *s, struct idle_queue *q, uint64_t ns)
{
	const struct model_gpu_item *item = &q->line->items[q->n_started++];
	struct idle_device *d = &s->devices.at[q->device];
	struct idle_running *r = vec_push(&q->running);
	if (!r) {
		s->account.failed = true;
		return;
	}
	idle_device_begin(s, d, ns, is_kernel(s, q, item->cell));
	*r = (struct idle_running){item->end_ns, item->cell, d->share_of_op};
	rise(q);
}

/*
 * The profile in which an operation counts. If its thread is unknown, that is the first thread of
 * the process. There is at least one thread, because only threads wait.
 */
static uint32_t profile_of(const struct idle_sweep *s, const struct idle_queue *q,
			   const struct model_gpu_cell *cell)
{
	if (cell->launcher != MODEL_NONE)
		return cell->launcher;
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->m->profiles[s->threads.at[i].profile].process == q->process)
			return s->threads.at[i].profile;
	return s->threads.at[0].profile;
}

static void end(struct idle_sweep *s, struct idle_queue *q, uint64_t ns)
{
	struct idle_device *d = &s->devices.at[q->device];
	const struct idle_running r = take_first(q);
	const struct model_gpu_cell *cell = &q->line->cells[r.cell];
	idle_device_end(s, d, ns, is_kernel(s, q, r.cell));
	if (d->share_of_op != r.share)
		idle_account_add(&s->account, CPU_IDLE_CAUSE, profile_of(s, q, cell), cell->context,
				 d->share_of_op - r.share);
}

void idle_queue_take(struct idle_sweep *s, struct idle_queue *q, uint64_t ns)
{
	const struct model_gpu_line *l = q->line;
	while (q->n_entered < l->n && enter_of(&l->items[q->n_entered]) <= ns)
		enter(s, q, ns);
	while (q->running.n && q->running.at[0].end_ns <= ns)
		end(s, q, ns);
	while (q->n_started < l->n && l->items[q->n_started].start_ns <= ns)
		start(s, q, ns);
}
