/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_idle_sweep.h. Test: tests/unit/prof_gpu/test_gpu_idle.c. */
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.h"

/* ---- time passes ---- */

/*
 * Blames threads that work. If none works, blames blocked threads, preferably those that launch on
 * the device.
 */
static void blame_threads(struct idle_device *d, uint64_t ns)
{
	enum idle_state state = IDLE_WORKS;
	while (state > IDLE_BLOCKED && !d->n_threads[state])
		state--;
	if (d->n_threads[state]) {
		d->share_of[state] += ((idle_fixed)ns << IDLE_FRACTION) / d->n_threads[state];
		d->sum.blamed_ns += ns;
	} else if (d->n_threads[IDLE_WAITS_HERE]) {
		d->sum.waiting_ns += ns;
	} else {
		d->sum.unsampled_ns += ns;
	}
}

static bool is_off(const struct idle_device *d)
{
	uint64_t n = 0;
	for (unsigned state = IDLE_WAITS_HERE; state < IDLE_STATES; state++)
		n += d->n_threads[state];
	return d->n_threads[IDLE_OFF] && !n;
}

static void pass_waits(struct idle_device *d, uint64_t ns)
{
	uint64_t n = d->n_kernels + d->n_copies;
	if (!n) {
		d->waits.idle_ns += d->n_waits * ns;
		return;
	}
	d->waits.blamed_ns += d->n_waits * ns;
	d->share_of_op += ((idle_fixed)(d->n_waits * ns) << IDLE_FRACTION) / n;
}

static void pass_idle(struct idle_device *d, uint64_t ns)
{
	enum idle_part part = d->n_in_flight                  ? IDLE_LAUNCHED
			      : d->n_threads[IDLE_WAITS_HERE] ? IDLE_SYNCHRONISED
							      : IDLE_FREE;
	d->gap_ns[part] += ns;
	blame_threads(d, ns);
}

void idle_device_advance(const struct idle_sweep *s, struct idle_device *d, uint64_t ns)
{
	uint64_t begin_ns = d->at_ns > s->from_ns ? d->at_ns : s->from_ns,
		 end_ns = ns < s->until_ns ? ns : s->until_ns;
	d->at_ns = ns > d->at_ns ? ns : d->at_ns; /* damaged times may go backwards */
	if (end_ns <= begin_ns)
		return;
	uint64_t length_ns = end_ns - begin_ns;
	bool is_idle = !d->n_kernels && !d->n_copies;
	if (d->n_waits)
		pass_waits(d, length_ns);
	if (!s->is_watched)
		return;
	if (is_idle && is_off(d)) {
		d->sum.off_ns += length_ns;
		return;
	}
	d->sum.watched_ns += length_ns;
	d->sum.kernel_ns += d->n_kernels ? length_ns : 0;
	d->sum.copy_ns += d->n_copies ? length_ns : 0;
	d->sum.overlap_ns += d->n_kernels && d->n_copies ? length_ns : 0;
	d->queue_ns += (idle_fixed)d->n_in_flight * length_ns;
	if (is_idle)
		pass_idle(d, length_ns);
}

/* ---- why it was idle ---- */

/*
 * An operation begins after a gap. If a thread waited for the device in the gap, that wait explains
 * the gap, except for other work of the threads and for a launch that was slow in itself, like the
 * first launch of a kernel. Without a wait, a short gap means that the launch came too late.
 */
static void close_gap(struct idle_device *d)
{
	uint64_t free_ns = d->gap_ns[IDLE_FREE], sync_ns = d->gap_ns[IDLE_SYNCHRONISED],
		 launched_ns = d->gap_ns[IDLE_LAUNCHED], *to = d->sum.idle_ns;
	const uint64_t nothing_ns = to[MODEL_GPU_IDLE_NOTHING];
	bool is_short = free_ns <= IDLE_LAUNCH_NS;
	if (d->is_before_first) {
		to[MODEL_GPU_IDLE_BEFORE] += free_ns + sync_ns + launched_ns;
	} else if (sync_ns || d->was_waited_for) {
		bool is_quick = launched_ns <= IDLE_LAUNCH_NS;
		to[MODEL_GPU_IDLE_SYNC] +=
			sync_ns + (is_quick ? launched_ns : 0) + (is_short ? free_ns : 0);
		to[MODEL_GPU_IDLE_NOTHING] += is_short ? 0 : free_ns;
		to[MODEL_GPU_IDLE_QUEUED] += is_quick ? 0 : launched_ns;
	} else if (free_ns && is_short) {
		to[MODEL_GPU_IDLE_LAUNCH] += free_ns + launched_ns;
	} else {
		to[MODEL_GPU_IDLE_NOTHING] += free_ns;
		to[MODEL_GPU_IDLE_QUEUED] += launched_ns;
	}
	if (!d->has_computed)
		d->sum.setup_ns += to[MODEL_GPU_IDLE_NOTHING] - nothing_ns;
}

