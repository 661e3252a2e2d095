/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues and their operations in flight. To notice the end of operations, we examine their events
 * in later calls of the program. A callback would cost an allocation, with NVIDIA 7 us and a
 * thread, and on some implementations a flush that the program did not ask for. We take operations
 * off the list, examine them without a lock, and put those that still run back in front. Test:
 * tests/unit/opencl/test_opencl_life.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <string.h>

#define SLICE_NS 200000

/*
 * Examining an event is cheap with most implementations (0.3 us with PoCL). While the device works,
 * NVIDIA's implementation asks the device each time, which takes 1.3 us instead of 0.2. Then we
 * examine rarely, mostly after the program has waited, and query fewer times.
 */
#define INTERVAL_LEAST 32u
#define INTERVAL_MOST 16384u
#define DEAR_NS 1500u
#define CHEAP_NS 800u

static ocl_finish_fn finish_all;

/* ---- queues ---- */

static struct ocl_queue *queue_new(struct ocl_state *s, cl_command_queue handle)
{
	struct ocl_queue *q = ocl_memory_get(&s->memory, sizeof *q);
	if (!q)
		return NULL;
	q->handle = handle;
	q->look_at = q->interval = INTERVAL_LEAST;
	pthread_mutex_init(&q->lock, NULL);
	q->next_made = atomic_load_explicit(&s->all_queues, memory_order_relaxed);
	/* release: a thread that walks the list sees the fields of the queue */
	while (!atomic_compare_exchange_weak_explicit(&s->all_queues, &q->next_made, q,
						      memory_order_release, memory_order_relaxed))
		;
	return q;
}

struct ocl_queue *ocl_queue_find(struct ocl_state *s, cl_command_queue handle)
{
	return ocl_map_get(&s->queues, ocl_key(handle));
}

/* Reuses the entry of a released queue, unless its operations are still in flight. */
static struct ocl_queue *block_for(struct ocl_state *s, cl_command_queue handle)
{
	struct ocl_queue *q = ocl_queue_find(s, handle);
	if (q) {
		pthread_mutex_lock(&q->lock);
		bool idle = q->n_pending == 0;
		pthread_mutex_unlock(&q->lock);
		if (idle) {
			ocl_memory_put(&s->memory, q->list, q->list_bytes);
			q->list = NULL;
			q->list_bytes = 0;
			atomic_store_explicit(&q->defined, false, memory_order_relaxed);
			return q;
		}
	}
	q = queue_new(s, handle);
	return q && ocl_map_put(&s->queues, ocl_key(handle), q, NULL) ? q : NULL;
}

static void keep_list(struct ocl_state *s, struct ocl_queue *q, const cl_queue_properties *list)
{
	size_t n = 0;
	while (list[n])
		n += 2;
	q->list = ocl_memory_get(&s->memory, (n + 1) * sizeof *list);
	if (!q->list)
		return;
	q->list_bytes = (n + 1) * sizeof *list;
	memcpy(q->list, list, q->list_bytes);
}

void ocl_queue_made(struct ocl_state *s, cl_command_queue handle, bool forced,
		    const cl_queue_properties *list)
{
	struct ocl_queue *q = block_for(s, handle);
	if (!q)
		return;
	q->forced = forced;
	if (list)
		keep_list(s, q, list);
	ocl_state_register_exit(s, finish_all);
}

static void define(struct ocl_state *s, struct ocl_queue *q, cl_device_id device,
		   cl_context context, cl_command_queue_properties properties)
{
	char name[32];
	struct text t = text_in(name, sizeof name);
	q->device = ocl_device_get(s, device);
	struct ocl_context *c = q->device ? ocl_context_get(s, context, q->device) : NULL;
	if (!c)
		return;
	uint32_t ordinal = atomic_fetch_add_explicit(&c->n_queues, 1, memory_order_relaxed);
	q->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	q->timed = properties & CL_QUEUE_PROFILING_ENABLE;
	text_put(&t, "queue ");
	text_put_u64(&t, ordinal);
	q->id = ocl_host->queue(
		ocl_host,
		&(struct gpu_queue){.name = name,
				    .context = c->id,
				    .device = q->device->id,
				    .ordinal = ordinal,
				    .clock = ocl_clock_id(q->device->clock),
				    .flags = (q->out_of_order ? MSR_GPU_QUEUE_OUT_OF_ORDER : 0) |
					     (q->forced ? MSR_GPU_QUEUE_FORCED_PROFILING : 0)});
	/* release: a thread that sees `defined` sees the other fields */
	atomic_store_explicit(&q->defined, true, memory_order_release);
}

