/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of --all that say in words what the tree, functions, lines, modules, threads and GPUs
 * took: see text_all.h. "exclusive" of a row of the tree counts at the context itself; "exclusive"
 * of a function counts at its own lines (MODEL_POINT, view_table.h). Test:
 * tests/cli/prof/prof_text.sh, tests/cli/sink/sink_agree.sh.
 */
#include "common/base/foreign.h"
#include "hpcprof-lite/record/record_build.h"
#include "hpcprof-lite/record/words.h"
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_style.h"
#include "hpcprof-lite/view/parallel/view_balance.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_table.h"


static void put(struct text_all *t, const struct model *m, const struct record_kind *kind,
		const void *at)
{
	record_visit(&t->v, &(struct record){.m = m, .owner = MODEL_NONE}, kind, at, 0);
}

/* ---- the tree, functions, lines and modules ---- */

struct cost_row {
	const char *metric, *kind, *name, *module;
	uint32_t depth, file, line;
	uint64_t link_addr;
	double inclusive, exclusive;
	uint64_t n_samples;
};

static struct value place_of(const struct record *r)
{
	const struct cost_row *c = r->at;
	return value_place(r->m, c->file, c->line, c->link_addr);
}

#define METRIC TEXT(cost_row, metric, "metric", NULL)
#define NAME(name) TEXT(cost_row, name, #name, NULL)
#define PLACE GET(FIELD_PLACE, "place", place_of, "file:line, or the address")
#define COSTS                                                                                      \
	REAL(cost_row, exclusive, "exclusive", NULL),                                              \
		REAL(cost_row, inclusive, "inclusive", NULL),                                      \
		COUNT(cost_row, n_samples, "samples", NULL)

static const struct field tree_fields[] = {
	METRIC,
	COUNT(cost_row, depth, "depth", NULL),
	NAME(kind),
	NAME(name),
	PLACE,
	REAL(cost_row, inclusive, "inclusive", NULL),
	REAL(cost_row, exclusive, "exclusive", NULL),
	COUNT(cost_row, n_samples, "samples", NULL),
};
static const struct field function_fields[] = {METRIC, NAME(name), PLACE, NAME(module), COSTS};
static const struct field line_fields[] = {
	METRIC, PLACE, TEXT(cost_row, name, "function", NULL), COSTS};
static const struct field module_fields[] = {METRIC, TEXT(cost_row, module, "path", NULL), COSTS};
static const struct record_kind tree_kind = RECORD_LINE("tree", "A context, indented", tree_fields);
static const struct record_kind by_kinds[] = {
	[VIEW_BY_FUNCTION] = RECORD_LINE("by-function", "A function", function_fields),
	[VIEW_BY_LINE] = RECORD_LINE("by-line", "A source line of a function", line_fields),
	[VIEW_BY_MODULE] = RECORD_LINE("by-module", "A load module", module_fields)};

static void put_context(struct text_all *t, const struct model *m, const struct view_values *v,
			uint32_t context, uint32_t depth)
{
	const struct model_context *c = &m->contexts[context];
	const bool is_inlined =
		c->kind == MODEL_CONTEXT_FUNCTION && c->relation == MODEL_INLINED;
	char name[TEXT_NAME];
	text_name(name, sizeof name, m, c);
	put(t, m, &tree_kind,
	    &(struct cost_row){
		    .metric = m->metrics[v->metric].name,
		    .depth = depth,
		    .kind = is_inlined ? "inlined" : words_context(c->kind),
		    .name = c->function != MODEL_NONE ? m->functions[c->function].name : name,
		    .file = c->file,
		    .line = c->line,
		    .link_addr = c->link_addr,
		    .inclusive = v->total[context],
		    .exclusive = v->self[context],
		    .n_samples = v->n_samples[context]});
}

static void put_tree(struct text_all *t, const struct model *m, const struct view_values *v)
{
	uint32_t depth = 0;
	uint32_t at = MODEL_NONE; /* the context before; the next one's parent is it or one of its
				     ancestors */
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		for (; at != MODEL_NONE && at != m->contexts[i].parent; at = m->contexts[at].parent)
			depth--;
		depth = i ? depth + 1 : 0;
		at = i;
		if (v->total[i] != 0)
			put_context(t, m, v, i, depth);
	}
}

