/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recounts the values of the part. A value is shared out over the samples or operations of its
 * (thread, context, metric) such that adjoining ranges of time add up to the whole, to the
 * nanosecond. Test: tests/unit/prof/test_filter.c.
 */
#include "common/base/capped.h"
#include "common/base/pool.h"
#include "hpcprof-lite/filter/filter_part.h"

#include <stdlib.h>
#include <string.h>

/* ---- shares ---- */

/* sum * part / all, rounded down; unsigned __int128 is a GNU extension. */
static uint64_t scale(uint64_t sum, uint64_t part, uint64_t all)
{
	return part >= all ? sum : (uint64_t)((unsigned __int128)sum * part / all);
}

static uint64_t share_of(uint64_t sum, const struct filter_share *s)
{
	uint64_t up_to = s->before;
	capped_grow(&up_to, s->in);
	return scale(sum, up_to, s->all) - scale(sum, s->before, s->all);
}

static bool is_before(const struct filter_part *p, uint64_t ns)
{
	return p->has_time && ns < p->from_ns;
}

static bool is_in(const struct filter_part *p, uint64_t ns)
{
	return !p->has_time || (ns >= p->from_ns && ns < p->until_ns);
}

/* Adds `n`, which counts at the moment `ns`. */
static void add_at(const struct filter_part *p, struct filter_share *s, uint64_t ns, uint64_t n)
{
	capped_grow(&s->all, n);
	if (is_before(p, ns))
		capped_grow(&s->before, n);
	else if (is_in(p, ns))
		capped_grow(&s->in, n);
}

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t until)
{
	a = a > from ? a : from;
	b = b < until ? b : until;
	return b > a ? b - a : 0;
}

static void use(struct filter_part *p, uint32_t context)
{
	/* relaxed: read after the threads were joined */
	atomic_store_explicit(&p->is_used[context], true, memory_order_relaxed);
}

/* ---- operations ---- */

uint32_t filter_queue_process(const struct filter_part *p, uint32_t queue)
{
	return p->from->gpu_contexts[p->from->gpu_queues[queue].context].process;
}

/* The thread that an operation counts for; MODEL_NONE: the process has no thread. */
static uint32_t thread_of(const struct filter_part *p, const struct model_gpu_cell *cell,
			  uint32_t process)
{
	return cell->launcher != MODEL_NONE ? cell->launcher : p->first_thread[process];
}

bool filter_has_op(const struct filter_part *p, const struct model_gpu_line *line,
		   const struct model_gpu_item *item, uint32_t process)
{
	const struct model_gpu_cell *cell = &line->cells[item->cell];
	uint32_t thread = thread_of(p, cell, process);
	return thread != MODEL_NONE && p->profile_to[thread] != MODEL_NONE &&
	       filter_has_context(p, cell->context) &&
	       (is_in(p, item->start_ns) ||
		(item->start_ns < p->from_ns && item->end_ns > p->from_ns));
}

static bool share_op(struct filter_part *p, const struct model_gpu_item *item, uint32_t thread,
		     uint32_t context)
{
	uint64_t index = map_put(&p->op_index, thread, context, p->ops.n);
	if (index == MAP_NONE || (index == p->ops.n && !vec_push(&p->ops)))
		return false;
	struct filter_ops *o = &p->ops.at[index];
	uint64_t start = item->start_ns, end = item->end_ns;
	add_at(p, &o->n, start, 1);
	if (msr_gpu_op_kind(item->record) != MSR_GPU_KERNEL)
		add_at(p, &o->bytes, start, item->record->amount);
	capped_grow(&o->ns.all, end - start);
	capped_grow(&o->ns.before, overlap(start, end, 0, p->from_ns));
	capped_grow(&o->ns.in, overlap(start, end, p->from_ns, p->until_ns));
	return true;
}

/* Counts the operations of a queue that are in the part, by lane. */
static bool count_ops(struct filter_part *p, uint32_t queue)
{
	const struct model_gpu_line *line = &p->from->private_->gpu_lines[queue];
	uint32_t process = filter_queue_process(p, queue);
	if (p->process_to[process] == MODEL_NONE)
		return true;
	for (uint64_t i = 0; i < line->n; i++) {
		const struct model_gpu_item *item = &line->items[i];
		const struct model_gpu_cell *cell = &line->cells[item->cell];
		uint32_t thread = thread_of(p, cell, process);
		if (p->has_time && thread != MODEL_NONE &&
		    !share_op(p, item, thread, cell->context))
			return false;
		if (!filter_has_op(p, line, item, process))
			continue;
		use(p, cell->context);
		p->profiles[p->first_lane[queue] + item->lane].n_records++;
	}
	return true;
}

