/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_mpi.h. Test: tests/unit/prof_mpi/test_mpi_model.c. */
#include "hpcprof-lite/view/view_mpi.h"

#include "common/base/map.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- places ---- */

/*
 * Suffixes that compilers and libraries add to the name of a function, for Fortran or large counts.
 */
static bool is_ending(const char *s)
{
	static const char *const endings[] = {"",	"_",	  "__",	      "_c",
					      "_f",	"_f08",	  "_f08_",    "_f08ts_",
					      "_large_f08_", "_f08ts_large_"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strcasecmp(s, endings[i]) == 0)
			return true;
	return false;
}

/* A function of MPI under any of its names; programs have functions named mpi_... of their own. */
static bool is_of_mpi(const struct model *m, uint32_t function)
{
	const char *name = function < m->n_functions ? m->functions[function].name : "";
	name += *name == 'P' || *name == 'p';
	if (strncasecmp(name, "MPI_", 4) != 0)
		return false;
	for (unsigned i = 0; i < MPI_N_CALLS; i++) {
		size_t n = strlen(mpi_call_name(i));
		if (strncasecmp(name, mpi_call_name(i), n) == 0 && is_ending(name + n))
			return true;
	}
	return false;
}

uint32_t view_mpi_caller(const struct model *m, uint32_t context)
{
	uint32_t outermost = MODEL_NONE, inside = MODEL_NONE;
	for (uint32_t at = context; at != MODEL_NONE; at = m->contexts[at].parent) {
		const struct model_context *c = &m->contexts[at];
		if (c->kind == MODEL_CONTEXT_ENTRY)
			break;
		if (c->kind != MODEL_CONTEXT_FUNCTION)
			continue;
		const bool is_gap = outermost != MODEL_NONE && inside != MODEL_NONE;
		if (is_of_mpi(m, c->function)) {
			outermost = at;
			inside = MODEL_NONE;
		} else if (is_gap && c->module != inside) {
			break;
		} else if (outermost != MODEL_NONE) {
			inside = c->module; /* perhaps a library of MPI, below one of its calls */
		}
	}
	if (outermost == MODEL_NONE)
		return context;
	uint32_t caller = m->contexts[outermost].parent;
	if (caller == MODEL_NONE)
		return outermost;
	uint32_t python = m->contexts[caller].file == MODEL_NONE
				  ? model_find_python_line(m, caller)
				  : MODEL_NONE;
	return python != MODEL_NONE ? python : caller;
}

uint32_t view_mpi_holder(const struct model *m, uint32_t context)
{
	while (context != MODEL_NONE && m->contexts[context].kind != MODEL_CONTEXT_FUNCTION)
		context = m->contexts[context].parent;
	return context;
}

/* ---- sums ---- */

static void add(struct view_mpi_sums *to, const struct model_mpi_call *c)
{
	if (!to->n_calls)
		to->wait_is_known = true;
	to->n_calls += c->n_calls;
	to->sent += c->sent;
	to->received += c->received;
	to->seconds += (double)c->ns / 1e9;
	to->waited += (double)c->wait_ns / 1e9;
	to->wait_is_known = to->wait_is_known && (c->wait_is_known || !c->wait_ns);
}

/* Calls of one function at one place, by all callers. */
struct spot {
	uint32_t context;  /* one of the calls is from here */
	uint32_t n_same;   /* functions from there outwards that all calls share */
	bool is_split;     /* the next function differs */
};

struct making {
	const struct model *m;
	struct view_mpi *v;
	struct map processes, functions, places, sizes, pairs, spots;
	struct spot *spot;
	size_t n_spots;
};

/* The row of a key; a new row is zero. */
#define ROW(w, table, n_rows, index, a, b) \
	({ \
		uint64_t at_ = map_put(&(w)->index, (a), (b), (w)->n_rows); \
		if (at_ == (w)->n_rows) { \
			void *more_ = realloc((w)->table, (at_ + 1) * sizeof *(w)->table); \
			if (more_) { \
				(w)->table = more_; \
				memset(&(w)->table[(w)->n_rows++], 0, sizeof *(w)->table); \
			} else { \
				at_ = MAP_NONE; \
			} \
		} \
		at_ == MAP_NONE ? NULL : &(w)->table[at_]; \
	})

