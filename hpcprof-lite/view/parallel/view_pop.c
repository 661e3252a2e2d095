/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_pop.h. Test: tests/unit/prof/test_view_pop.c. */
#include "hpcprof-lite/view/parallel/view_pop.h"

#include "common/base/vec.h"
#include "hpcprof-lite/view/parallel/view_processors.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double SHORTEST = 0.05; /* loops with a smaller share of the time are no phases */

struct pop {
	const struct model *m;
	bool *is_chosen;       /* by process */
	uint32_t *n_threads;   /* by process: sizes of teams, or used threads */
	uint32_t *main_thread; /* by process: its profile, or MODEL_NONE */
	double *elapsed;       /* by process: of the phase */
	double *setup;         /* by process: in MPI_Init and MPI_Finalize, of the phase */
	bool has_activities;
};

/* ---- values ---- */

static double value(const struct model *m, uint32_t profile, uint32_t context, uint32_t metric)
{
	const struct model_value *v = model_find_value(m, profile, context, metric);
	return v ? v->at[MODEL_EXECUTION] : 0;
}

/* The time of a thread in activities [first, last]. Without metrics of activities all is work. */
static double time_in(const struct pop *p, uint32_t profile, uint32_t context, unsigned first,
		      unsigned last)
{
	const struct model *m = p->m;
	double sum = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		bool is_in = k->kind == MODEL_METRIC_ACTIVITY && k->activity >= first &&
			     k->activity <= last;
		bool is_work = k->is_time && first == MODEL_WORK;
		sum += (p->has_activities ? is_in : is_work) ? value(m, profile, context, i) : 0;
	}
	return sum;
}

static double useful(const struct pop *p, uint32_t profile, uint32_t context)
{
	return time_in(p, profile, context, MODEL_WORK, MODEL_WORK);
}

/* ---- processes ---- */

/* The threads of a process that lived at one time. False if memory is short. */
static bool count_threads(struct pop *p)
{
	const struct model *m = p->m;
	for (uint32_t i = 0, next; i < m->n_profiles; i = next) {
		const uint32_t process = m->profiles[i].process;
		uint32_t n_all;
		for (next = i; next < m->n_profiles && m->profiles[next].process == process; next++)
			if (p->main_thread[process] == MODEL_NONE &&
			    view_is_used_thread(m, &m->profiles[next]))
				p->main_thread[process] = next;
		if (!view_count_threads(m, i, next, &p->n_threads[process], &n_all))
			return false;
	}
	for (uint32_t i = 0; i < m->n_omp_regions; i++)
		p->n_threads[m->omp_regions[i].process] = 0;
	for (uint32_t i = 0; i < m->n_omp_regions; i++) {
		uint32_t *n = &p->n_threads[m->omp_regions[i].process];
		*n = m->omp_regions[i].n_threads > *n ? m->omp_regions[i].n_threads : *n;
		*n = *n ? *n : 1;
	}
	return true;
}

/* The ranks, or without ranks, the process that worked most. */
static void choose_processes(struct pop *p)
{
	const struct model *m = p->m;
	uint32_t best = 0;
	bool any = false;
	for (uint32_t i = 0; i < m->n_processes; i++)
		any |= p->is_chosen[i] = m->processes[i].rank >= 0 && p->n_threads[i];
	double *work = any ? NULL : calloc((size_t)m->n_processes + 1, sizeof *work);
	for (uint32_t i = 0; work && i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_THREAD)
			work[m->profiles[i].process] += useful(p, i, 0);
	for (uint32_t i = 0; work && i < m->n_processes; i++)
		best = work[i] > work[best] ? i : best;
	if (work && m->n_processes)
		p->is_chosen[best] = true;
	free(work);
}

/* ---- set-up ---- */

/* MPI_Init, MPI_Init_thread, MPI_Finalize and their forms of PMPI and Fortran. */
static bool is_setup(const struct model *m, uint32_t context)
{
	const struct model_context *c = &m->contexts[context];
	if (c->kind != MODEL_CONTEXT_FUNCTION || c->function >= m->n_functions)
		return false;
	const char *name = m->functions[c->function].name;
	name += *name == 'P' || *name == 'p';
	return strncasecmp(name, "MPI_Init", 8) == 0 || strncasecmp(name, "MPI_Finalize", 12) == 0;
}

