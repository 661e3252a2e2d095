/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the report about MPI (view_mpi.h), and the calls that did not end; see record.h.
 * Test: tests/cli/sink/sink_tables.sh.
 */
#include "hpcprof-lite/record/record_build.h"
#include "hpcprof-lite/view/view_mpi.h"
#include "hpcprof-lite/view/view_mpi_open.h"

#include <stdlib.h>

static const char *call_word(unsigned call)
{
	return mpi_call_name(call);
}

/* What the tables add up. */
#define SUMS(type)                                                                                 \
	COUNT(type, sums.n_calls, "calls", NULL),                                                  \
		{.name = "sent", .kind = FIELD_COUNT, .unit = "bytes",                             \
		 FIELD_AT(type, sums.sent)},                                                       \
		{.name = "received", .kind = FIELD_COUNT, .unit = "bytes",                         \
		 FIELD_AT(type, sums.received)},                                                   \
		REAL(type, sums.seconds, "seconds", "In MPI"),                                     \
		REAL(type, sums.waited, "waited_sec", NULL),                                       \
		MEMBER(FIELD_BOOL, type, sums.wait_is_known, "wait_is_known",                      \
		       "False: a part of it is an estimate")

static const struct field process_fields[] = {
	{.name = "process", .kind = FIELD_ID, .of = "process", .meaning = "None: all",
	 FIELD_AT(view_mpi_process, process)},
	COUNT(view_mpi_process, n_threads, "threads", "That called MPI"),
	REAL(view_mpi_process, elapsed, "elapsed_sec", "Of these threads"),
	SUMS(view_mpi_process),
};
static const struct field function_fields[] = {
	{.name = "function", .kind = FIELD_WORD, .word = call_word,
	 FIELD_AT(view_mpi_function, call)},
	SUMS(view_mpi_function),
};

static struct value place(const struct record *r)
{
	const struct view_mpi_place *p = r->at;
	const struct model_context *c = &r->m->contexts[p->context];
	return value_place(r->m, c->file, c->line, c->link_addr);
}

static const struct field place_fields[] = {
	{.name = "function", .kind = FIELD_WORD, .word = call_word, FIELD_AT(view_mpi_place, call)},
	{.name = "caller", .kind = FIELD_ID, .of = "context", .meaning = "The first one",
	 FIELD_AT(view_mpi_place, context)},
	COUNT(view_mpi_place, n_callers, "levels", "To the function by which callers differ"),
	SUMS(view_mpi_place),
	{.name = "place", .kind = FIELD_PLACE, .sinks = RECORD_TEXT, .get = place},
};
static const struct field size_fields[] = {
	COUNT(view_mpi_size, size_class, "size_class", "0: no bytes; n: 2^(n-1) <= bytes < 2^n"),
	MEMBER(FIELD_BOOL, view_mpi_size, is_collective, "collective", NULL),
	SUMS(view_mpi_size),
};
static const struct field pair_fields[] = {
	MEMBER(FIELD_SIGNED, view_mpi_pair, from, "from_rank", "In MPI_COMM_WORLD"),
	MEMBER(FIELD_SIGNED, view_mpi_pair, to, "to_rank", NULL),
	COUNT(view_mpi_pair, n_calls, "calls", "Point-to-point and one-sided"),
	{.name = "sent", .kind = FIELD_COUNT, .unit = "bytes", FIELD_AT(view_mpi_pair, bytes)},
};

/* ---- calls that did not end ---- */

static const struct model_mpi_call *longest(const struct record *r)
{
	return ((const struct view_mpi_open *)r->at)->longest;
}

static struct value open_function(const struct record *r)
{
	return value_text(mpi_call_name(longest(r)->call));
}

static struct value open_profile(const struct record *r)
{
	return value_id(longest(r)->profile);
}

static struct value open_caller(const struct record *r)
{
	return value_id(view_mpi_caller(r->m, longest(r)->context));
}

static struct value open_ns(const struct record *r)
{
	return value_count(longest(r)->ns);
}

