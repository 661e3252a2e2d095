/* SPDX-License-Identifier: BSD-3-Clause */
/* See nccl_attribute.h. Test: tests/unit/prof_nccl/test_nccl.c. */
#include "hpcprof-lite/attribute/nccl/nccl_attribute.h"

#include "common/base/map.h"
#include "hpcprof-lite/attribute/mpi/mpi_waits.h"
#include "hpcprof-lite/attribute/nccl/nccl_match.h"
#include "hpcprof-lite/attribute/nccl/nccl_times.h"

#include <stdlib.h>

enum { CHUNK = 256 };

struct making {
	struct model *m;
	uint8_t *kind_of;                /* enum nccl_kind, by function */
	VEC(struct nccl_stream) streams; /* by profile */
	VEC(struct model_nccl_device) devices;
	VEC(uint32_t) device_of; /* by stream */
	VEC(struct model_nccl_comm) comms;
	VEC(uint32_t) members;
	struct nccl_groups groups;
	struct mpi_waits waits;
	struct map places; /* the first context of each line */
	uint64_t n_alone;
};

/* ---- kernels ---- */

static bool find_kinds(struct making *w, bool *any)
{
	const struct model *m = w->m;
	w->kind_of = calloc((size_t)m->n_functions + 1, sizeof *w->kind_of);
	for (uint32_t i = 0; w->kind_of && i < m->n_functions; i++) {
		const uint32_t module = m->functions[i].module;
		if (module == MODEL_NONE || m->modules[module].is_gpu)
			w->kind_of[i] = (uint8_t)nccl_kind_of(m->functions[i].name);
		if (m->private_->functions) /* a part has those of the whole */
			m->private_->functions[i].is_nccl = w->kind_of[i] != NCCL_NOT;
		*any |= w->kind_of[i] != NCCL_NOT;
	}
	return w->kind_of != NULL;
}

static struct nccl_stream *stream_of(struct making *w, uint32_t profile)
{
	const struct model *m = w->m;
	const struct model_profile *p = &m->profiles[profile];
	if (w->streams.n && w->streams.at[w->streams.n - 1].queue == p->queue)
		return &w->streams.at[w->streams.n - 1];
	struct nccl_stream *new = vec_push(&w->streams);
	if (new)
		*new = (struct nccl_stream){.process = p->process,
					    .device = m->gpu_queues[p->queue].device,
					    .queue = p->queue,
					    .profile = profile,
					    .host = m->processes[p->process].host_id};
	return new;
}

static bool add_run(struct making *w, uint32_t profile, const struct model_gpu_op *op)
{
	const uint32_t function = w->m->contexts[op->context].function;
	const uint8_t kind = op->kind == MSR_GPU_KERNEL && function != MODEL_NONE
				     ? w->kind_of[function]
				     : NCCL_NOT;
	if (kind == NCCL_NOT)
		return true;
	struct nccl_stream *s = stream_of(w, profile);
	struct nccl_run *new = s ? vec_push(&s->runs) : NULL;
	if (new)
		*new = (struct nccl_run){(int64_t)op->start_ns, (int64_t)op->end_ns, op->context,
					 kind};
	return new != NULL;
}