/* Under s->define. */
static struct ocl_queue *get_slowly(struct ocl_state *s, cl_command_queue handle)
{
	cl_device_id device = NULL;
	cl_context context = NULL;
	cl_command_queue_properties properties = 0;
	struct ocl_queue *q = ocl_queue_find(s, handle);
	if (q && atomic_load_explicit(&q->defined, memory_order_relaxed))
		return q;
	if (!q)
		q = block_for(s, handle);
	if (!q ||
	    ocl_next.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof device, &device, NULL) !=
		    CL_SUCCESS ||
	    ocl_next.clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof context, &context,
					   NULL) != CL_SUCCESS ||
	    ocl_next.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties,
					   &properties, NULL) != CL_SUCCESS)
		return NULL;
	define(s, q, device, context, properties);
	return atomic_load_explicit(&q->defined, memory_order_relaxed) ? q : NULL;
}

struct ocl_queue *ocl_queue_get(struct ocl_state *s, cl_command_queue handle)
{
	struct ocl_queue *q = ocl_queue_find(s, handle);
	/* acquire: the fields of a defined queue are set */
	if (q && atomic_load_explicit(&q->defined, memory_order_acquire))
		return q;
	ocl_state_register_exit(s, finish_all);
	pthread_mutex_lock(&s->define);
	q = get_slowly(s, handle);
	pthread_mutex_unlock(&s->define);
	return q;
}

/* ---- operations in flight ---- */

/* Under q->lock. */
static struct ocl_pending *spare(struct ocl_state *s, struct ocl_queue *q)
{
	struct ocl_pending *p = q->spare;
	if (!p)
		return ocl_memory_get(&s->memory, sizeof *p);
	q->spare = p->next;
	return p;
}

/* Returns true if there are enough operations to examine. */
static bool append(struct ocl_state *s, struct ocl_queue *q, const struct ocl_pending *given,
		   bool *kept)
{
	pthread_mutex_lock(&q->lock);
	struct ocl_pending *p = spare(s, q);
	*kept = p;
	if (p) {
		*p = *given;
		p->next = NULL;
		if (q->last)
			q->last->next = p;
		else
			q->first = p;
		q->last = p;
		q->n_pending++;
	}
	bool look = q->n_pending >= q->look_at;
	pthread_mutex_unlock(&q->lock);
	return look;
}

/* Takes up to OCL_BATCH operations off the front, linked. NULL: there is none. */
static struct ocl_pending *take(struct ocl_queue *q)
{
	pthread_mutex_lock(&q->lock);
	struct ocl_pending *first = q->first, *last = first;
	for (unsigned n = 1; last && n < OCL_BATCH && last->next; n++)
		last = last->next;
	if (last) {
		q->first = last->next;
		if (!q->first)
			q->last = NULL;
		last->next = NULL;
	}
	pthread_mutex_unlock(&q->lock);
	return first;
}

/* Puts the list `left` back to the front; `n_ended` entries of `ended` become spare. */
static void put_back(struct ocl_queue *q, struct ocl_pending *left, struct ocl_pending *ended,
		     uint32_t n_ended)
{
	struct ocl_pending *last_left = left, *last_ended = ended;
	while (last_left && last_left->next)
		last_left = last_left->next;
	while (last_ended && last_ended->next)
		last_ended = last_ended->next;
	pthread_mutex_lock(&q->lock);
	if (left) {
		last_left->next = q->first;
		q->first = left;
		if (!q->last)
			q->last = last_left;
	}
	if (ended) {
		last_ended->next = q->spare;
		q->spare = ended;
	}
	q->n_pending -= n_ended;
	q->look_at = q->n_pending + q->interval;
	pthread_mutex_unlock(&q->lock);
}

/* ---- ends ---- */

struct times {
	uint64_t queued, submitted, start, end;
};

static uint64_t ask_time(cl_event event, cl_profiling_info what)
{
	cl_ulong v = 0;
	return ocl_next.clGetEventProfilingInfo(event, what, sizeof v, &v, NULL) == CL_SUCCESS ? v
											       : 0;
}

/*
 * Use only for a completed command: for others NVIDIA's implementation returns wrong times. It also
 * does so for barriers and migrations. We recognize them by the missing queueing time, which other
 * commands of the device have.
 */
static bool ask_times(struct ocl_device *d, cl_event event, bool briefly, struct times *t)
{
	*t = (struct times){.start = ask_time(event, CL_PROFILING_COMMAND_START),
			    .end = ask_time(event, CL_PROFILING_COMMAND_END)};
	if (briefly)
		return t->start && t->end >= t->start;
	t->queued = ask_time(event, CL_PROFILING_COMMAND_QUEUED);
	t->submitted = ask_time(event, CL_PROFILING_COMMAND_SUBMIT);
	if (t->queued)
		atomic_store_explicit(&d->tells_queued, true, memory_order_relaxed);
	else if (atomic_load_explicit(&d->tells_queued, memory_order_relaxed))
		return false;
	return t->start && t->end >= t->start;
}

