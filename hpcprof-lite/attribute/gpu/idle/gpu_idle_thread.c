/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See gpu_idle_sweep.h. A sample covers the time up to the next sample of the thread, as in all
 * time lines. If the gap is so long that a running thread would have had another sample, it covers
 * one period. Test: tests/unit/prof_gpu/test_gpu_idle.c.
 */
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.h"

/* ---- samples ---- */

static void refill(const struct idle_sweep *s, struct idle_thread *t)
{
	t->next = 0;
	t->n = model_trace_read(s->m, t->profile, &t->cursor, t->samples, IDLE_CHUNK);
}

/*
 * True in a wait for a thread. Since glibc 2.41, the system call is in a function below the one
 * that waits.
 */
static bool waits_for_a_thread(const struct idle_sweep *s, uint32_t context)
{
	const struct model *m = s->m;
	for (; context < m->n_contexts; context = m->contexts[context].parent) {
		const uint32_t function = m->contexts[context].function;
		if (function >= m->n_functions || s->places[function] == IDLE_ELSEWHERE)
			return false;
		if (s->places[function] == IDLE_IN_LOCK)
			return true;
	}
	return false;
}

static enum idle_state state_of(const struct idle_sweep *s, uint32_t context)
{
	const struct model_context *c = &s->m->contexts[context];
	if (waits_for_a_thread(s, context))
		return IDLE_BLOCKED;
	switch ((enum model_activity)c->activity) {
	case MODEL_OMP_BARRIER:
	case MODEL_OMP_LOCK:
	case MODEL_OMP_ORDERED:
	case MODEL_OMP_TASKWAIT:
	case MODEL_OMP_IDLE:
	case MODEL_GPU_WAIT:
	case MODEL_BLOCKED_LOCK:
	case MODEL_BLOCKED_THREAD:
	case MODEL_BLOCKED_IO:
	case MODEL_BLOCKED_POLL:
	case MODEL_BLOCKED_SLEEP:
	case MODEL_BLOCKED_OTHER:
	case MODEL_NO_CPU: return IDLE_BLOCKED;
	default: return IDLE_WORKS;
	}
}

static uint64_t next_sample(const struct idle_thread *t)
{
	return t->next < t->n ? t->samples[t->next].time_ns : t->end_ns;
}

/*
 * A thread without a sample for a long time did not run. Only samples of waiting say what it did
 * then: the samples before and after the gap show what it did while it ran.
 */
static uint64_t covered_from(const struct idle_sweep *s, const struct idle_thread *t,
			     uint64_t time_ns)
{
	const uint64_t next_ns = next_sample(t);
	return next_ns <= time_ns + s->coverage_ns ? next_ns : time_ns + s->period_ns;
}

/*
 * A waiting thread has no samples until it continues. The start and end of waits for devices are
 * known, so a sample in a call that waits for a device covers no more time than other samples.
 */
static uint64_t covered_until(const struct idle_sweep *s, const struct idle_thread *t,
			      uint64_t time_ns)
{
	const bool lasts = t->state == IDLE_OFF ||
			   (t->state == IDLE_BLOCKED &&
			    s->m->contexts[t->context].activity != MODEL_GPU_WAIT);
	return lasts ? next_sample(t) : covered_from(s, t, time_ns);
}

/* The thread continued. It may not have run long enough to get a sample. */
static void end_block(const struct idle_sweep *s, struct idle_thread *t, uint64_t ns)
{
	const uint64_t until_ns = covered_from(s, t, ns);
	if (t->state == IDLE_BLOCKED && t->covered_until_ns > until_ns)
		t->covered_until_ns = until_ns;
}

static void take_samples(const struct idle_sweep *s, struct idle_thread *t, uint64_t ns)
{
	while (t->next < t->n && t->samples[t->next].time_ns <= ns) {
		struct model_sample sample = t->samples[t->next];
		t->context = sample.context;
		t->state = (uint8_t)(sample.context ? state_of(s, sample.context) : IDLE_OFF);
		if (++t->next == t->n)
			refill(s, t);
		t->covered_until_ns = covered_until(s, t, sample.time_ns);
	}
	if (t->covered_until_ns <= ns)
		t->covered_until_ns = 0;
}

/* ---- waits ---- */

/* The devices that the thread may be waiting for. */
static uint64_t candidates(const struct idle_thread *t)
{
	return t->launched_on ? t->launched_on : t->uses;
}

static uint32_t find_device(const struct idle_thread *t)
{
	uint64_t set = candidates(t);
	return __builtin_popcountll(set) == 1 && set != idle_bit(63)
		       ? (uint32_t)__builtin_ctzll(set)
		       : MODEL_NONE;
}

