/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of phases from time lines. Test: tests/unit/prof_parallel/test_view_phases.c.
 *
 * A time line has no weights. So each sample of CPUTIME counts as the mean of its thread: the
 * thread's value of the metric, divided by the samples in its time line. A wait of OFFCPU counts
 * from its first to its last sample.
 */
#include "hpcprof-lite/view/parallel/view_pop_internal.h"

#include "hpcprof-lite/view/parallel/view_processors.h"

#include <stdlib.h>

enum { CHUNK = 1024 };

/* ---- loops ---- */

/* The loop that the context is in; n: none. */
static size_t find_loop(const struct model *m, const uint32_t *loops, size_t n, uint32_t context)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (loops[middle] <= context)
			low = middle + 1;
		else
			high = middle;
	}
	return low && context < loops[low - 1] + m->contexts[loops[low - 1]].subtree_n ? low - 1
										       : n;
}

void pop_time_loops(const struct pop *p, const uint32_t *loops, size_t n, double *elapsed)
{
	struct model_sample samples[CHUNK];
	const struct model *m = p->m;
	for (uint32_t i = 0; i < m->n_processes; i++) {
		struct model_trace_cursor cursor = {0};
		uint64_t before = 0;
		if (!p->is_chosen[i] || p->main_thread[i] == MODEL_NONE)
			continue;
		for (size_t k, got;
		     (got = model_trace_read(m, p->main_thread[i], &cursor, samples, CHUNK));)
			for (k = 0; k < got; k++) {
				const size_t loop = find_loop(m, loops, n, samples[k].context);
				if (before && loop < n)
					elapsed[loop * m->n_processes + i] +=
						(double)(samples[k].time_ns - before) / 1e9;
				/* 0: the measurement was off from here on */
				before = samples[k].context ? samples[k].time_ns : 0;
			}
	}
}

/* ---- ranges ---- */

/* Goes forward in the ranges of a phase, a process and a thread. Ranges that overlap are one. */
struct walk {
	const struct model_range *next, *end;
	uint32_t profile;     /* MODEL_NONE: all */
	uint64_t from, until; /* the range that began last */
	uint64_t before_ns;   /* length of those before it */
};

static struct walk walk_begin(const struct model *m, uint32_t phase, uint32_t process,
			      uint32_t profile)
{
	size_t low = 0, high = m->n_ranges;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct model_range *r = &m->ranges[middle];
		if (r->phase < phase || (r->phase == phase && r->process < process))
			low = middle + 1;
		else
			high = middle;
	}
	size_t end = low;
	while (end < m->n_ranges && m->ranges[end].phase == phase &&
	       m->ranges[end].process == process)
		end++;
	return (struct walk){.next = m->ranges + low, .end = m->ranges + end, .profile = profile};
}

/* True if the time is in a range. Times must not decrease. */
static bool walk_to(struct walk *w, uint64_t time_ns)
{
	for (; w->next < w->end && w->next->enter_ns <= time_ns; w->next++) {
		const struct model_range *r = w->next;
		if (w->profile != MODEL_NONE && r->profile != MODEL_NONE &&
		    r->profile != w->profile)
			continue;
		if (r->enter_ns > w->until) {
			w->before_ns += w->until - w->from;
			w->from = w->until = r->enter_ns;
		}
		w->until = r->leave_ns > w->until ? r->leave_ns : w->until;
	}
	return time_ns < w->until;
}

/* How much of the time up to this moment was in ranges, after walk_to(). */
static uint64_t walked(const struct walk *w, uint64_t time_ns)
{
	return w->before_ns + (time_ns < w->until ? time_ns : w->until) - w->from;
}

double pop_length(const struct model *m, uint32_t phase, uint32_t process)
{
	struct walk w = walk_begin(m, phase, process, MODEL_NONE);
	walk_to(&w, UINT64_MAX);
	return (double)walked(&w, UINT64_MAX) / 1e9;
}

/* ---- phases ---- */

enum what { USEFUL, GPU_WAIT, MPI, SETUP, OTHER, N_WHATS };

/* One time line. */
struct line {
	const struct pop *p;
	size_t n_phases;
	struct walk walks[VIEW_POP_MOST];
	bool is_wait; /* of OFFCPU, since `since` in ranges */
	uint64_t since[VIEW_POP_MOST];
	enum what waits_for;
	uint64_t wait_ns[VIEW_POP_MOST][N_WHATS];
	uint64_t n_samples;
	uint64_t n[VIEW_POP_MOST][N_WHATS];
};

static enum what what_of(const struct pop *p, uint32_t context)
{
	const unsigned activity = p->m->contexts[context].activity;
	return pop_is_mpi(activity)         ? p->is_setup[context] ? SETUP : MPI
	       : activity == MODEL_WORK     ? USEFUL
	       : activity == MODEL_GPU_WAIT ? GPU_WAIT
					    : OTHER;
}

static void end_wait(struct line *l, uint64_t now_ns)
{
	for (size_t k = 0; l->is_wait && k < l->n_phases; k++) {
		walk_to(&l->walks[k], now_ns);
		l->wait_ns[k][l->waits_for] += walked(&l->walks[k], now_ns) - l->since[k];
	}
	l->is_wait = false;
}

static void begin_wait(struct line *l, const struct model_sample *s)
{
	l->is_wait = true;
	l->waits_for = what_of(l->p, s->context);
	for (size_t k = 0; k < l->n_phases; k++) {
		walk_to(&l->walks[k], s->time_ns);
		l->since[k] = walked(&l->walks[k], s->time_ns);
	}
}