/* ---- samples ---- */

/*
 * The index of the sample's value in the thread, or n_values: as model_find_value(), but in O(1).
 */
static size_t find_value(const struct model_profile *t, const uint32_t *first,
			 const struct model_sample *s)
{
	const struct model_value *v = t->values;
	size_t i = first[s->context];
	while (i < t->n_values && v[i].context == s->context && v[i].metric < s->metric)
		i++;
	return i < t->n_values && v[i].context == s->context && v[i].metric == s->metric
		       ? i
		       : t->n_values;
}

/* A wait on the time line: its share is the time that it took, not the number of samples. */
struct open_wait {
	struct filter_share *share; /* NULL: none is open */
	uint32_t context;
	uint64_t start_ns;
};

static void step_wait(const struct filter_part *p, struct open_wait *w,
		      const struct model_sample *s, struct filter_share *share)
{
	const struct open_wait old = *w;
	if (old.share && !model_ends_wait(p->from, s))
		return;
	if (old.share) {
		capped_grow(&old.share->all, s->time_ns - old.start_ns);
		capped_grow(&old.share->before,
			    p->has_time ? overlap(old.start_ns, s->time_ns, 0, p->from_ns) : 0);
		capped_grow(&old.share->in,
			    p->has_time
				    ? overlap(old.start_ns, s->time_ns, p->from_ns, p->until_ns)
				    : s->time_ns - old.start_ns);
	}
	*w = (struct open_wait){0};
	if (share && (!old.share || old.context != s->context))
		*w = (struct open_wait){share, s->context, s->time_ns};
}

/* Counts the samples of a thread by value. Those without a value count at of[n_values]. */
static void count_samples(struct filter_part *p, uint32_t profile, uint32_t *first,
			  struct filter_share *of)
{
	enum { CHUNK = 1024 };
	struct model_sample samples[CHUNK];
	struct model_trace_cursor cursor = {0};
	struct open_wait wait = {0};
	const struct model_profile *t = &p->from->profiles[profile];
	for (size_t i = t->n_values; i-- > 0;)
		first[t->values[i].context] = (uint32_t)i;
	for (size_t n; (n = model_trace_read(p->from, profile, &cursor, samples, CHUNK));)
		for (size_t i = 0; i < n; i++) {
			const struct model_sample *s = &samples[i];
			p->profiles[profile].n_records += is_in(p, s->time_ns);
			const bool waits = filter_has_context(p, s->context) &&
					   model_is_wait(p->from, s);
			step_wait(p, &wait, s, waits ? &of[find_value(t, first, s)] : NULL);
			if (!filter_has_context(p, s->context)) /* stays, at context 0 */
				continue;
			add_at(p, &of[find_value(t, first, s)], s->time_ns, 1);
			if (!is_in(p, s->time_ns))
				continue;
			use(p, s->context);
			if (filter_has_context(p, s->shown))
				use(p, s->shown);
		}
	/* a wait that nothing ended took until the thread ended */
	step_wait(p, &wait, &(struct model_sample){.time_ns = t->end_ns}, NULL);
}

/* ---- values ---- */

static bool is_blame(const struct model_metric *m)
{
	return m->role == MODEL_ROLE_GPU_IDLE_CAUSE || m->role == MODEL_ROLE_CPU_IDLE_CAUSE;
}

static bool is_energy(const struct model_metric *m)
{
	return m->kind == MODEL_METRIC_GPU_ENERGY;
}

/* The shares of a GPU metric: by time, by bytes, or by number of operations. */
static const struct filter_share *op_share(const struct model_metric *m, const struct filter_ops *o)
{
	if (m->kind == MODEL_METRIC_GPU_TIME && o->ns.all)
		return &o->ns;
	bool is_bytes = m->role == MODEL_ROLE_COPY_BYTES || m->role == MODEL_ROLE_SET_BYTES;
	return is_bytes && o->bytes.all ? &o->bytes : &o->n;
}

struct recount {
	struct filter_part *p;
	uint32_t profile;
	const struct filter_share *samples; /* by value of the profile */
};

/*
 * Estimates the samples of one thread by its share of the value: the model has only their number
 * over all threads.
 */