static void begin_wait(struct idle_sweep *s, struct idle_thread *t)
{
	const struct model_gpu_wait *w = t->waits++;
	const struct model_gpu_times *times =
		&s->m->private_->gpu_times[s->m->profiles[t->profile].process];
	struct idle_wait *at = vec_push(&t->waiting);
	t->n_waits--;
	if (!at) {
		s->account.failed = true;
		return;
	}
	*at = (struct idle_wait){w->end_ns, times->cells[w->cell].context, find_device(t)};
	if (at->device == MODEL_NONE)
		return;
	idle_device_advance(s, &s->devices.at[at->device], w->start_ns);
	s->devices.at[at->device].n_waits++;
}

static void take_waits(struct idle_sweep *s, struct idle_thread *t, uint64_t ns)
{
	for (size_t i = t->waiting.n; i-- > 0;) {
		struct idle_wait w = t->waiting.at[i];
		if (w.end_ns > ns)
			continue;
		if (w.device != MODEL_NONE) {
			idle_device_advance(s, &s->devices.at[w.device], w.end_ns);
			s->devices.at[w.device].n_waits--;
			s->devices.at[w.device].wait_end_ns = w.end_ns;
		}
		t->waiting.at[i] = t->waiting.at[--t->waiting.n];
		end_block(s, t, w.end_ns);
	}
	while (t->n_waits && t->waits->start_ns <= ns)
		begin_wait(s, t);
}

/* ---- what it does for each device ---- */

/* If the device of a wait is unknown, the wait counts for each device that it may be for. */
static bool waits_for(const struct idle_thread *t, uint32_t device)
{
	for (size_t i = 0; i < t->waiting.n; i++)
		if (t->waiting.at[i].device == device ||
		    (t->waiting.at[i].device == MODEL_NONE && candidates(t) & idle_bit(device)))
			return true;
	return false;
}

static struct idle_mark blocked(const struct idle_thread *t, uint32_t device, uint32_t context)
{
	bool launches = t->launched_on & idle_bit(device);
	return (struct idle_mark){.state = launches ? IDLE_BLOCKED_LAUNCHER : IDLE_BLOCKED,
				  .context = context};
}

static struct idle_mark now_of(const struct idle_thread *t, uint32_t device)
{
	if (!(t->uses & idle_bit(device)))
		return (struct idle_mark){.state = IDLE_UNKNOWN};
	if (t->waiting.n && waits_for(t, device))
		return (struct idle_mark){.state = IDLE_WAITS_HERE};
	if (t->waiting.n)
		return blocked(t, device, t->waiting.at[t->waiting.n - 1].context);
	if (t->covered_until_ns && t->state == IDLE_BLOCKED)
		return blocked(t, device, t->context);
	if (t->covered_until_ns)
		return (struct idle_mark){.state = t->state, .context = t->context};
	return (struct idle_mark){.state = IDLE_UNKNOWN};
}

static void credit(struct idle_sweep *s, const struct idle_thread *t, const struct idle_mark *mark,
		   const struct idle_device *d)
{
	idle_account_add(&s->account, GPU_IDLE_CAUSE, t->profile, mark->context,
			 d->share_of[mark->state] - mark->share);
}

static void change(struct idle_sweep *s, struct idle_thread *t, uint32_t device, uint64_t ns)
{
	struct idle_mark *mark = &t->marks[device], now = now_of(t, device);
	struct idle_device *d = &s->devices.at[device];
	if (mark->state == now.state && mark->context == now.context)
		return;
	idle_device_advance(s, d, ns);
	credit(s, t, mark, d);
	d->n_threads[mark->state]--;
	d->n_threads[now.state]++;
	now.share = d->share_of[now.state];
	*mark = now;
}

/* ---- the stream ---- */

void idle_thread_open(const struct idle_sweep *s, struct idle_thread *t)
{
	refill(s, t);
}

uint64_t idle_thread_next(const struct idle_thread *t)
{
	uint64_t next = t->next < t->n ? t->samples[t->next].time_ns : IDLE_NEVER;
	if (t->covered_until_ns && t->covered_until_ns < next)
		next = t->covered_until_ns;
	if (t->n_waits && t->waits->start_ns < next)
		next = t->waits->start_ns;
	for (size_t i = 0; i < t->waiting.n; i++)
		if (t->waiting.at[i].end_ns < next)
			next = t->waiting.at[i].end_ns;
	return next;
}

void idle_thread_take(struct idle_sweep *s, struct idle_thread *t, uint64_t ns)
{
	take_samples(s, t, ns);
	take_waits(s, t, ns);
	for (uint32_t d = 0; d < s->devices.n; d++)
		change(s, t, d, ns);
}

void idle_thread_close(struct idle_sweep *s, struct idle_thread *t, uint64_t ns)
{
	for (uint32_t d = 0; d < s->devices.n; d++) {
		idle_device_advance(s, &s->devices.at[d], ns);
		credit(s, t, &t->marks[d], &s->devices.at[d]);
	}
}
