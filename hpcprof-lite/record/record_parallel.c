/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The account of time, efficiencies, and parallel regions of OpenMP; see record.h. The values are
 * those of the views that the report shows. Test: tests/cli/openmp/omp_known.sh.
 */
#include "hpcprof-lite/record/record_build.h"
#include "hpcprof-lite/record/words.h"
#include "hpcprof-lite/view/parallel/view_pop.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/parallel/view_regions.h"

/* ---- account of time ---- */

#define ACCOUNT(kind, member, name, meaning) MEMBER(kind, view_processors, member, name, meaning)
static bool has_processors(const struct record *r)
{
	return ((const struct view_processors *)r->at)->quota.n_allowed != 0;
}

static struct value allowed(const struct record *r)
{
	return value_count(((const struct view_processors *)r->at)->quota.n_allowed);
}

static struct value given(const struct record *r)
{
	return value_real(((const struct view_processors *)r->at)->quota.n_given);
}

static struct value throttled(const struct record *r)
{
	return value_real(((const struct view_processors *)r->at)->quota.throttled);
}

static const struct field account_fields[] = {
	ACCOUNT(FIELD_REAL, elapsed, "elapsed_sec", NULL),
	ACCOUNT(FIELD_COUNT, n_threads, "threads", "The most at one time that matters"),
	ACCOUNT(FIELD_COUNT, n_all_threads, "all_threads", "Threads in the sums, at any time"),
	ACCOUNT(FIELD_COUNT, n_left_out, "left_out", "Threads with too little CPU time; in no sum"),
	ACCOUNT(FIELD_REAL, capacity, "capacity_sec", "The sum of the uses"),
	ACCOUNT(FIELD_REAL, cpu_seconds, "cpu_sec", "Of all threads"),
	{.name = "processors", .kind = FIELD_COUNT,
	 .meaning = "Processors that the processes may use", .get = allowed,
	 .is_known = has_processors},
	{.name = "given", .kind = FIELD_REAL, .meaning = "Processors, bounded by CPU quotas",
	 .get = given, .is_known = has_processors},
	{.name = "throttled_sec", .kind = FIELD_REAL, .meaning = "By CPU quotas, over processors",
	 .get = throttled, .is_known = has_processors},
};

/* A use of processors by a process, or by all. */
struct use {
	uint32_t process;
	uint8_t use;
	double seconds;
};

static const char *use_word(unsigned use)
{
	static const char *const others[] = {"unknown", "off", "no-thread"};
	return use < MODEL_N_ACTIVITIES ? words_activity(use)
	       : use < VIEW_N_USES	? others[use - MODEL_N_ACTIVITIES]
					: NULL;
}

static const struct field use_fields[] = {
	{.name = "process", .kind = FIELD_ID, .of = "process", .meaning = "None: all",
	 FIELD_AT(use, process)},
	WORD(use, use, use_word, NULL),
	REAL(use, seconds, "seconds", NULL),
};

/* A use over the ranks. */
struct spread {
	uint8_t use;
	struct view_spread over;
};

#define SPREAD(member, name) REAL(spread, over.member, name, NULL)
static const struct field spread_fields[] = {
	WORD(spread, use, use_word, NULL),
	SPREAD(least, "least_sec"),
	{.name = "least_process", .kind = FIELD_ID, .of = "process", .meaning = "First of its rank",
	 FIELD_AT(spread, over.least_process)},
	SPREAD(mean, "mean_sec"),
	SPREAD(most, "most_sec"),
	{.name = "most_process", .kind = FIELD_ID, .of = "process",
	 FIELD_AT(spread, over.most_process)},
};

static const struct record_kind record_account = {
	.name = "account", .table = "account", .json = "account", .parent = &record_run,
	.meaning = "Where the time of the threads that count went, if it was measured",
	.form = RECORD_OBJECT, .sinks = RECORD_ALL, FIELDS(account_fields)};
static const struct record_kind record_use = {
	.name = "account-use", .table = "account_use", .json = "uses", .parent = &record_account,
	.meaning = "What processors were used for", .sinks = RECORD_ALL, FIELDS(use_fields),
	.is_wanted = record_always};
