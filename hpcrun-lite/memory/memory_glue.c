/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See memory_glue.h. The stack is walked as for a call of MPI (mpi_glue.c). A free writes its time
 * into the record of the allocation, so a process that is killed leaves all that was live. Test:
 * tests/cli/memory/memory_truth.sh.
 */
#include "hpcrun-lite/memory/memory_glue.h"

#include "common/safe/clock.h"
#include "common/safe/find_object.h"
#include "common/safe/one_writer.h"
#include "common/safe/quiet.h"
#include "common/safe/room.h"
#include "hpcrun-lite/cct/table.h"
#include "hpcrun-lite/memory/memory_table.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/call_path.h"
#include "hpcrun-lite/runtime/sample/sample_internal.h"
#include "hpcrun-lite/store/store.h"

#include <sys/mman.h>

#define COST_EVERY 16u

struct memory_records {
	struct table records;
	struct table_extent many[TABLE_MAX_EXTENTS];
};

static struct {
	uint32_t metric;
	uint64_t period;
	_Atomic uint32_t module; /* number of our module in front of malloc; 0: not looked up */
} glue;

/* ---- the source ---- */

static bool source_start(const struct source_event *events, unsigned n_events,
			 const struct source_host *host, char *cause, size_t cause_bytes)
{
	(void)n_events, (void)host, (void)cause, (void)cause_bytes;
	glue.metric = events->metric;
	glue.period = events->period;
	return true;
}

static size_t source_thread_bytes(unsigned n_events)
{
	(void)n_events;
	return 0;
}

static bool source_thread_start(void *state, struct msr_thread *record)
{
	(void)state, (void)record;
	return true;
}

static void source_thread_nothing(void *state)
{
	(void)state;
}

const struct source_ops source_memory = {
	.name = "calls of malloc and its kin",
	.id = MSR_SOURCE_CALLS,
	.process_start = source_start,
	.thread_bytes = source_thread_bytes,
	.thread_start = source_thread_start,
	.thread_stop = source_thread_nothing,
	.thread_forked = source_thread_nothing,
};

/* ---- allocations ---- */

static uint32_t module_with(const void *text)
{
	struct dl_find_object object;
	uintptr_t bias;
	uint32_t found = atomic_load_explicit(&glue.module, memory_order_relaxed);
	if (found || find_object((void *)(uintptr_t)text, &object) != 0)
		return found;
	found = module_of(&object, &bias);
	atomic_store_explicit(&glue.module, found, memory_order_relaxed);
	return found;
}

static uint32_t inner_frames(const struct unwind_path *w, uint64_t module)
{
	uint32_t n = 0;
	while (n < w->n && module && msr_addr_module(w->addr[n]) == module)
		n++;
	return n;
}

static struct memory_records *records_of(struct thread *t)
{
	if (t->memory || !room_take(sizeof *t->memory))
		return t->memory;
	const long at = sys_mmap(NULL, sizeof *t->memory, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at)) {
		room_give(sizeof *t->memory);
		return NULL;
	}
	t->memory = (struct memory_records *)at;
	table_init(&t->memory->records, MSR_MEMORY, sizeof(struct msr_memory), t->record->number,
		   t->memory->many);
	return t->memory;
}

/* The address is remembered by a block that was freed where we did not see it. */
static void forget_old(uintptr_t at, uint64_t now_ns)
{
	struct memory_kept old;
	if (memory_table_take(at, &old))
		atomic_store_explicit(&old.record->free_ns, now_ns, memory_order_relaxed);
}

static bool write_record(struct thread *t, const struct memory_event *e, uint32_t node,
			 uint64_t now_ns)
{
	enum msr_loss cause;
	struct memory_records *all = records_of(t);
	struct msr_memory *r = all ? table_reserve_patiently(&all->records, &cause) : NULL;
	if (!r) {
		store_count_loss(MSR_LOSS_MEMORY);
		return false;
	}
	forget_old(e->at, now_ns);
	*r = (struct msr_memory){
		.alloc_ns = now_ns, .bytes = e->bytes, .node = node, .flags = e->flags};
	const bool is_kept = memory_table_put(e->at, &(struct memory_kept){r, e->stamp});
	if (!is_kept)
		r->flags |= MSR_MEMORY_UNFOLLOWED;
	table_commit(&all->records);
	return is_kept;
}

