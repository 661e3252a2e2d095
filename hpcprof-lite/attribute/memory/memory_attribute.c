/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory_attribute.h. Test: tests/cli/memory/memory_truth.sh. */
#include "hpcprof-lite/attribute/memory/memory_attribute.h"

#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/load/load_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_PEAK, MEMORY_END, MEMORY_TEMPORARY, MEMORY_CALLS, MEMORY_N_METRICS };

struct memory_part {
	bool is_present;
	uint32_t metric_of[MEMORY_N_METRICS]; /* index in the model */
	sum_extras extras;                    /* `thread` is the profile; sorted by it */
	VEC(struct model_memory) processes;
};

/* ---- metrics ---- */

static const struct model_metric metrics[MEMORY_N_METRICS] = {
	[MEMORY_PEAK] = {.role = MODEL_ROLE_LIVE_PEAK,
			 .name = "MEMORY:PEAK (B)",
			 .unit = MODEL_BYTES,
			 .description = "bytes that were live when the process had the most"},
	[MEMORY_END] = {.role = MODEL_ROLE_LIVE_END,
			.name = "MEMORY:END (B)",
			.unit = MODEL_BYTES,
			.description = "bytes that were never freed"},
	[MEMORY_TEMPORARY] = {.name = "MEMORY:TEMPORARY (B)",
			      .unit = MODEL_BYTES,
			      .description =
				      "bytes that a thread freed before it allocated others"},
	[MEMORY_CALLS] = {.name = "MEMORY:CALLS",
			  .unit = MODEL_COUNT,
			  .description = "allocations"},
};

static bool has_records(const struct load_job *job)
{
	for (size_t i = 0; i < job->files.n; i++)
		if (job->files.at[i].kinds >> MSR_MEMORY & 1)
			return true;
	return false;
}

static uint32_t allocated_metric(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].measures == MODEL_EVENT_MEMORY &&
		    m->metrics[i].kind == MODEL_METRIC_SAMPLED)
			return i;
	return MODEL_NONE;
}

static bool describe_memory(void *state, struct topic_run *r)
{
	struct memory_part *p = state;
	struct model *m = r->m;
	const uint32_t allocated = allocated_metric(m);
	p->is_present = allocated != MODEL_NONE && has_records(r->job);
	if (!p->is_present)
		return true;
	struct model_metric *to =
		realloc(m->private_->metrics, (m->n_metrics + MEMORY_N_METRICS) * sizeof *to);
	if (!to)
		return false;
	m->metrics = m->private_->metrics = to;
	for (uint32_t i = 0; i < MEMORY_N_METRICS; i++) {
		struct model_metric *k = &to[m->n_metrics];
		*k = metrics[i];
		k->kind = MODEL_METRIC_MEMORY;
		k->event = "MEMORY";
		k->parent = k->unit == MODEL_BYTES ? allocated : MODEL_NONE;
		k->divisor = MODEL_NONE;
		p->metric_of[i] = m->n_metrics++;
	}
	return true;
}

/* ---- samples of a file ---- */

typedef VEC(struct memory_sample) samples_of_file;

static uint64_t period_of(const struct load_file *f)
{
	for (unsigned i = 0; i < MSR_MAX_METRICS; i++)
		if (f->metrics[i] && f->metrics[i]->unit == MSR_UNIT_BYTES &&
		    !strcmp(f->metrics[i]->name, MSR_METRIC_MEMORY))
			return f->metrics[i]->period;
	return 0;
}

static bool collect_part(const struct topic_where *where, struct load_file *f, uint32_t file,
			 uint32_t thread, const struct load_part *part, samples_of_file *to)
{
	const struct msr_memory *all = (const void *)part->content;
	const uint64_t period = period_of(f);
	struct msr_memory r;
	for (size_t i = 0; i < part->n_bytes / sizeof *all; i++) {
		const bool is_sound = load_memory_is_sound(f, &f->threads.at[thread], &all[i], &r);
		const uint32_t context =
			is_sound ? where->context(where->arg, file, thread, r.node) : MODEL_NONE;
		if (context == MODEL_NONE)
			continue;
		struct memory_sample *s = vec_push(to);
		if (!s)
			return false;
		*s = (struct memory_sample){.alloc_ns = r.alloc_ns,
					    .free_ns = r.free_ns ? r.free_ns : UINT64_MAX,
					    .bytes = r.bytes,
					    .weight = msr_memory_weight(r.bytes, period),
					    .flags = r.flags,
					    .profile = where->profile(where->arg, file, thread),
					    .context = context};
	}
	load_release(f, part->n_bytes);
	return true;
}

static bool collect(const struct topic_where *where, struct load_file *f, uint32_t file,
		    samples_of_file *to)
{
	bool ok = true;
	for (uint32_t i = 0; i < f->threads.n; i++)
		for (size_t k = 0; ok && k < f->threads.at[i].memory.n; k++)
			ok = collect_part(where, f, file, i, &f->threads.at[i].memory.at[k], to);
	return ok;
}

