/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI, kernels of NCCL, and who came last; see record.h. Test: tests/cli/mpi/mpi_late.sh,
 * tests/cli/nccl/nccl_ranks.sh. */
#include "hpcprof-lite/record/record_build.h"
#include "hpcprof-lite/view/view_mpi.h"
#include "hpcprof-lite/view/view_nccl.h"
#include "hpcprof-lite/view/view_run.h"

static struct value rank_of_profile(const struct model *m, uint32_t profile)
{
	return value_rank(m->processes[m->profiles[profile].process].rank);
}

/* The place of the context's line. */
static struct value context_place(const struct model *m, uint32_t context)
{
	const struct model_context *c = &m->contexts[context];
	return value_place(m, c->file, c->line, c->link_addr);
}

static const char *mpi_call_word(unsigned call)
{
	return mpi_call_name(call);
}

static const char *nccl_word(unsigned call)
{
	return view_nccl_operation((uint16_t)call);
}

/* Only the text has ranks and places; the other exports have the profile and the context. */
#define IN_WORDS(kind_, name_, get_)                                                               \
	{.name = (name_), .kind = (kind_), .sinks = RECORD_TEXT, .get = (get_)}

/* ---- MPI ---- */

static bool has_clock_error(const struct record *r)
{
	return ((const struct model_mpi *)r->at)->clock_error_ns != UINT64_MAX;
}

static bool has_matched(const struct record *r)
{
	return ((const struct model_mpi *)r->at)->n_matched != UINT64_MAX;
}

static struct value count_hosts(const struct record *r)
{
	struct view_run run;
	const bool ok = view_run_make(r->m, &run);
	return (struct value){.n = run.n_hosts, .is_known = ok};
}

#define MPI(member, name, meaning) COUNT(model_mpi, member, name, meaning)
#define MATCHED(member, name_, meaning_)                                                           \
	{.name = (name_), .meaning = (meaning_), .kind = FIELD_COUNT, .is_known = has_matched,     \
	 FIELD_AT(model_mpi, member)}
static const struct field mpi_fields[] = {
	MATCHED(n_matched, "matched",
		"Collective calls whose arrivals are all known; unknown: a part of the run"),
	MATCHED(n_unmatched, "unmatched", "Recorded, but not by all processes"),
	MPI(n_lost, "lost", "Calls that could not be recorded, of all threads"),
	MPI(n_all_peers, "without_peers", "Calls whose peers were summed up"),
	GET(FIELD_COUNT, "hosts", count_hosts, NULL),
	{.name = "clock_error_ns", .kind = FIELD_COUNT, .is_known = has_clock_error,
	 .meaning = "Between hosts of the run; 0: one host; unknown: each has its own clock",
	 FIELD_AT(model_mpi, clock_error_ns)},
};
static const struct field mpi_comm_fields[] = {
	KEY,
	COUNT(model_mpi_comm, size, "ranks", NULL),
	COUNT(model_mpi_comm, n_members, "measured", "Processes of the run that are in it"),
	MEMBER(FIELD_BOOL, model_mpi_comm, is_world, "world", "MPI_COMM_WORLD"),
	MEMBER(FIELD_BOOL, model_mpi_comm, is_matched, "matched", "Its processes are known"),
	COUNT(model_mpi_comm, n_calls, "calls", "Of all processes"),
	REAL(model_mpi_comm, seconds, "seconds", "In them"),
};

static struct value call_rank(const struct record *r)
{
	return rank_of_profile(r->m, ((const struct model_mpi_call *)r->at)->profile);
}

static struct value call_place(const struct record *r)
{
	const struct model_mpi_call *c = r->at;
	return context_place(r->m, view_mpi_caller(r->m, c->context));
}

