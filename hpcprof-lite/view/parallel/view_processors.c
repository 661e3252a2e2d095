/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_processors.h. Test: tests/unit/prof/test_view_processors.c. */
#include "hpcprof-lite/view/parallel/view_processors.h"

#include "common/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A larger team is damage in a file. */
enum { MOST_TEAM = 4096 };
/* Less of the threads' time than this says nothing of how many there were. */
static const double MATTERS = 0.1;
/* CPU time by the clocks of threads is not more than this many times what processors gave. */
static const double GIVEN_IS_KNOWN = 1.05;
/* A thread with so many times the CPU time of another one does the work for it. */
static const double MANY_TIMES = 5;

/* ---- threads over time ---- */

/*
 * CPU time of the thread in samples: that of a killed process, or of a part of the run. At most its
 * life: a sample counts where it was taken, also for time before a short part.
 */
static double sampled_seconds(const struct model *m, const struct model_profile *t)
{
	const uint32_t profile = (uint32_t)(t - m->profiles);
	const double life = (double)(t->end_ns - t->start_ns) / 1e9;
	double seconds = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_value *v =
			m->metrics[i].is_time && m->metrics[i].measures == MODEL_EVENT_CPUTIME
				? model_find_value(m, profile, 0, i)
				: NULL;
		seconds += v ? v->at[MODEL_EXECUTION] : 0;
	}
	return seconds < life ? seconds : life;
}

static bool has_event(const struct model *m, enum model_event event)
{
	bool has = false;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		has |= m->metrics[i].is_time && m->metrics[i].measures == event;
	return has;
}

/* True if the thread had CPU time for 1 % of its life, or nothing says how much it had. */
static bool is_busy(const struct model *m, const struct model_profile *t)
{
	const uint64_t life = t->end_ns - t->start_ns;
	if (t->kind != MODEL_PROFILE_THREAD)
		return false;
	if (t->cpu_ns)
		return t->cpu_ns >= life / 100;
	return !has_event(m, MODEL_EVENT_CPUTIME) ||
	       sampled_seconds(m, t) * 1e9 >= (double)life / 100;
}

static double cpu_of(const struct model *m, const struct model_profile *t)
{
	return t->cpu_ns ? (double)t->cpu_ns / 1e9 : sampled_seconds(m, t);
}

/* True if the thread had CPU time for less than a tenth of its life, and that is known. */
static bool hardly_works(const struct model *m, const struct model_profile *t)
{
	const uint64_t life = t->end_ns - t->start_ns;
	if (t->cpu_ns)
		return t->cpu_ns < life / 10;
	return has_event(m, MODEL_EVENT_CPUTIME) &&
	       sampled_seconds(m, t) * 1e9 < (double)life / 10;
}

/* Waits that idle pools and progress threads do not have. */
static bool is_wanted_wait(unsigned activity)
{
	switch ((enum model_activity)activity) {
	case MODEL_WORK:
	case MODEL_MPI_OTHER:
	case MODEL_TORCH_COLLECTIVE:
	case MODEL_BLOCKED_POLL:
	case MODEL_BLOCKED_SLEEP:
	case MODEL_BLOCKED_THREAD:
	case MODEL_BLOCKED_OTHER: return false;
	default: return true;
	}
}

/* True if OFFCPU or REALTIME found the thread in waits for 1 % of its life. */
static bool waits(const struct model *m, const struct model_profile *t)
{
	const uint32_t profile = (uint32_t)(t - m->profiles);
	double seconds = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		const struct model_value *v =
			k->kind == MODEL_METRIC_ACTIVITY && is_wanted_wait(k->activity)
				? model_find_value(m, profile, 0, i)
				: NULL;
		seconds += v ? v->at[MODEL_EXECUTION] : 0;
	}
	return seconds >= (double)(t->end_ns - t->start_ns) / 1e11;
}

