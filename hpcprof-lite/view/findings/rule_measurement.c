/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What makes the numbers doubtful: too few samples, samples lost, the cost of measuring. Doc:
 * doc/findings.md#measurement. Test: tests/unit/prof/test_findings.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include "hpcprof-lite/view/parallel/view_balance.h"
#include "hpcprof-lite/view/view_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The standard error of a share of one half of so many samples is 5 %. */
enum { FEW = 100 };
#define MUCH 0.05

/* Not for what has no samples by its nature: a run that waits, a part of a run, GPU work alone. */
static bool has_too_few(const struct finding_run *r)
{
	const struct model *m = r->m;
	return r->time_metric != MODEL_NONE && !m->part && m->n_processes && r->n_samples < FEW &&
	       !m->has_gpu && !m->mpi;
}

static bool too_few(struct finding_run *r, struct findings *to)
{
	struct finding f = finding_begin("few-samples", "too few samples to say what matters",
					 "measure a longer run, or sample more often: "
					 "-e CPUTIME@f10000");
	if (!has_too_few(r))
		return true;
	finding_fact(&f, "samples", MODEL_COUNT, (double)r->n_samples);
	finding_fact(&f, "elapsed", MODEL_SECONDS, r->elapsed);
	return finding_add(r, to, &f, r->elapsed, 0, 0, 0);
}

static bool lost(struct finding_run *r, struct findings *to)
{
	struct finding f = finding_begin("lost-samples", "samples that were lost",
					 "see the account of samples at the end of the report");
	const double n = (double)view_count_lost(&r->m->ledger),
		     all = n + (double)r->m->ledger.in_tree;
	if (r->m->part || n < MUCH * all || n < 10)
		return true;
	finding_fact(&f, "of all samples", MODEL_SHARE, n / all);
	return finding_add(r, to, &f, 0, 0, 0, 0);
}

static bool disturbed(struct finding_run *r, struct findings *to)
{
	struct view_run run;
	struct finding f = finding_begin("disturbed", "measuring made the program slower",
					 "sample less often: -e CPUTIME@f100");
	if (!view_run_make(r->m, &run))
		return false;
	if (r->m->part || (double)run.handler_ns < MUCH * (double)run.cpu_ns || !run.cpu_ns)
		return true;
	finding_fact(&f, "of the CPU time in our handlers", MODEL_SHARE,
		     (double)run.handler_ns / (double)run.cpu_ns);
	return finding_add(r, to, &f, 0, 0, 0, 0);
}

/* What records and callbacks of CUPTI cost a thread that launches: doc/nvidia.md. */
#define CUPTI_SEC 1e-6

/* The time of all launches of a process, ours and CUPTI's, in seconds. */
static double launching(const struct model_process *p)
{
	double sum = 0;
	for (uint32_t k = 0; k < p->n_gpu; k++) {
		const struct model_gpu_ledger *l = &p->gpu[k];
		uint64_t n = 0;
		for (unsigned kind = 0; kind < 16; kind++)
			n += l->launched[kind];
		sum += (double)l->handler_ns * 1e-9 +
		       (strcmp(l->backend, "nvidia") == 0 ? CUPTI_SEC * (double)n : 0);
	}
	return sum;
}

/* The process that launched most. Threads of one process mostly take turns to launch. */
static bool launches_disturbed(struct finding_run *r, struct findings *to)
{
	double most = 0;
	struct finding f = finding_begin("disturbed", "measuring made the launches slower",
					 "trust the times of the GPU; take those of the CPU from a "
					 "run without gpu=");
	for (uint32_t i = 0; i < r->m->n_processes; i++)
		most = fmax(most, launching(&r->m->processes[i]));
	if (r->m->part || !(r->elapsed > 0) || most < MUCH * r->elapsed)
		return true;
	snprintf(f.subject, sizeof f.subject, "GPU operations");
	finding_fact(&f, "of the elapsed time in our callbacks and CUPTI's", MODEL_SHARE,
		     most / r->elapsed);
	return finding_add(r, to, &f, 0, 0, 0, 0);
}

bool rule_measurement(struct finding_run *r, struct findings *to)
{
	return too_few(r, to) && lost(r, to) && disturbed(r, to) && launches_disturbed(r, to);
}
