/* SPDX-License-Identifier: BSD-3-Clause */
/* A hand-made model; see model_fixture.h. */
#include "tests/unit/model_fixture.h"

#include "common/base/map.h"
#include "common/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD_NS = 1000000 };

struct model_private {
	VEC(struct model_context) contexts;
	VEC(uint32_t) leaves;  /* contexts that take samples */
	VEC(char *) strings;
	uint64_t n_samples;
	uint32_t n_threads;
};

/* ---- what the sinks call --------------------------------------------------------------------------------- */

const struct model_total *model_find_total(const struct model *m, uint32_t context, uint32_t metric)
{
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].context == context && m->totals[i].metric == metric)
			return &m->totals[i];
	return NULL;
}

const struct model_value *model_find_value(const struct model *m, uint32_t profile, uint32_t context, uint32_t metric)
{
	const struct model_profile *p = &m->profiles[profile];
	for (size_t i = 0; i < p->n_values; i++)
		if (p->values[i].context == context && p->values[i].metric == metric)
			return &p->values[i];
	return NULL;
}

/* The k-th sample of a profile: metrics take turns, the context stays for a while as in real programs. */
static struct model_sample sample(const struct model *m, uint32_t profile, uint64_t k)
{
	const struct model_private *x = m->private_;
	uint64_t h = hash_u64((uint64_t)profile << 40 ^ (k / (3 + profile % 5)));
	return (struct model_sample){
		.time_ns = m->profiles[profile].start_ns + (k + 1) * PERIOD_NS / m->n_metrics + h % 1000,
		.context = x->leaves.at[h % x->leaves.n],
		.metric = (uint32_t)(k % m->n_metrics),
	};
}

size_t model_trace_read(const struct model *m, uint32_t profile, struct model_trace_cursor *c, struct model_sample *out, size_t n)
{
	size_t i = 0;
	for (; i < n && c->offset < m->profiles[profile].n_trace_records; i++, c->offset++) {
		out[i] = sample(m, profile, c->offset);
		if (out[i].time_ns < c->time_ns)
			out[i].time_ns = c->time_ns;
		c->time_ns = out[i].time_ns;
	}
	return i;
}

/* ---- building --------------------------------------------------------------------------------------------- */

static void *must(void *p)
{
	if (!p) {
		fputs("out of memory\n", stderr);
		exit(99);
	}
	return p;
}

/* "prefix" number "suffix" */
static const char *keep(struct model_private *x, const char *prefix, uint32_t number, const char *suffix)
{
	size_t n = strlen(prefix) + strlen(suffix) + 12;
	char *s = must(malloc(n));
	snprintf(s, n, "%s%u%s", prefix, number, suffix);
	*(char **)must(vec_push(&x->strings)) = s;
	return s;
}

enum { EXE, LIBC, N_MODULES };
enum { MAIN_C, WORK_H, MISSING_C, UMLAUT_C, N_FILES };
enum { F_MAIN, F_WORK, F_INLINED, F_RECURSE, F_QSORT, F_COMPARE, F_TEMPLATE, F_UMLAUT, F_THREAD, F_EVIL, F_NAMED };

/* Appends a context; its subtree count is set by end(). Returns its id. */
static uint32_t begin(struct model_private *x, uint32_t parent, struct model_context c)
{
	c.parent = parent;
	struct model_context *slot = must(vec_push(&x->contexts));
	*slot = c;
	return (uint32_t)x->contexts.n - 1;
}

static void end(struct model_private *x, uint32_t id)
{
	x->contexts.at[id].subtree_n = (uint32_t)x->contexts.n - id;
}

static uint32_t function(struct model_private *x, uint32_t parent, uint32_t f, uint32_t module, enum model_relation relation)
{
	return begin(x, parent, (struct model_context){.kind = MODEL_CONTEXT_FUNCTION, .relation = (uint8_t)relation, .function = f, .module = module,
		.file = module == EXE ? MAIN_C : MODEL_NONE, .line = module == EXE ? 10 * (f + 1) : 0, .link_addr = 0x1000 * (f + 1)});
}

