/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of the part. Metrics without a time line are left out of a range of time, and a note
 * says so. Test: tests/unit/prof/test_filter.c, tests/cli/prof/prof_filter.sh.
 */
#include "hpcprof-lite/filter/filter_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if nothing of the metric has a time line. */
static bool is_left_out(const struct filter_part *p, uint32_t metric)
{
	uint64_t untimed = atomic_load(&p->untimed[metric]);
	return p->has_time && untimed && untimed == atomic_load(&p->sums[metric]);
}

/*
 * Lists the metrics that are left out, but no part of a listed metric, and PC sampling only once.
 */
static void list_left_out(const struct filter_part *p, FILE *out)
{
	const char *separator = "left out, because they have no time line: ";
	bool has_pc_samples = false;
	for (uint32_t i = 0; i < p->from->n_metrics; i++) {
		const struct model_metric *k = &p->from->metrics[i];
		if (!is_left_out(p, i))
			continue;
		has_pc_samples |= k->kind == MODEL_METRIC_GPU_SAMPLES;
		if (k->is_of_pc_samples || (k->parent != MODEL_NONE && is_left_out(p, k->parent)))
			continue;
		fprintf(out, "%s%s", separator, k->name);
		separator = ", ";
	}
	if (has_pc_samples)
		fprintf(out, "%sPC samples and stall reasons", separator);
}

/* Lists the metrics of which a part is left out, but not means, which do not change by it. */
static void list_shares(const struct filter_part *p, FILE *out)
{
	const char *separator = "left out, because it has no time line: ";
	for (uint32_t i = 0; i < p->from->n_metrics; i++) {
		double sum = (double)atomic_load(&p->sums[i]),
		       untimed = (double)atomic_load(&p->untimed[i]);
		if (!p->has_time || is_left_out(p, i) || untimed <= 0 || untimed < sum * 5e-5 ||
		    p->from->metrics[i].kind == MODEL_METRIC_GPU_MEAN)
			continue;
		fprintf(out, "%s%.2f%% of %s", separator, 100 * untimed / sum,
			p->from->metrics[i].name);
		separator = ", ";
	}
}

/* Appends what `write` prints, if it prints anything. */
static bool add_note(struct filter_part *p, const char **notes,
		     void (*write)(const struct filter_part *p, FILE *out))
{
	char *text = NULL;
	size_t n_bytes = 0;
	FILE *out = open_memstream(&text, &n_bytes);
	if (!out)
		return false;
	write(p, out);
	if (fclose(out) != 0 || !n_bytes) {
		free(text);
		return text && !n_bytes;
	}
	return (notes[p->to->n_part_notes++] = model_own(p->to, text)) != NULL;
}

static bool make_notes(struct filter_part *p)
{
	enum { MOST_NEW = 2 };
	const struct model *m = p->from;
	const char **notes = calloc((size_t)m->n_part_notes + MOST_NEW, sizeof *notes);
	if (!model_own(p->to, notes))
		return false;
	p->to->part_notes = notes;
	for (uint32_t i = 0; i < m->n_part_notes; i++)
		notes[p->to->n_part_notes++] = m->part_notes[i];
	return add_note(p, notes, list_left_out) && add_note(p, notes, list_shares);
}

static uint32_t renumber(const uint32_t *to, uint32_t id)
{
	return id == MODEL_NONE ? MODEL_NONE : to[id];
}

bool filter_make_metrics(struct filter_part *p)
{
	const struct model *m = p->from;
	struct model_metric *metrics = calloc((size_t)m->n_metrics + 1, sizeof *metrics);
	uint32_t n = 0;
	p->to->metrics = p->to->private_->metrics = metrics;
	if (!metrics)
		return false;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		p->metric_to[i] = is_left_out(p, i) ? MODEL_NONE : n++;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		if (p->metric_to[i] == MODEL_NONE)
			continue;
		struct model_metric *k = &metrics[p->to->n_metrics++];
		*k = m->metrics[i];
		k->parent = renumber(p->metric_to, k->parent);
		k->divisor = renumber(p->metric_to, k->divisor);
		if (k->role == MODEL_ROLE_STALL)
			k->idle = renumber(p->metric_to, k->idle);
	}
	return make_notes(p);
}