static const struct record_kind record_spread = {
	.name = "account-spread", .table = "account_spread", .json = "spreads",
	.parent = &record_account, .meaning = "A use by rank, or by process if there are no ranks",
	.sinks = RECORD_ALL, FIELDS(spread_fields), .is_wanted = record_always};

static void visit_uses(struct record_visitor *v, const struct record *r, const double *seconds,
		       uint32_t process, uint32_t *id)
{
	for (unsigned k = 0; k < VIEW_N_USES; k++)
		if (seconds[k] > 0)
			record_visit(v, r, &record_use,
				     &(struct use){process, (uint8_t)k, seconds[k]}, (*id)++);
}

/* As in the report, where time without threads belongs to no rank. */
static void visit_spreads(const struct model *m, struct record_visitor *v, const struct record *r,
			  const struct view_processors *p)
{
	uint32_t id = 0;
	for (unsigned k = 0; k < VIEW_N_USES && p->n_processes > 1; k++)
		if (p->seconds[k] > 0 && k != VIEW_USE_NO_THREAD)
			record_visit(v, r, &record_spread,
				     &(struct spread){(uint8_t)k, view_processors_spread(p, m, k)},
				     id++);
}

static bool visit_account(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	struct view_processors p;
	uint32_t id = 0;
	if (!view_processors_apply(m))
		return true;
	if (!view_processors_make(m, &p))
		return false;
	record_visit(v, &r, &record_account, &p, 0);
	visit_uses(v, &r, p.seconds, MODEL_NONE, &id);
	for (uint32_t i = 0; i < p.n_processes; i++)
		visit_uses(v, &r, p.processes[i].seconds, p.processes[i].process, &id);
	visit_spreads(m, v, &r, &p);
	view_processors_free(&p);
	return true;
}

/* ---- efficiencies ---- */

#define POP(member, name, meaning) REAL(view_pop, member, name, meaning)
#define POP_IF(member, name_, condition)                                                           \
	{.name = (name_), .kind = FIELD_REAL, .is_known = (condition), FIELD_AT(view_pop, member)}

static bool has_transfer(const struct record *r)
{
	return ((const struct view_pop *)r->at)->has_transfer;
}

static bool is_hybrid(const struct record *r)
{
	return ((const struct view_pop *)r->at)->is_hybrid;
}

static bool has_gpu(const struct record *r)
{
	return ((const struct view_pop *)r->at)->has_gpu;
}

static struct value phase_name(const struct record *r)
{
	const uint32_t phase = ((const struct view_pop *)r->at)->phase;
	return value_text(phase == MODEL_NONE ? NULL : r->m->phases[phase].name);
}

static const struct field pop_fields[] = {
	GET(FIELD_TEXT, "phase", phase_name, "Unknown: a loop, or the whole run"),
	{.name = "loop", .kind = FIELD_ID, .of = "context",
	 .meaning = "0: the whole run, or a phase", FIELD_AT(view_pop, context)},
	POP(elapsed, "elapsed_sec", "Without MPI_Init and MPI_Finalize"),
	COUNT(view_pop, n_processes, "processes", NULL),
	COUNT(view_pop, n_threads, "threads", NULL),
	POP(parallel, "parallel", "load_balance x communication"),
	POP(load_balance, "load_balance", NULL),
	POP(communication, "communication", NULL),
	POP_IF(serialisation, "serialisation", has_transfer),
	POP_IF(transfer, "transfer", has_transfer),
	POP_IF(mpi, "mpi", is_hybrid),
	POP_IF(mpi_load_balance, "mpi_load_balance", is_hybrid),
	POP_IF(mpi_communication, "mpi_communication", is_hybrid),
	POP_IF(omp, "omp", is_hybrid),
	POP_IF(offload, "offload", has_gpu),
};
static const struct record_kind record_pop = {
	.name = "efficiency", .table = "efficiency", .json = "efficiencies",
	.parent = &record_run, .meaning = "Efficiencies of the run, a phase or a loop, 0 to 1",
	.sinks = RECORD_ALL, FIELDS(pop_fields)};

