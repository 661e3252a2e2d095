/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_check.h. Test: tests/cli/compare/compare_gate.sh. */
#include "hpcprof-lite/compare/compare_check.h"

#include "common/base/log.h"
#include "common/base/options.h"
#include "hpcprof-lite/compare/compare_names.h"
#include "hpcprof-lite/view/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *compare_verdict_name(enum compare_verdict v)
{
	static const char *const names[] = {"pass", "pass (noise)", "FAIL", "absent"};
	return names[v];
}

void compare_list_metrics(const struct compare *c, char *to, size_t n_bytes)
{
	to[0] = 0;
	for (size_t i = 0; i < c->metrics.n; i++)
		names_list_metric(to, n_bytes, compare_string(c, c->metrics.at[i].name),
				  c->metrics.at[i].unit);
}

/* ---- what a condition is about ---- */

static enum status refuse_metric(const struct compare *c, const struct compare_condition *x)
{
	char have[NAMES_LIST];
	compare_list_metrics(c, have, sizeof have);
	log_error(NULL, "--fail-if: no metric '%.*s' was measured; there is: %s", (int)x->n_metric,
		  x->metric, have);
	return STATUS_USAGE;
}

/* Most GPU metrics exist only if they are not 0, so every run with a GPU back end measured them. */
static bool is_measured_by_all(const struct compare *c, const struct compare_metric *m)
{
	if (m->kind == MODEL_METRIC_SAMPLED || m->kind == MODEL_METRIC_MPI_TIME ||
	    m->kind == MODEL_METRIC_MPI_COUNT || m->kind == MODEL_METRIC_MEMORY)
		return m->n_runs == c->runs.n;
	bool is_part = m->kind == MODEL_METRIC_GUESSED || m->kind == MODEL_METRIC_ACTIVITY;
	for (size_t i = 0; !is_part && i < c->runs.n; i++)
		if (!c->runs.at[i].has_gpu)
			return false;
	return true;
}

static enum status find_metric(const struct compare *c, const struct compare_condition *x,
			       uint32_t *metric)
{
	*metric = compare_find_metric(c, x->metric, x->n_metric);
	if (*metric == MODEL_NONE)
		return refuse_metric(c, x);
	const struct compare_metric *m = &c->metrics.at[*metric];
	const char *name = compare_string(c, m->name);
	const enum model_unit wanted =
		m->unit == MODEL_SECONDS || m->unit == MODEL_BYTES ? m->unit : MODEL_COUNT;
	if (!x->is_percent && x->unit != wanted)
		return options_refuse("--fail-if: '%s': %s needs %s", x->text, name,
				      wanted == MODEL_SECONDS ? "a unit of time, as in 2 s"
				      : wanted == MODEL_BYTES ? "a unit of size, as in 1 MiB"
							      : "a number without a unit of time"
								" or size");
	if (!is_measured_by_all(c, m))
		return options_refuse("--fail-if: '%s': not every run measured %s", x->text, name);
	return STATUS_OK;
}

/* Marks the functions with the name of the condition. NULL if memory is short. */
static bool *find_functions(const struct compare *c, const struct compare_condition *x, bool *any)
{
	bool *is_in = calloc(c->functions.n + 1, sizeof *is_in);
	char *given = strndup(x->function, x->n_function),
	     *wanted = given ? compare_function_name(given) : NULL;
	*any = false;
	for (size_t i = 0; is_in && wanted && i < c->functions.n; i++) {
		const char *name = compare_string(c, c->functions.at[i].name);
		is_in[i] = compare_is_named(name, wanted);
		*any |= is_in[i];
	}
	if (!wanted) {
		free(is_in);
		is_in = NULL;
	}
	free(given);
	free(wanted);
	return is_in;
}

/* ---- its amounts ---- */

static bool is_below(const struct compare *c, uint32_t node, const bool *is_in)
{
	for (uint32_t at = c->nodes.at[node].parent; at; at = c->nodes.at[at].parent) {
		uint32_t f = compare_function_of(c, at);
		if (f != MODEL_NONE && is_in[f])
			return true;
	}
	return false;
}

/* Adds up the marked functions by run. A total counts each value once. `is_in` NULL: everything. */
static void add_up(const struct compare_values *v, const bool *is_in, bool is_self,
		   struct compare_amount *runs)
{
	const struct compare *c = v->c;
	for (uint32_t node = 0; node < c->nodes.n; node++) {
		const struct compare_node *n = &c->nodes.at[node];
		bool counts = is_in ? n->kind == COMPARE_FUNCTION && is_in[n->id] &&
					      (is_self || !is_below(c, node, is_in))
				    : node == 0;
		const struct compare_amount *from = is_in && is_self ? v->self : v->total;
		for (uint32_t i = 0; counts && i < v->n_runs; i++) {
			runs[i].value += from[(size_t)node * v->n_runs + i].value;
			runs[i].variance += from[(size_t)node * v->n_runs + i].variance;
		}
	}
}

/*
 * Divides a launch characteristic by the number of launches. A run without a launch has no mean and
 * does not count.
 */