static void put_row(struct text_all *t, const struct model *m, const char *metric, enum view_by by,
		    const struct view_row *r)
{
	const struct model_context *c = &m->contexts[r->context];
	const struct model_function *f =
		c->function != MODEL_NONE ? &m->functions[c->function] : NULL;
	struct cost_row row = {.metric = metric,
			       .name = f ? f->name : "",
			       .module = text_module_path(m, f ? f->module : MODEL_NONE),
			       .file = c->file,
			       .line = c->line,
			       .inclusive = r->total,
			       .exclusive = r->self,
			       .n_samples = r->n_samples};
	if (by == VIEW_BY_FUNCTION) {
		row.file = f->file;
		row.line = f->line;
		row.link_addr = f->link_addr;
	} else if (by == VIEW_BY_MODULE) {
		row.module = m->modules[c->module].path;
	}
	put(t, m, &by_kinds[by], &row);
}

static bool put_flat(struct text_all *t, const struct model *m, const struct view_values *v,
		     enum view_by by)
{
	struct view_rows rows;
	if (!view_rows_make(m, v, by, &rows))
		return false;
	for (size_t i = 0; i < rows.n; i++)
		put_row(t, m, m->metrics[v->metric].name, by, &rows.at[i]);
	view_rows_free(&rows);
	return true;
}

/* ---- threads ---- */

struct thread_row {
	const struct model_profile *p;
	const struct model_process *process;
	uint64_t lost;
};

static const struct thread_row *thread_of(const struct record *r)
{
	return r->at;
}

static struct value thread_rank(const struct record *r)
{
	return value_rank(thread_of(r)->process->rank);
}

#define OF_PROCESS(function, member)                                                               \
	static struct value function(const struct record *r)                                       \
	{                                                                                          \
		return value_count(thread_of(r)->process->member);                                 \
	}
#define OF_THREAD(function, member)                                                                \
	static struct value function(const struct record *r)                                       \
	{                                                                                          \
		return value_count(thread_of(r)->p->member);                                       \
	}
OF_PROCESS(thread_pid, pid)
OF_PROCESS(thread_exec, exec_seq)
OF_THREAD(thread_number, thread)
OF_THREAD(thread_cpu, cpu_ns)
OF_THREAD(thread_delivered, ledger->delivered)
OF_THREAD(thread_in_tree, ledger->in_tree)

static struct value thread_host(const struct record *r)
{
	return value_text(thread_of(r)->process->host);
}

static struct value thread_name(const struct record *r)
{
	return value_text(thread_of(r)->p->name);
}

static struct value thread_closes(const struct record *r)
{
	const struct model_ledger *l = thread_of(r)->p->ledger;
	return value_count(l->delivered == l->in_tree + thread_of(r)->lost &&
			   l->recorded == l->in_tree);
}

static const struct field thread_fields[] = {
	GET(FIELD_RANK, "rank", thread_rank, NULL),
	GET(FIELD_TEXT, "host", thread_host, NULL),
	GET(FIELD_COUNT, "pid", thread_pid, NULL),
	GET(FIELD_COUNT, "exec", thread_exec, NULL),
	GET(FIELD_COUNT, "thread", thread_number, NULL),
	GET(FIELD_TEXT, "name", thread_name, NULL),
	GET(FIELD_COUNT, "cpu_ns", thread_cpu, NULL),
	GET(FIELD_COUNT, "delivered", thread_delivered, NULL),
	GET(FIELD_COUNT, "in_tree", thread_in_tree, NULL),
	COUNT(thread_row, lost, "lost", NULL),
	GET(FIELD_BOOL, "closes", thread_closes, "delivered = in_tree + lost"),
};
static const struct record_kind thread_kind =
	RECORD_LINE("thread", "A thread; behind the fields, name and value of each metric",
		    thread_fields);


static void put_thread(struct text_all *t, const struct model *m, uint32_t profile)
{
	const struct model_profile *p = &m->profiles[profile];
	const struct thread_row row = {p, &m->processes[p->process], view_count_lost(p->ledger)};
	text_all_fields(t, &(struct record){.m = m, .kind = &thread_kind, .at = &row});
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_value *v = model_find_value(m, profile, 0, i);
		putc('\t', t->out);
		foreign_put_field(t->out, m->metrics[i].name);
		fprintf(t->out, "\t%.17g", v ? v->at[MODEL_EXECUTION] : 0);
	}
	putc('\n', t->out);
}

/* ---- GPUs ---- */

struct kernel_row {
	struct cost_row cost; /* the place; inclusive: seconds */
	double launches;
	uint64_t least_ns, most_ns;
	const char *shape;
};
static const struct field kernel_fields[] = {
	TEXT(kernel_row, cost.name, "name", NULL),
	PLACE,
	TEXT(kernel_row, cost.module, "module", NULL),
	REAL(kernel_row, launches, "launches", NULL),
	REAL(kernel_row, cost.inclusive, "seconds", NULL),
	COUNT(kernel_row, least_ns, "least_ns", NULL),
	COUNT(kernel_row, most_ns, "most_ns", NULL),
	TEXT(kernel_row, shape, "shape", "groups x work-items of a group"),
};
static const struct record_kind kernel_kind = RECORD_LINE("kernel", "A kernel", kernel_fields);

