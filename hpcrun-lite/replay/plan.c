/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which a recording is played. It is the recorded order, except that an event takes
 * its turn when other threads could first see its effect. Test: tests/cli/gpu/replay.sh.
 */
#include "common/base/log.h"
#include "hpcrun-lite/replay/player.h"

#include <stdlib.h>

/*
 * Returns the order of the thread's next recorded action after event n, or of n if there is none.
 * What the thread does after n takes effect before that action.
 */
static uint64_t next_order(const struct tape *t, uint32_t n)
{
	uint32_t frame = t->event[n].head->type == RECORDING_ENTER ? n : t->event[n].parent,
		 end = frame == TAPE_NONE ? TAPE_NONE : t->event[frame].leave,
		 next = t->event[n].next;
	while (next != TAPE_NONE && next != end && t->event[next].parent != frame)
		next = t->event[next].next;
	if (next == TAPE_NONE)
		return t->event[n].head->order;
	const struct recording_event *h = t->event[next].head;
	return h->type == RECORDING_CALL ? ((const struct recording_call *)h)->begin : h->order;
}

struct turn {
	uint64_t order;
	uint32_t event;
};

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/*
 * A thread that returns from a call continues as late as possible, because other threads could
 * notice it only then. The same holds for a thread that enters and then has to wait. Other threads
 * act when they enter. A thread that has the lock continues before another one gets it.
 */
static uint64_t turn_of(const struct tape *t, uint32_t n)
{
	const struct tape_event *e = &t->event[n];
	uint64_t next = e->head->type == RECORDING_LEAVE ? e->head->order : next_order(t, n);
	bool is_point = e->head->type == RECORDING_CALL && e->head->what == RECORDING_POINT;
	if (is_point) { /* it comes to a closed gate and waits, or continues at once */
		const struct tape_event *then = e->next == TAPE_NONE ? e : &t->event[e->next];
		return then->head->type == RECORDING_CALL && then->head->what == RECORDING_WAIT
			       ? ((const struct recording_call *)then->head)->begin
			       : e->head->order;
	}
	const struct tape_event *inner = e->head->type == RECORDING_ENTER && e->next != TAPE_NONE &&
							 t->event[e->next].parent == n
						 ? &t->event[e->next]
						 : NULL;
	/* A point does not wait: others may have seen at once what the thread did before. */
	bool waits = inner && tape_is_long(inner) && inner->head->what != RECORDING_POINT;
	bool is_late = e->head->type == RECORDING_CALL || e->head->type == RECORDING_NOW || waits;
	return is_late && next > e->head->order ? next : e->head->order;
}

static bool is_lock(const struct tape_event *e)
{
	return e->head->type == RECORDING_CALL && e->head->what == RECORDING_LOCK &&
	       ((const struct recording_call *)e->head)->result;
}

/*
 * Returns, for each event, the order at which the next thread got the lock if the event's thread
 * had it. UINT64_MAX: no other thread got it, or this thread did not have it. NULL: no memory.
 */
static uint64_t *find_handovers(const struct tape *t)
{
	uint64_t *handover = calloc((size_t)t->n_events + 1, sizeof *handover);
	uint32_t *lock = calloc((size_t)t->n_streams + 1,
				sizeof *lock); /* by stream: event + 1 of the lock it holds */
	uint64_t order[2] = {
		UINT64_MAX,
		UINT64_MAX}; /* of the next lock, and of the next one of a different stream */
	uint32_t stream = TAPE_NONE;
	bool good = handover && lock;
	for (uint32_t n = t->n_events; good && n-- > 0;) {
		const struct tape_event *e = &t->event[n];
		handover[n] = e->stream == stream ? order[1] : order[0];
		if (!is_lock(e))
			continue;
		if (e->stream != stream)
			order[1] = order[0];
		order[0] = e->head->order;
		stream = e->stream;
	}
	for (uint32_t n = 0; good && n < t->n_events; n++) {
		const struct tape_event *e = &t->event[n];
		uint32_t held = lock[e->stream];
		if (held && t->event[held - 1].parent != TAPE_NONE &&
		    t->event[t->event[held - 1].parent].leave == n)
			held = 0;
		held = is_lock(e) ? n + 1 : held;
		lock[e->stream] = held;
		handover[n] = held ? handover[n] : UINT64_MAX;
	}
	free(lock);
	if (!good)
		free(handover);
	return good ? handover : NULL;
}

static bool make_recorded(struct player *to)
{
	struct turn *turns = calloc((size_t)to->tape.n_events + 1, sizeof *turns);
	uint64_t *handover = find_handovers(&to->tape);
	if (!turns || !handover) {
		free(turns);
		free(handover);
		return false;
	}
	for (uint32_t n = 0; n < to->tape.n_events; n++) {
		uint64_t order = turn_of(&to->tape, n);
		if (tape_has_turn(&to->tape.event[n]))
			turns[to->n_plan++] =
				(struct turn){order < handover[n] ? order : handover[n], n};
	}
	free(handover);
	qsort(turns, to->n_plan, sizeof *turns, by_turn);
	for (uint32_t i = 0; i < to->n_plan; i++)
		to->plan[i] = turns[i].event;
	free(turns);
	return true;
}

enum status plan_make(struct player *p, bool (*other)(struct player *p))
{
	p->plan = calloc((size_t)p->tape.n_events + 1, sizeof *p->plan);
	bool good = p->plan && (other ? other(p) : make_recorded(p));
	if (!good)
		log_error(NULL, "there is not enough memory for the order of the recording");
	return good ? STATUS_OK : STATUS_NO_MEMORY;
}