static void add_sample(struct line *l, const struct model_sample *s, uint32_t metric)
{
	const struct model *m = l->p->m;
	if (l->is_wait && model_ends_wait(m, s))
		end_wait(l, s->time_ns);
	if (!s->context)
		return;
	if (model_is_wait(m, s)) {
		begin_wait(l, s);
		return;
	}
	if (s->metric != metric)
		return;
	l->n_samples++;
	for (size_t k = 0; k < l->n_phases; k++)
		if (walk_to(&l->walks[k], s->time_ns))
			l->n[k][what_of(l->p, s->context)]++;
}

static void read_line(struct line *l, uint32_t profile, uint32_t metric)
{
	struct model_sample samples[CHUNK];
	struct model_trace_cursor cursor = {0};
	for (size_t got; (got = model_trace_read(l->p->m, profile, &cursor, samples, CHUNK));)
		for (size_t i = 0; i < got; i++)
			add_sample(l, &samples[i], metric);
	end_wait(l, l->p->m->profiles[profile].end_ns);
}

/* The metric of samples of threads that run: CPUTIME or REALTIME. */
static uint32_t find_time(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].is_time && m->metrics[i].measures != MODEL_EVENT_OFFCPU)
			return i;
	return MODEL_NONE;
}

static void time_thread(const struct pop *p, uint32_t profile, uint32_t metric,
			const uint32_t *phases, size_t n, struct pop_times *times)
{
	struct line l = {.p = p, .n_phases = n};
	const uint32_t process = p->m->profiles[profile].process;
	const struct model_value *v =
		metric == MODEL_NONE ? NULL : model_find_value(p->m, profile, 0, metric);
	for (size_t k = 0; k < n; k++)
		l.walks[k] = walk_begin(p->m, phases[k], process, profile);
	read_line(&l, profile, metric);
	const double mean = v && l.n_samples ? v->at[MODEL_EXECUTION] / (double)l.n_samples : 0;
	for (size_t k = 0; k < n; k++) {
		double seconds[N_WHATS];
		for (unsigned i = 0; i < N_WHATS; i++)
			seconds[i] = mean * (double)l.n[k][i] + (double)l.wait_ns[k][i] / 1e9;
		times[k].useful[profile] = seconds[USEFUL];
		times[k].gpu_wait[profile] = seconds[GPU_WAIT];
		if (p->main_thread[process] == profile) {
			times[k].mpi[process] = seconds[MPI];
			times[k].setup[process] = seconds[SETUP];
		}
	}
}

/* The calls of a thread are neighbours, by profile. */
static size_t first_call(const struct model_mpi *x, uint32_t profile)
{
	size_t low = 0, high = x->n_calls;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (x->calls[middle].profile < profile)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How long the thread was in a call that did not end, in the range. */
static double open_seconds(const struct model *m, uint32_t profile, const struct model_range *r)
{
	const struct model_mpi *x = m->mpi;
	for (size_t i = x && profile != MODEL_NONE ? first_call(x, profile) : SIZE_MAX;
	     x && i < x->n_calls && x->calls[i].profile == profile; i++) {
		const uint64_t end_ns = m->profiles[profile].end_ns,
			       begin_ns = end_ns - x->calls[i].ns,
			       from_ns = begin_ns > r->enter_ns ? begin_ns : r->enter_ns,
			       until_ns = end_ns < r->leave_ns ? end_ns : r->leave_ns;
		if (x->calls[i].is_open)
			return until_ns > from_ns ? (double)(until_ns - from_ns) / 1e9 : 0;
	}
	return 0;
}

/*
 * Uses the measured time in MPI if it is known for all ranges and includes no set-up. In a range
 * that did not end it is not, but perhaps in a call that did not end: without OFFCPU, samples lack
 * the time that a thread was blocked in it.
 */
static void take_measured(const struct pop *p, uint32_t phase, struct pop_times *t)
{
	const struct model *m = p->m;
	for (uint32_t i = 0; p->mpi_time != MODEL_NONE && i < m->n_processes; i++) {
		const struct walk w = walk_begin(m, phase, i, MODEL_NONE);
		double seconds = 0;
		bool is_known = w.next < w.end && t->setup[i] <= 0;
		for (const struct model_range *r = w.next; r < w.end; r++) {
			is_known &= r->mpi_ns != UINT64_MAX;
			seconds += r->mpi_ns != UINT64_MAX ? (double)r->mpi_ns / 1e9
							   : open_seconds(m, p->main_thread[i], r);
		}
		if (is_known || (t->setup[i] <= 0 && seconds > t->mpi[i]))
			t->mpi[i] = seconds;
	}
}

bool pop_time_phases(const struct pop *p, const uint32_t *phases, size_t n, struct pop_times *times)
{
	const struct model *m = p->m;
	const uint32_t metric = find_time(m);
	for (size_t k = 0; k < n; k++)
		if (!pop_times_make(p, &times[k]))
			return false;
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (p->is_chosen[m->profiles[i].process] && view_is_used_thread(m, &m->profiles[i]))
			time_thread(p, i, metric, phases, n, times);
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < m->n_processes; i++) {
			double length = pop_length(m, phases[k], i), *setup = &times[k].setup[i];
			*setup = *setup < length ? *setup : length;
			times[k].elapsed[i] = length - *setup;
		}
	for (size_t k = 0; k < n; k++)
		take_measured(p, phases[k], &times[k]);
	return true;
}
