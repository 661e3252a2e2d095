/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See gpu_energy.h. The time between two changes of a meter is a stretch. A first pass goes over
 * the operations of all queues of the device, by their starts, and finds how long the device was
 * busy in each stretch. Then the energy of each stretch is divided, and a second pass gives each
 * operation its part. Test: tests/unit/prof_gpu/test_gpu_energy.c.
 */
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"

#include "common/base/map.h"

#include <stdlib.h>

struct stretch {
	uint64_t start_ns, end_ns;
	double energy_uj;        /* used in it */
	uint64_t busy_ns;        /* at least one operation ran */
	uint64_t busy_in_ns;     /* the part of busy_ns in [from_ns, until_ns) */
	uint64_t work_ns;        /* sum over operations */
	uint64_t who;            /* the (profile, context) of its operations */
	bool has_work, is_mixed; /* there are operations; they have several of these */
	bool is_unknown;         /* operations had no times */
	double rate_uj;          /* energy of an operation for each ns that it ran */
};

struct sharing {
	struct gpu_energy_device *d;
	struct stretch *at; /* by time, disjoint */
	size_t n;
	struct line {
		const struct model_gpu_line *line;
		uint32_t process;
		uint64_t next;
	} * lines;
	size_t n_lines;
	struct map index; /* (profile, context): cell */
	double unknown_uj;
};

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t until)
{
	a = a > from ? a : from;
	b = b < until ? b : until;
	return b > a ? b - a : 0;
}

/* The first stretch that ends after `ns`. */
static size_t find_stretch(const struct sharing *s, uint64_t ns)
{
	size_t low = 0, high = s->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->at[middle].end_ns > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* ---- stretches and queues ---- */

static bool make_stretches(struct sharing *s)
{
	const struct model_meter *meter = s->d->meter;
	s->at = calloc(meter->n_changes + 1, sizeof *s->at);
	if (!s->at)
		return false;
	for (size_t i = 1; i < meter->n_changes; i++) {
		const struct model_energy_change *a = &meter->changes[i - 1], *b = a + 1;
		if (!b->begins)
			s->at[s->n++] = (struct stretch){
				.start_ns = a->time_ns,
				.end_ns = b->time_ns,
				.energy_uj = (double)(b->energy_uj - a->energy_uj)};
	}
	return true;
}

/*
 * Marks stretches with operations without times: those that were summed up in the run, or too many
 * others. The device that they ran on is unknown, so they count for each device that their process
 * may use.
 */
static void mark_unknown(struct sharing *s)
{
	const struct model *m = s->d->m;
	uint64_t until_ns = UINT64_MAX, n_untimed = 0, n = 0;
	uint32_t last = MODEL_NONE; /* contexts of one process are neighbours */
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++) {
		const struct model_gpu_context *c = &m->gpu_contexts[i];
		const struct model_gpu_times *t = &m->private_->gpu_times[c->process];
		if (c->device != s->d->device || c->process == last)
			continue;
		last = c->process;
		n_untimed += t->n_untimed;
		if (t->until_ns && t->until_ns < until_ns)
			until_ns = t->until_ns;
	}
	for (size_t i = 0; i < s->n_lines; i++)
		n += s->lines[i].line->n;
	if (n_untimed > n / 100)
		until_ns = 0;
	for (size_t i = 0; i < s->n; i++)
		s->at[i].is_unknown = s->at[i].end_ns > until_ns;
}

static bool list_lines(struct sharing *s)
{
	const struct model *m = s->d->m;
	s->lines = calloc((size_t)m->n_gpu_queues + 1, sizeof *s->lines);
	for (uint32_t q = 0; s->lines && q < m->n_gpu_queues; q++)
		if (m->gpu_queues[q].device == s->d->device && m->private_->gpu_lines[q].n)
			s->lines[s->n_lines++] = (struct line){
				.line = &m->private_->gpu_lines[q],
				.process = m->gpu_contexts[m->gpu_queues[q].context].process};
	return s->lines != NULL;
}

/*
 * The profile of the thread that an operation counts for. If the thread is unknown, the first one
 * of the process.
 */
