/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_attribute.h. Tests: tests/unit/prof_mpi/test_mpi_model.c, tests/cli/mpi/mpi_truth.sh. */
#include "hpcprof-lite/attribute/mpi/mpi_attribute.h"

#include "hpcprof-lite/attribute/mpi/mpi_clocks.h"
#include "hpcprof-lite/attribute/mpi/mpi_waits.h"
#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>

enum { MPI_METRIC_TIME, MPI_METRIC_WAIT, MPI_METRIC_CALLS, MPI_METRIC_SENT, MPI_METRIC_RECEIVED,
	MPI_N_METRICS };

struct mpi_part {
	bool is_present;
	uint32_t metric_of[MPI_N_METRICS]; /* index in the model */
	sum_extras extras;                 /* `thread` is the profile; sorted by it */
};

/* ---- metrics ---- */

static const struct model_metric metrics[MPI_N_METRICS] = {
	[MPI_METRIC_TIME] = {.kind = MODEL_METRIC_MPI_TIME,
			     .role = MODEL_ROLE_MPI_TIME,
			     .name = "MPI (sec)",
			     .unit = MODEL_SECONDS,
			     .description = "time in calls of MPI, measured at each call"},
	[MPI_METRIC_WAIT] = {.kind = MODEL_METRIC_MPI_TIME,
			     .role = MODEL_ROLE_MPI_WAIT,
			     .name = "MPI:WAIT (sec)",
			     .unit = MODEL_SECONDS,
			     .description =
				     "time in calls of MPI that waited for another process: from "
				     "the arrivals of all ranks where they are known, otherwise an "
				     "estimate from the shortest call of its kind"},
	[MPI_METRIC_CALLS] = {.kind = MODEL_METRIC_MPI_COUNT,
			      .role = MODEL_ROLE_MPI_CALLS,
			      .name = "MPI:CALLS",
			      .unit = MODEL_COUNT,
			      .description = "calls of MPI"},
	[MPI_METRIC_SENT] = {.kind = MODEL_METRIC_MPI_COUNT,
			     .role = MODEL_ROLE_MPI_SENT,
			     .name = "MPI:SENT (B)",
			     .unit = MODEL_BYTES,
			     .description = "bytes that calls of MPI gave away"},
	[MPI_METRIC_RECEIVED] = {.kind = MODEL_METRIC_MPI_COUNT,
				 .role = MODEL_ROLE_MPI_RECEIVED,
				 .name = "MPI:RECEIVED (B)",
				 .unit = MODEL_BYTES,
				 .description = "bytes for which calls of MPI gave room"},
};

static bool describe_metrics(void *state, struct topic_run *r)
{
	struct mpi_part *p = state;
	const struct load_job *job = r->job;
	struct model *m = r->m;
	for (size_t i = 0; i < job->files.n; i++)
		p->is_present |= job->files.at[i].mpi.has_calls;
	if (!p->is_present)
		return true;
	struct model_metric *to = realloc(m->private_->metrics,
					  (m->n_metrics + MPI_N_METRICS) * sizeof *to);
	if (!to)
		return false;
	m->metrics = m->private_->metrics = to;
	for (uint32_t i = 0; i < MPI_N_METRICS; i++) {
		struct model_metric *k = &to[m->n_metrics];
		*k = metrics[i];
		k->event = "MPI";
		k->parent = i == MPI_METRIC_WAIT ? p->metric_of[MPI_METRIC_TIME] : MODEL_NONE;
		k->divisor = MODEL_NONE;
		p->metric_of[i] = m->n_metrics++;
	}
	return true;
}

/* ---- communicators ---- */

struct comms {
	struct map by_identity;      /* matched communicators: index */
	struct map world_of;         /* by (identity, rank): rank in MPI_COMM_WORLD */
	VEC(struct model_mpi_comm) list;
};

