/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_idle.h. Test: tests/unit/prof_gpu/test_gpu_idle.c. */
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle.h"

#include "common/base/pool.h"
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.h"
#include "hpcprof-lite/attribute/known/known_waits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A running thread has a sample at least this often: a timer expires on the kernel's tick. */
#define LEAST_COVERAGE_NS UINT64_C(10000000)
#define COVERED_PERIODS 3
#define LEAST_PERIOD_NS UINT64_C(1000000)
#define MOST_PERIOD_NS UINT64_C(1000000000000)
/* share of operations without a time above which the devices are not judged */
#define UNTIMED_MOST 0.01

struct finding {
	const struct model *m;
	const struct gpu_idle_of *of;
	struct gpu_idle *out;
	VEC(struct idle_sweep) sweeps;
	uint32_t *sweep_of; /* by device; MODEL_NONE: nothing ran on it */
	uint32_t *index_of; /* by device: index in its sweep */
	bool *is_used;      /* by device */
	uint8_t *places;    /* by function: enum idle_place */
	atomic_bool failed;
};

static uint32_t process_of(const struct model *m, uint32_t queue)
{
	return m->gpu_contexts[m->gpu_queues[queue].context].process;
}

/* True if something ran on the queue and its process is in the range to look at. */
static bool is_counted(const struct finding *f, uint32_t queue)
{
	const uint32_t p = process_of(f->m, queue);
	return f->m->private_->gpu_lines[queue].n && p >= f->of->first_process &&
	       p < f->of->end_process;
}

/* ---- devices connected by processes ---- */

static uint32_t root_of(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

/*
 * Makes disjoint sets of devices: all devices that one process uses are in one set. False: memory
 * is short.
 */
static bool connect_devices(struct finding *f, uint32_t *up)
{
	const struct model *m = f->m;
	uint32_t *first = malloc(((size_t)m->n_processes + 1) * sizeof *first);
	if (!first)
		return false;
	for (uint32_t i = 0; i < m->n_processes; i++)
		first[i] = MODEL_NONE;
	for (uint32_t i = 0; i < m->n_gpu_devices; i++)
		up[i] = i;
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		uint32_t d = m->gpu_queues[i].device, p = process_of(m, i);
		if (!is_counted(f, i))
			continue;
		f->is_used[d] = true;
		if (first[p] == MODEL_NONE)
			first[p] = d;
		up[root_of(up, d)] = root_of(up, first[p]);
	}
	free(first);
	return true;
}

static bool make_sweeps(struct finding *f, uint32_t *up)
{
	for (uint32_t d = 0; d < f->m->n_gpu_devices; d++) {
		uint32_t root = root_of(up, d);
		f->sweep_of[d] = MODEL_NONE;
		if (!f->is_used[d])
			continue;
		uint32_t at = root < d ? f->sweep_of[root] : MODEL_NONE;
		for (uint32_t i = 0; i < d && at == MODEL_NONE; i++)
			if (f->is_used[i] && root_of(up, i) == root)
				at = f->sweep_of[i];
		if (at == MODEL_NONE) {
			struct idle_sweep *new = vec_push(&f->sweeps);
			if (!new)
				return false;
			*new = (struct idle_sweep){.m = f->m,
						   .from_ns = f->of->from_ns,
						   .until_ns = f->of->until_ns};
			at = (uint32_t)f->sweeps.n - 1;
		}
		struct idle_device *new = vec_push(&f->sweeps.at[at].devices);
		if (!new)
			return false;
		new->device = d;
		f->sweep_of[d] = at;
		f->index_of[d] = (uint32_t)f->sweeps.at[at].devices.n - 1;
	}
	return true;
}

/* ---- queues, processes and threads ---- */

