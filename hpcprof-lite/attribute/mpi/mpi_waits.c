/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_waits.h. Test: tests/unit/prof_mpi/test_mpi_waits.c. */
#include "hpcprof-lite/attribute/mpi/mpi_waits.h"

#include "common/base/sorted.h"
#include "hpcprof-lite/parts/share_records.h"

#include <stdlib.h>
#include <string.h>

/* ---- one call ---- */

/* The arrivals at one call, and how long each waited. */
struct meeting {
	const struct mpi_arrival *at;
	size_t n;
	enum mpi_kind kind;
	uint64_t weight;          /* number of calls for which it counts */
	size_t last;              /* the arrival that came last, which the others blame */
	bool is_blamed;
};

static int64_t wait_until(const struct mpi_arrival *a, int64_t needed_ns)
{
	int64_t wait = needed_ns - a->enter_ns, most = a->leave_ns - a->enter_ns;
	return wait < 0 ? 0 : wait < most ? wait : most;
}

/* The time when all others that process i needs had arrived. */
static int64_t needed_at(const struct meeting *m, size_t i, int64_t last_below_ns)
{
	const int32_t root = m->at[i].root;
	switch (m->kind) {
	case MPI_KIND_ALL:
		return m->at[m->last].enter_ns;
	case MPI_KIND_FROM_ROOT:
		return root >= 0 && (size_t)root < m->n ? m->at[root].enter_ns
							: m->at[i].enter_ns;
	case MPI_KIND_TO_ROOT:
		return (size_t)root == i ? m->at[m->last].enter_ns : m->at[i].enter_ns;
	case MPI_KIND_PREFIX:
		return i ? last_below_ns : m->at[i].enter_ns;
	default:
		return m->at[i].enter_ns;
	}
}

static struct meeting meet(const struct mpi_arrival *at, size_t n, uint64_t weight)
{
	struct meeting m = {.at = at,
			    .n = n,
			    .kind = (enum mpi_kind)mpi_call_forms[at->call].kind,
			    .weight = weight};
	for (size_t i = 1; i < n; i++)
		if (at[i].enter_ns > at[m.last].enter_ns)
			m.last = i;
	m.is_blamed = n > 1;
	if (m.kind == MPI_KIND_FROM_ROOT) {
		m.is_blamed = at->root >= 0 && (size_t)at->root < n;
		m.last = m.is_blamed ? (size_t)at->root : m.last;
	}
	return m;
}

/* ---- tables ---- */

static uint64_t place_key(uint32_t file, uint32_t node)
{
	return (uint64_t)file << 32 | node;
}

static uint64_t who_key(uint32_t thread, uint32_t comm_id, uint16_t call)
{
	return hash_u64((uint64_t)thread << 32 | comm_id) ^ call;
}

static struct mpi_place_waits *place_of(struct mpi_waits *w, uint64_t place, uint64_t who)
{
	uint64_t i = map_put(&w->place_of, place, who, w->places.n);
	if (i == MAP_NONE)
		return NULL;
	if (i < w->places.n)
		return &w->places.at[i];
	struct mpi_place_waits *p = vec_push(&w->places);
	if (p)
		*p = (struct mpi_place_waits){.place = place, .who = who};
	return p;
}

const struct mpi_place_waits *mpi_waits_find(const struct mpi_waits *w, uint32_t file,
					     uint32_t thread, uint32_t node, uint32_t comm_id,
					     uint16_t call)
{
	uint64_t i = map_get(&w->place_of, place_key(file, node), who_key(thread, comm_id, call));
	return i == MAP_NONE ? NULL : &w->places.at[i];
}

static struct model_mpi_site *site_of(struct mpi_waits *w, uint32_t context, uint16_t call)
{
	uint64_t i = map_put(&w->site_of, context, call, w->sites.n);
	if (i == MAP_NONE)
		return NULL;
	if (i < w->sites.n)
		return &w->sites.at[i];
	struct model_mpi_site *s = vec_push(&w->sites);
	if (s)
		*s = (struct model_mpi_site){.context = context, .call = call};
	return s;
}

static struct model_mpi_late *late_of(struct mpi_waits *w, uint32_t profile, uint32_t context,
				      uint16_t call, uint32_t site)
{
	uint64_t i = map_put(&w->late_of, (uint64_t)profile << 32 | context,
			     (uint64_t)site << 16 | call, w->late.n);
	if (i == MAP_NONE)
		return NULL;
	if (i < w->late.n)
		return &w->late.at[i];
	struct model_mpi_late *l = vec_push(&w->late);
	if (l)
		*l = (struct model_mpi_late){
			.profile = profile, .context = context, .call = call, .site = site};
	return l;
}

/* ---- all calls ---- */

static bool add_waits(struct mpi_waits *w, const struct meeting *m, uint64_t *waited_ns)
{
	int64_t last_below_ns = INT64_MIN;
	*waited_ns = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct mpi_arrival *a = &m->at[i];
		struct mpi_place_waits *p =
			place_of(w, place_key(a->file, a->node),
				 who_key(a->thread, a->comm_id, a->call));
		if (!p)
			return false;
		uint64_t wait =
			m->weight * (uint64_t)wait_until(a, needed_at(m, i, last_below_ns));
		p->n += m->weight;
		p->ns += m->weight * (uint64_t)(a->leave_ns - a->enter_ns);
		p->wait_ns += wait;
		*waited_ns += wait;
		if (a->enter_ns > last_below_ns)
			last_below_ns = a->enter_ns;
	}
	return true;
}

static uint64_t behind(const struct meeting *m)
{
	double sum = 0;
	for (size_t i = 0; i < m->n; i++)
		sum += (double)(m->at[m->last].enter_ns - m->at[i].enter_ns);
	return sum > 0 ? (uint64_t)(sum / (double)(m->n - 1)) : 0;
}