static void put_kernel(struct text_all *t, const struct model *m, const struct view_gpu_kernel *k)
{
	const struct model_function *f = &m->functions[k->function];
	char shape[64];
	text_gpu_shape(shape, sizeof shape, m, k->shape, k->more_shapes);
	put(t, m, &kernel_kind,
	    &(struct kernel_row){.cost = {.name = f->name,
					  .module = text_module_path(m, f->module),
					  .file = f->file,
					  .line = f->line,
					  .link_addr = f->link_addr,
					  .inclusive = k->seconds},
				 .launches = k->n,
				 .least_ns = k->n_ops ? k->min_ns : 0,
				 .most_ns = k->max_ns,
				 .shape = shape});
}

struct copies_row {
	const char *direction;
	struct view_gpu_sum sum;
};
static const struct field copies_fields[] = {
	TEXT(copies_row, direction, "direction", "set: fills"),
	COUNT(copies_row, sum.n, "n", "With a record"),
	COUNT(copies_row, sum.bytes, "bytes", NULL),
	COUNT(copies_row, sum.ns, "ns", NULL),
};
static const struct record_kind copies_kind =
	RECORD_LINE("copies", "Copies of one direction, or fills", copies_fields);

static void put_copies(struct text_all *t, const struct model *m, const struct view_gpu *g)
{
	for (unsigned i = 0; i <= MSR_N_GPU_DIRECTIONS; i++) {
		const bool is_copy = i < MSR_N_GPU_DIRECTIONS;
		const struct copies_row row = {is_copy ? msr_gpu_direction_name(i) : "set",
					       is_copy ? g->copies[i] : g->sets};
		if (row.sum.n)
			put(t, m, &copies_kind, &row);
	}
}

struct queue_row {
	int32_t rank;
	const char *host, *name;
	uint32_t pid, exec, device, context, queue, flags;
	uint64_t busy_ns, n_ops;
};
static const struct field queue_fields[] = {
	MEMBER(FIELD_RANK, queue_row, rank, "rank", NULL),
	TEXT(queue_row, host, "host", NULL),
	COUNT(queue_row, pid, "pid", NULL),
	COUNT(queue_row, exec, "exec", NULL),
	COUNT(queue_row, device, "device", "Ordinal"),
	COUNT(queue_row, context, "context", "Ordinal"),
	COUNT(queue_row, queue, "queue", "Ordinal"),
	COUNT(queue_row, busy_ns, "busy_ns", NULL),
	COUNT(queue_row, n_ops, "operations", NULL),
	COUNT(queue_row, flags, "flags", NULL),
	TEXT(queue_row, name, "name", NULL),
};
static const struct record_kind queue_kind = RECORD_LINE("queue", "A queue of a GPU", queue_fields);

static void put_queue(struct text_all *t, const struct model *m, const struct view_gpu *g,
		      uint32_t i)
{
	const struct model_gpu_queue *q = &m->gpu_queues[i];
	const struct model_gpu_context *c = &m->gpu_contexts[q->context];
	const struct model_process *p = &m->processes[c->process];
	put(t, m, &queue_kind,
	    &(struct queue_row){.rank = p->rank,
				.host = p->host,
				.name = q->name,
				.pid = p->pid,
				.exec = p->exec_seq,
				.device = m->gpu_devices[q->device].ordinal,
				.context = c->ordinal,
				.queue = q->ordinal,
				.flags = q->flags,
				.busy_ns = q->busy_ns,
				.n_ops = g->queues[i].n});
}

static bool put_gpu(struct text_all *t, const struct model *m)
{
	struct view_gpu g;
	if (!view_gpu_open(m, &g))
		return false;
	for (size_t i = 0; i < g.kernels.n; i++)
		put_kernel(t, m, &g.kernels.at[i]);
	put_copies(t, m, &g);
	for (uint32_t i = 0; i < m->n_gpu_queues; i++)
		put_queue(t, m, &g, i);
	view_gpu_close(&g);
	return true;
}

bool text_all_words(const struct model *m, struct text_all *t)
{
	bool ok = true;
	for (uint32_t i = 0; i < m->n_metrics && ok; i++) {
		struct view_values v;
		if (!view_values_open(m, i, &v))
			return false;
		put_tree(t, m, &v);
		for (enum view_by by = VIEW_BY_FUNCTION; by <= VIEW_BY_MODULE && ok; by++)
			ok = put_flat(t, m, &v, by);
		view_values_close(&v);
	}
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_THREAD)
			put_thread(t, m, i);
	return ok && (!m->has_gpu || put_gpu(t, m));
}
