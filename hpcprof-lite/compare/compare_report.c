/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_report.h. Test: tests/cli/compare/compare.sh. */
#include "hpcprof-lite/compare/compare_report.h"

#include "common/base/log.h"
#include "common/base/options.h"
#include "hpcprof-lite/view/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t find_role(const struct compare *c, enum model_metric_role role)
{
	for (uint32_t i = 0; i < c->metrics.n; i++)
		if (c->metrics.at[i].role == role)
			return i;
	return MODEL_NONE;
}

static bool is_in_all(const struct compare *c, uint32_t metric)
{
	return c->metrics.at[metric].n_runs == c->runs.n;
}

/* A table would show the sum of a mean, so a metric with a divisor is refused. */
static enum status refuse_mean(const struct compare *c, const struct compare_metric *m)
{
	return options_refuse("--metric: %s is a mean over %s, which tables cannot show; "
			      "use it in --fail-if",
			      compare_string(c, m->name),
			      compare_string(c, c->metrics.at[m->divisor].name));
}

static enum status choose_metric(const struct compare *c, const char *name, uint32_t *metric)
{
	char have[NAMES_LIST];
	*metric = name ? compare_find_metric(c, name, strlen(name)) : MODEL_NONE;
	for (uint32_t i = 0; !name && *metric == MODEL_NONE && i < c->metrics.n; i++)
		if (c->metrics.at[i].kind == MODEL_METRIC_SAMPLED && is_in_all(c, i))
			*metric = i;
	for (uint32_t i = 0; !name && *metric == MODEL_NONE && i < c->metrics.n; i++)
		if (c->metrics.at[i].divisor == MODEL_NONE)
			*metric = i;
	if (*metric != MODEL_NONE && c->metrics.at[*metric].divisor != MODEL_NONE)
		return refuse_mean(c, &c->metrics.at[*metric]);
	if (*metric != MODEL_NONE) {
		if (!is_in_all(c, *metric))
			log_warn(NULL, "not every run measured %s: it counts as 0 there",
				 compare_string(c, c->metrics.at[*metric].name));
		return STATUS_OK;
	}
	if (!name) {
		log_error(NULL, "the measurements have no metric");
		return STATUS_BAD_INPUT;
	}
	compare_list_metrics(c, have, sizeof have);
	log_error(NULL, "--metric: no metric '%s' was measured; there is: %s", name, have);
	return STATUS_USAGE;
}

/* Means over launches and parts of samples are not sums that people read by themselves. */
static bool is_sum(const struct compare_metric *m)
{
	return m->kind == MODEL_METRIC_SAMPLED || m->kind == MODEL_METRIC_GPU_TIME ||
	       m->kind == MODEL_METRIC_GPU_COUNT || m->kind == MODEL_METRIC_MPI_TIME ||
	       m->kind == MODEL_METRIC_MPI_COUNT || m->kind == MODEL_METRIC_MEMORY ||
	       m->kind == MODEL_METRIC_GPU_ENERGY;
}

static bool add_wholes(struct compare_report *r, double assumed)
{
	size_t n_looks = 0;
	for (size_t i = 0; i < r->c->metrics.n; i++)
		n_looks += is_sum(&r->c->metrics.at[i]);
	double limit = compare_limit(n_looks);
	for (uint32_t i = 0; i < r->c->metrics.n; i++) {
		struct compare_values v;
		if (!is_sum(&r->c->metrics.at[i]))
			continue;
		if (!compare_values_open(r->c, i, assumed, &v))
			return false;
		struct compare_whole *w = vec_push(&r->wholes);
		if (w) {
			*w = (struct compare_whole){.metric = i,
						    .estimate = compare_estimate(&v, v.whole)};
			w->is_real = fabs(w->estimate.new - w->estimate.base) >
				     limit * compare_deviation(&w->estimate);
		}
		compare_values_close(&v);
		if (!w)
			return false;
	}
	return true;
}

static bool add_kernels(struct compare_report *r, double assumed)
{
	uint32_t time = find_role(r->c, MODEL_ROLE_KERNEL_TIME),
		 count = find_role(r->c, MODEL_ROLE_KERNELS);
	if (time == MODEL_NONE || count == MODEL_NONE)
		return true;
	return compare_values_open(r->c, time, assumed, &r->kernels) &&
	       compare_rows_make(&r->kernels, COMPARE_BY_KERNEL, false,
				 &r->rows[COMPARE_BY_KERNEL]) &&
	       compare_values_open(r->c, count, assumed, &r->launches) &&
	       compare_rows_make(&r->launches, COMPARE_BY_KERNEL, false, &r->launches_of);
}

static bool add_rows(struct compare_report *r, const struct compare_options *o, uint32_t metric)
{
	if (!compare_values_open(r->c, metric, o->assumed, &r->values))
		return false;
	for (int by = 0; by < COMPARE_N_BY; by++)
		if (by != COMPARE_BY_KERNEL &&
		    !compare_rows_make(&r->values, by, o->by_total && by == COMPARE_BY_FUNCTION,
				       &r->rows[by]))
			return false;
	return compare_renames_find(&r->values, &r->rows[COMPARE_BY_FUNCTION], &r->renames) &&
	       add_kernels(r, o->assumed) && add_wholes(r, o->assumed);
}

enum status compare_report_open(const struct compare *c, const struct compare_options *o,
				struct compare_report *r)
{
	uint32_t metric;
	*r = (struct compare_report){.c = c, .n_checks = o->n_conditions};
	enum status s = choose_metric(c, o->metric, &metric);
	if (s != STATUS_OK)
		return s;
	r->checks = calloc(o->n_conditions + 1, sizeof *r->checks);
	if (!r->checks || !add_rows(r, o, metric)) {
		log_error(NULL, "out of memory");
		return STATUS_NO_MEMORY;
	}
	return compare_check(c, o->conditions, o->n_conditions, o->assumed, r->checks);
}

void compare_report_close(struct compare_report *r)
{
	for (int by = 0; by < COMPARE_N_BY; by++)
		compare_rows_free(&r->rows[by]);
	compare_rows_free(&r->launches_of);
	compare_values_close(&r->values);
	compare_values_close(&r->kernels);
	compare_values_close(&r->launches);
	vec_free(&r->renames);
	vec_free(&r->wholes);
	free(r->checks);
}

const struct compare_values *compare_report_values(const struct compare_report *r,
						   enum compare_by by)
{
	return by == COMPARE_BY_KERNEL ? &r->kernels : &r->values;
}

bool compare_report_fails(const struct compare_report *r)
{
	for (size_t i = 0; i < r->n_checks; i++)
		if (r->checks[i].verdict == COMPARE_FAILS)
			return true;
	return false;
}