static uint64_t estimate_samples(const struct model *m, const struct model_value *v)
{
	const struct model_total *t = model_find_total(m, v->context, v->metric);
	if (!t || t->n_profiles == 1 || t->sum[MODEL_POINT] <= 0)
		return t ? t->n_samples : 0;
	return (uint64_t)((double)t->n_samples * v->at[MODEL_POINT] / t->sum[MODEL_POINT] + 0.5);
}

/* The share of the value; sets *n to its samples or operations. NULL: it has no time line. */
static const struct filter_share *find_share(const struct recount *r, const struct model_value *v,
					     uint64_t *n)
{
	const struct model *m = r->p->from;
	const struct model_metric *metric = &m->metrics[v->metric];
	const struct filter_share *s = NULL;
	if (metric->is_of_pc_samples || is_blame(metric) || is_energy(metric))
		return NULL;
	if (metric->kind == MODEL_METRIC_GUESSED) /* the same samples as its parent */
		v = model_find_value(m, r->profile, v->context, metric->parent);
	if (metric->kind == MODEL_METRIC_SAMPLED || metric->kind == MODEL_METRIC_GUESSED) {
		s = v ? &r->samples[v - m->profiles[r->profile].values] : NULL;
		*n = s ? s->in : 0;
		/* the share of a wait is in ns */
		if (s && metric->measures == MODEL_EVENT_OFFCPU)
			*n = s->in ? estimate_samples(m, v) : 0;
	} else {
		uint64_t index = map_get(&r->p->op_index, r->profile, v->context);
		s = index == MAP_NONE ? NULL : op_share(metric, &r->p->ops.at[index]);
		*n = s ? r->p->ops.at[index].n.in : 0;
	}
	return s && s->all ? s : NULL;
}

static uint64_t to_integer(double value)
{
	return value >= 0x1p64 ? UINT64_MAX : (uint64_t)(value + 0.5);
}

/*
 * The value of an activity is the sum of the times in the context. Adds up the shares of these
 * times, so that activities still add up to the time.
 */
static void recount_activity(const struct recount *r, const struct model_value *v,
			     struct sum_extra *x, uint64_t *untimed)
{
	const struct model *m = r->p->from;
	x->sum = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_value *of =
			m->metrics[i].is_time ? model_find_value(m, r->profile, v->context, i)
					      : NULL;
		if (!of || of->at[MODEL_POINT] <= 0)
			continue;
		uint64_t n, sum = to_integer(of->at[MODEL_POINT] * r->p->divisors[i]);
		const struct filter_share *s = find_share(r, of, &n);
		if (s) {
			x->sum += share_of(sum, s);
			x->n_samples += n;
		} else {
			*untimed += sum;
		}
	}
}

static bool recount_value(const struct recount *r, const struct model_value *v)
{
	struct filter_part *p = r->p;
	const struct model_metric *metric = &p->from->metrics[v->metric];
	if ((p->has_idle && is_blame(metric)) || (p->has_energy && is_energy(metric)))
		return true; /* computed anew */
	struct sum_extra x = {.context = v->context,
			      .metric = v->metric,
			      .sum = to_integer(v->at[MODEL_POINT] * p->divisors[v->metric])};
	bool is_activity = metric->kind == MODEL_METRIC_ACTIVITY;
	const struct filter_share *s = is_activity ? NULL : find_share(r, v, &x.n_samples);
	/* relaxed: plain sums, read after the threads were joined */
	atomic_fetch_add_explicit(&p->sums[v->metric], x.sum, memory_order_relaxed);
	if (p->has_time && is_activity) {
		uint64_t untimed = 0;
		recount_activity(r, v, &x, &untimed);
		atomic_fetch_add_explicit(&p->untimed[v->metric], untimed, memory_order_relaxed);
	} else if (p->has_time && !s) {
		atomic_fetch_add_explicit(&p->untimed[v->metric], x.sum, memory_order_relaxed);
		return true;
	}
	if (p->has_time && s)
		x.sum = share_of(x.sum, s);
	else if (!p->has_time && !s)
		x.n_samples = estimate_samples(p->from, v);
	if (!x.sum && !x.n_samples)
		return true;
	use(p, x.context);
	struct sum_extra *at = vec_push(&p->profiles[r->profile].values);
	if (at)
		*at = x;
	return at != NULL;
}