static bool divide(const struct compare_values *v, const bool *is_in, bool is_self,
		   struct compare_amount *runs, bool *counts)
{
	struct compare_values by;
	struct compare_amount *divisors = calloc(v->n_runs, sizeof *divisors);
	if (!divisors || !compare_values_open(v->c, v->c->metrics.at[v->metric].divisor, 0, &by)) {
		free(divisors);
		return false;
	}
	add_up(&by, is_in, is_self, divisors);
	for (uint32_t i = 0; i < v->n_runs; i++) {
		counts[i] = divisors[i].value != 0;
		runs[i].value = counts[i] ? runs[i].value / divisors[i].value : 0;
	}
	compare_values_close(&by);
	free(divisors);
	return true;
}

/* True if no run counts on a side that the condition needs. */
static bool lacks_side(const struct compare *c, const struct compare_condition *x,
		       const bool *counts)
{
	bool has[COMPARE_N_SIDES] = {false};
	for (size_t i = 0; i < c->runs.n; i++)
		has[c->runs.at[i].side] |= counts[i];
	return !has[COMPARE_NEW] || (x->is_change && !has[COMPARE_BASE]);
}

static bool estimate_into(const struct compare *c, const bool *is_in, double assumed,
			  struct compare_check *check, struct compare_amount *runs, bool *counts)
{
	struct compare_values v;
	const struct compare_condition *x = check->condition;
	if (!compare_values_open(c, check->metric, assumed, &v))
		return false;
	add_up(&v, is_in, x->is_self, runs);
	memset(counts, true, c->runs.n);
	bool ok = c->metrics.at[check->metric].divisor == MODEL_NONE ||
		  divide(&v, is_in, x->is_self, runs, counts);
	check->lacks_mean = lacks_side(c, x, counts);
	check->estimate = compare_estimate_some(&v, runs, counts);
	compare_values_close(&v);
	return ok;
}

static bool estimate(const struct compare *c, const bool *is_in, double assumed,
		     struct compare_check *check)
{
	struct compare_amount *runs = calloc(c->runs.n + 1, sizeof *runs);
	bool *counts = calloc(c->runs.n + 1, sizeof *counts),
	     ok = runs && counts && estimate_into(c, is_in, assumed, check, runs, counts);
	free(runs);
	free(counts);
	return ok;
}

/* ---- the verdict ---- */

/*
 * Returns by how much the condition is true; negative: it is false. *deviation: the standard
 * deviation.
 */
static double excess_of(const struct compare_check *check, double *deviation)
{
	const struct compare_condition *x = check->condition;
	const struct compare_estimate *e = &check->estimate;
	double of_base = x->is_percent  ? 1 + x->value / 100
			 : x->is_change ? 1
					: 0,
	       beyond = e->new - of_base * e->base - (x->is_percent ? 0 : x->value);
	*deviation = sqrt(e->new_variance + of_base * of_base * e->base_variance);
	return x->is_greater ? beyond : -beyond;
}

static void warn_absent(const struct compare *c, const struct compare_check *check)
{
	const struct compare_condition *x = check->condition;
	if (!check->lacks_mean) {
		log_warn("--fail-if", "'%s': no run has a function '%.*s'", x->text,
			 (int)x->n_function, x->function);
		return;
	}
	const struct compare_metric *m = &c->metrics.at[check->metric];
	log_warn("--fail-if", "'%s': %s is a mean over %s, which is 0 in all runs of a side",
		 x->text, compare_string(c, m->name),
		 compare_string(c, c->metrics.at[m->divisor].name));
}

static enum status judge(const struct compare *c, double assumed, struct compare_check *check)
{
	const struct compare_condition *x = check->condition;
	bool any = true, *is_in = NULL;
	double deviation;
	enum status s = find_metric(c, x, &check->metric);
	if (s != STATUS_OK)
		return s;
	if (x->function && !(is_in = find_functions(c, x, &any)))
		return STATUS_NO_MEMORY;
	bool ok = estimate(c, is_in, assumed, check);
	free(is_in);
	if (!ok)
		return STATUS_NO_MEMORY;
	double beyond = excess_of(check, &deviation);
	check->lacks_mean &= any;
	check->verdict = !any || check->lacks_mean           ? COMPARE_ABSENT
			 : beyond > check->limit * deviation ? COMPARE_FAILS
			 : beyond > 0                        ? COMPARE_NOISE
							     : COMPARE_PASSES;
	if (check->verdict == COMPARE_ABSENT)
		warn_absent(c, check);
	return STATUS_OK;
}

enum status compare_check(const struct compare *c, const struct compare_condition *conditions,
			  size_t n, double assumed, struct compare_check *to)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < n && s == STATUS_OK; i++) {
		to[i] = (struct compare_check){.condition = &conditions[i],
					       .limit = compare_limit(n)};
		s = judge(c, assumed, &to[i]);
	}
	if (s == STATUS_NO_MEMORY)
		log_error(NULL, "out of memory");
	return s;
}