/*
 * True if another busy thread did the work for main thread t: one of its process, or one of a
 * process of its rank while it lived, as below a shell. Profiles are sorted by rank.
 */
static bool has_stand_in(const struct model *m, const struct model_profile *t)
{
	const int32_t rank = m->processes[t->process].rank;
	const uint64_t host = m->processes[t->process].host_id;
	const struct model_profile *end = m->profiles + m->n_profiles, *p = t;
	while (p > m->profiles && m->processes[p[-1].process].rank == rank)
		p--;
	for (; p < end && m->processes[p->process].rank == rank; p++)
		if (p != t && is_busy(m, p) &&
		    (p->process == t->process ||
		     (m->processes[p->process].host_id == host && p->start_ns >= t->start_ns &&
		      p->end_ns <= t->end_ns)))
			return true;
	return false;
}

/* True if main thread t starts workers and waits: one of them had many times its CPU time. */
static bool has_worker(const struct model *m, const struct model_profile *t)
{
	const struct model_profile *end = m->profiles + m->n_profiles;
	for (const struct model_profile *p = t + 1; p < end && p->process == t->process; p++)
		if (p->kind == MODEL_PROFILE_THREAD && cpu_of(m, p) >= MANY_TIMES * cpu_of(m, t))
			return true;
	return false;
}

/*
 * True for a thread that starts ranks, as mpirun does: it has no rank, and others have. Processes
 * are sorted by rank.
 */
static bool is_of_launcher(const struct model *m, const struct model_profile *t)
{
	return m->processes[t->process].rank < 0 && m->processes[m->n_processes - 1].rank >= 0;
}

/* The module of the outermost function around a context that is not there to start a thread. */
static uint32_t starter(const struct model *m, uint32_t context)
{
	uint32_t found = MODEL_NONE;
	for (uint32_t c = context; c != MODEL_NONE; c = m->contexts[c].parent) {
		const struct model_context *x = &m->contexts[c];
		if (x->kind == MODEL_CONTEXT_FUNCTION && x->module < m->n_modules &&
		    m->modules[x->module].role != MODEL_MODULE_START)
			found = x->module;
	}
	return found;
}

/* True for a thread that a run-time library or driver of GPUs started for itself, as CUPTI does. */
static bool is_of_driver(const struct model *m, const struct model_profile *t)
{
	bool any = false;
	for (size_t i = 0; t->thread && i < t->n_values; i++) {
		const struct model_value *v = &t->values[i];
		const uint32_t module =
			m->metrics[v->metric].is_time ? starter(m, v->context) : MODEL_NONE;
		if (module == MODEL_NONE)
			continue;
		if (m->modules[module].role != MODEL_MODULE_LAUNCH)
			return false;
		any = true;
	}
	return any;
}

bool view_is_used_thread(const struct model *m, const struct model_profile *t)
{
	if (t->counts != MODEL_COUNTS_UNKNOWN)
		return t->counts == MODEL_COUNTS;
	if (t->kind == MODEL_PROFILE_THREAD && (is_of_launcher(m, t) || is_of_driver(m, t)) &&
	    hardly_works(m, t))
		return false;
	if (t->kind != MODEL_PROFILE_THREAD || waits(m, t))
		return t->kind == MODEL_PROFILE_THREAD;
	if (t->thread == 0 && !is_busy(m, t))
		return !has_stand_in(m, t);
	if (t->thread == 0 && hardly_works(m, t) && has_worker(m, t))
		return false;
	return is_busy(m, t);
}

struct edge {
	uint64_t time_ns;
	int step; /* 1: a thread starts; -1: one ends */
};

static int compare_edges(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->step - b->step; /* ends first: one thread after the other is one thread */
}

/*
 * The most threads at one time that matter: the time with so many or more, times their number, is a
 * share of the threads' time. A moment with more, as while a library starts, makes no processors.
 */
