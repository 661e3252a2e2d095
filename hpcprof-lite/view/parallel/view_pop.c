/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_pop.h. Tests: tests/unit/prof/test_view_pop.c and those named there. */
#include "hpcprof-lite/view/parallel/view_pop.h"

#include "common/base/vec.h"
#include "hpcprof-lite/view/parallel/view_pop_internal.h"
#include "hpcprof-lite/view/parallel/view_processors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Phases and loops with a smaller share of the elapsed time are left out. */
static const double SHORTEST = 0.05;

/* ---- values ---- */

static double value(const struct model *m, uint32_t profile, uint32_t context, uint32_t metric)
{
	const struct model_value *v =
		metric == MODEL_NONE ? NULL : model_find_value(m, profile, context, metric);
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

static double time_in_mpi(const struct pop *p, uint32_t profile, uint32_t context)
{
	return p->mpi_time == MODEL_NONE
		       ? time_in(p, profile, context, MODEL_MPI_P2P, MODEL_MPI_OTHER)
		       : value(p->m, profile, context, p->mpi_time);
}

/* ---- processes ---- */

struct moment {
	uint64_t time_ns;
	uint32_t profile;
	bool is_end;
};

static int compare_moments(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->is_end != b->is_end)
		return a->is_end ? -1 : 1; /* ends first: the next thread takes the lane */
	return (a->profile > b->profile) - (a->profile < b->profile);
}

/* Sets the lanes of the profiles [first, end) of one process. False if memory is short. */
static bool find_lanes(struct pop *p, uint32_t first, uint32_t end)
{
	const struct model *m = p->m;
	struct moment *moments = malloc((2 * (size_t)(end - first) + 1) * sizeof *moments);
	uint32_t *free_lanes = malloc(((size_t)(end - first) + 1) * sizeof *free_lanes);
	size_t n = 0, n_free = 0;
	const bool ok = moments && free_lanes;
	for (uint32_t i = first; ok && i < end; i++) {
		const struct model_profile *t = &m->profiles[i];
		p->lane[i] = MODEL_NONE;
		if (!view_is_used_thread(m, t))
			continue;
		/* UINT64_MAX has no moment after it */
		const uint64_t start_ns = t->start_ns - (t->start_ns == UINT64_MAX);
		moments[n++] = (struct moment){start_ns, i, false};
		moments[n++] = (struct moment){t->end_ns + (t->end_ns == start_ns), i, true};
	}
	if (n)
		qsort(moments, n, sizeof *moments, compare_moments);
	for (size_t i = 0; i < n; i++) {
		const uint32_t profile = moments[i].profile;
		if (moments[i].is_end)
			free_lanes[n_free++] = p->lane[profile];
		else
			p->lane[profile] = n_free ? free_lanes[--n_free] : profile;
	}
	free(moments);
	free(free_lanes);
	return ok;
}

/* Finds the threads and lanes of each process. False if memory is short. */
static bool count_threads(struct pop *p)
{
	const struct model *m = p->m;
	for (uint32_t i = 0, next; i < m->n_profiles; i = next) {
		const uint32_t process = m->profiles[i].process;
		uint32_t n_all;
		p->first_profile[process] = i;
		for (next = i; next < m->n_profiles && m->profiles[next].process == process; next++)
			if (p->main_thread[process] == MODEL_NONE &&
			    view_is_used_thread(m, &m->profiles[next]))
				p->main_thread[process] = next;
		if (!view_count_threads(m, i, next, &p->n_threads[process], &n_all) ||
		    !find_lanes(p, i, next))
			return false;
	}
	return true;
}

/*
 * The ranks, or without ranks, the process that worked most. Workers that a rank started have its
 * rank, too; they count only if there is nothing else.
 */