static int32_t world_rank(const struct load_file *f)
{
	for (size_t i = 0; i < f->mpi.comms.n; i++)
		if (f->mpi.comms.at[i].flags & MSR_MPI_COMM_WORLD)
			return (int32_t)f->mpi.comms.at[i].rank +
			       (f->rank - f->header.rank);
	return f->rank;
}

static bool list_comms(struct comms *c, const struct load_job *job)
{
	for (size_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		const int32_t world = world_rank(f);
		for (size_t k = 0; k < f->mpi.comms.n; k++) {
			const struct msr_mpi_comm *in = &f->mpi.comms.at[k];
			if (in->id && in->identity && world >= 0 &&
			    map_put(&c->world_of, in->identity, in->rank, (uint64_t)world) ==
				    MAP_NONE)
				return false;
		}
	}
	return true;
}

/*
 * Finds the communicator of a call. Matched communicators are one for all processes. False: memory
 * is short.
 */
static bool comm_of(struct comms *c, const struct load_file *f, uint32_t file, uint32_t id,
		    uint32_t *comm)
{
	const struct msr_mpi_comm *in = load_mpi_comm(&f->mpi, id);
	*comm = MODEL_NONE;
	if (!in)
		return true;
	uint64_t i = in->identity ? map_put(&c->by_identity, in->identity, 0, c->list.n)
				  : map_put(&c->by_identity, (uint64_t)file << 32 | id, 1,
					    c->list.n);
	if (i == MAP_NONE)
		return false;
	if (i == c->list.n) {
		struct model_mpi_comm *new = vec_push(&c->list);
		if (!new)
			return false;
		*new = (struct model_mpi_comm){.size = in->size,
					       .is_world = in->flags & MSR_MPI_COMM_WORLD,
					       .is_matched = in->identity != 0};
	}
	*comm = (uint32_t)i;
	return true;
}

static bool count_members(struct comms *c, const struct load_job *job)
{
	for (uint32_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		for (size_t k = 0; k < f->mpi.comms.n; k++) {
			const struct msr_mpi_comm *in = &f->mpi.comms.at[k];
			uint64_t at = !in->id         ? MAP_NONE
				      : in->identity ? map_get(&c->by_identity, in->identity, 0)
						     : map_get(&c->by_identity,
							       (uint64_t)i << 32 | in->id, 1);
			if (at != MAP_NONE)
				c->list.at[at].n_members++;
		}
	}
	return true;
}

static void free_comms(struct comms *c)
{
	map_free(&c->by_identity);
	map_free(&c->world_of);
	vec_free(&c->list);
}

/* ---- calls ---- */

/* The shortest calls of a process, by function, size class and, if it is collective, size. */
struct shortest {
	struct map index;
	VEC(uint64_t) ns;
};

static uint64_t shortest_key(const struct load_file *f, const struct msr_mpi_call *c)
{
	const struct msr_mpi_comm *comm = load_mpi_comm(&f->mpi, c->comm);
	uint32_t size = mpi_call_forms[c->call].kind != MPI_KIND_NONE && comm ? comm->size : 0;
	return (uint64_t)size << 32 | (uint64_t)c->call << 8 | c->size_class;
}

static bool find_shortest(struct shortest *s, const struct load_file *f)
{
	for (size_t k = 0; k < f->mpi.calls.n; k++)
		for (uint64_t i = 0; i < f->mpi.calls.at[k].n; i++) {
			struct msr_mpi_call c;
			if (!load_mpi_call(f, &f->mpi.calls.at[k], i, &c))
				continue;
			uint64_t at = map_put(&s->index, shortest_key(f, &c), 0, s->ns.n);
			uint64_t *slot = at == MAP_NONE ? NULL
					 : at < s->ns.n ? &s->ns.at[at]
							: vec_push(&s->ns);
			if (!slot)
				return false;
			if (!*slot || c.least_ns < *slot)
				*slot = c.least_ns ? c.least_ns : 1;
		}
	return true;
}