static bool add_call(struct mpi_waits *w, const struct meeting *m, const struct topic_where *where)
{
	const struct mpi_arrival *late = &m->at[m->last], *first = m->at;
	uint64_t waited_ns;
	if (!add_waits(w, m, &waited_ns))
		return false;
	if (!where || first->context == MODEL_NONE || late->context == MODEL_NONE)
		return true;
	struct model_mpi_site *s = site_of(w, first->context, first->call);
	if (!s)
		return false;
	s->n_calls += m->weight;
	s->waited_ns += waited_ns;
	if (!m->is_blamed || !waited_ns)
		return true;
	struct model_mpi_late *l =
		late_of(w, where->profile(where->arg, late->file, late->thread), late->context,
			late->call, (uint32_t)(s - w->sites.at));
	if (!l)
		return false;
	uint64_t by_ns = behind(m);
	l->n_calls += m->weight;
	l->waited_ns += waited_ns;
	l->behind_ns += m->weight * by_ns;
	if (by_ns > l->most_behind_ns)
		l->most_behind_ns = by_ns;
	return true;
}

static int compare_sites(const void *pa, const void *pb)
{
	const struct model_mpi_site *a = pa, *b = pb;
	if (a->waited_ns != b->waited_ns)
		return a->waited_ns < b->waited_ns ? 1 : -1;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

static int compare_late(const void *pa, const void *pb)
{
	const struct model_mpi_late *a = pa, *b = pb;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->waited_ns != b->waited_ns)
		return a->waited_ns < b->waited_ns ? 1 : -1;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

bool mpi_waits_add(struct mpi_waits *w, const struct mpi_arrival *at, size_t n, uint64_t weight,
		   const struct topic_where *where)
{
	const struct meeting m = meet(at, n, weight);
	return add_call(w, &m, where);
}

bool mpi_waits_sort(struct mpi_waits *w)
{
	uint32_t *new_place = malloc((w->sites.n + 1) * sizeof *new_place);
	if (!new_place)
		return false;
	for (uint32_t i = 0; i < w->sites.n; i++)
		w->sites.at[i].first_late = i; /* its number before it was sorted */
	if (w->sites.n)
		qsort(w->sites.at, w->sites.n, sizeof *w->sites.at, compare_sites);
	for (uint32_t i = 0; i < w->sites.n; i++)
		new_place[w->sites.at[i].first_late] = i;
	for (size_t i = 0; i < w->late.n; i++)
		w->late.at[i].site = new_place[w->late.at[i].site];
	if (w->late.n)
		qsort(w->late.at, w->late.n, sizeof *w->late.at, compare_late);
	uint32_t next = 0;
	for (uint32_t i = 0; i < w->sites.n; i++) {
		w->sites.at[i].first_late = next;
		while (next < w->late.n && w->late.at[next].site == i)
			next++;
		w->sites.at[i].n_late = next - w->sites.at[i].first_late;
	}
	free(new_place);
	return true;
}

bool mpi_waits_make(struct mpi_waits *w, const struct mpi_arrivals *a, const struct topic_where *at)
{
	for (size_t i = 0, end; i < a->list.n; i = end) {
		bool is_whole;
		end = mpi_arrivals_end(a, i, &is_whole);
		const struct mpi_call_form *form = &mpi_call_forms[a->list.at[i].call];
		w->n_matched += is_whole;
		w->n_unmatched += !is_whole;
		if (!is_whole || form->is_nonblocking || form->kind == MPI_KIND_LOOSE)
			continue;
		const uint64_t weight = mpi_arrivals_weight(a, a->list.at[i].number);
		if (!mpi_waits_add(w, &a->list.at[i], end - i, weight, at))
			return false;
	}
	return mpi_waits_sort(w);
}

/* ---- parts of a job ---- */

/* The part that has the file of a place. */
static int part_of(const void *arg, const void *record)
{
	const struct load_job *job = arg;
	const uint64_t file = ((const struct mpi_place_waits *)record)->place >> 32;
	return (int)sorted_prefix((size_t)job->comm->n_parts, i, job->first_file[i + 1] <= file);
}

/* Adds up what the parts found. */
static bool add_places(struct mpi_waits *w, const struct mpi_place_waits *got, uint64_t n)
{
	map_free(&w->place_of);
	for (uint64_t i = 0; i < n; i++) {
		struct mpi_place_waits *p = place_of(w, got[i].place, got[i].who);
		if (!p)
			return false;
		p->n += got[i].n;
		p->ns += got[i].ns;
		p->wait_ns += got[i].wait_ns;
	}
	return true;
}

/* Places go to the parts that have their files. */
static bool share_places(struct mpi_waits *w, const struct load_job *job, bool ok)
{
	struct share_records r = {.at = w->places.at,
				  .n = w->places.n,
				  .bytes = sizeof *w->places.at,
				  .part_of = part_of,
				  .arg = job};
	w->places.at = NULL;
	w->places.n = w->places.capacity = 0;
	ok = share_records(job->comm, ok, &r) && add_places(w, r.at, r.n);
	free(r.at);
	return ok;
}

bool mpi_waits_share(struct mpi_waits *w, const struct load_job *job, bool ok)
{
	return mpi_arrivals_are_shared(job) ? share_places(w, job, ok) : ok;
}

void mpi_waits_free(struct mpi_waits *w)
{
	vec_free(&w->places);
	vec_free(&w->late);
	vec_free(&w->sites);
	map_free(&w->place_of);
	map_free(&w->late_of);
	map_free(&w->site_of);
}