#define DEVICES(member, name, meaning) REAL(view_pop_devices, member, name, meaning)
static const struct field devices_fields[] = {
	COUNT(view_pop_devices, n, "devices", "That ran kernels or copies"),
	DEVICES(parallel, "parallel", "load_balance x communication x orchestration"),
	DEVICES(load_balance, "load_balance", NULL),
	DEVICES(communication, "communication", NULL),
	DEVICES(orchestration, "orchestration", NULL),
};
static const struct record_kind record_devices = {
	.name = "gpu-efficiency", .table = "gpu_efficiency", .json = "gpu_efficiency",
	.parent = &record_run, .meaning = "Efficiencies of the GPUs, if there are any",
	.form = RECORD_OBJECT, .sinks = RECORD_ALL, FIELDS(devices_fields)};

static bool visit_pops(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	struct view_pops p;
	if (!view_pop_make(m, &p))
		return false;
	for (size_t i = 0; i < p.n; i++)
		record_visit(v, &r, &record_pop, &p.at[i], (uint32_t)i);
	if (p.n && p.devices.n)
		record_visit(v, &r, &record_devices, &p.devices, 0);
	return true;
}

/* ---- regions ---- */

static bool is_known(const struct record *r)
{
	return ((const struct view_region *)r->at)->is_known;
}

static bool has_imbalance(const struct record *r)
{
	return ((const struct view_region *)r->at)->has_imbalance;
}

static struct value region_place(const struct record *r)
{
	const struct view_region *x = r->at;
	return value_place(r->m, x->file, x->line, 0);
}

static struct value schedule(const struct record *r)
{
	const struct view_region *x = r->at;
	return value_text(*x->schedule ? x->schedule : NULL);
}

#define KNOWN(member, name_, meaning_)                                                             \
	{.name = (name_), .kind = FIELD_REAL, .meaning = (meaning_), .is_known = is_known,         \
	 FIELD_AT(view_region, member)}
static const struct field region_fields[] = {
	ID(view_region, function, "function", "Made by the compiler; none: unknown"),
	ID(view_region, call_function, "function", "Forked the region"),
	ID(view_region, file, "file", "Of the fork"),
	MEMBER(FIELD_LINE, view_region, line, "line", NULL),
	MEMBER(FIELD_LINE, view_region, loop_line, "loop_line", "Of the only loop in the function"),
	GET(FIELD_WORD, "schedule", schedule, "dynamic 16"),
	COUNT(view_region, n_processes, "processes", NULL),
	COUNT(view_region, least_threads, "least_threads", "Of a team"),
	COUNT(view_region, most_threads, "most_threads", NULL),
	COUNT(view_region, instances, "instances", NULL),
	REAL(view_region, seconds, "elapsed_sec", "Mean of the processes"),
	REAL(view_region, capacity, "capacity_sec", "Time x threads of all processes"),
	KNOWN(work, "work_sec", "From samples; unknown: there is none"),
	KNOWN(efficiency, "efficiency", "work / capacity"),
	KNOWN(gain, "gain_sec", "Elapsed time that even work would save"),
	{.name = "imbalance", .kind = FIELD_REAL, .meaning = "(most - mean) / most of the threads",
	 .is_known = has_imbalance, FIELD_AT(view_region, imbalance)},
	{.name = "place", .kind = FIELD_PLACE, .sinks = RECORD_TEXT, .get = region_place},
};
static const struct record_kind record_region = {
	.name = "omp-region", .table = "omp_region", .json = "omp_regions", .parent = &record_run,
	.meaning = "A parallel region of OpenMP", .sinks = RECORD_ALL, FIELDS(region_fields)};

static bool visit_regions(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	struct view_regions x;
	if (!m->n_omp_regions)
		return true;
	if (!view_regions_make(m, &x))
		return false;
	for (size_t i = 0; i < x.n; i++)
		record_visit(v, &r, &record_region, &x.at[i], (uint32_t)i);
	view_regions_free(&x);
	return true;
}

static bool visit_all(const struct model *m, struct record_visitor *v)
{
	return visit_account(m, v) && visit_pops(m, v) && visit_regions(m, v);
}

static const struct record_kind *const kinds[] = {
	&record_account, &record_use, &record_spread, &record_pop, &record_devices,
	&record_region};
const struct record_part record_part_parallel = {KINDS(kinds), visit_all};