static void recount_job(void *arg, size_t i, unsigned worker)
{
	struct filter_part *p = arg;
	const struct model_profile *t = &p->from->profiles[i];
	if (t->kind != MODEL_PROFILE_THREAD || p->profile_to[i] == MODEL_NONE)
		return;
	struct filter_share *samples = calloc(t->n_values + 1, sizeof *samples);
	const struct recount r = {p, (uint32_t)i, samples};
	bool ok = samples != NULL;
	if (ok)
		count_samples(p, r.profile, p->first_value[worker], samples);
	for (size_t k = 0; ok && k < t->n_values; k++)
		if (t->values[k].at[MODEL_POINT] > 0 && filter_has_context(p, t->values[k].context))
			ok = recount_value(&r, &t->values[k]);
	free(samples);
	if (!ok)
		atomic_store(&p->failed, true);
}

/* ---- idle time of GPUs ---- */

static uint32_t find_role(const struct model *m, enum model_metric_role role)
{
	uint32_t i = 0;
	while (i < m->n_metrics && m->metrics[i].role != role)
		i++;
	return i < m->n_metrics ? i : MODEL_NONE;
}

/*
 * Recounts the blame in a range of time from the time lines of the whole run. Otherwise the threads
 * in the part would get the blame of those outside it.
 */
static bool recount_blame(struct filter_part *p)
{
	const uint32_t metric_of[] = {
		[GPU_IDLE_CAUSE] = find_role(p->from, MODEL_ROLE_GPU_IDLE_CAUSE),
		[CPU_IDLE_CAUSE] = find_role(p->from, MODEL_ROLE_CPU_IDLE_CAUSE)};
	if (!p->has_time || p->from->part || !p->from->private_->gpu_times)
		return true;
	const struct gpu_idle_of all = {.from_ns = p->from_ns,
					.until_ns = p->until_ns,
					.end_process = p->from->n_processes};
	if (!gpu_idle_find(p->from, &all, p->n_workers, &p->idle))
		return false;
	p->has_idle = true;
	for (size_t i = 0; i < p->idle.blames.n; i++) {
		const struct gpu_blame *b = &p->idle.blames.at[i];
		if (metric_of[b->metric] == MODEL_NONE || p->profile_to[b->profile] == MODEL_NONE ||
		    !filter_has_context(p, b->context))
			continue;
		struct sum_extra *x = vec_push(&p->profiles[b->profile].values);
		if (!x)
			return false;
		*x = (struct sum_extra){.context = b->context,
					.metric = metric_of[b->metric],
					.n_samples = b->n,
					.sum = b->ns};
		use(p, b->context);
	}
	return true;
}

/* ---- energy of GPUs ---- */

static bool recount_share(struct filter_part *p, const struct gpu_energy_share *e,
			  enum model_metric_role role, uint64_t sum)
{
	uint32_t metric = find_role(p->from, role);
	if (!sum || metric == MODEL_NONE)
		return true;
	struct sum_extra *x = vec_push(&p->profiles[e->profile].values);
	if (x)
		*x = (struct sum_extra){
			.context = e->context, .metric = metric, .n_samples = e->n, .sum = sum};
	use(p, e->context);
	return x != NULL;
}

/* The energy in a range of time, from the meters and time lines of the whole run. */
static bool recount_energy(struct filter_part *p)
{
	if (!p->has_time || p->from->part || !p->from->n_meters)
		return true;
	if (!gpu_energy_find(p->from, p->from_ns, p->until_ns, &p->energy))
		return false;
	p->has_energy = true;
	for (size_t i = 0; i < p->energy.shares.n; i++) {
		const struct gpu_energy_share *e = &p->energy.shares.at[i];
		if (p->profile_to[e->profile] == MODEL_NONE || !filter_has_context(p, e->context))
			continue;
		if (!recount_share(p, e, MODEL_ROLE_ENERGY, e->uj) ||
		    !recount_share(p, e, MODEL_ROLE_ENERGY_SHARED, e->shared_uj) ||
		    !recount_share(p, e, MODEL_ROLE_ENERGY_TIME, e->read_ns))
			return false;
	}
	return true;
}

static bool make_room(struct filter_part *p)
{
	p->first_value = calloc(p->n_workers, sizeof *p->first_value);
	for (unsigned i = 0; p->first_value && i < p->n_workers; i++)
		if (!(p->first_value[i] =
			      calloc((size_t)p->from->n_contexts + 1, sizeof **p->first_value)))
			return false;
	return p->first_value != NULL;
}

bool filter_recount(struct filter_part *p)
{
	if (!make_room(p) || !recount_blame(p) || !recount_energy(p))
		return false;
	for (uint32_t q = 0; q < p->from->n_gpu_queues; q++)
		if (!count_ops(p, q))
			return false;
	pool_run_shown("filtering", p->from->n_profiles, p->n_workers, recount_job, p);
	return !atomic_load(&p->failed);
}