static void deliver(const struct ocl_queue *q, const struct ocl_pending *p, cl_int status,
		    bool briefly)
{
	struct times t;
	briefly &= p->ticket.kind == MSR_GPU_KERNEL && !p->for_clock;
	if (status < 0 || !q->timed || !ask_times(q->device, p->event, briefly, &t)) {
		ocl_host->lost(ocl_host, &p->ticket,
			       status < 0 ? MSR_GPU_LOSS_FAILED : MSR_GPU_LOSS_NO_TIMES);
		return;
	}
	ocl_host->op(ocl_host, &p->ticket,
		     &(struct gpu_op){.kind = p->ticket.kind,
				      .detail = p->detail,
				      .start_ns = t.start,
				      .end_ns = t.end,
				      .amount = p->amount,
				      .queue = q->id,
				      .shape = p->shape,
				      .has_waits = t.queued && t.queued <= t.start && t.submitted &&
						   t.submitted <= t.start,
				      .queued_ns = t.queued,
				      .submitted_ns = t.submitted});
	if (p->for_clock)
		ocl_clock_add(q->device->clock, &(struct ocl_moment){.enter_ns = p->enter_ns,
								     .return_ns = p->return_ns,
								     .seen_ns = clock_mono_ns(),
								     .queued = t.queued,
								     .start = t.start,
								     .end = t.end});
}

/*
 * Returns CL_COMPLETE, a negative error, or a positive number: still running. An event that cannot
 * be queried has failed.
 */
static cl_int status_of(cl_event event)
{
	cl_int status = CL_QUEUED;
	cl_int error = ocl_next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
					       sizeof status, &status, NULL);
	return error == CL_SUCCESS ? status : error;
}

struct batch {
	struct ocl_pending *left, **left_end, *ended;
	uint32_t n_ended, n_running; /* n_running: operations on the device */
};

/*
 * Sorts the operations of a list into left and ended. `in_order`: if one operation still runs, so
 * do all later ones. `briefly`: makes as few queries as possible.
 */
static void look(const struct ocl_queue *q, struct ocl_pending *list, bool in_order, bool briefly,
		 struct batch *b)
{
	bool stopped = false;
	*b = (struct batch){.left_end = &b->left};
	for (struct ocl_pending *p = list, *next; p; p = next) {
		next = p->next;
		cl_int status = stopped ? CL_QUEUED : status_of(p->event);
		if (status > CL_COMPLETE) {
			stopped |= in_order;
			b->n_running += status < CL_QUEUED;
			p->next = NULL;
			*b->left_end = p;
			b->left_end = &p->next;
		} else {
			deliver(q, p, status, briefly);
			p->next = b->ended;
			b->ended = p;
			b->n_ended++;
		}
	}
}

static void release(const struct batch *b)
{
	for (struct ocl_pending *p = b->ended; p; p = p->next)
		ocl_next.clReleaseEvent(p->event);
}

/* Examines one batch. Returns how many operations had ended. */
static uint32_t collect_some(struct ocl_state *s, struct ocl_queue *q, bool briefly)
{
	struct batch b;
	struct ocl_pending *list = take(q);
	if (!list)
		return 0;
	look(q, list, !q->out_of_order, briefly, &b);
	release(&b);
	atomic_fetch_sub_explicit(&s->n_pending, b.n_ended, memory_order_relaxed);
	put_back(q, b.left, b.ended, b.n_ended);
	return b.n_ended;
}

void ocl_queue_collect(struct ocl_state *s, struct ocl_queue *q)
{
	while (collect_some(s, q, false) >= OCL_BATCH)
		;
}

/* Examines between enqueues, while the device works, as often as the cost allows. */
static void collect_between(struct ocl_state *s, struct ocl_queue *q)
{
	pthread_mutex_lock(&q->lock);
	bool dear = q->dear;
	q->look_at = q->n_pending + q->interval; /* no other thread needs to look */
	pthread_mutex_unlock(&q->lock);
	uint64_t start = clock_thread_cpu_ns(), n = 0, now_ended;
	do
		n += now_ended = collect_some(s, q, dear);
	while (now_ended >= OCL_BATCH);
	if (n < INTERVAL_LEAST / 4)
		return;
	uint64_t each = (clock_thread_cpu_ns() - start) / n;
	pthread_mutex_lock(&q->lock);
	if (each > DEAR_NS) {
		q->dear = true;
		q->interval = q->interval < INTERVAL_MOST / 4 ? q->interval * 4 : INTERVAL_MOST;
	} else if (each < CHEAP_NS) {
		q->dear = false;
		q->interval = q->interval > INTERVAL_LEAST * 2 ? q->interval / 2 : INTERVAL_LEAST;
	}
	q->look_at = q->n_pending + q->interval;
	pthread_mutex_unlock(&q->lock);
}