/* ---- spots: the lines and instructions that call ---- */

static struct spot *find_spot(struct making *w, uint32_t caller, uint16_t call)
{
	const struct model_context *at = &w->m->contexts[caller];
	const uint64_t instruction = UINT64_C(1) << 63, other = UINT64_C(1) << 62;
	if (at->file != MODEL_NONE)
		return ROW(w, spot, n_spots, spots, (uint64_t)at->file << 32 | at->line, call);
	if (at->kind == MODEL_CONTEXT_INSTRUCTION && at->link_addr)
		return ROW(w, spot, n_spots, spots, at->link_addr,
			   instruction | (uint64_t)at->module << 16 | call);
	return ROW(w, spot, n_spots, spots, caller, other | call);
}

/* The function around `context`, a context of a function. */
static uint32_t outside(const struct model *m, uint32_t context)
{
	return view_mpi_holder(m, m->contexts[context].parent);
}

static bool add_to_spot(struct making *w, const struct model_mpi_call *c)
{
	const struct model *m = w->m;
	const uint32_t caller = view_mpi_caller(m, c->context);
	struct spot *s = find_spot(w, caller, c->call);
	if (!s)
		return false;
	if (!s->n_same && !s->is_split)
		*s = (struct spot){.context = caller, .n_same = UINT32_MAX};
	uint32_t a = view_mpi_holder(m, s->context), b = view_mpi_holder(m, caller), n = 0;
	while (a != b && a != MODEL_NONE && b != MODEL_NONE &&
	       m->contexts[a].function == m->contexts[b].function) {
		a = outside(m, a);
		b = outside(m, b);
		n++;
	}
	if (a != b && n < s->n_same) {
		s->n_same = n;
		s->is_split = true;
	}
	return true;
}

/* The function by which the callers of a spot differ. */
static uint64_t function_at(const struct model *m, uint32_t caller, uint32_t level)
{
	uint32_t at = view_mpi_holder(m, caller);
	while (level-- && at != MODEL_NONE)
		at = outside(m, at);
	return at != MODEL_NONE ? m->contexts[at].function : MODEL_NONE;
}

static struct view_mpi_place *find_place(struct making *w, uint32_t caller, uint16_t call)
{
	struct spot *s = find_spot(w, caller, call);
	struct view_mpi_place *p =
		s ? ROW(w, v->places, v->n_places, places, (uint64_t)(s - w->spot),
			s->is_split ? function_at(w->m, caller, s->n_same) : 0)
		  : NULL;
	if (!p)
		return NULL;
	p->call = call;
	p->n_callers = s->is_split ? s->n_same : 0;
	if (!p->sums.n_calls || caller < p->context)
		p->context = caller;
	return p;
}

/* ---- rows ---- */

static bool add_pair(struct making *w, const struct model_mpi_call *c, int32_t rank)
{
	if (c->peer_world < 0 || rank < 0 || !c->sent ||
	    mpi_call_forms[c->call].group == MPI_GROUP_COLLECTIVE)
		return true;
	struct view_mpi_pair *p =
		ROW(w, v->pairs, v->n_pairs, pairs, (uint64_t)rank, (uint64_t)c->peer_world);
	if (!p)
		return false;
	p->from = rank;
	p->to = c->peer_world;
	p->n_calls += c->n_calls;
	p->bytes += c->sent;
	return true;
}

