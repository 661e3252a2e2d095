/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules about how the time of a device was divided, from its first operation to its last; see
 * view_advice.h. Test: tests/unit/prof_gpu/test_advice.c.
 */
#include "hpcprof-lite/view/advice/advice_causes.h"

#include <math.h>

/* Rules ignore causes below this share of the time, and shorter ones. */
#define LEAST_OF_WHOLE 0.05
#define LEAST_SECONDS 0.001
/* Kernels so short that the GPU's own time between two of them counts; seconds. */
#define SHORT_KERNEL 20e-6
/*
 * Least time that the host takes for a launch or an asynchronous copy, without a measurement: 2.4
 * to 3 us on the host of an H200; seconds. PC samples make that 4.5 us.
 */
#define LAUNCH_COST 2.4e-6
/* Copies from pageable memory are below this part of the rate of pinned memory. */
#define PAGEABLE_PART 0.45
#define LARGE_COPY 1e6
/* Bytes a second that can be pinned: 9 to 13 GB/s on the host of an H200. */
#define PINNING_RATE 12e9
/* The share of the gaps between kernels that remains after the change. */
#define REMAINS 0.1

static struct view_advice begin(const struct advice_device *d, enum view_advice_kind kind)
{
	return (struct view_advice){
		.kind = kind, .function = MODEL_NONE, .device = d->device, .seconds = d->whole};
}

/* Proposes `a` with the factors that follow from saving these seconds of the whole. */
static bool propose(const struct advice_device *d, struct view_advice *a, double low, double likely,
		    double high, struct view_advices *to)
{
	return advice_propose(
		to, a, advice_from_saved(low / d->whole, likely / d->whole, high / d->whole));
}

/*
 * PC samples make launches slower, so that gaps say nothing. But kernels that are shorter than a
 * launch takes without them leave the device idle in any case, for the difference.
 */
static bool launches(const struct advice_device *d, struct view_advices *to)
{
	struct view_advice a = begin(d, VIEW_ADVICE_LAUNCHES);
	double of_one = d->n_kernels > 0 ? d->kernels / d->n_kernels : 0,
	       idle = d->idle[MODEL_GPU_IDLE_LAUNCH];
	if (of_one < SHORT_KERNEL)
		idle += d->idle[MODEL_GPU_IDLE_QUEUED];
	const double certain =
		d->is_sampled ? fmin(idle, fmax(LAUNCH_COST - of_one, 0) * d->n_kernels) : idle;
	if (certain < LEAST_OF_WHOLE * d->whole || d->n_kernels <= 0 ||
	    d->n_launches < d->n_kernels / 2)
		return true;
	advice_fact(&a, "idle while threads launched", MODEL_SHARE, idle / d->whole);
	advice_fact(&a, "kernels", MODEL_COUNT, d->n_kernels);
	advice_fact(&a, "a kernel takes", MODEL_SECONDS, of_one);
	advice_fact(&a, "idle for each", MODEL_SECONDS, idle / d->n_kernels);
	return propose(d, &a, certain / 2, certain * (1 - REMAINS), idle, to);
}

/*
 * Copies so small that the link needs less time for the data than the host to begin them. What one
 * takes beyond the data ends, up to the time to begin it, and so do the gaps that the host leaves
 * before them. A copy for each kernel cannot be joined with others.
 */
static bool copies(const struct advice_device *d, struct view_advices *to)
{
	struct view_advice a = begin(d, VIEW_ADVICE_COPIES);
	const double n = (double)d->to_device.n + (double)d->from_device.n,
		     bytes = (double)d->to_device.bytes + (double)d->from_device.bytes,
		     seconds = ((double)d->to_device.ns + (double)d->from_device.ns) / 1e9;
	if (n <= 2 * d->n_kernels || d->link_rate <= 0 || bytes / n > LAUNCH_COST * d->link_rate)
		return true;
	const double alone = d->copies > 0 ? fmax(1 - d->overlap / d->copies, 0) : 0,
		     idle = d->idle[MODEL_GPU_IDLE_LAUNCH] + d->idle[MODEL_GPU_IDLE_QUEUED],
		     fixed = fmin(fmax(seconds - bytes / d->link_rate, 0), LAUNCH_COST * n),
		     saved = fixed * alone + idle * n / (n + d->n_kernels);
	if (saved < LEAST_OF_WHOLE * d->whole)
		return true;
	advice_fact(&a, "copies", MODEL_COUNT, n);
	advice_fact(&a, "bytes of one", MODEL_BYTES, bytes / n);
	advice_fact(&a, "a copy takes", MODEL_SECONDS, seconds / n);
	advice_fact(&a, "time of these copies", MODEL_SHARE, seconds / d->whole);
	advice_fact(&a, "idle before them", MODEL_SHARE, idle * n / (n + d->n_kernels) / d->whole);
	return propose(d, &a, saved / 2, saved * (1 - REMAINS), saved, to);
}

static bool waits(const struct advice_device *d, struct view_advices *to)
{
	struct view_advice a = begin(d, VIEW_ADVICE_WAITS);
	double idle = d->idle[MODEL_GPU_IDLE_SYNC];
	if (idle < LEAST_OF_WHOLE * d->whole)
		return true;
	advice_fact(&a, "idle after a thread had waited", MODEL_SHARE, idle / d->whole);
	advice_fact(&a, "waits", MODEL_COUNT, d->n_waits);
	return propose(d, &a, idle / 2, idle * (1 - REMAINS), idle, to);
}