#define CALL(member, name, meaning) COUNT(model_mpi_call, member, name, meaning)
static const struct field mpi_call_fields[] = {
	IN_WORDS(FIELD_RANK, "rank", call_rank),
	ID(model_mpi_call, profile, "profile", NULL),
	ID(model_mpi_call, context, "context", NULL),
	{.name = "function", .kind = FIELD_WORD, .word = mpi_call_word,
	 FIELD_AT(model_mpi_call, call)},
	{.name = "comm", .kind = FIELD_ID, .of = "mpi_comm", .meaning = "None: unknown",
	 FIELD_AT(model_mpi_call, comm)},
	MEMBER(FIELD_SIGNED, model_mpi_call, peer, "peer",
	       "Rank in the communicator; -1: none, -2: any, -3: several, summed up"),
	MEMBER(FIELD_SIGNED, model_mpi_call, peer_world, "world_peer",
	       "Rank; -1: none, or unknown"),
	CALL(size_class, "size_class", "0: no bytes; n: 2^(n-1) <= bytes < 2^n"),
	CALL(n_calls, "calls", NULL),
	{.name = "sent", .kind = FIELD_COUNT, .unit = "bytes", FIELD_AT(model_mpi_call, sent)},
	{.name = "received", .kind = FIELD_COUNT, .unit = "bytes",
	 FIELD_AT(model_mpi_call, received)},
	CALL(ns, "ns", NULL),
	CALL(wait_ns, "waited_ns", NULL),
	MEMBER(FIELD_BOOL, model_mpi_call, wait_is_known, "wait_is_known",
	       "From the arrivals of all ranks; else an estimate"),
	MEMBER(FIELD_BOOL, model_mpi_call, is_open, "open", "The thread was in it at its end"),
	IN_WORDS(FIELD_PLACE, "place", call_place),
};

/* ---- places, and who came last there ---- */

static struct value site_place(const struct record *r)
{
	return context_place(r->m, ((const struct model_mpi_site *)r->at)->context);
}

/* The line that called, as people see it: the context itself may be a function inside MPI. */
static struct value site_caller(const struct record *r)
{
	return value_id(view_mpi_caller(r->m, ((const struct model_mpi_site *)r->at)->context));
}

static struct value late_caller(const struct record *r)
{
	return value_id(view_mpi_caller(r->m, ((const struct model_mpi_late *)r->at)->context));
}

static struct value late_rank(const struct record *r)
{
	return rank_of_profile(r->m, ((const struct model_mpi_late *)r->at)->profile);
}

static struct value late_place(const struct record *r)
{
	return context_place(r->m, ((const struct model_mpi_late *)r->at)->context);
}

#define CALLER(get_) {.name = "caller", .kind = FIELD_ID, .of = "context", .get = (get_)}
static const struct field mpi_site_fields[] = {
	KEY,
	ID(model_mpi_site, context, "context", NULL),
	CALLER(site_caller),
	{.name = "function", .kind = FIELD_WORD, .word = mpi_call_word,
	 FIELD_AT(model_mpi_site, call)},
	COUNT(model_mpi_site, n_calls, "calls", "Each counted once for all its processes"),
	COUNT(model_mpi_site, waited_ns, "waited_ns", "By all ranks"),
};
static const struct field nccl_site_fields[] = {
	KEY,
	ID(model_mpi_site, context, "context", NULL),
	{.name = "operation", .meaning = "AllReduce, AllGather, ReduceScatter", .kind = FIELD_WORD,
	 .word = nccl_word, FIELD_AT(model_mpi_site, call)},
	COUNT(model_mpi_site, n_calls, "operations", NULL),
	COUNT(model_mpi_site, waited_ns, "waited_ns", "By all ranks"),
	IN_WORDS(FIELD_PLACE, "place", site_place),
};
#define LATE_FIELDS(table, calls, meaning)                                                         \
	OWNER("site", table), IN_WORDS(FIELD_RANK, "rank", late_rank),                             \
		ID(model_mpi_late, profile, "profile", meaning),                                   \
		ID(model_mpi_late, context, "context", NULL),                                      \
		COUNT(model_mpi_late, n_calls, calls, "In which it came last"),                    \
		COUNT(model_mpi_late, waited_ns, "waited_ns", "By all others"),                    \
		COUNT(model_mpi_late, behind_ns, "behind_ns",                                      \
		      "Behind the mean of the others, summed up"),                                 \
		COUNT(model_mpi_late, most_behind_ns, "most_behind_ns", NULL)
static const struct field mpi_late_fields[] = {LATE_FIELDS("mpi_site", "calls", "A thread"),
					       CALLER(late_caller)};
static const struct field nccl_late_fields[] = {
	LATE_FIELDS("nccl_site", "operations", "A queue"),
	IN_WORDS(FIELD_PLACE, "place", late_place),
};