static bool may_wait(unsigned call)
{
	const struct mpi_call_form *f = &mpi_call_forms[call];
	return !f->is_nonblocking && (f->group != MPI_GROUP_IO || f->kind == MPI_KIND_ALL);
}

static uint64_t least_of(const struct shortest *s, const struct load_file *f,
			 const struct msr_mpi_call *c)
{
	uint64_t at = map_get(&s->index, shortest_key(f, c), 0);
	return at == MAP_NONE ? 0 : s->ns.at[at];
}

/* What is longer than the shortest call of its kind, or than the size can explain. */
static uint64_t estimate(const struct msr_mpi_call *c, uint64_t least_ns)
{
	const struct mpi_call_form *f = &mpi_call_forms[c->call];
	double transfer = (double)least_ns * (double)c->n_calls;
	if (f->group == MPI_GROUP_P2P && (f->send || f->receive)) {
		const double slow = model_mpi_slow_ns(c->n_calls, c->sent + c->received);
		transfer = slow < transfer ? slow : transfer;
	}
	return transfer < (double)c->ns ? c->ns - (uint64_t)transfer : 0;
}

struct making {
	struct mpi_part *part;
	const struct load_job *job;
	const struct model *m;
	const struct topic_where *where;
	struct comms comms;
	struct mpi_arrivals arrivals;
	struct mpi_waits waits;
	VEC(struct model_mpi_call) calls;
	uint64_t n_all_peers;
};

static void find_wait(const struct making *w, uint32_t file, uint32_t thread,
		      const struct msr_mpi_call *c, struct model_mpi_call *to)
{
	const struct mpi_place_waits *p =
		mpi_waits_find(&w->waits, file, thread, c->node, c->comm, c->call);
	if (!may_wait(c->call))
		return;
	/* the arrivals of a call that did not end are unknown */
	to->wait_is_known = !to->is_open && p && p->ns;
	to->wait_ns = to->wait_is_known
			      ? (uint64_t)((double)c->ns * ((double)p->wait_ns / (double)p->ns))
			      : estimate(c, to->least_ns);
}

static bool add_call(struct making *w, const struct shortest *s, uint32_t file, uint32_t thread,
		     const struct msr_mpi_call *c, bool is_open)
{
	const struct load_file *f = &w->job->files.at[file];
	const struct msr_mpi_comm *comm = load_mpi_comm(&f->mpi, c->comm);
	const uint32_t context = w->where->context(w->where->arg, file, thread, c->node);
	if (context == MODEL_NONE)
		return true;
	struct model_mpi_call *to = vec_push(&w->calls);
	if (!to)
		return false;
	uint64_t world = comm && comm->identity && c->peer >= 0
				 ? map_get(&w->comms.world_of, comm->identity, (uint64_t)c->peer)
				 : MAP_NONE;
	*to = (struct model_mpi_call){
		.profile = w->where->profile(w->where->arg, file, thread),
		.context = context,
		.peer = c->peer,
		.peer_world = world == MAP_NONE ? -1 : (int32_t)world,
		.call = c->call,
		.size_class = c->size_class,
		.is_open = is_open,
		.n_calls = c->n_calls,
		.sent = c->sent,
		.received = c->received,
		.ns = c->ns,
		.least_ns = least_of(s, f, c)};
	if (!comm_of(&w->comms, f, file, c->comm, &to->comm))
		return false;
	find_wait(w, file, thread, c, to);
	if (to->comm != MODEL_NONE) {
		w->comms.list.at[to->comm].n_calls += c->n_calls;
		w->comms.list.at[to->comm].seconds += (double)c->ns / 1e9;
	}
	w->n_all_peers += c->peer == MSR_MPI_ALL_PEERS ? c->n_calls : 0;
	return true;
}