/*
 * Signals are blocked, because a handler of the program may jump out of what is half written. The
 * sample itself is recorded as one that was held back.
 */
static bool record(struct thread *t, const struct memory_event *e, const struct call_path *path)
{
	const uint64_t mask = quiet_begin(), now_ns = clock_mono_ns();
	const struct source_expiry expiry = {
		.metric = glue.metric,
		.weight = (uint64_t)((double)e->bytes * msr_memory_weight(e->bytes, glue.period) +
				     0.5)};
	bool is_kept = false;
	one_writer_add(&t->record->delivered, 1);
	sample_count_path(t->record, &path->walked);
	if (path->place.has_node) {
		sample_record(t, path->place.node, &expiry, now_ns);
		is_kept = write_record(t, e, path->place.node, now_ns);
	} else {
		one_writer_add(&t->record->losses[path->place.cause], 1);
		sample_carry_if_busy(t, &expiry, path->place.cause);
	}
	quiet_end(mask);
	return is_kept;
}

static bool allocated(const struct memory_event *e, const void *text)
{
	static __thread uint32_t n_turns;
	struct thread *t = thread_self;
	struct call_path path;
	if (atomic_load_explicit(&process.off, memory_order_relaxed) || !process_is_alive())
		return false;
	const enum sample_hold hold = t ? sample_hold(t) : SAMPLE_NESTED;
	if (hold != SAMPLE_HELD) {
		if (!atomic_load_explicit(&process.ending, memory_order_relaxed))
			store_count_loss(MSR_LOSS_MEMORY);
		return false;
	}
	const struct sample_cost cost = sample_begin_call_cost(t, &n_turns, COST_EVERY);
	call_path_find(t, &(struct call_kind){inner_frames, module_with(text)}, &path);
	const bool is_kept = record(t, e, &path);
	sample_end_call_cost(t, cost, COST_EVERY);
	sample_release(t, &path.place);
	return is_kept;
}

/* ---- frees; also while the process ends, and in threads that have no state any more ---- */

static bool take(uintptr_t at, struct memory_kept *kept)
{
	return process_is_alive() && memory_table_take(at, kept);
}

static void freed(const struct memory_kept *kept, uint64_t stamp)
{
	if (!process_is_alive())
		return;
	if (stamp == kept->stamp)
		kept->record->flags |= MSR_MEMORY_TEMPORARY;
	/* release: whoever sees the time sees the flag */
	atomic_store_explicit(&kept->record->free_ns, clock_mono_ns(), memory_order_release);
}

static bool put_back(uintptr_t at, const struct memory_kept *kept)
{
	if (!process_is_alive())
		return false;
	if (memory_table_put(at, kept))
		return true;
	kept->record->flags |= MSR_MEMORY_UNFOLLOWED;
	return false;
}

const struct memory_host *memory_glue_host(void)
{
	static struct memory_host host = {.version = MEMORY_HOST_VERSION,
					  .allocated = allocated,
					  .take = take,
					  .freed = freed,
					  .put_back = put_back};
	host.period = glue.period;
	return process_is_alive() && glue.period ? &host : NULL;
}

/* ---- rows of runtime/life/parts.h ---- */

/* The parent's file has what it allocated. The child frees its copies of that unseen. */
void memory_glue_forked(void)
{
	if (glue.period)
		memory_table_forget();
}

static void free_records(struct thread *t)
{
	if (!t->memory)
		return;
	sys_munmap(t->memory, sizeof *t->memory);
	room_give(sizeof *t->memory);
	t->memory = NULL;
}

void memory_glue_thread_reset(struct thread *t)
{
	free_records(t);
}

void memory_glue_thread_ends(struct thread *t)
{
	if (t->memory)
		table_trim(&t->memory->records);
	free_records(t);
}

void memory_glue_trim(struct thread *self, enum msr_exit_kind kind)
{
	(void)kind;
	if (self->memory)
		table_trim(&self->memory->records);
}