static uint32_t most_threads(const struct edge *edges, size_t n, uint64_t *at_level)
{
	uint32_t now = 0, most = 0;
	double all = 0;
	uint64_t above = 0;
	for (size_t i = 0; i < n; i++) {
		now += (uint32_t)edges[i].step;
		at_level[now] += i + 1 < n ? edges[i + 1].time_ns - edges[i].time_ns : 0;
	}
	for (size_t level = 1; level <= n / 2; level++)
		all += (double)at_level[level] * (double)level;
	for (size_t level = n / 2; level > 0 && !most; level--) {
		above += at_level[level];
		if (above && (double)above * (double)level >= MATTERS * all)
			most = (uint32_t)level;
	}
	return most;
}

/* The first region of the process, or of a later one: regions are sorted by process. */
static uint32_t first_region(const struct model *m, uint32_t process)
{
	uint32_t low = 0, high = m->n_omp_regions;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (m->omp_regions[middle].process < process)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The size of a process's teams that matters, as in most_threads(). */
static uint32_t team_size(const struct model *m, uint32_t process, double thread_seconds)
{
	const uint32_t first = first_region(m, process);
	uint32_t best = 0;
	for (uint32_t i = first; i < m->n_omp_regions && m->omp_regions[i].process == process;
	     i++) {
		const uint32_t size = m->omp_regions[i].n_threads;
		double seconds = 0;
		if (size <= best || size > MOST_TEAM)
			continue;
		for (uint32_t k = first;
		     k < m->n_omp_regions && m->omp_regions[k].process == process; k++)
			seconds += m->omp_regions[k].n_threads >= size
					   ? (double)m->omp_regions[k].elapsed_ns / 1e9
					   : 0;
		if (seconds * size >= MATTERS * thread_seconds)
			best = size;
	}
	return best;
}

struct edges {
	VEC(struct edge) list;
};

static bool add_life(struct edges *e, uint64_t start_ns, uint64_t end_ns)
{
	struct edge *at = vec_extend(&e->list, 2);
	if (!at)
		return false;
	/* a thread without duration lived at its moment; UINT64_MAX has none after it */
	start_ns -= start_ns == UINT64_MAX;
	at[0] = (struct edge){start_ns, 1};
	at[1] = (struct edge){end_ns + (end_ns == start_ns), -1};
	return true;
}

/* Of the edges from `first` on. False if memory is short. */
static bool find_most(struct edges *e, size_t first, uint32_t *most)
{
	const size_t n = e->list.n - first;
	uint64_t *at_level = calloc(n / 2 + 1, sizeof *at_level);
	if (!at_level)
		return false;
	if (n)
		qsort(e->list.at + first, n, sizeof *e->list.at, compare_edges);
	*most = most_threads(e->list.at + first, n, at_level);
	free(at_level);
	return true;
}

/*
 * Adds the used threads among profiles of one process, and those of its teams that were never seen
 * at work.
 */
static bool add_process(const struct model *m, uint32_t first, uint32_t end, struct edges *e,
			uint32_t *all)
{
	const uint32_t process = m->profiles[first].process;
	const size_t begin = e->list.n;
	double seconds = 0;
	uint32_t most;
	for (uint32_t i = first; i < end; i++) {
		const struct model_profile *t = &m->profiles[i];
		if (!view_is_used_thread(m, t))
			continue;
		if (!add_life(e, t->start_ns, t->end_ns))
			return false;
		seconds += (double)(t->end_ns - t->start_ns) / 1e9;
		++*all;
	}
	if (!find_most(e, begin, &most))
		return false;
	for (const uint32_t team = team_size(m, process, seconds); most < team; most++)
		if (!add_life(e, m->processes[process].start_ns, m->processes[process].end_ns))
			return false;
	return true;
}

/* As view_count_threads(), of a part by time or function: as many as in the whole run. */
static void count_part(const struct model *m, uint32_t first, uint32_t end, uint32_t *most,
		       uint32_t *all)
{
	*most = first || end < m->n_profiles ? m->processes[m->profiles[first].process].part_threads
					     : m->part_most_threads;
	*all = 0;
	for (uint32_t i = first; i < end; i++)
		*all += view_is_used_thread(m, &m->profiles[i]);
}

bool view_count_threads(const struct model *m, uint32_t first, uint32_t end, uint32_t *most,
			uint32_t *all)
{
	struct edges e = {0};
	if (m->part_most_threads) {
		count_part(m, first, end, most, all);
		return true;
	}
	bool ok = true;
	*all = 0;
	for (uint32_t i = first, next; ok && i < end; i = next) {
		next = i;
		while (next < end && m->profiles[next].process == m->profiles[i].process)
			next++;
		ok = add_process(m, i, next, &e, all);
	}
	ok = ok && find_most(&e, 0, most);
	vec_free(&e.list);
	return ok;
}

/* ---- uses ---- */

static double value_of(const struct model *m, uint32_t profile, uint32_t metric)
{
	const struct model_value *v = model_find_value(m, profile, 0, metric);
	return v ? v->at[MODEL_EXECUTION] : 0;
}

/* Adds the time of the thread by activity. Without metrics of activities, all time is work. */
static double add_activities(const struct model *m, uint32_t profile, double *seconds)
{
	double time = 0;
	bool any = false;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		if (k->is_time)
			time += value_of(m, profile, i);
		if (k->kind != MODEL_METRIC_ACTIVITY)
			continue;
		any = true;
		seconds[k->activity] += value_of(m, profile, i);
	}
	if (!any)
		seconds[MODEL_WORK] += time;
	return time;
}