/* Adds the call that the thread was in at its end. */
static bool add_opens(struct making *w, const struct shortest *s, uint32_t file,
		      const struct load_mpi_part *p)
{
	const struct load_file *f = &w->job->files.at[file];
	const struct model_profile *t =
		&w->m->profiles[w->where->profile(w->where->arg, file, p->thread)];
	const uint64_t start_ns = f->threads.at[p->thread].record->start_ns;
	bool ok = true;
	for (uint64_t i = 0; ok && i < p->n; i++) {
		struct msr_mpi_open o;
		if (!load_mpi_open(f, p, i, &o) || o.enter_ns < start_ns)
			continue;
		/* a process without samples ends, for all we know, before its last call began */
		const uint64_t life_ns = t->end_ns - t->start_ns, at_ns = o.enter_ns - start_ns;
		const struct msr_mpi_call c = {.node = o.node,
					       .call = o.call,
					       .comm = o.comm,
					       .peer = o.peer,
					       .n_calls = 1,
					       .ns = at_ns < life_ns ? life_ns - at_ns : 0};
		const size_t before = w->calls.n;
		ok = add_call(w, s, file, p->thread, &c, true);
		if (w->calls.n > before)
			w->calls.at[before].way = (uint8_t)o.way;
	}
	return ok;
}

static bool add_file(struct making *w, uint32_t file)
{
	struct load_file *f = &w->job->files.at[file];
	struct shortest s = {0};
	bool ok = find_shortest(&s, f);
	for (size_t k = 0; ok && k < f->mpi.calls.n; k++) {
		const struct load_mpi_part *p = &f->mpi.calls.at[k];
		for (uint64_t i = 0; ok && i < p->n; i++) {
			struct msr_mpi_call c;
			if (load_mpi_call(f, p, i, &c))
				ok = add_call(w, &s, file, p->thread, &c, false);
		}
		load_release(f, p->n * p->stride);
	}
	for (size_t k = 0; ok && k < f->mpi.opens.n; k++)
		ok = add_opens(w, &s, file, &f->mpi.opens.at[k]);
	map_free(&s.index);
	vec_free(&s.ns);
	return ok;
}

/* ---- the model ---- */

static int compare_calls(const void *pa, const void *pb)
{
	const struct model_mpi_call *a = pa, *b = pb;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	if (a->peer != b->peer)
		return a->peer < b->peer ? -1 : 1;
	if (a->size_class != b->size_class)
		return a->size_class < b->size_class ? -1 : 1;
	return a->is_open - b->is_open;
}

static void add_to(struct sum_extra *x, const struct model_mpi_call *c, uint64_t amount)
{
	uint64_t sum;
	if (!amount)
		return;
	x->n_samples += c->n_calls;
	x->sum = __builtin_add_overflow(x->sum, amount, &sum) ? UINT64_MAX : sum;
}

/* Adds the values of one thread's calls in one context. */
static bool add_values(struct mpi_part *p, const struct model_mpi_call *calls, size_t n)
{
	struct sum_extra sums[MPI_N_METRICS] = {0};
	for (size_t i = 0; i < n; i++) {
		const struct model_mpi_call *c = &calls[i];
		add_to(&sums[MPI_METRIC_TIME], c, c->ns);
		add_to(&sums[MPI_METRIC_WAIT], c, c->wait_ns);
		add_to(&sums[MPI_METRIC_CALLS], c, c->n_calls);
		add_to(&sums[MPI_METRIC_SENT], c, c->sent);
		add_to(&sums[MPI_METRIC_RECEIVED], c, c->received);
	}
	for (unsigned i = 0; i < MPI_N_METRICS; i++) {
		if (!sums[i].sum)
			continue;
		struct sum_extra *x = vec_push(&p->extras);
		if (!x)
			return false;
		*x = (struct sum_extra){.thread = calls->profile,
					.context = calls->context,
					.metric = p->metric_of[i],
					.n_samples = sums[i].n_samples,
					.sum = sums[i].sum};
	}
	return true;
}