/* POP and TALP count from the end of MPI_Init to the start of MPI_Finalize. */
static void leave_out_setup(struct pop *p)
{
	const struct model *m = p->m;
	for (uint32_t c = 1; c < m->n_contexts;) {
		if (!is_setup(m, c)) {
			c++;
			continue;
		}
		for (uint32_t i = 0; i < m->n_processes; i++)
			if (p->main_thread[i] != MODEL_NONE)
				p->setup[i] += time_in(p, p->main_thread[i], c, MODEL_MPI_P2P,
						       MODEL_MPI_OTHER);
		c += m->contexts[c].subtree_n;
	}
	for (uint32_t i = 0; i < m->n_processes; i++)
		p->elapsed[i] -= p->setup[i] < p->elapsed[i] ? p->setup[i] : 0;
}

/* ---- a phase ---- */

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static void add_mpi(const struct pop *p, struct view_pop *out)
{
	double all = 0, most = 0;
	for (uint32_t i = 0; i < p->m->n_processes; i++) {
		if (!p->is_chosen[i] || p->main_thread[i] == MODEL_NONE)
			continue;
		double outside = out->elapsed -
				 time_in(p, p->main_thread[i], out->context, MODEL_MPI_P2P,
					 MODEL_MPI_OTHER) +
				 p->setup[i];
		outside = outside > 0 ? outside : 0;
		all += outside;
		most = outside > most ? outside : most;
	}
	bool has_mpi = false, has_omp = p->m->n_omp_regions;
	for (uint32_t i = 0; i < p->m->n_metrics; i++) {
		const struct model_metric *k = &p->m->metrics[i];
		if (k->kind != MODEL_METRIC_ACTIVITY)
			continue;
		has_mpi |= k->activity >= MODEL_MPI_P2P && k->activity <= MODEL_MPI_OTHER;
		has_omp |= k->activity >= MODEL_OMP_BARRIER && k->activity <= MODEL_OMP_IDLE;
	}
	out->is_hybrid = has_mpi && has_omp && out->n_processes > 1 &&
			 out->n_threads > out->n_processes;
	double mean = all / out->n_processes;
	out->mpi = ratio(mean, out->elapsed);
	out->mpi_load_balance = ratio(mean, most);
	out->mpi_communication = ratio(most, out->elapsed);
	out->omp = ratio(out->parallel, out->mpi);
}

/* Computes the efficiencies. False: nobody worked. */
static bool make_phase(const struct pop *p, uint32_t context, struct view_pop *out)
{
	const struct model *m = p->m;
	double all = 0, most = 0, waits = 0;
	*out = (struct view_pop){.context = context, .has_gpu = m->n_gpu_queues != 0};
	for (uint32_t i = 0; i < m->n_processes; i++) {
		if (!p->is_chosen[i])
			continue;
		out->n_processes++;
		out->has_setup |= p->setup[i] > 0;
		out->n_threads += p->n_threads[i];
		out->elapsed = p->elapsed[i] > out->elapsed ? p->elapsed[i] : out->elapsed;
	}
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		if (!view_is_used_thread(m, &m->profiles[i]) ||
		    !p->is_chosen[m->profiles[i].process])
			continue;
		double x = useful(p, i, context);
		all += x;
		most = x > most ? x : most;
		waits += time_in(p, i, context, MODEL_GPU_WAIT, MODEL_GPU_WAIT);
	}
	if (all <= 0 || out->elapsed <= 0 || !out->n_threads)
		return false;
	/* samples may weigh a little more than the clock says */
	out->elapsed = most > out->elapsed ? most : out->elapsed;
	double mean = all / out->n_threads;
	out->parallel = ratio(mean, out->elapsed);
	out->load_balance = ratio(mean, most);
	out->communication = ratio(most, out->elapsed);
	out->offload = ratio(all, all + waits);
	add_mpi(p, out);
	return true;
}

/* ---- loops of main ---- */

static bool is_main(const struct model *m, uint32_t context)
{
	const struct model_context *c = &m->contexts[context];
	return c->kind == MODEL_CONTEXT_FUNCTION && c->function < m->n_functions &&
	       strcmp(m->functions[c->function].name, "main") == 0;
}

/* The MAIN__ of Fortran, or main. */
static uint32_t find_main(const struct model *m)
{
	uint32_t found = MODEL_NONE;
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		const struct model_context *x = &m->contexts[c];
		if (found == MODEL_NONE && is_main(m, c))
			found = c;
		if (x->kind == MODEL_CONTEXT_FUNCTION && x->function < m->n_functions &&
		    strcmp(m->functions[x->function].name, "MAIN__") == 0)
			return c;
	}
	return found;
}