bool view_is_elapsed_time(const struct model *m)
{
	return has_event(m, MODEL_EVENT_REALTIME);
}

/* The measurement is on or off for all threads of a process together. */
static double off_seconds(const struct model *m, const struct model_profile *t)
{
	const struct model_process *p = &m->processes[t->process];
	double process = (double)(p->end_ns - p->start_ns),
	       thread = (double)(t->end_ns - t->start_ns);
	return process > 0 ? (double)p->off_ns / 1e9 * thread / process : 0;
}

/* The time that the thread spent in the OpenMP runtime, in MPI, and waiting for GPUs. */
static double may_have_spun(const struct model *m, uint32_t profile)
{
	double seconds = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		if (k->kind == MODEL_METRIC_ACTIVITY && k->activity >= MODEL_OMP_BARRIER &&
		    k->activity <= MODEL_GPU_WAIT)
			seconds += value_of(m, profile, i);
	}
	return seconds;
}

struct view_bounds_of_work view_bound_work(const struct model *m, uint32_t profile, double work)
{
	const double cpu = (double)m->profiles[profile].cpu_ns / 1e9,
		     rest = cpu - may_have_spun(m, profile);
	struct view_bounds_of_work b = {.most = work};
	if (!view_is_elapsed_time(m))
		b.least = work;
	else if (cpu > 0)
		b = (struct view_bounds_of_work){.least = rest < 0      ? 0
							  : rest < work ? rest
									: work,
						 .most = work < cpu ? work : cpu};
	return b;
}

static void add_thread(const struct model *m, uint32_t profile, struct view_processors *p)
{
	const struct model_profile *t = &m->profiles[profile];
	struct view_process_use *u = &p->processes[t->process];
	const double before = u->seconds[MODEL_WORK];
	double known = add_activities(m, profile, u->seconds), off = off_seconds(m, t);
	const double work = u->seconds[MODEL_WORK] - before;
	const struct view_bounds_of_work b = view_bound_work(m, profile, work);
	if (b.most > VIEW_WORK_IS_KNOWN * b.least) {
		p->work_has_waits = true;
	} else {
		u->seconds[MODEL_WORK] -= work - b.most;
		known -= work - b.most;
	}
	double rest = (double)(t->end_ns - t->start_ns) / 1e9 - known;
	off = off < rest ? off : rest;
	off = off > 0 ? off : 0;
	u->seconds[VIEW_USE_OFF] += off;
	u->seconds[VIEW_USE_UNKNOWN] += rest - off;
	u->n_threads++;
}

