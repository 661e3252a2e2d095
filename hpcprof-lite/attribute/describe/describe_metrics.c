/* SPDX-License-Identifier: BSD-3-Clause */
/* See describe.h. Describes the metrics that were measured. Test: tests/unit/prof/test_order.c. */
#include "hpcprof-lite/attribute/describe/describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum model_event event_of(const struct msr_metric *r)
{
	static const char *const names[] = {
		[MODEL_EVENT_CPUTIME] = MSR_METRIC_CPUTIME,
		[MODEL_EVENT_OFFCPU] = MSR_METRIC_OFFCPU,
		[MODEL_EVENT_REALTIME] = MSR_METRIC_REALTIME,
		[MODEL_EVENT_BLAME] = MSR_METRIC_BLAME,
		[MODEL_EVENT_MEMORY] = MSR_METRIC_MEMORY,
	};
	for (unsigned i = 1; i < sizeof names / sizeof *names; i++)
		if (r->unit == (i == MODEL_EVENT_MEMORY ? MSR_UNIT_BYTES : MSR_UNIT_NS) &&
		    strcmp(r->name, names[i]) == 0)
			return (enum model_event)i;
	return MODEL_EVENT_OTHER;
}

uint32_t describe_metric(const struct model *m, const struct msr_metric *r)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (strcmp(m->metrics[i].event, r->name) == 0 &&
		    m->metrics[i].unit == model_unit_of(r->unit))
			return i;
	return MODEL_NONE;
}

/*
 * Names are those that users of HPCToolkit know: "CPUTIME (sec)", or the bare name if the metric
 * counts events.
 */
static char *name_of(const struct msr_metric *r)
{
	char *name;
	int n = r->unit == MSR_UNIT_COUNT ? asprintf(&name, "%s", r->name)
					  : asprintf(&name, "%s (%s)", r->name,
						     model_unit_name(model_unit_of(r->unit)));
	return n < 0 ? NULL : name;
}

static bool add_metric(struct model *m, const struct msr_metric *r)
{
	struct model_private *p = m->private_;
	struct model_metric *metrics = realloc(p->metrics, (m->n_metrics + 1) * sizeof *metrics);
	if (!metrics)
		return false;
	m->metrics = p->metrics = metrics;
	char *name = model_own(m, name_of(r));
	if (!name)
		return false;
	metrics[m->n_metrics++] = (struct model_metric){.kind = MODEL_METRIC_SAMPLED,
							.parent = MODEL_NONE,
							.divisor = MODEL_NONE,
							.name = name,
							.event = r->name,
							.unit = (uint8_t)model_unit_of(r->unit),
							.measures = (uint8_t)event_of(r),
							.description = r->description,
							.period = r->period,
							.period_most = r->period,
							.source = (enum msr_source)r->source};
	return true;
}

/*
 * Merged runs may have different periods, and nodes of one run may support different sample
 * sources.
 */
static void widen_metric(struct model_metric *k, const struct msr_metric *r)
{
	k->period = r->period < k->period ? r->period : k->period;
	k->period_most = r->period > k->period_most ? r->period : k->period_most;
	k->sources_differ |= r->source != k->source;
}

/* The caller owns the text. NULL if memory is short. */
static char *format(const char *how, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *how, ...)
{
	char *text;
	va_list args;
	va_start(args, how);
	int n = vasprintf(&text, how, args);
	va_end(args);
	return n < 0 ? NULL : text;
}

/* Adds a metric for the part of `of` whose paths have guessed frames. */
static bool add_guessed(struct model *m, uint32_t of)
{
	struct model_metric *metrics =
		realloc(m->private_->metrics, (m->n_metrics + 1) * sizeof *metrics);
	if (!metrics)
		return false;
	m->metrics = m->private_->metrics = metrics;
	struct model_metric k = metrics[of];
	int head = (int)model_metric_stem(k.name, k.unit);
	char *event = format("%s:GUESSED", k.event);
	char *name = format("%.*s:GUESSED%s", head, k.name, k.name + head);
	char *description = format("%s on call paths with a frame that was guessed", k.event);
	k.kind = MODEL_METRIC_GUESSED;
	k.parent = of;
	/* take over all three before checking, so that none leaks if memory is short */
	k.event = model_own(m, event);
	k.name = model_own(m, name);
	k.description = model_own(m, description);
	if (!k.event || !k.name || !k.description)
		return false;
	metrics[m->n_metrics++] = k;
	return true;
}

static bool has_guesses(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_contexts; i++)
		if (m->contexts[i].marked)
			return true;
	return false;
}

bool describe_metrics(struct model *m, const struct load_job *job)
{
	for (size_t i = 0; i < job->files.n; i++)
		for (unsigned k = 0; k < MSR_MAX_METRICS; k++) {
			const struct msr_metric *r = job->files.at[i].metrics[k];
			uint32_t known = r ? describe_metric(m, r) : MODEL_NONE;
			if (known != MODEL_NONE)
				widen_metric(&m->private_->metrics[known], r);
			else if (r && !add_metric(m, r))
				return false;
		}
	for (uint32_t i = 0, n = has_guesses(m) ? m->n_metrics : 0; i < n; i++)
		if (!add_guessed(m, i))
			return false;
	return true;
}

void describe_is_time(const struct model *m, const struct load_file *f,
		      bool is_time[MSR_MAX_METRICS])
{
	for (unsigned i = 0; i < MSR_MAX_METRICS; i++) {
		uint32_t metric = f->metrics[i] ? describe_metric(m, f->metrics[i]) : MODEL_NONE;
		is_time[i] = metric != MODEL_NONE && m->metrics[metric].is_time;
	}
}

void describe_divisors(const struct model *m, double *divisors)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		divisors[i] = model_unit_scale(m->metrics[i].unit);
}