static void choose_processes(struct pop *p)
{
	const struct model *m = p->m;
	uint32_t best = 0;
	bool any = false;
	for (int with_workers = 0; with_workers < 2 && !any; with_workers++)
		for (uint32_t i = 0; i < m->n_processes; i++)
			any |= p->is_chosen[i] = m->processes[i].rank >= 0 && p->n_threads[i] &&
						 (with_workers || !m->processes[i].role);
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

/* False if samples of work may be those of blocked threads, as with REALTIME alone. */
static bool is_useful_known(const struct pop *p)
{
	const struct model *m = p->m;
	double work = 0, least = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		if (!p->is_chosen[m->profiles[i].process] ||
		    !view_is_used_thread(m, &m->profiles[i]))
			continue;
		const double one = useful(p, i, 0);
		work += one;
		least += view_bound_work(m, i, one).least;
	}
	return work <= VIEW_WORK_IS_KNOWN * least;
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

static void mark_setup(struct pop *p)
{
	const struct model *m = p->m;
	for (uint32_t c = 1; c < m->n_contexts; c++)
		p->is_setup[c] = p->is_setup[m->contexts[c].parent] || is_setup(m, c);
}

/* POP and TALP count from the end of MPI_Init to the start of MPI_Finalize. */
static void add_setup(const struct pop *p, double *setup)
{
	const struct model *m = p->m;
	for (uint32_t c = 1; c < m->n_contexts; c += p->is_setup[c] ? m->contexts[c].subtree_n : 1)
		for (uint32_t i = 0; p->is_setup[c] && i < m->n_processes; i++)
			if (p->main_thread[i] != MODEL_NONE)
				setup[i] += time_in_mpi(p, p->main_thread[i], c);
}

/* ---- times ---- */

bool pop_times_make(const struct pop *p, struct pop_times *t)
{
	const size_t n = (size_t)p->m->n_processes + 1, profiles = (size_t)p->m->n_profiles + 1;
	*t = (struct pop_times){.elapsed = calloc(n, sizeof *t->elapsed),
				.setup = calloc(n, sizeof *t->setup),
				.mpi = calloc(n, sizeof *t->mpi),
				.useful = calloc(profiles, sizeof *t->useful),
				.gpu_wait = calloc(profiles, sizeof *t->gpu_wait)};
	return t->elapsed && t->setup && t->mpi && t->useful && t->gpu_wait;
}

void pop_times_free(struct pop_times *t)
{
	free(t->elapsed);
	free(t->setup);
	free(t->mpi);
	free(t->useful);
	free(t->gpu_wait);
	*t = (struct pop_times){0};
}

/* Adds the times in a context, but not elapsed time and set-up. */
static void add_context(const struct pop *p, uint32_t context, struct pop_times *t)
{
	const struct model *m = p->m;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		if (!p->is_chosen[m->profiles[i].process] ||
		    !view_is_used_thread(m, &m->profiles[i]))
			continue;
		t->useful[i] = useful(p, i, context);
		t->gpu_wait[i] = time_in(p, i, context, MODEL_GPU_WAIT, MODEL_GPU_WAIT);
	}
	for (uint32_t i = 0; i < m->n_processes; i++)
		if (p->main_thread[i] != MODEL_NONE)
			t->mpi[i] = time_in_mpi(p, p->main_thread[i], context);
}

static bool time_whole(const struct pop *p, struct pop_times *t)
{
	const struct model *m = p->m;
	if (!pop_times_make(p, t))
		return false;
	add_context(p, 0, t);
	add_setup(p, t->setup);
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *x = &m->processes[i];
		uint64_t all = x->end_ns - x->start_ns, on = all > x->off_ns ? all - x->off_ns : 0;
		t->elapsed[i] = (double)on / 1e9;
		t->elapsed[i] -= t->setup[i] < t->elapsed[i] ? t->setup[i] : 0;
		t->mpi[i] -= t->setup[i] < t->mpi[i] ? t->setup[i] : t->mpi[i];
	}
	return true;
}

/* ---- a phase ---- */

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static bool is_hybrid(const struct pop *p, const struct view_pop *x)
{
	bool has_mpi = p->mpi_time != MODEL_NONE, has_omp = p->m->n_omp_regions;
	for (uint32_t i = 0; i < p->m->n_metrics; i++) {
		const struct model_metric *k = &p->m->metrics[i];
		if (k->kind != MODEL_METRIC_ACTIVITY)
			continue;
		has_mpi |= pop_is_mpi(k->activity);
		has_omp |= k->activity >= MODEL_OMP_BARRIER && k->activity <= MODEL_OMP_IDLE;
	}
	return has_mpi && has_omp && x->n_processes > 1 && x->n_threads > x->n_processes;
}

static void add_mpi(const struct pop *p, const struct pop_times *t, struct view_pop *out)
{
	double all = 0, most = 0;
	for (uint32_t i = 0; i < p->m->n_processes; i++) {
		if (!pop_is_whole(p, i) || p->main_thread[i] == MODEL_NONE)
			continue;
		double outside = out->elapsed > t->mpi[i] ? out->elapsed - t->mpi[i] : 0;
		all += outside;
		most = outside > most ? outside : most;
	}
	out->is_hybrid = is_hybrid(p, out);
	double mean = all / out->n_processes;
	out->mpi = ratio(mean, out->elapsed);
	out->mpi_load_balance = ratio(mean, most);
	out->mpi_communication = ratio(most, out->elapsed);
	out->omp = ratio(out->parallel, out->mpi);
}