/*
 * Samples may add up to a little more than the lives of the threads of a process. The capacity is
 * then that much larger, so that no use is negative and they still add up.
 */
static void add_up(struct view_processors *p)
{
	double all = 0;
	for (uint32_t i = 0; i < p->n_processes; i++) {
		double *of_process = p->processes[i].seconds;
		if (of_process[VIEW_USE_UNKNOWN] < 0)
			of_process[VIEW_USE_UNKNOWN] = 0;
		for (unsigned k = 0; k < VIEW_N_USES; k++)
			p->seconds[k] += of_process[k];
	}
	for (unsigned k = 0; k < VIEW_N_USES; k++)
		all += p->seconds[k];
	p->capacity = p->elapsed * p->n_threads;
	if (p->capacity < all)
		p->capacity = all;
	p->seconds[VIEW_USE_NO_THREAD] = p->capacity - all;
}

/*
 * Threads in turn on a processor have samples that count for time before a short part. A run that
 * used more than it was given at its start got more later: nobody knows how much.
 */
static void find_cpu(const struct model *m, struct view_processors *p)
{
	for (uint32_t i = 0; i < m->n_profiles; i++)
		p->cpu_seconds += m->profiles[i].cpu_ns ? (double)m->profiles[i].cpu_ns / 1e9
							: sampled_seconds(m, &m->profiles[i]);
	const double most = p->elapsed * p->quota.n_given;
	if (!p->quota.n_allowed || p->cpu_seconds <= most)
		return;
	if (m->part_most_threads || p->quota.has_quota || p->cpu_seconds <= GIVEN_IS_KNOWN * most)
		p->cpu_seconds = most;
	else
		p->quota = (struct view_quota){0};
}

bool view_processors_apply(const struct model *m)
{
	bool has_time = false;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		has_time |= m->metrics[i].is_time;
	return has_time && !m->part_has_gaps &&
	       (model_count_threads(m) > 1 || m->part_all_threads > 1 || m->n_gpu_queues ||
		has_event(m, MODEL_EVENT_OFFCPU));
}

bool view_processors_make(const struct model *m, struct view_processors *p)
{
	*p = (struct view_processors){
		.elapsed = (double)m->elapsed_ns / 1e9,
		.lacks_offcpu = !has_event(m, MODEL_EVENT_OFFCPU),
		.processes = calloc((size_t)m->n_processes + 1, sizeof *p->processes),
		.n_processes = m->n_processes};
	if (!p->processes ||
	    !view_count_threads(m, 0, m->n_profiles, &p->n_threads, &p->n_all_threads) ||
	    !view_quota_make(m, &p->quota)) {
		view_processors_free(p);
		return false;
	}
	p->n_left_out = model_count_threads(m) - p->n_all_threads;
	for (uint32_t i = 0; i < m->n_processes; i++) {
		p->processes[i].process = i;
		p->n_ranks += m->processes[i].rank >= 0 &&
			      (!i || m->processes[i].rank != m->processes[i - 1].rank);
	}
	find_cpu(m, p);
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (view_is_used_thread(m, &m->profiles[i]))
			add_thread(m, i, p);
	add_up(p);
	return true;
}

void view_processors_free(struct view_processors *p)
{
	free(p->processes);
	*p = (struct view_processors){0};
}

/* The end of the processes of one rank, which begin at `first`. Without ranks: of one process. */
static uint32_t rank_end(const struct view_processors *p, const struct model *m, uint32_t first)
{
	uint32_t end = first + 1;
	while (p->n_ranks && end < p->n_processes &&
	       m->processes[end].rank == m->processes[first].rank)
		end++;
	return end;
}