static uint32_t profile_of(const struct sharing *s, uint32_t process,
			   const struct model_gpu_cell *cell)
{
	const struct model *m = s->d->m;
	if (cell->launcher != MODEL_NONE)
		return cell->launcher;
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].process == process &&
		    m->profiles[i].kind == MODEL_PROFILE_THREAD)
			return i;
	return MODEL_NONE;
}

static uint64_t who_of(const struct line *l, const struct model_gpu_cell *cell)
{
	uint32_t launcher = cell->launcher != MODEL_NONE ? cell->launcher : ~l->process;
	return (uint64_t)launcher << 32 | cell->context;
}

/* ---- the first pass: when the device was busy ---- */

/* The queue whose next operation starts first; NULL: there is none. */
static struct line *next_line(struct sharing *s)
{
	struct line *first = NULL;
	for (struct line *l = s->lines; l < s->lines + s->n_lines; l++)
		if (l->next < l->line->n &&
		    (!first ||
		     l->line->items[l->next].start_ns < first->line->items[first->next].start_ns))
			first = l;
	return first;
}

static void add_work(struct sharing *s, const struct line *l, const struct model_gpu_item *item,
		     uint64_t busy_from_ns)
{
	uint64_t who = who_of(l, &l->line->cells[item->cell]);
	for (size_t i = find_stretch(s, item->start_ns);
	     i < s->n && s->at[i].start_ns < item->end_ns; i++) {
		struct stretch *at = &s->at[i];
		at->work_ns += overlap(item->start_ns, item->end_ns, at->start_ns, at->end_ns);
		uint64_t from_ns = busy_from_ns > at->start_ns ? busy_from_ns : at->start_ns,
			 until_ns = item->end_ns < at->end_ns ? item->end_ns : at->end_ns;
		if (from_ns < until_ns) {
			at->busy_ns += until_ns - from_ns;
			at->busy_in_ns += overlap(from_ns, until_ns, s->d->from_ns, s->d->until_ns);
		}
		at->is_mixed = at->is_mixed || (at->has_work && at->who != who);
		at->who = who;
		at->has_work = true;
	}
}

static void find_work(struct sharing *s)
{
	uint64_t busy_until_ns = 0;
	for (struct line *l; (l = next_line(s));) {
		const struct model_gpu_item *item = &l->line->items[l->next++];
		uint64_t from_ns = item->start_ns > busy_until_ns ? item->start_ns : busy_until_ns;
		add_work(s, l, item, from_ns);
		busy_until_ns = item->end_ns > busy_until_ns ? item->end_ns : busy_until_ns;
	}
}

/* ---- the division ---- */

static int compare_doubles(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

/*
 * The idle power of the device: the median over stretches without an operation that follow such
 * stretches, because a meter may lag. 0: there are none. False if memory is short.
 */
static bool find_idle_power(const struct sharing *s, double *uj_per_ns)
{
	double *all = calloc(s->n + 1, sizeof *all);
	size_t n = 0;
	for (size_t i = 1; all && i < s->n; i++)
		if (!s->at[i].work_ns && !s->at[i - 1].work_ns && !s->at[i].is_unknown &&
		    s->at[i].start_ns == s->at[i - 1].end_ns)
			all[n++] =
				s->at[i].energy_uj / (double)(s->at[i].end_ns - s->at[i].start_ns);
	if (n)
		qsort(all, n, sizeof *all, compare_doubles);
	*uj_per_ns = n ? all[n / 2] : 0;
	free(all);
	return all != NULL;
}

/* The energy that a stretch used while nothing ran in it. */
static double idle_part(const struct stretch *at, double idle_uj_per_ns)
{
	uint64_t whole_ns = at->end_ns - at->start_ns, idle_ns = whole_ns - at->busy_ns;
	if (!at->work_ns)
		return at->energy_uj;
	if (idle_uj_per_ns <= 0)
		return at->energy_uj * (double)idle_ns / (double)whole_ns;
	double used_uj = idle_uj_per_ns * (double)idle_ns;
	return used_uj < at->energy_uj ? used_uj : at->energy_uj;
}

static void divide(struct sharing *s, double idle_uj_per_ns)
{
	struct model_energy *sum = s->d->sum;
	double idle_uj = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct stretch *at = &s->at[i];
		uint64_t whole_ns = at->end_ns - at->start_ns,
			 in_ns = overlap(at->start_ns, at->end_ns, s->d->from_ns, s->d->until_ns),
			 idle_in_ns = in_ns - at->busy_in_ns;
		double not_used_uj = idle_part(at, idle_uj_per_ns);
		sum->covered_ns += in_ns;
		if (at->is_unknown) {
			s->unknown_uj += at->energy_uj * (double)in_ns / (double)whole_ns;
			continue;
		}
		sum->busy_ns += at->busy_in_ns;
		sum->idle_ns += idle_in_ns;
		if (whole_ns > at->busy_ns)
			idle_uj +=
				not_used_uj * (double)idle_in_ns / (double)(whole_ns - at->busy_ns);
		if (at->work_ns)
			at->rate_uj = (at->energy_uj - not_used_uj) / (double)at->work_ns;
	}
	sum->idle_uj = gpu_energy_round(idle_uj);
	sum->idle_mw = gpu_energy_round(idle_uj_per_ns * 1e6);
}