static bool add_queues(struct finding *f, uint64_t *uses, uint32_t *sweep_of_process)
{
	const struct model *m = f->m;
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		uint32_t d = m->gpu_queues[i].device, p = process_of(m, i);
		if (!is_counted(f, i))
			continue;
		struct idle_sweep *s = &f->sweeps.at[f->sweep_of[d]];
		struct idle_queue *q = vec_push(&s->queues);
		if (!q)
			return false;
		*q = (struct idle_queue){
			.line = &m->private_->gpu_lines[i], .device = f->index_of[d], .process = p};
		uses[p] |= idle_bit(f->index_of[d]);
		sweep_of_process[p] = f->sweep_of[d];
	}
	return true;
}

static int compare_stretches(const void *pa, const void *pb)
{
	const struct idle_stretch *a = pa, *b = pb;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool add_process(struct idle_sweep *s, uint32_t process)
{
	const struct model_process *p = &s->m->processes[process];
	uint64_t until_ns = s->m->private_->gpu_times[process].until_ns;
	uint32_t *id = vec_push(&s->processes);
	struct idle_stretch *at = vec_push(&s->stretches);
	if (!id || !at)
		return false;
	*id = process;
	*at = (struct idle_stretch){p->start_ns, p->end_ns};
	if (until_ns && until_ns < s->until_ns)
		s->until_ns = until_ns;
	return true;
}

static void join_stretches(struct idle_sweep *s)
{
	size_t n = 0;
	qsort(s->stretches.at, s->stretches.n, sizeof *s->stretches.at, compare_stretches);
	for (size_t i = 0; i < s->stretches.n; i++) {
		const struct idle_stretch *at = &s->stretches.at[i];
		if (!n || at->start_ns > s->stretches.at[n - 1].end_ns)
			s->stretches.at[n++] = *at;
		else if (at->end_ns > s->stretches.at[n - 1].end_ns)
			s->stretches.at[n - 1].end_ns = at->end_ns;
	}
	s->stretches.n = n;
}

static bool add_thread(struct idle_sweep *s, uint32_t profile, uint64_t uses,
		       const struct model_gpu_wait **waits, const struct model_gpu_wait *end)
{
	struct idle_thread *t = vec_push(&s->threads);
	if (!t)
		return false;
	*t = (struct idle_thread){
		.profile = profile, .uses = uses, .end_ns = s->m->profiles[profile].end_ns};
	while (*waits < end && (*waits)->launcher < profile)
		++*waits;
	t->waits = *waits;
	while (*waits < end && (*waits)->launcher == profile)
		++*waits;
	t->n_waits = (uint64_t)(*waits - t->waits);
	return true;
}

static bool add_processes(struct finding *f, const uint64_t *uses, const uint32_t *sweep_of)
{
	const struct model *m = f->m;
	const struct model_gpu_wait *waits = NULL, *end = NULL;
	for (uint32_t i = 0, last = MODEL_NONE; i < m->n_profiles; i++) {
		uint32_t p = m->profiles[i].process;
		if (!uses[p] || m->profiles[i].kind != MODEL_PROFILE_THREAD)
			continue;
		struct idle_sweep *s = &f->sweeps.at[sweep_of[p]];
		if (p != last) {
			const struct model_gpu_times *times = &m->private_->gpu_times[p];
			waits = times->waits;
			end = waits + times->n_waits;
			last = p;
		}
		if (!add_thread(s, i, uses[p], &waits, end))
			return false;
	}
	for (uint32_t p = 0; p < m->n_processes; p++)
		if (uses[p] && !add_process(&f->sweeps.at[sweep_of[p]], p))
			return false;
	for (size_t i = 0; i < f->sweeps.n; i++)
		join_stretches(&f->sweeps.at[i]);
	return true;
}

static bool fill_sweeps(struct finding *f)
{
	size_t n = (size_t)f->m->n_processes + 1;
	uint64_t *uses = calloc(n, sizeof *uses);
	uint32_t *sweep_of = calloc(n, sizeof *sweep_of);
	bool ok = uses && sweep_of && add_queues(f, uses, sweep_of) &&
		  add_processes(f, uses, sweep_of);
	free(uses);
	free(sweep_of);
	return ok;
}

/* ---- the sweeps ---- */

/*
 * Marks the functions of libc in which threads wait for other threads. Samples of REALTIME end in
 * them, or below.
 */
static void list_places(const struct model *m, uint8_t *places)
{
	for (uint32_t i = 0; i < m->n_functions; i++)
		if (m->functions[i].module < m->n_modules &&
		    m->modules[m->functions[i].module].role == MODEL_MODULE_START)
			places[i] = known_waits_in(m->functions[i].name) ? IDLE_IN_LOCK
									 : IDLE_IN_LIBC;
}

/* The longest period of any time metric. */
static uint64_t longest_period_ns(const struct model *m)
{
	uint64_t most = LEAST_PERIOD_NS;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		if (k->kind == MODEL_METRIC_SAMPLED && k->unit == MODEL_SECONDS &&
		    k->period_most < MOST_PERIOD_NS && k->period_most > most)
			most = k->period_most;
	}
	return most;
}