static void open_gap(struct idle_device *d, uint64_t ns, bool is_before_first)
{
	d->is_before_first = is_before_first;
	d->was_waited_for = d->wait_end_ns && ns - d->wait_end_ns <= IDLE_CLOCK_NS;
	for (unsigned i = 0; i < IDLE_PARTS; i++)
		d->gap_ns[i] = 0;
}

/* ---- latencies ---- */

static unsigned bucket_of(uint64_t ns)
{
	if (ns < 32)
		return (unsigned)ns;
	unsigned bits = 63 - (unsigned)__builtin_clzll(ns), bucket = (bits - 4) * 32;
	bucket += (unsigned)(ns >> (bits - 5)) & 31;
	return bucket < IDLE_BUCKETS ? bucket : IDLE_BUCKETS - 1;
}

/* The middle of the bucket. */
static uint64_t time_of(unsigned bucket)
{
	if (bucket < 32)
		return bucket;
	unsigned bits = bucket / 32 + 4;
	uint64_t width = UINT64_C(1) << (bits - 5);
	return (32 + bucket % 32) * width + width / 2;
}

/* The smallest time that at least `percent` of the latencies do not exceed. */
static uint64_t quantile(const struct idle_device *d, unsigned percent)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < IDLE_BUCKETS; i++) {
		sum += d->latencies[i];
		if (sum && (idle_fixed)sum * 100 >= (idle_fixed)d->sum.n_latencies * percent)
			return time_of(i);
	}
	return 0;
}

/* ---- events ---- */

void idle_device_launch(const struct idle_sweep *s, struct idle_device *d, uint64_t ns,
			uint64_t latency_ns)
{
	idle_device_advance(s, d, ns);
	bool counts = ns >= s->from_ns && ns < s->until_ns;
	if (counts && !d->n_in_flight) {
		d->sum.n_latencies++;
		d->latencies[bucket_of(latency_ns)]++;
	}
	d->n_in_flight++;
	d->sum.n_ops += counts;
	if (counts && d->n_in_flight > d->sum.queue_most)
		d->sum.queue_most = d->n_in_flight;
}

void idle_device_begin(const struct idle_sweep *s, struct idle_device *d, uint64_t ns,
		       bool is_kernel)
{
	idle_device_advance(s, d, ns);
	if (!d->n_kernels && !d->n_copies)
		close_gap(d);
	d->has_computed |= is_kernel;
	if (is_kernel)
		d->n_kernels++;
	else
		d->n_copies++;
}

void idle_device_end(const struct idle_sweep *s, struct idle_device *d, uint64_t ns, bool is_kernel)
{
	idle_device_advance(s, d, ns);
	if (is_kernel)
		d->n_kernels--;
	else
		d->n_copies--;
	d->n_in_flight--;
	if (!d->n_kernels && !d->n_copies)
		open_gap(d, ns, false);
}

void idle_device_watch(const struct idle_sweep *s, struct idle_device *d, uint64_t ns, bool watch)
{
	idle_device_advance(s, d, ns);
	if (!watch && !d->n_kernels && !d->n_copies)
		d->sum.idle_ns[d->is_before_first ? MODEL_GPU_IDLE_BEFORE : MODEL_GPU_IDLE_AFTER] +=
			d->gap_ns[IDLE_FREE] + d->gap_ns[IDLE_SYNCHRONISED] +
			d->gap_ns[IDLE_LAUNCHED];
	open_gap(d, ns, true);
}

void idle_device_close(struct idle_device *d)
{
	d->sum.queue_mean = d->sum.watched_ns ? (double)d->queue_ns / (double)d->sum.watched_ns : 0;
	d->sum.latency_median_ns = quantile(d, 50);
	d->sum.latency_95_ns = quantile(d, 95);
	d->sum.is_known = true;
}