static uint32_t line(struct model_private *x, uint32_t parent, uint32_t f, uint32_t file, uint32_t number)
{
	return begin(x, parent, (struct model_context){.kind = MODEL_CONTEXT_LINE, .relation = MODEL_LEXICAL, .function = f, .module = EXE, .file = file, .line = number});
}

static uint32_t instruction(struct model_private *x, uint32_t parent, uint32_t f, uint32_t module, uint64_t addr)
{
	return begin(x, parent, (struct model_context){.kind = MODEL_CONTEXT_INSTRUCTION, .relation = MODEL_LEXICAL, .function = f, .module = module, .file = MODEL_NONE, .link_addr = addr});
}

static void leaf(struct model_private *x, uint32_t id)
{
	end(x, id);
	*(uint32_t *)must(vec_push(&x->leaves)) = id;
}

static void work(struct model_private *x, uint32_t call, bool loops)
{
	uint32_t f = function(x, call, F_WORK, EXE, MODEL_CALL), l, g;
	if (loops) {
		uint32_t loop = begin(x, f, (struct model_context){.kind = MODEL_CONTEXT_LOOP, .relation = MODEL_LEXICAL, .function = F_WORK, .module = EXE, .file = MAIN_C, .line = 20});
		uint32_t inner = begin(x, loop, (struct model_context){.kind = MODEL_CONTEXT_LOOP, .relation = MODEL_LEXICAL, .function = F_WORK, .module = EXE, .file = MAIN_C, .line = 21});
		leaf(x, line(x, inner, F_WORK, MAIN_C, 22));
		end(x, inner);
		leaf(x, line(x, loop, F_WORK, MAIN_C, 21));
		end(x, loop);
	}
	leaf(x, line(x, f, F_WORK, MAIN_C, 21));
	uint32_t call_line = line(x, f, F_WORK, MAIN_C, 23);
	g = function(x, call_line, F_INLINED, EXE, MODEL_INLINED);
	leaf(x, line(x, g, F_INLINED, WORK_H, 5));
	l = line(x, g, F_INLINED, WORK_H, 6);
	uint32_t t = function(x, l, F_TEMPLATE, EXE, MODEL_INLINED);
	leaf(x, line(x, t, F_TEMPLATE, MISSING_C, 7));
	end(x, t);
	leaf(x, l); /* a line with samples of its own and a call */
	end(x, g);
	end(x, call_line);
	end(x, f);
}

static void recurse(struct model_private *x, uint32_t call, uint32_t depth)
{
	uint32_t f = function(x, call, F_RECURSE, EXE, MODEL_CALL), l = line(x, f, F_RECURSE, UMLAUT_C, 31);
	if (depth > 1)
		recurse(x, l, depth - 1);
	leaf(x, l);
	end(x, f);
}

/* A callback through a library without lines. */
static void sort(struct model_private *x, uint32_t call)
{
	uint32_t q = function(x, call, F_QSORT, LIBC, MODEL_CALL), i;
	i = instruction(x, q, F_QSORT, LIBC, 0x5010);
	uint32_t f = function(x, i, F_COMPARE, EXE, MODEL_CALL);
	leaf(x, line(x, f, F_COMPARE, MAIN_C, 61));
	end(x, f);
	end(x, i);
	leaf(x, instruction(x, q, F_QSORT, LIBC, 0x5020));
	end(x, q);
}