const struct record_kind record_mpi = {
	.name = "mpi-ledger", .table = "mpi_ledger", .json = "mpi", .parent = &record_run,
	.meaning = "Calls of MPI, if they were measured", .form = RECORD_OBJECT,
	.sinks = RECORD_ALL, FIELDS(mpi_fields)};
#define OF_MPI(name_, table_, json_, meaning_, fields_)                                            \
	{.name = (name_), .table = (table_), .json = (json_), .parent = &record_mpi,               \
	 .meaning = (meaning_), .sinks = RECORD_ALL, FIELDS(fields_), .is_wanted = record_always}
static const struct record_kind record_mpi_comm =
	OF_MPI("mpi-comm", "mpi_comm", "communicators", "A communicator", mpi_comm_fields);
static const struct record_kind record_mpi_call =
	OF_MPI("mpi-call", "mpi_call", "calls",
	       "Calls of one thread with equal context, communicator, peer and size",
	       mpi_call_fields);
static const struct record_kind record_mpi_site = OF_MPI(
	"mpi-site", "mpi_site", "sites", "A place that makes collective calls", mpi_site_fields);
static const struct record_kind record_mpi_late = {
	.name = "mpi-late", .table = "mpi_late", .json = "last", .parent = &record_mpi_site,
	.meaning = "Who came last there", .sinks = RECORD_ALL, FIELDS(mpi_late_fields),
	.is_wanted = record_always};

/* ---- NCCL ---- */

static const struct field nccl_fields[] = {
	COUNT(model_nccl, n_alone, "alone", "Kernels without a counterpart"),
	COUNT(model_nccl, clock_error_ns, "clock_error_ns", "Between hosts; 0: one host"),
};

static struct value device_rank(const struct record *r)
{
	const struct model_nccl_device *d = r->at;
	return value_rank(r->m->processes[d->process].rank);
}

#define DEVICE(member, name, meaning) COUNT(model_nccl_device, member, name, meaning)
static const struct field nccl_device_fields[] = {
	IN_WORDS(FIELD_RANK, "rank", device_rank),
	ID(model_nccl_device, process, "process", NULL),
	ID(model_nccl_device, device, "gpu_device", NULL),
	DEVICE(elapsed_ns, "elapsed_ns", "Of the process, while measurement was on"),
	DEVICE(nccl_ns, "nccl_ns", "A kernel of NCCL ran"),
	DEVICE(compute_ns, "compute_ns", "Another kernel ran"),
	DEVICE(overlap_ns, "overlap_ns", "Both"),
	DEVICE(copy_ns, "copy_ns", "No kernel, but copies or sets"),
	DEVICE(idle_ns, "idle_ns", NULL),
	DEVICE(n_kernels, "kernels", "Of NCCL"),
	DEVICE(n_calls, "operations", "Of which it is known who came last"),
	DEVICE(waited_ns, "waited_ns", "In these, for the last one"),
	DEVICE(n_last, "last", "In so many it came last"),
};
static const struct field nccl_comm_fields[] = {
	KEY,
	COUNT(model_nccl_comm, n_calls, "kernels", "On each of the queues"),
	COUNT(model_nccl_comm, n_judged, "operations", "That need all ranks"),
};

struct member {
	uint32_t queue;
	const struct model_nccl_comm *comm;
};

static struct value member_kernels(const struct record *r)
{
	return value_count(((const struct member *)r->at)->comm->n_calls);
}

static struct value member_operations(const struct record *r)
{
	return value_count(((const struct member *)r->at)->comm->n_judged);
}

static const struct field nccl_queue_fields[] = {
	{.name = "communicator", .kind = FIELD_ID, .get = value_of_owner,
	 .sinks = RECORD_TEXT | RECORD_SQL},
	GET(FIELD_COUNT, "kernels", member_kernels, "As the communicator"),
	GET(FIELD_COUNT, "operations", member_operations, NULL),
	ID(member, queue, "gpu_queue", NULL),
};

static const struct record_kind record_nccl = {
	.name = "nccl-ledger", .table = "nccl_ledger", .json = "nccl", .parent = &record_run,
	.meaning = "Kernels of NCCL, if there are any", .form = RECORD_OBJECT,
	.sinks = RECORD_ALL, FIELDS(nccl_fields)};
