/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds pairs of times: a device's profiling clock and ours. Each operation gives bounds: it was
 * queued between the entry and the return of its call, and ended before its end was seen. Several
 * times a second a few operations are examined, and the tightest bounds give a pair. If the device
 * has a timer (clGetDeviceAndHostTimer) that agrees with the bounds, it is used too. On some
 * implementations that timer is another clock. Test: tests/unit/opencl/test_opencl_clock.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#define WINDOW_NS UINT64_C(250000000) /* time between two pairs of an active device */
#define N_MOMENTS 4u                  /* operations examined for each pair */
#define GOOD_ENOUGH_NS 100000u        /* the first pair is delivered at once if it is this good */
#define TIMER_SLACK_NS 50000

enum timer { TIMER_UNASKED, TIMER_UNCHECKED, TIMER_GOOD, TIMER_USELESS };

struct ocl_clock {
	uint32_t id;
	_Atomic uint64_t next_ns;     /* operations that begin later are wanted */
	pthread_mutex_t lock;         /* protects the rest */
	unsigned n_wanted, n_added;
	uint64_t best_device, best_ours, best_error; /* best_error UINT64_MAX: none */
	bool delivered;               /* at least one pair was delivered */
	enum timer timer;
	uint64_t timer_device, timer_ours, timer_error; /* the last answer, while TIMER_UNCHECKED */
};

struct ocl_clock *ocl_clock_new(struct ocl_state *s)
{
	struct ocl_clock *c = ocl_memory_get(&s->memory, sizeof *c);
	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	c->id = ocl_host->clock(ocl_host);
	c->best_error = UINT64_MAX;
	return c;
}

uint32_t ocl_clock_id(const struct ocl_clock *c)
{
	return c->id;
}

bool ocl_clock_wants(struct ocl_clock *c, uint64_t now_ns)
{
	/* relaxed: one more or less operation does not matter */
	if (now_ns < atomic_load_explicit(&c->next_ns, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&c->lock);
	if (++c->n_wanted >= N_MOMENTS) {
		c->n_wanted = 0;
		atomic_store_explicit(&c->next_ns, now_ns + WINDOW_NS, memory_order_relaxed);
	}
	pthread_mutex_unlock(&c->lock);
	return true;
}

/* ---- bounds ---- */

static int64_t less(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

/*
 * The queueing time may come from a different clock than start and end. Then the return of the call
 * gives no bound.
 */
bool ocl_clock_bounds(const struct ocl_moment *m, int64_t *low, int64_t *high)
{
	bool queued_fits = m->queued && m->queued <= m->start &&
			   less(m->enter_ns, m->queued) <= less(m->seen_ns, m->end);
	*low = less(m->enter_ns, queued_fits ? m->queued : m->start);
	*high = less(m->seen_ns, m->end);
	if (queued_fits && m->return_ns && less(m->return_ns, m->queued) < *high)
		*high = less(m->return_ns, m->queued);
	return *low <= *high;
}

/* If 0 is possible, the device probably uses our clock: do not shift it by our own uncertainty. */
static int64_t choose(int64_t low, int64_t high)
{
	return low <= 0 && 0 <= high ? 0 : low + (high - low) / 2;
}

static void offer(struct ocl_clock *c, uint64_t device, uint64_t ours, uint64_t error)
{
	if (error >= c->best_error)
		return;
	c->best_device = device;
	c->best_ours = ours;
	c->best_error = error;
}

static void deliver(struct ocl_clock *c)
{
	if (c->best_error != UINT64_MAX) {
		ocl_host->clock_pair(ocl_host, c->id, c->best_device, c->best_ours, c->best_error);
		c->delivered = true;
	}
	c->best_error = UINT64_MAX;
	c->n_added = 0;
}

static void check_timer(struct ocl_clock *c, int64_t low, int64_t high)
{
	if (c->timer != TIMER_UNCHECKED)
		return;
	int64_t offset = less(c->timer_ours, c->timer_device),
		slack = (int64_t)c->timer_error + TIMER_SLACK_NS;
	c->timer = offset >= low - slack && offset <= high + slack ? TIMER_GOOD : TIMER_USELESS;
}

void ocl_clock_add(struct ocl_clock *c, const struct ocl_moment *m)
{
	int64_t low, high;
	if (!ocl_clock_bounds(m, &low, &high))
		return;
	int64_t offset = choose(low, high);
	uint64_t error = (uint64_t)(high - offset > offset - low ? high - offset : offset - low);
	pthread_mutex_lock(&c->lock);
	check_timer(c, low, high);
	offer(c, m->start, m->start + (uint64_t)offset, error);
	c->n_added++;
	if (c->n_added >= N_MOMENTS || (!c->delivered && c->best_error <= GOOD_ENOUGH_NS))
		deliver(c);
	pthread_mutex_unlock(&c->lock);
}

void ocl_clock_flush(struct ocl_clock *c)
{
	pthread_mutex_lock(&c->lock);
	deliver(c);
	pthread_mutex_unlock(&c->lock);
}

/* ---- the device's own timer ---- */

void ocl_clock_ask_timer(struct ocl_clock *c, const struct ocl_device *d)
{
	cl_ulong device = 0, host = 0;
	pthread_mutex_lock(&c->lock);
	bool useless = c->timer == TIMER_USELESS;
	pthread_mutex_unlock(&c->lock);
	if (useless || d->version < 210 || !ocl_next.clGetDeviceAndHostTimer)
		return;
	uint64_t before = clock_mono_ns();
	cl_int status = ocl_next.clGetDeviceAndHostTimer(d->handle, &device, &host);
	uint64_t after = clock_mono_ns(), error = (after - before) / 2 + 1;
	pthread_mutex_lock(&c->lock);
	if (status != CL_SUCCESS || device == 0) {
		c->timer = TIMER_USELESS;
	} else if (c->timer == TIMER_GOOD) {
		offer(c, device, before + error, error);
	} else {
		c->timer = TIMER_UNCHECKED;
		c->timer_device = device;
		c->timer_ours = before + error;
		c->timer_error = error;
	}
	pthread_mutex_unlock(&c->lock);
}