static void build_tree(struct model_private *x, const struct fixture_options *o)
{
	uint32_t root = begin(x, MODEL_NONE, (struct model_context){.kind = MODEL_CONTEXT_ROOT, .module = MODEL_NONE, .file = MODEL_NONE, .function = MODEL_NONE});
	const struct model_context none = {.kind = MODEL_CONTEXT_ENTRY, .module = MODEL_NONE, .file = MODEL_NONE, .function = MODEL_NONE};
	struct model_context e = none;
	uint32_t entry = begin(x, root, e), main_ = function(x, entry, F_MAIN, EXE, MODEL_CALL), l;
	l = line(x, main_, F_MAIN, MAIN_C, 12);
	work(x, l, o->loops);
	sort(x, l);
	end(x, l);
	l = line(x, main_, F_MAIN, MAIN_C, 13);
	work(x, l, false);
	if (o->recursion)
		recurse(x, l, o->recursion);
	leaf(x, l);
	for (uint32_t i = 0; i < o->n_extra; i++) {
		l = line(x, main_, F_MAIN, MAIN_C, 100 + i);
		uint32_t f = function(x, l, F_NAMED + i, EXE, MODEL_CALL);
		for (uint32_t k = 0; k < 8; k++)
			leaf(x, line(x, f, F_NAMED + i, WORK_H, 100 + 8 * i + k));
		end(x, f);
		end(x, l);
	}
	end(x, main_);
	end(x, entry);
	e.entry = MODEL_ENTRY_THREAD;
	entry = begin(x, root, e);
	uint32_t t = function(x, entry, F_THREAD, EXE, MODEL_CALL);
	l = line(x, t, F_THREAD, MAIN_C, 91);
	work(x, l, false);
	end(x, l);
	end(x, t);
	end(x, entry);
	e.entry = MODEL_ENTRY_PARTIAL;
	for (unsigned why = MSR_END_NO_CFI; why <= MSR_END_NO_MODULE; why++) {
		e.end = (uint8_t)why;
		entry = begin(x, root, e);
		uint32_t f = function(x, entry, F_EVIL, why == MSR_END_NO_CFI ? EXE : MODEL_NONE, MODEL_CALL);
		leaf(x, instruction(x, f, F_EVIL, why == MSR_END_NO_CFI ? EXE : MODEL_NONE, 0xdead0));
		end(x, f);
		end(x, entry);
	}
	end(x, root);
}

static void make_objects(struct model *m, const struct fixture_options *o)
{
	static const uint8_t build_id[4] = {1, 2, 3, 4};
	struct model_module *modules = must(calloc(N_MODULES, sizeof *modules));
	modules[EXE] = (struct model_module){.path = "/opt/app/bin/app", .build_id = build_id, .build_id_bytes = 4, .structure = MODEL_STRUCTURE_LINES};
	modules[LIBC] = (struct model_module){.path = "/lib/x86_64-linux-gnu/libc.so.6", .structure = MODEL_STRUCTURE_SYMBOLS};
	struct model_file *files = must(calloc(N_FILES, sizeof *files));
	files[MAIN_C].path = o->source ? o->source : "/no/such/dir/main.c";
	files[WORK_H].path = "include/work.h"; /* not absolute */
	files[MISSING_C].path = "/no/such/dir/sub/../missing.c";
	files[UMLAUT_C].path = "/no/such/dir/gr\xc3\xb6\xc3\x9f" "e.c";
	static const char *const names[F_NAMED] = {"main", "work", "inlined", "recurse", "qsort_r", "compare",
		"std::vector<int, std::allocator<int> >::push_back(int const&)", ("gr\xc3\xb6\xc3\x9f" "e(double)"), "thread_main", "bad\xff\xfe \"quoted\" \\name\\"};
	m->n_functions = F_NAMED + o->n_extra;
	struct model_function *functions = must(calloc(m->n_functions, sizeof *functions));
	for (uint32_t i = 0; i < m->n_functions; i++)
		functions[i] = (struct model_function){
			.name = i < F_NAMED ? names[i] : keep(m->private_, "extra_", i - F_NAMED, ""),
			.module = i == F_QSORT ? LIBC : EXE,
			.file = i == F_QSORT ? MODEL_NONE : MAIN_C,
			.line = i == F_QSORT ? 0 : 10 * (i + 1),
			.link_addr = 0x1000 * (i + 1),
		};
	m->modules = modules;
	m->n_modules = N_MODULES;
	m->files = files;
	m->n_files = N_FILES;
	m->functions = functions;
	static const struct model_metric metrics[3] = {
		{.parent = MODEL_NONE, .divisor = MODEL_NONE, .name = "CPUTIME (sec)", .event = "CPUTIME", .unit = "sec", .description = "CPU time of the thread", .period = PERIOD_NS, .source = MSR_SOURCE_PERF},
		{.parent = MODEL_NONE, .divisor = MODEL_NONE, .name = "REALTIME (sec)", .event = "REALTIME", .unit = "sec", .description = "Elapsed time: \"wall clock\"", .period = PERIOD_NS, .source = MSR_SOURCE_TIMER_REAL},
		{.parent = MODEL_NONE, .divisor = MODEL_NONE, .name = "perf::PAGE-FAULTS", .event = "perf::PAGE-FAULTS", .unit = "count", .description = "", .period = 100, .source = MSR_SOURCE_PAPI},
	};
	m->metrics = metrics;
	m->n_metrics = o->n_metrics;
}

