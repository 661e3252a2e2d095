/* SPDX-License-Identifier: BSD-3-Clause */
/* See findings.h. Test: tests/unit/prof/test_findings.c. */
#include "hpcprof-lite/view/findings/findings.h"

#include "hpcprof-lite/view/findings/finding_run.h"
#include "hpcprof-lite/view/names.h"

#include <stdio.h>
#include <stdlib.h>

/* Samples below which most rules say nothing: a share of 10 % is then 5 samples. */
enum { LEAST_SAMPLES = 50 };

/* In this order; rules look at what those before them explain. */
static const struct {
	finding_rule *find;
	bool needs_samples; /* says nothing if there are too few */
} rules[] = {
	{rule_open_calls, false}, {rule_processors, true},   {rule_threads, true},
	{rule_balance, true},     {rule_regions, true},      {rule_serial, true},
	{rule_locks, true},       {rule_waits, true},        {rule_files, true},
	{rule_memory, true},      {rule_ranks, true},        {rule_stragglers, false},
	{rule_messages, false},   {rule_gpu, false},         {rule_startup, true},
	{rule_names, true},       {rule_measurement, false},
};

/*
 * -1: a job that hung, whatever else it lost; 0: findings that cast doubt on all others; 1: causes;
 * 2: others about the measurement.
 */
static int group(const struct finding *f)
{
	if (strcmp(f->key, FINDING_OPEN_CALL) == 0)
		return -1;
	return f->likely > 0 || f->high > 0 ? 1 : f->cost > 0 ? 0 : 2;
}

static int compare(const void *pa, const void *pb)
{
	const struct finding *a = pa, *b = pb;
	if (group(a) != group(b))
		return group(a) - group(b);
	if (a->likely != b->likely)
		return a->likely < b->likely ? 1 : -1;
	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	const int by_key = strcmp(a->key, b->key);
	return by_key ? by_key : strcmp(a->subject, b->subject);
}

bool findings_make(const struct model *m, struct findings *f)
{
	struct finding_run r;
	*f = (struct findings){0};
	bool ok = finding_run_open(m, &r);
	f->elapsed = r.elapsed;
	for (size_t i = 0; ok && i < sizeof rules / sizeof rules[0]; i++)
		if (!rules[i].needs_samples || r.n_samples >= LEAST_SAMPLES)
			ok = rules[i].find(&r, f);
	finding_run_close(&r);
	if (!ok)
		findings_free(f);
	else if (f->list.n)
		qsort(f->list.at, f->list.n, sizeof *f->list.at, compare);
	return ok;
}

void findings_free(struct findings *f)
{
	vec_free(&f->list);
	*f = (struct findings){0};
}

/* Quotes an argument for a shell. False if there is no room. */
static bool quote(char *to, size_t n_bytes, const char *s)
{
	size_t n = 0;
	if (n_bytes < 3)
		return false;
	to[n++] = '\'';
	for (; *s; s++) {
		if (n + 6 > n_bytes || (unsigned char)*s < 0x20)
			return false;
		if (*s == '\'') {
			memcpy(to + n, "'\\''", 4);
			n += 4;
		} else {
			to[n++] = *s;
		}
	}
	to[n++] = '\'';
	to[n] = 0;
	return true;
}

bool findings_command(const struct model *m, const struct finding *f, const char *directory,
		      char *to, size_t n_bytes)
{
	char name[1024], where[1024], option[1100] = "";
	const uint32_t context = f->n_places ? f->places[0].context : MODEL_NONE;
	const uint32_t function = f->function != MODEL_NONE     ? f->function
				  : context < m->n_contexts ? m->contexts[context].function
							    : MODEL_NONE;
	const int32_t rank = f->process < m->n_processes ? m->processes[f->process].rank : -1;
	if (!quote(where, sizeof where, directory))
		return false;
	if (rank >= 0)
		snprintf(option, sizeof option, "--rank %d", rank);
	else if (function < m->n_functions && !m->functions[function].is_unnamed &&
		 quote(name, sizeof name, m->functions[function].name))
		snprintf(option, sizeof option, "--below %s", name);
	else
		return false;
	return (size_t)snprintf(to, n_bytes, "hpcprof-lite --to text %s %s", option, where) <
	       n_bytes;
}
