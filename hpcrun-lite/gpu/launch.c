/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches: which thread started an operation, and where. A launch is a record of 16 bytes in an
 * extent of the launching thread or, after the limit on records, is counted in an aggregate. This
 * is the hot path of the core. Tests: tests/unit/gpu/test_gpu_core.c,
 * tests/unit/gpu/test_gpu_launch.c; speed: tests/bench/bench_gpu.c.
 */
#include "common/safe/clock.h"
#include "hpcrun-lite/gpu/core_internal.h"

#define LAUNCH_FIRST_BYTES 1024u
#define LAUNCH_LAST_BYTES (64u << 10)

static uint64_t high_part(uint64_t id)
{
	return id & ~(uint64_t)UINT32_MAX;
}

/* Returns the thread's extent for this id, with room for one more record. */
static struct msr_extent *thread_extent(struct gpu_backend *b, const struct gpu_place *p,
					uint64_t id, enum msr_gpu_loss *cause)
{
	struct gpu_thread *w = p->writer;
	struct msr_extent **mine = &w->launches[gpu_number_of(b)];
	if (*mine && (*mine)->first == high_part(id) &&
	    extent_room(*mine) >= sizeof(struct msr_gpu_launch))
		return *mine;
	uint32_t wanted = w->next_bytes ? w->next_bytes : LAUNCH_FIRST_BYTES;
	const struct store_request request = {
		.kind = MSR_GPU_LAUNCH,
		.record_bytes = sizeof(struct msr_gpu_launch),
		.thread = p->thread,
		.sequence = w->sequence,
		.first = high_part(id),
		.n_bytes = wanted,
		.least_bytes = wanted / 4,
	};
	struct msr_extent *e = stream_extent(&request, b, cause);
	if (!e)
		return NULL;
	if (*mine)
		store_give_tail(*mine);
	*mine = e;
	w->sequence++;
	w->next_bytes = wanted < LAUNCH_LAST_BYTES ? wanted * 2 : wanted;
	return e;
}

static enum msr_gpu_loss write_record(struct gpu_backend *b, const struct gpu_place *p, uint64_t id,
				      uint64_t enter_ns, unsigned kind)
{
	const struct msr_gpu_launch record = {
		.enter_ns = enter_ns, .id_low = (uint32_t)id,
		.kind_node = msr_gpu_launch_make(kind, p->node)};
	enum msr_gpu_loss cause = MSR_GPU_LOSS_NONE;
	if (p->writer) {
		struct msr_extent *e = thread_extent(b, p, id, &cause);
		if (e) {
			*(struct msr_gpu_launch *)extent_next(e) = record;
			extent_publish(e, sizeof record);
		}
	} else {
		struct writer *w;
		struct msr_gpu_launch *at =
			stream_begin(&b->launches, high_part(id), sizeof record, &w, &cause);
		if (at) {
			*at = record;
			stream_end(w, sizeof record);
			cause = MSR_GPU_LOSS_NONE;
		}
	}
	return cause;
}

/*
 * Counts the launch in the aggregate row without a queue and shape. Remembers the launch if its
 * operation will return with only an id.
 */
static enum msr_gpu_loss sum_up(struct gpu_backend *b, const struct gpu_place *p, uint64_t id,
				unsigned kind, bool by_id)
{
	enum msr_gpu_loss cause;
	struct msr_gpu_tally *tally = gpu_tally_of(b);
	const struct aggregate_key key = {
		.thread = p->thread, .node = p->node, .kind = (uint16_t)kind};
	struct msr_gpu_aggregate *a = aggregate_find(b, &key, &cause);
	if (!a)
		return cause;
	gpu_count(&a->n_launches, 1);
	if (by_id) {
		const struct pending_launch l = {.id = id,
						 .thread = p->thread,
						 .node = p->node,
						 .kind = (enum msr_gpu_kind)kind};
		unsigned n_out;
		if (!pending_add(&b->pending, &l, &n_out, &cause))
			gpu_count(&tally->op_losses[cause], 1);
		if (n_out)
			gpu_count(&tally->op_losses[MSR_GPU_LOSS_PENDING], n_out);
	}
	return MSR_GPU_LOSS_NONE;
}

/*
 * Set while a launch of this thread is counted as launched but not yet as recorded or lost. If it
 * is still set at the next launch, a longjmp out of a signal handler has abandoned the launch.
 */
static __thread struct msr_gpu_tally *volatile unfinished;

/* For recordings: see gpu.h. */
static __thread struct {
	enum gpu_placed placed;
	uint32_t thread, node;
} last;

static void keep_place(enum gpu_placed placed, const struct gpu_place *p)
{
	last.placed = placed;
	last.thread = p->thread;
	last.node = p->node;
}

enum gpu_placed launch_last_place(uint32_t *thread, uint32_t *node)
{
	enum gpu_placed placed = last.placed;
	*thread = last.thread;
	*node = last.node;
	last.placed = GPU_PLACED_NOWHERE;
	return placed;
}

void launch_forget(void)
{
	unfinished = NULL;
}

static void begin_counting(struct msr_gpu_tally *tally, const struct gpu_place *p, unsigned kind)
{
	/* without a writer, this launch may be nested in the unfinished one */
	if (p->writer && unfinished)
		gpu_count(&unfinished->launch_losses[MSR_GPU_LOSS_BUSY], 1);
	gpu_count(&tally->launched[kind], 1);
	if (p->writer)
		unfinished = tally;
}