static void make_processes(struct model *m, const struct fixture_options *o)
{
	const uint64_t start_ns = UINT64_C(1700000000000000000);
	uint64_t length = (o->n_samples + 10) * PERIOD_NS;
	struct model_process *processes = must(calloc(o->n_processes, sizeof *processes));
	struct model_profile *profiles = must(calloc((size_t)o->n_processes * o->n_threads, sizeof *profiles));
	for (uint32_t i = 0; i < o->n_processes; i++) {
		processes[i] = (struct model_process){
			.path = keep(m->private_, "/tmp/run/", i, ".hpcrun"), .host = i < (o->n_processes + 1) / 2 ? "node1" : "node2",
			.host_id = i < (o->n_processes + 1) / 2 ? 0x1111 : 0x2222, .pid = 1000 + i, .rank = o->ranks ? (int32_t)i : -1,
			.executable = "/opt/app/bin/app", .command = "app --size 3 'a b'", .exit_kind = MSR_EXIT_RETURN, .exit_code = 0,
			.start_ns = start_ns + i * 1000, .end_ns = start_ns + i * 1000 + length, .ledger = {.bytes_file = 65536},
		};
		for (uint32_t t = 0; t < o->n_threads; t++) {
			struct model_profile *p = &profiles[i * o->n_threads + t];
			*p = (struct model_profile){.queue = MODEL_NONE, .process = i, .thread = t, .tid = 2000 + 10 * i + t, .name = t ? "worker" : "", .start_ns = processes[i].start_ns + t,
				.end_ns = processes[i].end_ns, .cpu_ns = length, .n_trace_records = o->traces ? o->n_samples * o->n_metrics : 0};
			p->ledger = (struct model_ledger){.delivered = o->n_samples * o->n_metrics + 3, .recorded = o->n_samples * o->n_metrics,
				.in_tree = o->n_samples * o->n_metrics, .losses = {[MSR_LOSS_BUSY] = 2, [MSR_LOSS_NO_SPACE] = 1},
				.path_ends = {[MSR_END_NO_CFI] = 5}, .n_trace_records = p->n_trace_records};
		}
	}
	m->processes = processes;
	m->n_processes = o->n_processes;
	m->profiles = profiles;
	m->n_profiles = o->n_processes * o->n_threads;
	m->start_ns = start_ns;
	m->end_ns = processes[o->n_processes - 1].end_ns;
}

/* Fills the scopes of the values of one profile from their points: children are behind their parents. */
static void propagate(const struct model *m, double (*at)[MODEL_N_SCOPES], double *no_loops)
{
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		at[i][MODEL_FUNCTION] = at[i][MODEL_EXECUTION] = no_loops[i] = at[i][MODEL_POINT];
	}
	for (uint32_t i = m->n_contexts; --i > 0;) {
		const struct model_context *c = &m->contexts[i];
		at[i][MODEL_LEX_AWARE] = c->kind == MODEL_CONTEXT_LOOP ? no_loops[i] : at[i][MODEL_FUNCTION];
		at[c->parent][MODEL_EXECUTION] += at[i][MODEL_EXECUTION];
		if (c->relation == MODEL_LEXICAL && c->kind != MODEL_CONTEXT_ENTRY) {
			at[c->parent][MODEL_FUNCTION] += at[i][MODEL_FUNCTION];
			if (c->kind != MODEL_CONTEXT_LOOP)
				no_loops[c->parent] += no_loops[i];
		}
	}
}

