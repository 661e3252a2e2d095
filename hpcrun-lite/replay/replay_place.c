/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run time that the core sees in a replay. The stack is not walked: a launch gets the thread
 * and node of the recorded launch. They are valid, because the tree of the original measurement is
 * copied. Test: tests/cli/gpu/replay.sh.
 */
#include "common/base/log.h"
#include "hpcrun-lite/replay/output.h"
#include "hpcrun-lite/replay/player.h"

#include <stdlib.h>
#include <string.h>

static struct {
	struct gpu_runtime runtime;
	bool is_over;
	uint64_t handler_ns; /* cost of launches in the measured run; the first launch reports it */
	struct gpu_thread **writers; /* by thread number */
	uint32_t n_writers;
} place;

static __thread const struct recording_leave *told;
static _Atomic bool is_off; /* one thread of a replay runs at a time */

static const struct recording_leave *leave_of(uint32_t n)
{
	uint32_t leave = n == TAPE_NONE ? TAPE_NONE : player.tape.event[n].leave;
	return leave == TAPE_NONE ? NULL : (const void *)player.tape.event[leave].head;
}

/*
 * In another order, a call may launch at its end instead of its entry, or the other way round. Then
 * the other half of the call has the place.
 */
void place_set(uint32_t n)
{
	const struct recording_leave *own = leave_of(n),
				     *other = leave_of(player.tape.event[n].partner);
	told = own && own->place != GPU_PLACED_NOWHERE       ? own
	       : other && other->place != GPU_PLACED_NOWHERE ? other
							     : NULL;
	is_off = told && told->place == GPU_PLACED_OFF;
}

static bool is_alive(void)
{
	return !place.is_over;
}

/*
 * Returns the core's part of a thread. NULL: no memory; records go to the extents of unmeasured
 * threads.
 */
static struct gpu_thread *writer(uint32_t thread)
{
	if (thread >= OUTPUT_MAX_THREADS)
		return NULL;
	if (thread >= place.n_writers) {
		struct gpu_thread **more = realloc(place.writers, (thread + 1) * sizeof *more);
		if (!more)
			return NULL;
		memset(more + place.n_writers, 0, (thread + 1 - place.n_writers) * sizeof *more);
		place.writers = more;
		place.n_writers = thread + 1;
	}
	if (!place.writers[thread])
		place.writers[thread] = calloc(1, sizeof *place.writers[thread]);
	return place.writers[thread];
}

static enum gpu_entry begin_launch(unsigned number, struct gpu_place *p)
{
	(void)number;
	*p = (struct gpu_place){.thread = UINT32_MAX};
	if (told && told->place == GPU_PLACED_STOPPED)
		return GPU_STOPPED;
	if (!told || told->thread == UINT32_MAX)
		return GPU_ENTERED;
	p->thread = told->thread;
	p->node = told->node & MSR_TRACE_NODE_MAX;
	p->writer = writer(told->thread);
	return GPU_ENTERED;
}

static uint64_t end_launch(const struct gpu_place *p)
{
	uint64_t cost_ns = place.handler_ns;
	(void)p;
	place.handler_ns = 0;
	return cost_ns;
}

static void leave_out(unsigned number, const void *text)
{
	(void)number;
	(void)text;
}

/* Does nothing: back ends register `fn` through the function table (nv_library), not here. */
static void at_end(unsigned number, void (*fn)(uint64_t may_wait_ns))
{
	(void)number;
	(void)fn;
}

/* Does nothing: the end of a player's thread is not the end of a recorded thread. */
static void at_thread_end(unsigned number, void (*fn)(void))
{
	(void)number;
	(void)fn;
}

static void on_switch(unsigned number, void (*fn)(bool on))
{
	(void)number;
	(void)fn;
}

static void sample_by_timer(unsigned number)
{
	(void)number;
}

static void note(const char *text)
{
	log_detail(NULL, "%s", text);
	output_note(text);
}

static void nothing(void)
{
}

const struct gpu_runtime *place_runtime(const char *directory, uint64_t handler_ns)
{
	place.handler_ns = handler_ns;
	place.runtime =
		(struct gpu_runtime){.directory = directory,
				     .max_record_bytes = player.tape.header->max_record_bytes,
				     .is_alive = is_alive,
				     .begin_launch = begin_launch,
				     .end_launch = end_launch,
				     .leave_out = leave_out,
				     .at_end = at_end,
				     .at_thread_end = at_thread_end,
				     .is_off = &is_off,
				     .on_switch = on_switch,
				     .note = note,
				     .suspend = nothing,
				     .resume = nothing,
				     .sample_by_timer = sample_by_timer};
	return &place.runtime;
}

void place_end(void)
{
	for (uint32_t i = 0; i < place.n_writers; i++)
		if (place.writers[i])
			gpu_thread_trim(place.writers[i]);
	place.is_over = true;
}