struct view_spread view_processors_spread(const struct view_processors *p, const struct model *m,
					  unsigned use)
{
	struct view_spread s = {0};
	size_t n = 0;
	for (uint32_t i = 0, end; i < p->n_processes; i = end) {
		double x = 0;
		end = rank_end(p, m, i);
		for (uint32_t k = i; k < end; k++)
			x += p->processes[k].seconds[use];
		if (p->n_ranks && m->processes[i].rank < 0)
			continue;
		if (!n || x < s.least) {
			s.least = x;
			s.least_process = i;
		}
		if (!n || x > s.most) {
			s.most = x;
			s.most_process = i;
		}
		s.mean += x;
		n++;
	}
	s.mean /= n ? (double)n : 1;
	return s;
}

static const struct {
	const char *name, *brief;
} names[VIEW_N_USES] = {
	[MODEL_WORK] = {"worked", "worked"},
	[MODEL_OMP_BARRIER] = {"OpenMP: waited at barriers and ends of regions", "OpenMP barriers"},
	[MODEL_OMP_LOCK] = {"OpenMP: waited for locks and critical sections", "OpenMP locks"},
	[MODEL_OMP_ORDERED] = {"OpenMP: waited for their turn (ordered)", "OpenMP ordered"},
	[MODEL_OMP_TASKWAIT] = {"OpenMP: waited for tasks", "OpenMP tasks"},
	[MODEL_OMP_OVERHEAD] = {"OpenMP: run time", "OpenMP run time"},
	[MODEL_OMP_IDLE] = {"OpenMP: idle outside of regions", "OpenMP idle"},
	[MODEL_MPI_P2P] = {"MPI: point-to-point", "MPI p2p"},
	[MODEL_MPI_COLLECTIVE] = {"MPI: collectives", "MPI collectives"},
	[MODEL_MPI_ONE_SIDED] = {"MPI: one-sided", "MPI one-sided"},
	[MODEL_MPI_IO] = {"MPI: files", "MPI files"},
	[MODEL_MPI_OTHER] = {"MPI: other calls", "MPI other calls"},
	[MODEL_TORCH_COLLECTIVE] = {"PyTorch: collective operations", "PyTorch collect."},
	[MODEL_GPU_WAIT] = {"waited for a GPU", "waited for a GPU"},
	[MODEL_BLOCKED_LOCK] = {"blocked: locks", "blocked: locks"},
	[MODEL_BLOCKED_THREAD] = {"blocked: condition variables (waiting for another thread)",
				  "blocked: threads"},
	[MODEL_BLOCKED_IO] = {"blocked: files, sockets, pipes, devices", "blocked: I/O"},
	[MODEL_BLOCKED_POLL] = {"blocked: poll", "blocked: poll"},
	[MODEL_BLOCKED_SLEEP] = {"blocked: sleep", "blocked: sleep"},
	[MODEL_BLOCKED_OTHER] = {"blocked: other causes", "blocked: other"},
	[MODEL_NO_CPU] = {"ready, but without a processor", "no processor"},
	[VIEW_USE_UNKNOWN] = {"without samples", "without samples"},
	[VIEW_USE_OFF] = {"measurement was off", "measurement off"},
	[VIEW_USE_NO_THREAD] = {"not used: fewer threads", "no thread"},
};

const char *view_use_name(const struct view_processors *p, unsigned use)
{
	if (use == VIEW_USE_UNKNOWN && p->lacks_offcpu)
		return "blocked, or ready without a processor";
	if (use == MODEL_WORK && p->work_has_waits)
		return "worked, or was blocked";
	return use < VIEW_N_USES ? names[use].name : "";
}

const char *view_use_short(const struct view_processors *p, unsigned use)
{
	if (use == MODEL_WORK && p->work_has_waits)
		return "worked or blocked";
	return use < VIEW_N_USES ? names[use].brief : "";
}