static int compare_runs(const void *pa, const void *pb)
{
	const struct nccl_run *a = pa, *b = pb;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool read_streams(struct making *w)
{
	struct model_gpu_op ops[CHUNK];
	for (uint32_t i = 0; i < w->m->n_profiles; i++) {
		struct model_gpu_cursor c = {0};
		for (size_t n; (n = model_gpu_read(w->m, i, &c, ops, CHUNK));)
			for (size_t k = 0; k < n; k++)
				if (!add_run(w, i, &ops[k]))
					return false;
	}
	for (size_t i = 0; i < w->streams.n; i++) /* a queue has several lanes */
		qsort(w->streams.at[i].runs.at, w->streams.at[i].runs.n,
		      sizeof *w->streams.at[i].runs.at, compare_runs);
	return true;
}

/* ---- devices ---- */

static bool is_of(const struct model *m, uint32_t profile, uint32_t process, uint32_t device)
{
	const struct model_profile *p = &m->profiles[profile];
	return p->kind == MODEL_PROFILE_QUEUE && p->process == process &&
	       m->gpu_queues[p->queue].device == device;
}

/* Queues are sorted by process and device. */
static bool add_device(struct making *w, const struct nccl_stream *s)
{
	const struct model *m = w->m;
	uint32_t first = s->profile, end = s->profile;
	struct model_nccl_device *new = vec_push(&w->devices);
	if (!new)
		return false;
	*new = (struct model_nccl_device){.process = s->process, .device = s->device};
	while (first && is_of(m, first - 1, s->process, s->device))
		first--;
	while (end < m->n_profiles && is_of(m, end, s->process, s->device))
		end++;
	return nccl_times_find(m, w->kind_of, first, end, new);
}

/* Streams of one process and device are neighbours. */
static bool find_devices(struct making *w)
{
	for (size_t i = 0; i < w->streams.n; i++) {
		const struct nccl_stream *s = &w->streams.at[i];
		const bool is_new = !i || s[-1].process != s->process || s[-1].device != s->device;
		uint32_t *row = vec_push(&w->device_of);
		if (!row || (is_new && !add_device(w, s)))
			return false;
		*row = (uint32_t)w->devices.n - 1;
	}
	return true;
}

/* ---- who came last ---- */

/* The line or instruction of the program that led to a kernel. A line of Python is preferred. */
static uint32_t line_of(const struct model *m, uint32_t context)
{
	const uint32_t python = model_find_python_line(m, context);
	if (python != MODEL_NONE)
		return python;
	for (uint32_t i = context; i != MODEL_NONE; i = m->contexts[i].parent) {
		const struct model_context *c = &m->contexts[i];
		if ((c->kind == MODEL_CONTEXT_LINE || c->kind == MODEL_CONTEXT_INSTRUCTION) &&
		    c->module < m->n_modules && m->modules[c->module].role == MODEL_MODULE_PROGRAM)
			return i;
	}
	return context;
}

/* The first context of the line, because several call paths may lead to one line. */
static uint32_t place_of(struct making *w, uint32_t context)
{
	const uint32_t line = line_of(w->m, context);
	const struct model_context *c = &w->m->contexts[line];
	const uint64_t first =
		c->file == MODEL_NONE
			? line
			: map_put(&w->places, (uint64_t)c->file << 32 | c->line, c->function, line);
	return first == MAP_NONE ? line : (uint32_t)first;
}

static uint32_t profile_of(const void *arg, uint32_t stream, uint32_t thread)
{
	const struct making *w = arg;
	(void)thread;
	return w->streams.at[stream].profile;
}

/* The MPI operation that needs the same from its ranks. */
static uint16_t call_of(uint8_t kind)
{
	return kind == NCCL_ALL_REDUCE   ? MPI_CALL_Allreduce
	       : kind == NCCL_ALL_GATHER ? MPI_CALL_Allgather
					 : MPI_CALL_Reduce_scatter;
}

static void arrive(const struct making *w, const struct nccl_group *g, int64_t call,
		   struct mpi_arrival *at)
{
	for (uint32_t i = 0; i < g->members.n; i++) {
		const struct nccl_member *member = &g->members.at[i];
		const struct nccl_run *r =
			&w->streams.at[member->stream].runs.at[call + member->shift];
		at[i] = (struct mpi_arrival){.number = (uint64_t)call,
					     .enter_ns = r->start_ns + member->offset_ns,
					     .leave_ns = r->end_ns + member->offset_ns,
					     .file = member->stream,
					     .context = r->context,
					     .size = (uint32_t)g->members.n,
					     .rank = i,
					     .root = -1,
					     .call = call_of(r->kind)};
	}
}

static void count_waits(struct making *w, struct mpi_arrival *at, size_t n)
{
	size_t last = 0;
	bool has_waited = false;
	for (size_t i = 1; i < n; i++)
		last = at[i].enter_ns > at[last].enter_ns ? i : last;
	at->context = place_of(w, at->context);
	if (last)
		at[last].context = place_of(w, at[last].context);
	for (size_t i = 0; i < n; i++) {
		struct model_nccl_device *d = &w->devices.at[w->device_of.at[at[i].file]];
		const int64_t most = at[i].leave_ns - at[i].enter_ns,
			      wait = at[last].enter_ns - at[i].enter_ns;
		d->n_calls++;
		d->waited_ns += (uint64_t)(wait < most ? wait : most);
		has_waited |= wait > 0;
	}
	w->devices.at[w->device_of.at[at[last].file]].n_last += has_waited;
}

static bool add_calls(struct making *w, const struct nccl_group *g, struct model_nccl_comm *comm)
{
	const struct topic_where where = {w, profile_of, NULL};
	struct mpi_arrival *at = calloc(g->members.n, sizeof *at);
	bool ok = at;
	for (int64_t k = g->begin; ok && k < g->end; k++) {
		if (!nccl_needs_all((enum nccl_kind)g->calls.at[k].kind))
			continue;
		arrive(w, g, k, at);
		count_waits(w, at, g->members.n);
		comm->n_judged++;
		ok = mpi_waits_add(&w->waits, at, g->members.n, 1, &where);
	}
	free(at);
	return ok;
}

static bool add_comm(struct making *w, const struct nccl_group *g)
{
	const uint64_t n_calls = (uint64_t)(g->end - g->begin);
	struct model_nccl_comm *new = vec_push(&w->comms);
	if (!new)
		return false;
	*new = (struct model_nccl_comm){.first_member = (uint32_t)w->members.n,
					.n_members = (uint32_t)g->members.n,
					.n_calls = n_calls};
	for (size_t i = 0; i < g->members.n; i++) {
		const struct nccl_stream *s = &w->streams.at[g->members.at[i].stream];
		uint32_t *queue = vec_push(&w->members);
		if (!queue)
			return false;
		*queue = s->queue;
		w->n_alone += s->runs.n - n_calls;
	}
	return add_calls(w, g, new);
}

static bool find_last(struct making *w)
{
	if (!nccl_match(w->streams.at, w->streams.n, &w->groups))
		return false;
	for (size_t i = 0; i < w->groups.list.n; i++) {
		const struct nccl_group *g = &w->groups.list.at[i];
		if (g->members.n < 2)
			w->n_alone += w->streams.at[g->members.at[0].stream].runs.n;
		else if (!add_comm(w, g))
			return false;
	}
	return mpi_waits_sort(&w->waits);
}

/* ---- the model ---- */

/* Gives the array of a vec to the model; NULL if it is empty. */
#define GIVE(m, v, to, n_to)                                      \
	({                                                        \
		(n_to) = (uint32_t)(v)->n;                        \
		(to) = (v)->at;                                   \
		bool good_ = !(v)->at || model_own((m), (v)->at); \
		(v)->at = NULL;                                   \
		(v)->n = (v)->capacity = 0;                       \
		good_;                                            \
	})

static bool give(struct making *w)
{
	struct model *m = w->m;
	struct model_nccl *out = model_own(m, calloc(1, sizeof *out));
	if (!out)
		return false;
	out->n_alone = w->n_alone;
	out->clock_error_ns = w->groups.clock_error_ns;
	bool ok = GIVE(m, &w->devices, out->devices, out->n_devices);
	ok = GIVE(m, &w->comms, out->comms, out->n_comms) && ok;
	ok = GIVE(m, &w->members, out->members, out->n_members) && ok;
	ok = GIVE(m, &w->waits.sites, out->sites, out->n_sites) && ok;
	ok = GIVE(m, &w->waits.late, out->late, out->n_late) && ok;
	m->nccl = ok ? out : NULL;
	return ok;
}

bool nccl_attribute(struct model *m)
{
	struct making w = {.m = m};
	bool any = false, ok = find_kinds(&w, &any);
	if (ok && any)
		ok = read_streams(&w) && find_devices(&w) && find_last(&w) &&
		     (!w.streams.n || give(&w));
	for (size_t i = 0; i < w.streams.n; i++)
		vec_free(&w.streams.at[i].runs);
	vec_free(&w.streams);
	vec_free(&w.devices);
	vec_free(&w.device_of);
	vec_free(&w.comms);
	vec_free(&w.members);
	nccl_groups_free(&w.groups);
	mpi_waits_free(&w.waits);
	map_free(&w.places);
	free(w.kind_of);
	return ok;
}

static bool attribute(void *none, struct topic_run *r)
{
	(void)none;
	/* NCCL is only in reports, and parts do not write reports */
	return r->comm || nccl_attribute(r->m);
}

const struct topic_ops topic_nccl = {.steps = {[TOPIC_ATTRIBUTE] = attribute}};