/*
 * To free memory waits for the device, and to allocate it takes long, too. Some of that is beside
 * kernels, but none of it is needed, so what the device is idle meanwhile ends.
 */
static bool allocations(const struct advice_device *d, double idle, struct view_advices *to)
{
	struct view_advice a = begin(d, VIEW_ADVICE_ALLOCATIONS);
	const double saved = fmin(idle, d->allocation);
	advice_fact(&a, "idle while nothing was launched, after the first kernel began",
		    MODEL_SHARE, idle / d->whole);
	advice_fact(&a, "calls that allocate or free, where this is repeated", MODEL_COUNT,
		    d->n_allocations);
	advice_fact(&a, "a call takes", MODEL_SECONDS, d->allocation / fmax(d->n_allocations, 1));
	for (unsigned i = 0; i < d->n_calls; i++)
		advice_add_place(&a, d->calls[i].context, d->calls[i].share);
	return propose(d, &a, saved / 2, saved * (1 - REMAINS), idle, to);
}

/*
 * The host can work while the device does, so at most the shorter of the two times is saved. What
 * it does before the first kernel makes the data that this needs.
 */
static bool host(const struct advice_device *d, struct view_advices *to)
{
	struct view_advice a = begin(d, VIEW_ADVICE_HOST);
	double idle = fmax(d->idle[MODEL_GPU_IDLE_NOTHING] - d->setup, 0),
	       busy = d->kernels + d->copies - d->overlap, both = fmin(idle, busy);
	if (fmin(idle, d->allocation) >= fmax(idle / 2, LEAST_OF_WHOLE * d->whole))
		return allocations(d, idle, to);
	if (both < LEAST_OF_WHOLE * d->whole)
		return true;
	advice_fact(&a, "idle while nothing was launched, after the first kernel began",
		    MODEL_SHARE, idle / d->whole);
	advice_fact(&a, "busy", MODEL_SHARE, busy / d->whole);
	return propose(d, &a, both / 2, both, both, to);
}

/*
 * If copies and kernels overlap, the gaps between them are saved, too. At most, copies to the
 * device and from it are also done at the same time, as the link has two directions.
 */
static bool overlap(const struct advice_device *d, struct view_advices *to)
{
	struct view_advice a = begin(d, VIEW_ADVICE_OVERLAP);
	double copies = d->copies - d->overlap, kernels = d->kernels - d->overlap,
	       both = fmin(fmin(copies, kernels), d->pieces - d->overlap);
	if (both < LEAST_OF_WHOLE * d->whole)
		return true;
	advice_fact(&a, "copies with no kernel beside them", MODEL_SHARE, copies / d->whole);
	advice_fact(&a, "kernels with no copy beside them", MODEL_SHARE, kernels / d->whole);
	const double to_device = (double)d->to_device.ns / 1e9,
		     from_device = (double)d->from_device.ns / 1e9,
		     one_way = d->copies - fmin(fmin(to_device, from_device), d->copies);
	return propose(d, &a, both / 2, both, d->whole - fmax(one_way, d->kernels), to);
}

/* `rate_words` name the rate and the direction of the copies. */
static bool pinned(const struct advice_device *d, const struct view_gpu_sum *c,
		   const char *rate_words, struct view_advices *to)
{
	struct view_advice a = begin(d, VIEW_ADVICE_PINNED);
	double seconds = (double)c->ns / 1e9, rate = seconds > 0 ? (double)c->bytes / seconds : 0,
	       of_one = c->n ? (double)c->bytes / (double)c->n : 0,
	       alone = d->copies > 0 ? 1 - d->overlap / d->copies : 0;
	if (seconds * alone < LEAST_OF_WHOLE * d->whole || of_one < LARGE_COPY ||
	    rate >= PAGEABLE_PART * d->link_rate)
		return true;
	advice_fact(&a, rate_words, MODEL_BYTES_PER_SECOND, rate);
	advice_fact(&a, "bytes of one", MODEL_BYTES, of_one);
	advice_fact(&a, "time of these copies", MODEL_SHARE, seconds / d->whole);
	/* at most: pinning costs nothing if it is done when the memory is allocated */
	double most = seconds * alone * (1 - rate / d->link_rate),
	       saved = fmax(most - (double)c->once_bytes / PINNING_RATE, 0);
	advice_fact(&a, "pinned memory would give about", MODEL_BYTES_PER_SECOND, d->link_rate);
	advice_fact(&a, "bytes to pin", MODEL_BYTES, (double)c->once_bytes);
	return propose(d, &a, saved / 2, saved, most, to);
}

bool view_advice_device(const struct advice_device *d, struct view_advices *a)
{
	if (d->whole < LEAST_SECONDS)
		return true;
	return launches(d, a) && copies(d, a) && waits(d, a) && host(d, a) && overlap(d, a) &&
	       pinned(d, &d->to_device, "rate of copies to the GPU", a) &&
	       pinned(d, &d->from_device, "rate of copies from the GPU", a);
}