/* Sets the time that the main thread of each process spent in the context, by its time line. */
static void time_phase(struct pop *p, uint32_t context)
{
	enum { CHUNK = 1024 };
	struct model_sample samples[CHUNK];
	const struct model *m = p->m;
	uint32_t end = context + m->contexts[context].subtree_n;
	for (uint32_t i = 0; i < m->n_processes; i++) {
		struct model_trace_cursor cursor = {0};
		uint64_t before = 0, ns = 0;
		p->elapsed[i] = p->setup[i] = 0;
		if (!p->is_chosen[i] || p->main_thread[i] == MODEL_NONE)
			continue;
		for (size_t n; (n = model_trace_read(m, p->main_thread[i], &cursor, samples,
						     CHUNK));)
			for (size_t k = 0; k < n; k++) {
				if (before && samples[k].context >= context &&
				    samples[k].context < end)
					ns += samples[k].time_ns - before;
				/* 0: the measurement was off from here on */
				before = samples[k].context ? samples[k].time_ns : 0;
			}
		p->elapsed[i] = (double)ns / 1e9;
	}
}

static void add_loops(struct pop *p, struct view_pops *out)
{
	const struct model *m = p->m;
	uint32_t main_ = m->has_traces && out->n ? find_main(m) : MODEL_NONE;
	uint32_t end = main_ == MODEL_NONE ? 0 : main_ + m->contexts[main_].subtree_n;
	for (uint32_t c = main_ == MODEL_NONE ? 0 : main_ + 1; c < end && out->n < VIEW_POP_MOST;) {
		if (m->contexts[c].kind == MODEL_CONTEXT_LOOP) {
			struct view_pop *next = &out->at[out->n];
			time_phase(p, c);
			out->n += make_phase(p, c, next) &&
				  next->elapsed >= SHORTEST * out->at[0].elapsed;
		}
		c += m->contexts[c].subtree_n;
	}
}

/* ---- devices ---- */

static void time_devices(const struct model *m, struct view_pop_devices *out)
{
	double all = 0, most = 0, most_busy = 0, elapsed = 0;
	for (uint32_t d = 0; m->gpu_idle && d < m->n_gpu_devices; d++) {
		const struct model_gpu_idle *x = &m->gpu_idle[d];
		const double kernels = (double)x->kernel_ns,
			     busy = (double)(x->kernel_ns + x->copy_ns - x->overlap_ns),
			     watched = (double)x->watched_ns;
		if (!x->is_known || busy <= 0)
			continue;
		out->n++;
		all += kernels;
		most = kernels > most ? kernels : most;
		most_busy = busy > most_busy ? busy : most_busy;
		elapsed = watched > elapsed ? watched : elapsed;
	}
	if (!out->n)
		return;
	double mean = all / out->n;
	out->load_balance = ratio(mean, most);
	out->communication = ratio(most, most_busy);
	out->orchestration = ratio(most_busy, elapsed);
	out->parallel = ratio(mean, elapsed);
}

/* ---- the whole ---- */

static bool make(struct pop *p, struct view_pops *out)
{
	const struct model *m = p->m;
	if (!count_threads(p))
		return false;
	choose_processes(p);
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *x = &m->processes[i];
		uint64_t all = x->end_ns - x->start_ns, on = all > x->off_ns ? all - x->off_ns : 0;
		p->elapsed[i] = (double)on / 1e9;
	}
	leave_out_setup(p);
	out->n = make_phase(p, 0, &out->at[0]);
	if (out->n && out->at[0].n_threads == 1 && !out->at[0].has_gpu)
		out->n = 0;
	add_loops(p, out);
	return true;
}

bool view_pop_make(const struct model *m, struct view_pops *out)
{
	size_t n = (size_t)m->n_processes + 1;
	struct pop p = {.m = m,
			.is_chosen = calloc(n, sizeof *p.is_chosen),
			.n_threads = calloc(n, sizeof *p.n_threads),
			.main_thread = malloc(n * sizeof *p.main_thread),
			.elapsed = calloc(n, sizeof *p.elapsed),
			.setup = calloc(n, sizeof *p.setup)};
	*out = (struct view_pops){0};
	bool ok = p.is_chosen && p.n_threads && p.main_thread && p.elapsed && p.setup;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		p.has_activities |= m->metrics[i].kind == MODEL_METRIC_ACTIVITY;
	for (size_t i = 0; ok && i < n; i++)
		p.main_thread[i] = MODEL_NONE;
	if (ok && !m->part_has_gaps) {
		ok = make(&p, out);
		if (ok && out->n)
			time_devices(m, &out->devices);
	}
	free(p.is_chosen);
	free(p.n_threads);
	free(p.main_thread);
	free(p.elapsed);
	free(p.setup);
	return ok;
}