/* Sets the number of operations without a time. False: there are too many to judge the devices. */
static bool is_judged(struct idle_sweep *s)
{
	uint64_t n_ops = 0, n_untimed = 0;
	for (size_t i = 0; i < s->queues.n; i++)
		n_ops += s->queues.at[i].line->n;
	for (size_t i = 0; i < s->processes.n; i++)
		n_untimed += s->m->private_->gpu_times[s->processes.at[i]].n_untimed;
	for (size_t i = 0; i < s->devices.n; i++)
		s->devices.at[i].sum.n_untimed = n_untimed;
	return (double)n_untimed <= UNTIMED_MOST * (double)n_ops;
}

static void sweep_job(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct finding *f = arg;
	struct idle_sweep *s = &f->sweeps.at[i];
	if (is_judged(s) && !atomic_load(&f->failed) && !idle_sweep_run(s))
		atomic_store(&f->failed, true);
}

static bool add_sweep(struct gpu_idle *out, struct idle_sweep *s)
{
	uint64_t total_ns[GPU_IDLE_METRICS] = {0};
	for (size_t i = 0; i < s->devices.n; i++) {
		const struct idle_device *d = &s->devices.at[i];
		out->devices[d->device] = d->sum;
		total_ns[GPU_IDLE_CAUSE] += d->sum.blamed_ns;
		total_ns[CPU_IDLE_CAUSE] += d->waits.blamed_ns;
		out->waits.blamed_ns += d->waits.blamed_ns;
		out->waits.idle_ns += d->waits.idle_ns;
	}
	return idle_account_close(&s->account, total_ns, out);
}