void ocl_queue_collect_all(struct ocl_state *s)
{
	if (atomic_load_explicit(&s->n_pending, memory_order_relaxed) == 0)
		return;
	for (struct ocl_queue *q = atomic_load_explicit(&s->all_queues, memory_order_acquire); q;
	     q = q->next_made)
		/* relaxed: the next examination finds operations that are added now */
		if (atomic_load_explicit(&q->n_pending, memory_order_relaxed) &&
		    atomic_load_explicit(&q->defined, memory_order_acquire))
			ocl_queue_collect(s, q);
}

/*
 * Counts one more operation. If too many are in flight, collects those that have ended. Returns
 * false if that makes no room; the new operation is then given up.
 */
static bool has_room(struct ocl_state *s)
{
	if (atomic_fetch_add_explicit(&s->n_pending, 1, memory_order_relaxed) < OCL_MAX_PENDING)
		return true;
	ocl_queue_collect_all(s);
	return atomic_load_explicit(&s->n_pending, memory_order_relaxed) <= OCL_MAX_PENDING;
}

void ocl_queue_add(struct ocl_state *s, struct ocl_queue *q, const struct ocl_pending *p)
{
	bool kept = false, look_now = has_room(s) && append(s, q, p, &kept);
	if (!kept) {
		atomic_fetch_sub_explicit(&s->n_pending, 1, memory_order_relaxed);
		ocl_host->lost(ocl_host, &p->ticket, MSR_GPU_LOSS_PENDING);
		ocl_next.clReleaseEvent(p->event);
	}
	if (atomic_load_explicit(&s->after_exit, memory_order_relaxed))
		ocl_queue_collect(s, q);
	else if (look_now)
		collect_between(s, q);
}

unsigned ocl_queue_holds(struct ocl_queue *q, cl_event event)
{
	unsigned n = 0;
	pthread_mutex_lock(&q->lock);
	for (const struct ocl_pending *p = q->first; p; p = p->next)
		n += p->event == event;
	pthread_mutex_unlock(&q->lock);
	return n;
}

/* ---- the end ---- */

/*
 * Takes all operations. A thread that holds the lock gets a moment to release it. If it was
 * cancelled, it never will; the queue's operations then count as lost, once.
 */
static struct ocl_pending *take_all(struct ocl_queue *q)
{
	struct timespec moment = {0, SLICE_NS};
	for (unsigned tries = 0; pthread_mutex_trylock(&q->lock) != 0; tries++) {
		if (tries == 50) {
			uint32_t n = atomic_load_explicit(&q->n_pending, memory_order_relaxed);
			if (n &&
			    !atomic_exchange_explicit(&q->is_given_up, true, memory_order_relaxed))
				ocl_host->lost_unknown(ocl_host, MSR_GPU_LOSS_BUSY, n);
			return NULL;
		}
		sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&moment, 0);
	}
	struct ocl_pending *first = q->first;
	q->first = q->last = NULL;
	q->n_pending = 0;
	pthread_mutex_unlock(&q->lock);
	return first;
}

/* Examines a list until no operation is on the device or the time is over. Returns the rest. */
static struct ocl_pending *wait_for(const struct ocl_queue *q, struct ocl_pending *list,
				    uint64_t until_ns, bool may_release)
{
	struct timespec slice = {0, SLICE_NS};
	struct batch b = {.left = list};
	for (;;) {
		look(q, b.left, false, false, &b);
		if (may_release)
			release(&b);
		if (!b.left || b.n_running == 0 || clock_mono_ns() >= until_ns)
			return b.left;
		sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&slice, 0);
	}
}

static void finish_all(struct ocl_state *s, uint64_t may_wait_ns, enum ocl_end_call end)
{
	uint64_t until = clock_mono_ns() + may_wait_ns;
	for (struct ocl_queue *q = atomic_load_explicit(&s->all_queues, memory_order_acquire); q;
	     q = q->next_made) {
		if (!atomic_load_explicit(&q->defined, memory_order_acquire))
			continue;
		uint32_t n = 0;
		struct ocl_pending *left = take_all(q);
		for (const struct ocl_pending *p = left; p; p = p->next)
			n++;
		atomic_fetch_sub_explicit(&s->n_pending, n, memory_order_relaxed);
		if (end != OCL_MAY_NOT_CALL && left)
			left = wait_for(q, left, until, end == OCL_MAY_RELEASE);
		for (; left; left = left->next)
			ocl_host->lost(ocl_host, &left->ticket, MSR_GPU_LOSS_NEVER_DONE);
		if (end != OCL_MAY_NOT_CALL)
			ocl_clock_flush(q->device->clock);
	}
}