static void add_processes(const struct pop *p, const struct pop_times *t, struct view_pop *out)
{
	for (uint32_t i = 0; i < p->m->n_processes; i++) {
		if (!pop_is_whole(p, i))
			continue;
		out->n_processes++;
		out->has_setup |= t->setup[i] > 0;
		out->n_threads += p->n_threads[i];
		out->elapsed = t->elapsed[i] > out->elapsed ? t->elapsed[i] : out->elapsed;
	}
}

/* Adds the efficiencies of a phase, if somebody worked in it. False if memory is short. */
static bool add_phase(const struct pop *p, struct pop_times *t, uint32_t phase, uint32_t context,
		      struct view_pops *list)
{
	const struct model *m = p->m;
	struct view_pop *out = &list->at[list->n];
	double all = 0, most = 0, waits = 0;
	*out = (struct view_pop){
		.phase = phase, .context = context, .has_gpu = m->n_gpu_queues != 0};
	pop_join_times(p, t);
	add_processes(p, t, out);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		all += t->useful[i];
		most = t->useful[i] > most ? t->useful[i] : most;
		waits += t->gpu_wait[i];
	}
	if (all <= 0 || out->elapsed <= 0 || !out->n_threads ||
	    (list->n && out->elapsed < SHORTEST * list->at[0].elapsed))
		return true;
	/* samples may weigh a little more than the clock says */
	double mean = all / out->n_threads;
	/* threads beyond those that matter worked, too */
	most = most > mean ? most : mean;
	out->elapsed = most > out->elapsed ? most : out->elapsed;
	out->parallel = ratio(mean, out->elapsed);
	out->load_balance = ratio(mean, most);
	out->communication = ratio(most, out->elapsed);
	out->offload = ratio(all, all + waits);
	add_mpi(p, t, out);
	list->n++;
	return pop_split_communication(p, t, out);
}

/* ---- phases of the model ---- */

/* The longest phases or loops, in order of their ids. */
struct longest {
	uint32_t id[VIEW_POP_MOST];
	double length[VIEW_POP_MOST];
	size_t n;
	uint32_t n_more; /* the others */
};

/* Adds a phase or loop. Ids must ascend. If the list is full, the shortest one is dropped. */
static void add_longest(struct longest *l, uint32_t id, double length)
{
	size_t shortest = 0;
	l->id[l->n] = id;
	l->length[l->n++] = length;
	if (l->n < VIEW_POP_MOST)
		return;
	for (size_t i = 1; i < l->n; i++)
		shortest = l->length[i] <= l->length[shortest] ? i : shortest;
	l->n--;
	l->n_more++;
	for (size_t i = shortest; i < l->n; i++) {
		l->id[i] = l->id[i + 1];
		l->length[i] = l->length[i + 1];
	}
}

/* The longest time of a process. `lengths` are by process; the function changes them. */
static double longest_of(const struct pop *p, double *lengths)
{
	double most = 0;
	for (uint32_t i = 0; i < p->m->n_processes; i++) {
		const uint32_t whole = p->whole[i];
		if (whole != MODEL_NONE && whole != i) {
			lengths[whole] += lengths[i];
			lengths[i] = 0;
		}
	}
	for (uint32_t i = 0; i < p->m->n_processes; i++)
		most = pop_is_whole(p, i) && lengths[i] > most ? lengths[i] : most;
	return most;
}

