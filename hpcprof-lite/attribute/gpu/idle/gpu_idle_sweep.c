/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_idle_sweep.h. Test: tests/unit/prof_gpu/test_gpu_idle.c. */
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.h"

#include "common/base/sorted.h"

#include <stdlib.h>

/* A stream in a binary heap, sorted by the time of the next event, then by number. */
struct head {
	uint64_t ns;
	uint32_t stream; /* 0: the stretches; then the queues; then the threads */
};

struct merge {
	struct idle_sweep *s;
	struct head *heap;
	size_t n;
	size_t next_stretch; /* counts starts and ends */
};

struct idle_thread *idle_sweep_thread(struct idle_sweep *s, uint32_t profile)
{
	size_t n = sorted_up_to(s->threads.at, s->threads.n, profile, profile);
	return n && s->threads.at[n - 1].profile == profile ? &s->threads.at[n - 1] : NULL;
}

/* ---- when processes are watched ---- */

static uint64_t next_boundary(const struct merge *g)
{
	const struct idle_stretch *at = &g->s->stretches.at[g->next_stretch / 2];
	if (g->next_stretch == 2 * g->s->stretches.n)
		return IDLE_NEVER;
	return g->next_stretch % 2 ? at->end_ns : at->start_ns;
}

static void take_boundary(struct merge *g, uint64_t ns)
{
	bool watch = g->next_stretch++ % 2 == 0;
	for (size_t i = 0; i < g->s->devices.n; i++)
		idle_device_watch(g->s, &g->s->devices.at[i], ns, watch);
	g->s->is_watched = watch;
}

/* ---- streams ---- */

static uint64_t next_of(const struct merge *g, uint32_t stream)
{
	size_t n_queues = g->s->queues.n;
	if (!stream)
		return next_boundary(g);
	return stream <= n_queues ? idle_queue_next(&g->s->queues.at[stream - 1])
				  : idle_thread_next(&g->s->threads.at[stream - 1 - n_queues]);
}

static void take(struct merge *g, uint32_t stream, uint64_t ns)
{
	size_t n_queues = g->s->queues.n;
	if (!stream)
		take_boundary(g, ns);
	else if (stream <= n_queues)
		idle_queue_take(g->s, &g->s->queues.at[stream - 1], ns);
	else
		idle_thread_take(g->s, &g->s->threads.at[stream - 1 - n_queues], ns);
}

static bool is_before(const struct head *a, const struct head *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->stream < b->stream;
}

static void sink(struct merge *g, size_t at)
{
	struct head moved = g->heap[at];
	for (size_t child; (child = 2 * at + 1) < g->n; at = child) {
		if (child + 1 < g->n && is_before(&g->heap[child + 1], &g->heap[child]))
			child++;
		if (!is_before(&g->heap[child], &moved))
			break;
		g->heap[at] = g->heap[child];
	}
	g->heap[at] = moved;
}

static bool open_streams(struct merge *g)
{
	size_t n = 1 + g->s->queues.n + g->s->threads.n;
	g->heap = malloc(n * sizeof *g->heap);
	if (!g->heap)
		return false;
	for (size_t i = 0; i < g->s->threads.n; i++)
		idle_thread_open(g->s, &g->s->threads.at[i]);
	for (uint32_t i = 0; i < n; i++) {
		struct head h = {next_of(g, i), i};
		if (h.ns != IDLE_NEVER)
			g->heap[g->n++] = h;
	}
	for (size_t i = g->n / 2; i-- > 0;)
		sink(g, i);
	return true;
}

static uint64_t run_merge(struct merge *g)
{
	uint64_t now = 0;
	while (g->n && !g->s->account.failed) {
		struct head *top = &g->heap[0];
		now = top->ns > now ? top->ns : now;
		take(g, top->stream, now);
		top->ns = next_of(g, top->stream);
		if (top->ns == IDLE_NEVER)
			*top = g->heap[--g->n];
		sink(g, 0);
	}
	return now;
}

bool idle_sweep_run(struct idle_sweep *s)
{
	struct merge g = {.s = s};
	for (size_t i = 0; i < s->devices.n; i++) {
		s->devices.at[i].latencies = calloc(IDLE_BUCKETS, sizeof(uint32_t));
		s->devices.at[i].n_threads[IDLE_UNKNOWN] = s->threads.n;
		if (!s->devices.at[i].latencies)
			return false;
	}
	for (size_t i = 0; i < s->threads.n; i++) {
		s->threads.at[i].marks = calloc(s->devices.n + 1, sizeof(struct idle_mark));
		if (!s->threads.at[i].marks)
			return false;
	}
	if (!open_streams(&g))
		return false;
	uint64_t now = run_merge(&g);
	free(g.heap);
	for (size_t i = 0; i < s->threads.n; i++)
		idle_thread_close(s, &s->threads.at[i], now);
	for (size_t i = 0; i < s->devices.n; i++)
		idle_device_close(&s->devices.at[i]);
	return !s->account.failed;
}

void idle_sweep_free(struct idle_sweep *s)
{
	for (size_t i = 0; i < s->devices.n; i++)
		free(s->devices.at[i].latencies);
	for (size_t i = 0; i < s->queues.n; i++)
		vec_free(&s->queues.at[i].running);
	for (size_t i = 0; i < s->threads.n; i++) {
		free(s->threads.at[i].marks);
		vec_free(&s->threads.at[i].waiting);
	}
	vec_free(&s->devices);
	vec_free(&s->queues);
	vec_free(&s->threads);
	vec_free(&s->processes);
	vec_free(&s->stretches);
	map_free(&s->account.index);
	vec_free(&s->account.entries);
}