static void make_values(struct model *m, const struct fixture_options *o)
{
	double (*at)[MODEL_N_SCOPES] = must(calloc(m->n_contexts, sizeof *at)), *no_loops = must(calloc(m->n_contexts, sizeof *no_loops));
	struct model_total *totals = must(calloc((size_t)m->n_contexts * m->n_metrics, sizeof *totals));
	uint64_t n_records = o->n_samples * m->n_metrics;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_profile *profile = (struct model_profile *)&m->profiles[p];
		struct model_value *values = must(calloc((size_t)m->n_contexts * m->n_metrics, sizeof *values));
		for (uint32_t metric = 0; metric < m->n_metrics; metric++) {
			double weight = m->metrics[metric].source == MSR_SOURCE_PAPI ? 100 : PERIOD_NS * 1e-9;
			memset(at, 0, m->n_contexts * sizeof *at);
			for (uint64_t k = metric; k < n_records; k += m->n_metrics) {
				uint32_t context = sample(m, p, k).context;
				at[context][MODEL_POINT] += weight;
				totals[(size_t)context * m->n_metrics + metric].n_samples++;
			}
			propagate(m, at, no_loops);
			for (uint32_t c = 0; c < m->n_contexts; c++) {
				struct model_value *v = &values[(size_t)c * m->n_metrics + metric];
				struct model_total *t = &totals[(size_t)c * m->n_metrics + metric];
				*v = (struct model_value){.context = c, .metric = metric};
				memcpy(v->at, at[c], sizeof v->at);
				t->context = c;
				t->metric = metric;
				if (v->at[MODEL_EXECUTION] == 0)
					continue;
				for (unsigned s = 0; s < MODEL_N_SCOPES; s++) {
					t->sum[s] += v->at[s];
					t->sum_of_squares[s] += v->at[s] * v->at[s];
					t->min[s] = t->n_profiles && t->min[s] < v->at[s] ? t->min[s] : v->at[s];
					t->max[s] = t->max[s] > v->at[s] ? t->max[s] : v->at[s];
				}
				t->n_profiles++;
			}
		}
		size_t n = 0;
		for (size_t i = 0; i < (size_t)m->n_contexts * m->n_metrics; i++)
			if (values[i].at[MODEL_EXECUTION] != 0)
				values[n++] = values[i];
		profile->values = values;
		profile->n_values = n;
	}
	for (size_t i = 0; i < (size_t)m->n_contexts * m->n_metrics; i++)
		if (totals[i].n_profiles)
			totals[m->n_totals++] = totals[i];
	m->totals = totals;
	free(no_loops);
	free(at);
}

struct model *fixture_make(const struct fixture_options *o)
{
	struct model *m = must(calloc(1, sizeof *m));
	m->private_ = must(calloc(1, sizeof *m->private_));
	build_tree(m->private_, o);
	m->contexts = m->private_->contexts.at;
	m->n_contexts = (uint32_t)m->private_->contexts.n;
	make_objects(m, o);
	make_processes(m, o);
	m->has_traces = o->traces;
	m->title = "app";
	make_values(m, o);
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		const struct model_ledger *l = &m->profiles[p].ledger;
		m->ledger.delivered += l->delivered;
		m->ledger.recorded += l->recorded;
		m->ledger.in_tree += l->in_tree;
		m->ledger.n_trace_records += l->n_trace_records;
		for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
			m->ledger.losses[i] += l->losses[i];
		for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
			m->ledger.path_ends[i] += l->path_ends[i];
	}
	m->ledger_closes = true;
	return m;
}

void fixture_free(struct model *m)
{
	struct model_private *x = m->private_;
	for (uint32_t p = 0; p < m->n_profiles; p++)
		free((void *)m->profiles[p].values);
	for (size_t i = 0; i < x->strings.n; i++)
		free(x->strings.at[i]);
	free((void *)m->modules);
	free((void *)m->files);
	free((void *)m->functions);
	free((void *)m->processes);
	free((void *)m->profiles);
	free((void *)m->totals);
	vec_free(&x->contexts);
	vec_free(&x->leaves);
	vec_free(&x->strings);
	free(x);
	free(m);
}