static void count_as(_Atomic uint64_t *word, const struct gpu_place *p)
{
	if (p->writer)
		unfinished = NULL;
	gpu_count(word, 1);
}

/*
 * The back end will report the operation of this lost launch by its id. Remember the id as already
 * counted.
 */
static void forget_lost(struct gpu_backend *b, uint64_t id)
{
	const struct pending_launch l = {.id = id, .kind = MSR_GPU_NO_KIND};
	unsigned n_out;
	enum msr_gpu_loss cause;
	pending_add(&b->pending, &l, &n_out, &cause);
	if (n_out)
		gpu_count(&gpu_tally_of(b)->op_losses[MSR_GPU_LOSS_PENDING], n_out);
}

/* Records the launch at its place. */
static bool record(struct gpu_backend *b, struct msr_gpu_tally *tally, const struct gpu_place *p,
		   const struct gpu_launch *l, uint64_t enter_ns, struct gpu_ticket *t)
{
	unsigned kind = (unsigned)l->kind & 15u;
	uint64_t id = gpu_full_id(
		b, l->id ? l->id
			 : 1 + atomic_fetch_add_explicit(&b->next_id, 1, memory_order_relaxed));
	bool aggregated = atomic_load_explicit(&gpu_core.aggregating, memory_order_relaxed);
	enum msr_gpu_loss cause = aggregated ? sum_up(b, p, id, kind, l->id != 0)
					     : write_record(b, p, id, enter_ns, kind);
	if (cause != MSR_GPU_LOSS_NONE) {
		if (l->id)
			forget_lost(b, id);
		count_as(&tally->launch_losses[cause], p);
		return false;
	}
	count_as(aggregated ? &tally->aggregated[kind] : &tally->recorded[kind], p);
	if (!p->node)
		gpu_count(&tally->launch_losses[MSR_GPU_LOSS_NO_PATH], 1);
	*t = (struct gpu_ticket){.id = id,
				 .thread = p->thread,
				 .node = p->node,
				 .kind = (uint8_t)kind,
				 .aggregated = aggregated};
	return true;
}

/* The launch is not measured. If the device's records are still on, its record is dropped later. */
static bool pass_over(struct gpu_backend *b, const struct gpu_launch *l, struct gpu_ticket *t)
{
	keep_place(GPU_PLACED_OFF, &(struct gpu_place){.thread = UINT32_MAX});
	if (l->id && l->kind != MSR_GPU_ALLOC && l->kind != MSR_GPU_FREE && l->kind != MSR_GPU_SYNC)
		forget_lost(b, gpu_full_id(b, l->id));
	t->is_off = true;
	return false;
}

bool launch_record(struct gpu_backend *b, const struct gpu_launch *l, struct gpu_ticket *t)
{
	struct msr_gpu_tally *tally = gpu_tally_of(b);
	uint64_t enter_ns = l->enter_ns ? l->enter_ns : clock_mono_ns();
	struct gpu_place place = {.thread = UINT32_MAX};
	*t = (struct gpu_ticket){.kind = (uint8_t)l->kind};
	if (__builtin_expect(gpu_is_off(), 0))
		return pass_over(b, l, t);
	if (gpu_is_closed() ||
	    gpu_core.runtime->begin_launch(gpu_number_of(b), &place) == GPU_STOPPED) {
		keep_place(GPU_PLACED_STOPPED, &place);
		gpu_count(&tally->launched[(unsigned)l->kind & 15u], 1);
		gpu_count(&tally->launch_losses[MSR_GPU_LOSS_STOPPED], 1);
		return false;
	}
	keep_place(GPU_PLACED, &place);
	tally = gpu_tally_of_thread(b, place.thread);
	begin_counting(tally, &place, (unsigned)l->kind & 15u);
	bool good = record(b, tally, &place, l, enter_ns, t);
	uint64_t cost_ns = gpu_core.runtime->end_launch(&place);
	if (cost_ns)
		gpu_count(&tally->handler_ns, cost_ns);
	return good;
}

void launch_graph_node(struct gpu_backend *b, uint64_t node, uint64_t original)
{
	struct msr_gpu_graph_node n = {.node = node,
				       .original = original,
				       .thread = UINT32_MAX,
				       .backend = gpu_number_of(b)};
	struct gpu_place place;
	if (original) {
		device_graph_node(b, &n);
		return;
	}
	if (gpu_core.runtime->begin_launch(gpu_number_of(b), &place) == GPU_STOPPED)
		return;
	keep_place(GPU_PLACED, &place);
	n.thread = place.thread;
	n.context = place.node;
	device_graph_node(b, &n);
	uint64_t cost_ns = gpu_core.runtime->end_launch(&place);
	if (cost_ns)
		gpu_count(&gpu_tally_of(b)->handler_ns, cost_ns);
}

void gpu_thread_trim(struct gpu_thread *thread)
{
	for (unsigned i = 0; i < GPU_MAX_BACKENDS; i++) {
		if (thread->launches[i])
			store_give_tail(thread->launches[i]);
		thread->launches[i] = NULL;
	}
}