static bool add_call(struct making *w, const struct model_mpi_call *c)
{
	const struct model_profile *profile = &w->m->profiles[c->profile];
	const struct model_process *process = &w->m->processes[profile->process];
	const uint32_t caller = view_mpi_caller(w->m, c->context);
	const bool is_collective = mpi_call_forms[c->call].group == MPI_GROUP_COLLECTIVE;
	struct view_mpi_process *r =
		ROW(w, v->processes, v->n_processes, processes, profile->process, 0);
	struct view_mpi_function *f = ROW(w, v->functions, v->n_functions, functions, c->call, 0);
	struct view_mpi_place *p = find_place(w, caller, c->call);
	struct view_mpi_size *s =
		ROW(w, v->sizes, v->n_sizes, sizes, c->size_class, (uint64_t)is_collective);
	if (!r || !f || !p || !s)
		return false;
	r->process = profile->process;
	add(&r->sums, c);
	f->call = c->call;
	add(&f->sums, c);
	add(&p->sums, c);
	s->size_class = c->size_class;
	s->is_collective = is_collective;
	add(&s->sums, c);
	add(&w->v->whole, c);
	return add_pair(w, c, process->rank);
}

/* The calls of a thread are neighbours, so each thread that called is met once. */
static void add_elapsed(struct view_mpi *v, const struct model *m, struct map *index)
{
	for (size_t i = 0; i < m->mpi->n_calls; i++) {
		if (i && m->mpi->calls[i].profile == m->mpi->calls[i - 1].profile)
			continue;
		const struct model_profile *p = &m->profiles[m->mpi->calls[i].profile];
		uint64_t at = map_get(index, p->process, 0);
		double elapsed =
			p->end_ns > p->start_ns ? (double)(p->end_ns - p->start_ns) / 1e9 : 0;
		v->processes[at].n_threads++;
		v->processes[at].elapsed += elapsed;
		v->elapsed += elapsed;
	}
}

/* ---- order ---- */

static int compare_processes(const void *pa, const void *pb)
{
	const struct view_mpi_process *a = pa, *b = pb;
	return (a->process > b->process) - (a->process < b->process);
}

static int falling(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct view_mpi_function *a = pa, *b = pb;
	int c = falling(a->sums.seconds, b->sums.seconds);
	return c ? c : (a->call > b->call) - (a->call < b->call);
}

static int compare_places(const void *pa, const void *pb)
{
	const struct view_mpi_place *a = pa, *b = pb;
	int c = falling(a->sums.waited, b->sums.waited);
	c = c ? c : falling(a->sums.seconds, b->sums.seconds);
	return c ? c : (a->context > b->context) - (a->context < b->context);
}

static int compare_sizes(const void *pa, const void *pb)
{
	const struct view_mpi_size *a = pa, *b = pb;
	if (a->is_collective != b->is_collective)
		return a->is_collective ? 1 : -1;
	return (a->size_class > b->size_class) - (a->size_class < b->size_class);
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct view_mpi_pair *a = pa, *b = pb;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static void sort(void *rows, size_t n, size_t bytes, int (*compare)(const void *, const void *))
{
	if (n)
		qsort(rows, n, bytes, compare);
}

bool view_mpi_make(const struct model *m, struct view_mpi *v)
{
	struct making w = {.m = m, .v = v};
	bool ok = true;
	*v = (struct view_mpi){0};
	for (size_t i = 0; ok && i < m->mpi->n_calls; i++)
		ok = add_to_spot(&w, &m->mpi->calls[i]);
	for (size_t i = 0; ok && i < m->mpi->n_calls; i++)
		ok = add_call(&w, &m->mpi->calls[i]);
	if (ok) {
		add_elapsed(v, m, &w.processes);
		sort(v->processes, v->n_processes, sizeof *v->processes, compare_processes);
		sort(v->functions, v->n_functions, sizeof *v->functions, compare_functions);
		sort(v->places, v->n_places, sizeof *v->places, compare_places);
		sort(v->sizes, v->n_sizes, sizeof *v->sizes, compare_sizes);
		sort(v->pairs, v->n_pairs, sizeof *v->pairs, compare_pairs);
	} else {
		view_mpi_free(v);
	}
	map_free(&w.processes);
	map_free(&w.functions);
	map_free(&w.places);
	map_free(&w.sizes);
	map_free(&w.pairs);
	map_free(&w.spots);
	free(w.spot);
	return ok;
}

void view_mpi_free(struct view_mpi *v)
{
	free(v->processes);
	free(v->functions);
	free(v->places);
	free(v->sizes);
	free(v->pairs);
	*v = (struct view_mpi){0};
}