/* ---- the second pass: the energy of each operation ---- */

static bool add_operation(struct sharing *s, const struct line *l,
			  const struct model_gpu_item *item)
{
	const struct model_gpu_cell *cell = &l->line->cells[item->cell];
	double uj = 0, shared_uj = 0;
	uint64_t read_ns = 0;
	for (size_t i = find_stretch(s, item->start_ns);
	     i < s->n && s->at[i].start_ns < item->end_ns; i++) {
		const struct stretch *at = &s->at[i];
		uint64_t from_ns = at->start_ns > s->d->from_ns ? at->start_ns : s->d->from_ns,
			 until_ns = at->end_ns < s->d->until_ns ? at->end_ns : s->d->until_ns;
		uint64_t part_ns = overlap(item->start_ns, item->end_ns, from_ns, until_ns);
		double part = at->rate_uj * (double)part_ns;
		uj += part;
		read_ns += at->is_unknown ? 0 : part_ns;
		shared_uj += at->is_mixed ? part : 0;
	}
	uint32_t profile = uj > 0 ? profile_of(s, l->process, cell) : MODEL_NONE;
	if (profile == MODEL_NONE || cell->context == MODEL_NONE) {
		s->unknown_uj += uj;
		return true;
	}
	uint64_t id = map_put(&s->index, profile, cell->context, s->d->cells.n);
	if (id == MAP_NONE)
		return false;
	if (id == s->d->cells.n) {
		struct gpu_energy_cell *new = vec_push(&s->d->cells);
		if (!new)
			return false;
		*new = (struct gpu_energy_cell){.profile = profile, .context = cell->context};
	}
	struct gpu_energy_cell *c = &s->d->cells.at[id];
	c->n++;
	c->uj += uj;
	c->shared_uj += shared_uj;
	c->read_ns += read_ns;
	return true;
}

static bool add_operations(struct sharing *s)
{
	for (size_t i = 0; i < s->n_lines; i++)
		for (uint64_t k = 0; k < s->lines[i].line->n; k++)
			if (!add_operation(s, &s->lines[i], &s->lines[i].line->items[k]))
				return false;
	return true;
}

bool gpu_energy_share(struct gpu_energy_device *d)
{
	struct sharing s = {.d = d};
	double idle_uj_per_ns = 0;
	bool ok = make_stretches(&s) && list_lines(&s);
	if (ok) {
		mark_unknown(&s);
		find_work(&s);
		ok = find_idle_power(&s, &idle_uj_per_ns);
	}
	if (ok)
		divide(&s, idle_uj_per_ns);
	ok = ok && add_operations(&s);
	d->sum->unknown_uj = gpu_energy_round(s.unknown_uj);
	free(s.at);
	free(s.lines);
	map_free(&s.index);
	return ok;
}