static int compare_blames(const void *pa, const void *pb)
{
	const struct gpu_blame *a = pa, *b = pb;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

/*
 * Sums all waits, including those of processes without operations. Waits that were summed up in the
 * run have no time.
 */
static void sum_waits(const struct model *m, const struct gpu_idle_of *of,
		      struct model_gpu_waits *w)
{
	for (uint32_t p = of->first_process; p < of->end_process; p++) {
		const struct model_gpu_times *t = &m->private_->gpu_times[p];
		w->all_ns += of->from_ns || of->until_ns != IDLE_NEVER ? 0 : t->summed_wait_ns;
		for (uint64_t i = 0; i < t->n_waits; i++) {
			uint64_t a = t->waits[i].start_ns, b = t->waits[i].end_ns;
			a = a > of->from_ns ? a : of->from_ns;
			b = b < of->until_ns ? b : of->until_ns;
			w->all_ns += b > a ? b - a : 0;
		}
	}
	w->unknown_ns = w->all_ns - w->blamed_ns - w->idle_ns;
}

static bool run_sweeps(struct finding *f, unsigned n_workers)
{
	list_places(f->m, f->places);
	uint64_t period_ns = longest_period_ns(f->m), coverage_ns = COVERED_PERIODS * period_ns;
	coverage_ns = coverage_ns > LEAST_COVERAGE_NS ? coverage_ns : LEAST_COVERAGE_NS;
	for (size_t i = 0; i < f->sweeps.n; i++) {
		f->sweeps.at[i].period_ns = period_ns;
		f->sweeps.at[i].coverage_ns = coverage_ns;
		f->sweeps.at[i].places = f->places;
	}
	pool_run_shown("idle time of GPUs", f->sweeps.n, n_workers, sweep_job, f);
	bool ok = !atomic_load(&f->failed);
	for (size_t i = 0; i < f->sweeps.n && ok; i++)
		ok = add_sweep(f->out, &f->sweeps.at[i]);
	if (f->out->blames.n)
		qsort(f->out->blames.at, f->out->blames.n, sizeof *f->out->blames.at,
		      compare_blames);
	return ok;
}

bool gpu_idle_find(const struct model *m, const struct gpu_idle_of *of, unsigned n_workers,
		   struct gpu_idle *out)
{
	size_t n = (size_t)m->n_gpu_devices + 1;
	*out = (struct gpu_idle){0};
	if (!m->private_->gpu_times)
		return true;
	struct finding f = {.m = m,
			    .of = of,
			    .out = out,
			    .sweep_of = calloc(n, sizeof *f.sweep_of),
			    .index_of = calloc(n, sizeof *f.index_of),
			    .is_used = calloc(n, sizeof *f.is_used),
			    .places = calloc((size_t)m->n_functions + 1, sizeof *f.places)};
	uint32_t *up = calloc(n, sizeof *up);
	out->devices = calloc(n, sizeof *out->devices);
	bool ok = f.sweep_of && f.index_of && f.is_used && f.places && up && out->devices &&
		  connect_devices(&f, up) && make_sweeps(&f, up) &&
		  fill_sweeps(&f) && run_sweeps(&f, n_workers);
	if (ok)
		sum_waits(m, of, &out->waits);
	for (size_t i = 0; i < out->blames.n; i++)
		out->occurs[out->blames.at[i].metric] = true;
	for (size_t i = 0; i < f.sweeps.n; i++)
		idle_sweep_free(&f.sweeps.at[i]);
	vec_free(&f.sweeps);
	free(f.sweep_of);
	free(f.index_of);
	free(f.is_used);
	free(f.places);
	free(up);
	return ok;
}

void gpu_idle_free(struct gpu_idle *i)
{
	vec_free(&i->blames);
	free(i->devices);
	*i = (struct gpu_idle){0};
}

/* ---- metrics ---- */

bool gpu_idle_add_metrics(struct model *m, const struct gpu_idle *i,
			  uint32_t index_of[GPU_IDLE_METRICS])
{
	static const struct model_metric rows[GPU_IDLE_METRICS] = {
		[GPU_IDLE_CAUSE] = {.role = MODEL_ROLE_GPU_IDLE_CAUSE,
				    .name = "GPU_IDLE_CAUSE (sec)",
				    .description =
					    "idle time of GPUs, at what CPU threads did meanwhile "
					    "(seconds)"},
		[CPU_IDLE_CAUSE] = {.role = MODEL_ROLE_CPU_IDLE_CAUSE,
				    .name = "CPU_IDLE_CAUSE (sec)",
				    .description = "time that CPU threads waited for GPUs, at the "
						   "operations that ran meanwhile (seconds)"}};
	struct model_metric *metrics = realloc(
		m->private_->metrics, (m->n_metrics + GPU_IDLE_METRICS + 1) * sizeof *metrics);
	if (!metrics)
		return false;
	m->metrics = m->private_->metrics = metrics;
	for (unsigned k = 0; k < GPU_IDLE_METRICS; k++) {
		index_of[k] = i->occurs[k] ? m->n_metrics : MODEL_NONE;
		if (!i->occurs[k])
			continue;
		metrics[m->n_metrics] = rows[k];
		metrics[m->n_metrics].kind = MODEL_METRIC_GPU_TIME;
		metrics[m->n_metrics].parent = metrics[m->n_metrics].divisor = MODEL_NONE;
		metrics[m->n_metrics].unit = MODEL_SECONDS;
		metrics[m->n_metrics++].event = "gpu";
	}
	return true;
}