/* "MPI_Recv from rank 3" */
static struct value open_name(const struct record *r)
{
	static _Thread_local char name[VIEW_MPI_CALL];
	return value_text(view_mpi_open_name(r->at, name));
}

static const struct field open_fields[] = {
	GET(FIELD_WORD, "function", open_function, NULL),
	GET(FIELD_WORD, "call", open_name, "MPI_Recv from rank 3"),
	COUNT(view_mpi_open, n_threads, "threads", "In the same function at the same place"),
	{.name = "profile", .kind = FIELD_ID, .of = "profile",
	 .meaning = "The thread that was in it for longest", .get = open_profile},
	{.name = "caller", .kind = FIELD_ID, .of = "context", .get = open_caller},
	GET(FIELD_COUNT, "ns", open_ns, "Until the end of this thread"),
};

/* ---- visits ---- */

#define OF_MPI(name_, table_, json_, meaning_, fields_)                                            \
	{.name = (name_), .table = (table_), .json = (json_), .parent = &record_mpi,               \
	 .meaning = (meaning_), .sinks = RECORD_ALL, FIELDS(fields_), .is_wanted = record_always}
static const struct record_kind record_process_mpi =
	OF_MPI("mpi-process", "mpi_process", "processes", "A process that called MPI, or all",
	       process_fields);
static const struct record_kind record_function =
	OF_MPI("mpi-function", "mpi_function", "functions", "All calls of one function of MPI",
	       function_fields);
static const struct record_kind record_place =
	OF_MPI("mpi-place", "mpi_place", "places", "The calls of one function at one place",
	       place_fields);
static const struct record_kind record_size = OF_MPI(
	"mpi-size", "mpi_size", "sizes", "Calls by the size of their messages", size_fields);
static const struct record_kind record_pair = OF_MPI(
	"mpi-pair", "mpi_pair", "pairs", "What one rank sent to another", pair_fields);
static const struct record_kind record_open =
	OF_MPI("mpi-open", "mpi_open", "open", "A call that threads were in at their end",
	       open_fields);

static void visit_processes(struct record_visitor *v, const struct record *r,
			    const struct view_mpi *x)
{
	struct view_mpi_process all = {
		.process = MODEL_NONE, .elapsed = x->elapsed, .sums = x->whole};
	for (size_t i = 0; i < x->n_processes; i++)
		all.n_threads += x->processes[i].n_threads;
	record_visit(v, r, &record_process_mpi, &all, 0);
	for (size_t i = 0; i < x->n_processes; i++)
		record_visit(v, r, &record_process_mpi, &x->processes[i], (uint32_t)i + 1);
}

static bool visit_open(struct record_visitor *v, const struct record *r)
{
	struct view_mpi_open *open;
	size_t n;
	if (!view_mpi_open_make(r->m, &open, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		record_visit(v, r, &record_open, &open[i], (uint32_t)i);
	free(open);
	return true;
}

static bool visit_all(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	struct view_mpi x;
	if (!m->mpi)
		return true;
	if (!view_mpi_make(m, &x))
		return false;
	visit_processes(v, &r, &x);
	for (size_t i = 0; i < x.n_functions; i++)
		record_visit(v, &r, &record_function, &x.functions[i], (uint32_t)i);
	for (size_t i = 0; i < x.n_places; i++)
		record_visit(v, &r, &record_place, &x.places[i], (uint32_t)i);
	for (size_t i = 0; i < x.n_sizes; i++)
		record_visit(v, &r, &record_size, &x.sizes[i], (uint32_t)i);
	for (size_t i = 0; i < x.n_pairs; i++)
		record_visit(v, &r, &record_pair, &x.pairs[i], (uint32_t)i);
	view_mpi_free(&x);
	return visit_open(v, &r);
}

static const struct record_kind *const kinds[] = {&record_process_mpi, &record_function,
						  &record_place,       &record_size,
						  &record_pair,        &record_open};
const struct record_part record_part_mpi_tables = {KINDS(kinds), visit_all};