/* ---- values ---- */

static int compare_places(const void *pa, const void *pb)
{
	const struct memory_sample *a = pa, *b = pb;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

/* Adds the values of one thread in one context. */
static bool add_values(struct memory_part *p, const struct memory_sample *s, size_t n,
		       uint64_t peak_ns)
{
	double sums[MEMORY_N_METRICS] = {0};
	uint64_t counts[MEMORY_N_METRICS] = {0};
	for (size_t i = 0; i < n; i++) {
		const bool is_in[MEMORY_N_METRICS] = {
			[MEMORY_PEAK] = memory_sample_is_live(&s[i], peak_ns),
			[MEMORY_END] = memory_sample_is_live(&s[i], UINT64_MAX - 1),
			[MEMORY_TEMPORARY] = s[i].flags & MSR_MEMORY_TEMPORARY,
			[MEMORY_CALLS] = true};
		for (unsigned k = 0; k < MEMORY_N_METRICS; k++)
			if (is_in[k]) {
				counts[k]++;
				sums[k] +=
					s[i].weight * (k == MEMORY_CALLS ? 1 : (double)s[i].bytes);
			}
	}
	for (unsigned k = 0; k < MEMORY_N_METRICS; k++) {
		struct sum_extra *x = counts[k] ? vec_push(&p->extras) : NULL;
		if (counts[k] && !x)
			return false;
		if (x)
			*x = (struct sum_extra){.thread = s->profile,
						.context = s->context,
						.metric = p->metric_of[k],
						.n_samples = counts[k],
						.sum = (uint64_t)llround(sums[k])};
	}
	return true;
}

static bool sum_places(struct memory_part *p, samples_of_file *samples, uint64_t peak_ns)
{
	const struct memory_sample *s = samples->at;
	bool ok = true;
	qsort(samples->at, samples->n, sizeof *s, compare_places);
	for (size_t i = 0, end; ok && i < samples->n; i = end) {
		for (end = i + 1; end < samples->n && !compare_places(&s[i], &s[end]);)
			end++;
		ok = add_values(p, &s[i], end - i, peak_ns);
	}
	return ok;
}

/* Times of the model are CLOCK_REALTIME. */
static bool add_file(struct memory_part *p, const struct topic_run *r,
		     const struct topic_where *where, uint32_t file)
{
	struct load_file *f = &r->job->files.at[file];
	const uint64_t to_real = f->header.start_real_ns - f->header.start_mono_ns;
	samples_of_file samples = {0};
	bool ok = collect(where, f, file, &samples);
	if (!ok || !samples.n) {
		vec_free(&samples);
		return ok;
	}
	struct model_memory *to = vec_push(&p->processes);
	if (to) {
		*to = (struct model_memory){.process =
						    r->m->profiles[samples.at[0].profile].process,
					    .period = period_of(f),
					    .n_lost = f->header.losses[MSR_LOSS_MEMORY]};
		const struct model_process *process = &r->m->processes[to->process];
		ok = memory_account(samples.at, samples.n, process->start_ns - to_real,
				    process->end_ns - to_real, to) &&
		     sum_places(p, &samples, to->peak_ns);
		to->peak_ns += to_real;
	}
	vec_free(&samples);
	return ok && to;
}

static int compare_extras(const void *pa, const void *pb)
{
	const struct sum_extra *a = pa, *b = pb;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static int compare_processes(const void *pa, const void *pb)
{
	const struct model_memory *a = pa, *b = pb;
	return (a->process > b->process) - (a->process < b->process);
}

static bool attribute(void *state, struct topic_run *r)
{
	struct memory_part *p = state;
	const struct topic_where where = topic_where(r);
	bool ok = true;
	if (!p->is_present)
		return true;
	for (uint32_t i = 0; ok && i < r->job->files.n; i++)
		ok = !load_is_found(r->job, i) || add_file(p, r, &where, i);
	if (!ok || !p->processes.n)
		return ok;
	qsort(p->extras.at, p->extras.n, sizeof *p->extras.at, compare_extras);
	qsort(p->processes.at, p->processes.n, sizeof *p->processes.at, compare_processes);
	r->m->memory = p->processes.at;
	r->m->n_memory = (uint32_t)p->processes.n;
	p->processes.at = NULL;
	if (!model_own(r->m, (void *)(uintptr_t)r->m->memory))
		r->m->n_memory = 0;
	return r->m->n_memory != 0;
}

static const struct sum_extra *values(const void *state, const struct topic_thread *t, size_t *n)
{
	const struct memory_part *p = state;
	return sum_extras_of(&p->extras, t->profile, n);
}

static void close_memory(void *state)
{
	struct memory_part *p = state;
	vec_free(&p->extras);
	vec_free(&p->processes);
}

const struct topic_ops topic_memory = {
	.state_bytes = sizeof(struct memory_part),
	.steps = {[TOPIC_METRICS] = describe_memory, [TOPIC_ATTRIBUTE] = attribute},
	.values = values,
	.close = close_memory};