#define OF_NCCL(name_, table_, json_, meaning_, fields_)                                           \
	{.name = (name_), .table = (table_), .json = (json_), .parent = &record_nccl,              \
	 .meaning = (meaning_), .sinks = RECORD_ALL, FIELDS(fields_), .is_wanted = record_always}
static const struct record_kind record_nccl_device =
	OF_NCCL("nccl-device", "nccl_device", "devices",
		"A GPU of a process that used NCCL on it", nccl_device_fields);
static const struct record_kind record_nccl_comm =
	OF_NCCL("nccl-comm", "nccl_comm", "communicators",
		"Queues of GPUs that take part in the same operations", nccl_comm_fields);
static const struct record_kind record_nccl_queue = {
	.name = "nccl-queue", .table = "nccl_queue", .json = "queues",
	.parent = &record_nccl_comm, .meaning = "One of these queues", .form = RECORD_VALUES,
	.sinks = RECORD_ALL, FIELDS(nccl_queue_fields), .is_wanted = record_always};
static const struct record_kind record_nccl_site =
	OF_NCCL("nccl-site", "nccl_site", "sites", "A place that launches operations of NCCL",
		nccl_site_fields);
static const struct record_kind record_nccl_late = {
	.name = "nccl-late", .table = "nccl_late", .json = "last", .parent = &record_nccl_site,
	.meaning = "Who came last there", .sinks = RECORD_ALL, FIELDS(nccl_late_fields),
	.is_wanted = record_always};

/* ---- visits ---- */

struct places {
	const struct model_mpi_site *sites;
	uint32_t n_sites;
	const struct model_mpi_late *late;
	const struct record_kind *site, *last;
};

static void visit_sites(const struct model *m, struct record_visitor *v, const struct places *p)
{
	for (uint32_t i = 0; i < p->n_sites; i++) {
		const struct model_mpi_site *s = &p->sites[i];
		const struct record r = {.m = m, .owner = i};
		record_visit(v, &r, p->site, s, i);
		for (uint32_t k = 0; k < s->n_late; k++)
			record_visit(v, &r, p->last, &p->late[s->first_late + k], k);
	}
}

static bool visit_mpi(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	const struct model_mpi *x = m->mpi;
	if (!x)
		return true;
	record_visit(v, &r, &record_mpi, x, 0);
	for (uint32_t i = 0; i < x->n_comms; i++)
		record_visit(v, &r, &record_mpi_comm, &x->comms[i], i);
	for (size_t i = 0; i < x->n_calls; i++)
		record_visit(v, &r, &record_mpi_call, &x->calls[i], (uint32_t)i);
	visit_sites(m, v,
		    &(struct places){x->sites, x->n_sites, x->late, &record_mpi_site,
				     &record_mpi_late});
	return true;
}

static void visit_comm(const struct model *m, struct record_visitor *v, uint32_t i)
{
	const struct model_nccl_comm *c = &m->nccl->comms[i];
	const struct record r = {.m = m, .owner = i};
	record_visit(v, &r, &record_nccl_comm, c, i);
	for (uint32_t k = 0; k < c->n_members; k++) {
		const struct member member = {m->nccl->members[c->first_member + k], c};
		record_visit(v, &r, &record_nccl_queue, &member, k);
	}
}

static bool visit_nccl(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	const struct model_nccl *x = m->nccl;
	if (!x)
		return true;
	record_visit(v, &r, &record_nccl, x, 0);
	for (uint32_t i = 0; i < x->n_devices; i++)
		record_visit(v, &r, &record_nccl_device, &x->devices[i], i);
	for (uint32_t i = 0; i < x->n_comms; i++)
		visit_comm(m, v, i);
	visit_sites(m, v,
		    &(struct places){x->sites, x->n_sites, x->late, &record_nccl_site,
				     &record_nccl_late});
	return true;
}

static const struct record_kind *const mpi_kinds[] = {
	&record_mpi, &record_mpi_comm, &record_mpi_call, &record_mpi_site, &record_mpi_late};
const struct record_part record_part_mpi = {KINDS(mpi_kinds), visit_mpi};
static const struct record_kind *const nccl_kinds[] = {
	&record_nccl, &record_nccl_device, &record_nccl_comm, &record_nccl_queue,
	&record_nccl_site, &record_nccl_late};
const struct record_part record_part_nccl = {KINDS(nccl_kinds), visit_nccl};