static bool sum_calls(struct making *w)
{
	const struct model_mpi_call *c = w->calls.at;
	if (w->calls.n)
		qsort(w->calls.at, w->calls.n, sizeof *w->calls.at, compare_calls);
	for (size_t i = 0, end; i < w->calls.n; i = end) {
		for (end = i + 1; end < w->calls.n && c[end].profile == c[i].profile &&
				  c[end].context == c[i].context;)
			end++;
		if (!add_values(w->part, &c[i], end - i))
			return false;
	}
	return true;
}

/* Gives the array of a vec to the model. */
#define GIVE(m, v) \
	({ \
		void *given_ = (v)->at; \
		bool good_ = !(v)->n || model_own(m, given_); \
		if (!(v)->n) \
			vec_free(v); \
		(v)->at = NULL; \
		(v)->n = (v)->capacity = 0; \
		good_ ? given_ : NULL; \
	})

static bool give(struct making *w, struct model *m, uint64_t clock_error_ns)
{
	struct model_mpi *out = calloc(1, sizeof *out);
	if (!model_own(m, out))
		return false;
	for (size_t i = 0; i < w->job->files.n; i++)
		out->n_lost += w->job->files.at[i].header.losses[MSR_LOSS_MPI];
	out->n_comms = (uint32_t)w->comms.list.n;
	out->n_calls = w->calls.n;
	out->n_sites = (uint32_t)w->waits.sites.n;
	out->n_late = (uint32_t)w->waits.late.n;
	out->n_matched = w->waits.n_matched;
	out->n_unmatched = w->waits.n_unmatched;
	out->n_all_peers = w->n_all_peers;
	out->clock_error_ns = clock_error_ns;
	bool ok = true;
	ok = ((out->comms = GIVE(m, &w->comms.list)) || !out->n_comms) && ok;
	ok = ((out->calls = GIVE(m, &w->calls)) || !out->n_calls) && ok;
	ok = ((out->sites = GIVE(m, &w->waits.sites)) || !out->n_sites) && ok;
	ok = ((out->late = GIVE(m, &w->waits.late)) || !out->n_late) && ok;
	m->mpi = out;
	return ok;
}

static bool attribute(void *state, struct topic_run *r)
{
	struct mpi_part *p = state;
	const struct load_job *job = r->job;
	const struct topic_where where = topic_where(r);
	struct making w = {.part = p, .job = job, .m = r->m, .where = &where};
	uint64_t clock_error_ns = 0;
	if (!p->is_present)
		return true;
	/* sites, and who was late there, appear only in reports */
	const struct topic_where *sites = job->comm ? NULL : &where;
	bool ok = list_comms(&w.comms, job) && mpi_arrivals_collect(&w.arrivals, job, sites) &&
		  mpi_clocks_join(&w.arrivals, job, &clock_error_ns);
	ok = ok && mpi_waits_share(&w.waits, job, mpi_waits_make(&w.waits, &w.arrivals, sites));
	vec_free(&w.arrivals.list);
	for (uint32_t i = 0; ok && i < job->files.n; i++)
		ok = !load_is_found(job, i) || add_file(&w, i);
	ok = ok && sum_calls(&w) && count_members(&w.comms, job) && give(&w, r->m, clock_error_ns);
	mpi_arrivals_free(&w.arrivals);
	mpi_waits_free(&w.waits);
	free_comms(&w.comms);
	vec_free(&w.calls);
	return ok;
}

static const struct sum_extra *values(const void *state, const struct topic_thread *t, size_t *n)
{
	const struct mpi_part *p = state;
	return sum_extras_of(&p->extras, t->profile, n);
}

static void close_mpi(void *state)
{
	struct mpi_part *p = state;
	vec_free(&p->extras);
}

const struct topic_ops topic_mpi = {.state_bytes = sizeof(struct mpi_part),
				    .steps = {[TOPIC_METRICS] = describe_metrics,
					      [TOPIC_ATTRIBUTE] = attribute},
				    .values = values,
				    .close = close_mpi};