static bool add_phases(const struct pop *p, struct view_pops *out)
{
	struct pop_times times[VIEW_POP_MOST] = {0};
	struct longest longest = {0};
	const struct model *m = p->m;
	double *lengths = calloc((size_t)m->n_processes + 1, sizeof *lengths);
	for (uint32_t k = 0; lengths && k < m->n_phases; k++) {
		for (uint32_t i = 0; i < m->n_processes; i++)
			lengths[i] = pop_length(m, k, i);
		const double most = longest_of(p, lengths);
		if (most >= SHORTEST * out->at[0].elapsed)
			add_longest(&longest, k, most);
	}
	bool ok = lengths && pop_time_phases(p, longest.id, longest.n, times);
	for (size_t k = 0; ok && k < longest.n; k++)
		ok = add_phase(p, &times[k], longest.id[k], 0, out);
	for (size_t k = 0; k < longest.n; k++)
		pop_times_free(&times[k]);
	out->n_more = m->n_phases + 1 - (uint32_t)out->n;
	free(lengths);
	return ok;
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

/* Reads the time lines of main threads only once, not for each loop. */
static bool add_loops(const struct pop *p, struct view_pops *out)
{
	const struct model *m = p->m;
	const size_t n_processes = m->n_processes;
	VEC(uint32_t) loops = {0};
	uint32_t main_ = find_main(m),
		 end = main_ == MODEL_NONE ? 0 : main_ + m->contexts[main_].subtree_n;
	bool ok = true;
	for (uint32_t c = main_ + 1; ok && c < end; c += m->contexts[c].subtree_n) {
		uint32_t *loop =
			m->contexts[c].kind == MODEL_CONTEXT_LOOP ? vec_push(&loops) : NULL;
		ok = loop || m->contexts[c].kind != MODEL_CONTEXT_LOOP;
		if (loop)
			*loop = c;
	}
	double *elapsed = ok ? calloc(loops.n * n_processes + 1, sizeof *elapsed) : NULL;
	ok = elapsed;
	if (ok && loops.n)
		pop_time_loops(p, loops.at, loops.n, elapsed);
	struct longest longest = {0};
	for (size_t k = 0; ok && k < loops.n; k++) {
		const double most = longest_of(p, elapsed + k * n_processes);
		if (most >= SHORTEST * out->at[0].elapsed)
			add_longest(&longest, (uint32_t)k, most);
	}
	for (size_t i = 0; ok && i < longest.n; i++) {
		const size_t k = longest.id[i];
		struct pop_times t;
		ok = pop_times_make(p, &t);
		if (ok) {
			memcpy(t.elapsed, elapsed + k * n_processes, n_processes * sizeof *elapsed);
			add_context(p, loops.at[k], &t);
			ok = add_phase(p, &t, MODEL_NONE, loops.at[k], out);
		}
		pop_times_free(&t);
	}
	out->n_more = longest.n_more;
	free(elapsed);
	vec_free(&loops);
	return ok;
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
	struct pop_times whole = {0};
	if (!count_threads(p))
		return false;
	choose_processes(p);
	if (!is_useful_known(p))
		return true;
	if (!pop_join_processes(p))
		return false;
	mark_setup(p);
	bool ok = time_whole(p, &whole) && add_phase(p, &whole, MODEL_NONE, 0, out);
	pop_times_free(&whole);
	if (out->n && out->at[0].n_threads == 1 && !out->at[0].has_gpu)
		out->n = 0;
	for (uint32_t i = 0; i < m->n_processes; i++)
		out->n_lost += p->is_chosen[i] ? m->processes[i].ledger.losses[MSR_LOSS_PHASE] : 0;
	out->lacks_lines = m->n_phases && !m->has_traces;
	if (!ok || !out->n || !m->has_traces)
		return ok;
	return m->n_phases ? add_phases(p, out) : add_loops(p, out);
}

bool view_pop_make(const struct model *m, struct view_pops *out)
{
	size_t n = (size_t)m->n_processes + 1;
	struct pop p = {.m = m,
			.is_chosen = calloc(n, sizeof *p.is_chosen),
			.whole = malloc(n * sizeof *p.whole),
			.first_profile = calloc(n, sizeof *p.first_profile),
			.n_threads = calloc(n, sizeof *p.n_threads),
			.main_thread = malloc(n * sizeof *p.main_thread),
			.lane = malloc(((size_t)m->n_profiles + 1) * sizeof *p.lane),
			.is_setup = calloc((size_t)m->n_contexts + 1, sizeof *p.is_setup),
			.mpi_time = MODEL_NONE};
	*out = (struct view_pops){0};
	bool ok = p.is_chosen && p.whole && p.first_profile && p.n_threads && p.main_thread &&
		  p.lane && p.is_setup;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		p.has_activities |= m->metrics[i].kind == MODEL_METRIC_ACTIVITY;
		if (m->metrics[i].role == MODEL_ROLE_MPI_TIME)
			p.mpi_time = i;
	}
	for (size_t i = 0; ok && i < n; i++)
		p.main_thread[i] = p.whole[i] = MODEL_NONE;
	if (ok && !m->part_has_gaps) {
		ok = make(&p, out);
		if (ok && out->n)
			time_devices(m, &out->devices);
	}
	free(p.is_chosen);
	free(p.whole);
	free(p.first_profile);
	free(p.n_threads);
	free(p.main_thread);
	free(p.lane);
	free(p.is_setup);
	return ok;
}

const char *view_pop_name(const struct model *m, const struct view_pop *x, const char *place,
			  char *name, size_t n_bytes)
{
	if (x->phase != MODEL_NONE)
		snprintf(name, n_bytes, "%s", m->phases[x->phase].name);
	else if (x->context)
		snprintf(name, n_bytes, "loop at %s", place);
	else
		snprintf(name, n_bytes, "everything");
	return name;
}
