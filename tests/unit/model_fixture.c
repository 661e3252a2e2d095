/* SPDX-License-Identifier: BSD-3-Clause */
/* A hand-made model; see model_fixture.h. */
#include "tests/unit/model_fixture.h"

#include "common/base/map.h"
#include "common/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD_NS = 1000000 };
enum { N_LANES = 3, N_QUEUES = 2, N_PC_LINES = 3 }; /* of each process with a GPU */

/* The contexts that GPU operations and samples count at. */
struct gpu_tree {
	uint32_t kernels[2], copyin, copyout, sync, orphan;
	uint32_t lines[2][N_PC_LINES]; /* below the kernels */
};

struct model_private {
	VEC(struct model_context) contexts;
	VEC(uint32_t) leaves;  /* contexts that take samples */
	VEC(char *) strings;
	struct model_metric *metrics;
	uint32_t n_sampled;    /* metrics of CPUs: the first ones */
	struct gpu_tree gpu;
	uint32_t n_gpu_ops, n_threads, stride; /* stride: profiles of a process */
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
		.time_ns = m->profiles[profile].start_ns + (k + 1) * PERIOD_NS / x->n_sampled + h % 1000,
		.context = x->leaves.at[h % x->leaves.n],
		.metric = (uint32_t)(k % x->n_sampled),
	};
}

size_t model_trace_read(const struct model *m, uint32_t profile, struct model_trace_cursor *c, struct model_sample *out, size_t n)
{
	size_t i = 0;
	if (m->profiles[profile].kind == MODEL_PROFILE_QUEUE)
		return 0;
	for (; i < n && c->offset < m->profiles[profile].n_trace_records; i++, c->offset++) {
		out[i] = sample(m, profile, c->offset);
		if (out[i].time_ns < c->time_ns)
			out[i].time_ns = c->time_ns;
		c->time_ns = out[i].time_ns;
	}
	return i;
}

/* The k-th operation of a lane. Kernels, copies to the device and back take turns; the last one of the first lane has no launch. */
static struct model_gpu_op gpu_op(const struct model *m, uint32_t profile, uint64_t k)
{
	const struct model_private *x = m->private_;
	const struct gpu_tree *t = &x->gpu;
	const uint32_t contexts[4] = {t->kernels[0], t->copyin, t->kernels[1], t->copyout};
	uint32_t index = profile % x->stride - x->n_threads; /* 0: the in-order queue; 1, 2: lanes of the other */
	bool is_orphan = index == 0 && k + 1 == x->n_gpu_ops;
	unsigned turn = is_orphan ? 0 : k % 4;
	struct model_gpu_op op = {
		.start_ns = m->profiles[profile].start_ns + (k + 1) * PERIOD_NS + (index == 2 ? PERIOD_NS / 2 : 0),
		.id = k * N_LANES + index + 1,
		.context = is_orphan ? t->orphan : contexts[turn],
		.shape = turn % 2 ? MODEL_NONE : turn / 2,
		.launcher = is_orphan ? MODEL_NONE : profile / x->stride * x->stride + (uint32_t)(k % x->n_threads),
		.kind = turn % 2 ? MSR_GPU_COPY : MSR_GPU_KERNEL,
		.detail = turn == 1 ? MSR_GPU_COPY_H2D : turn == 3 ? MSR_GPU_COPY_D2H : 0,
		.amount = turn % 2 ? 4096 * (k % 5 + 1) : 0,
	};
	op.end_ns = op.start_ns + PERIOD_NS / 4 * 3 - 1000 * (k % 7);
	if (index == 0 && k % 7 == 2)
		op.end_ns = op.start_ns + PERIOD_NS; /* the next one follows at once */
	if (index == 1 && k % 9 == 5)
		op.end_ns = op.start_ns;
	if (index == 2 && k % 8 == 5) /* a kernel that is not known, directly behind one below the same placeholder */
		op = (struct model_gpu_op){.start_ns = op.start_ns, .end_ns = op.end_ns, .id = op.id, .context = x->contexts.at[t->kernels[0]].parent, .shape = 0,
			.launcher = op.launcher, .kind = MSR_GPU_KERNEL};
	op.enter_ns = is_orphan ? 0 : op.start_ns - 20000;
	op.queued_ns = k % 3 ? op.start_ns - 10000 : 0;
	op.submitted_ns = k % 3 ? op.start_ns - 5000 : 0;
	return op;
}

size_t model_gpu_read(const struct model *m, uint32_t profile, struct model_gpu_cursor *c, struct model_gpu_op *out, size_t n)
{
	size_t i = 0;
	if (m->profiles[profile].kind != MODEL_PROFILE_QUEUE)
		return 0;
	for (; i < n && c->next < m->profiles[profile].n_trace_records; i++, c->next++)
		out[i] = gpu_op(m, profile, c->next);
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

enum { EXE, LIBC, GPU_CODE, N_MODULES };
enum { MAIN_C, WORK_H, MISSING_C, UMLAUT_C, KERNEL_CL, N_FILES };
enum { F_MAIN, F_WORK, F_INLINED, F_RECURSE, F_QSORT, F_COMPARE, F_TEMPLATE, F_UMLAUT, F_THREAD, F_EVIL, F_ENQUEUE, F_KERNEL, F_DEVICE, F_OTHER_KERNEL,
	F_GPU_KERNEL, F_GPU_COPYIN, F_GPU_COPYOUT, F_GPU_SYNC, F_NAMED };

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

static uint32_t placeholder(struct model_private *x, uint32_t parent, uint32_t f)
{
	return begin(x, parent, (struct model_context){.kind = MODEL_CONTEXT_FUNCTION, .relation = MODEL_CALL, .function = f, .module = MODEL_NONE, .file = MODEL_NONE});
}

static uint32_t kernel_line(struct model_private *x, uint32_t parent, uint32_t f, uint32_t number)
{
	return begin(x, parent, (struct model_context){.kind = MODEL_CONTEXT_LINE, .relation = MODEL_LEXICAL, .function = f, .module = GPU_CODE, .file = KERNEL_CL, .line = number});
}

/* A kernel below its placeholder: PC samples in two lines and in a line of an inlined function. */
static void build_kernel(struct model_private *x, uint32_t call, unsigned which)
{
	uint32_t p = placeholder(x, call, F_GPU_KERNEL);
	uint32_t f = begin(x, p, (struct model_context){.kind = MODEL_CONTEXT_FUNCTION, .relation = MODEL_CALL, .function = F_KERNEL, .module = GPU_CODE, .file = KERNEL_CL,
		.line = 4, .link_addr = 0x100});
	uint32_t l = kernel_line(x, f, F_KERNEL, 6);
	x->gpu.lines[which][0] = l;
	uint32_t g = begin(x, l, (struct model_context){.kind = MODEL_CONTEXT_FUNCTION, .relation = MODEL_INLINED, .function = F_DEVICE, .module = GPU_CODE, .file = KERNEL_CL,
		.line = 1});
	x->gpu.lines[which][1] = kernel_line(x, g, F_DEVICE, 2);
	end(x, x->gpu.lines[which][1]);
	end(x, g);
	end(x, l);
	l = begin(x, f, (struct model_context){.kind = MODEL_CONTEXT_INSTRUCTION, .relation = MODEL_LEXICAL, .function = F_KERNEL, .module = GPU_CODE, .file = MODEL_NONE,
		.link_addr = 0x180});
	x->gpu.lines[which][2] = l;
	end(x, l);
	end(x, f);
	end(x, p);
	x->gpu.kernels[which] = f;
}

/* What one line asks of the GPU: a kernel, a copy, and a wait with the second. */
static void build_gpu_call(struct model_private *x, uint32_t parent, uint32_t f_of, unsigned which, bool kernel, bool others)
{
	uint32_t l = line(x, parent, f_of, MAIN_C, 14 + which), f = function(x, l, F_ENQUEUE, LIBC, MODEL_CALL);
	uint32_t i = instruction(x, f, F_ENQUEUE, LIBC, 0xb010 + 16 * which), p;
	if (kernel)
		build_kernel(x, i, which);
	if (others) {
		p = placeholder(x, i, which ? F_GPU_COPYOUT : F_GPU_COPYIN);
		*(which ? &x->gpu.copyout : &x->gpu.copyin) = p;
		end(x, p);
	}
	if (others && which) {
		x->gpu.sync = placeholder(x, i, F_GPU_SYNC);
		end(x, x->gpu.sync);
	}
	end(x, i);
	end(x, f);
	end(x, l);
}

/* With `depth`, the kernel is launched so many calls below main, by a call of its own. */
static void build_gpu_calls(struct model_private *x, uint32_t main_, unsigned which, uint32_t depth)
{
	size_t first = x->contexts.n;
	uint32_t at = main_;
	for (uint32_t d = 0; d < depth; d++) {
		uint32_t l = line(x, at, d ? F_RECURSE : F_MAIN, MAIN_C, 200 + d);
		at = function(x, l, F_RECURSE, EXE, MODEL_CALL);
	}
	build_gpu_call(x, at, depth ? F_RECURSE : F_MAIN, which, true, !depth);
	for (size_t c = first; c < first + 2 * (size_t)depth; c++)
		end(x, (uint32_t)c);
	if (depth)
		build_gpu_call(x, main_, F_MAIN, which, false, true);
}

static void build_orphan(struct model_private *x, uint32_t root)
{
	uint32_t entry = begin(x, root, (struct model_context){.kind = MODEL_CONTEXT_ENTRY, .entry = MODEL_ENTRY_GPU_NO_LAUNCH, .module = MODEL_NONE, .file = MODEL_NONE,
		.function = MODEL_NONE});
	uint32_t p = placeholder(x, entry, F_GPU_KERNEL);
	x->gpu.orphan = begin(x, p, (struct model_context){.kind = MODEL_CONTEXT_FUNCTION, .relation = MODEL_CALL, .function = F_OTHER_KERNEL, .module = MODEL_NONE,
		.file = MODEL_NONE});
	end(x, x->gpu.orphan);
	end(x, p);
	end(x, entry);
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
	for (unsigned i = 0; o->n_gpu_ops && i < 2; i++)
		build_gpu_calls(x, main_, i, o->gpu_depth);
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
	if (o->n_gpu_ops)
		build_orphan(x, root);
	end(x, root);
}

static void make_functions(struct model *m, const struct fixture_options *o)
{
	static const char *const names[F_NAMED] = {"main", "work", "inlined", "recurse", "qsort_r", "compare",
		"std::vector<int, std::allocator<int> >::push_back(int const&)", ("gr\xc3\xb6\xc3\x9f" "e(double)"), "thread_main", "bad\xff\xfe \"quoted\" \\name\\",
		"clEnqueueNDRangeKernel", "saxpy(float, float const*, float*)", "fma_of", "other_kernel", "<gpu kernel>", "<gpu copyin>", "<gpu copyout>", "<gpu sync>"};
	static const uint8_t kinds[F_NAMED] = {[F_GPU_KERNEL] = MSR_GPU_KERNEL, [F_GPU_COPYIN] = MSR_GPU_COPY, [F_GPU_COPYOUT] = MSR_GPU_COPY, [F_GPU_SYNC] = MSR_GPU_SYNC};
	m->n_functions = F_NAMED + o->n_extra;
	struct model_function *functions = must(calloc(m->n_functions, sizeof *functions));
	for (uint32_t i = 0; i < m->n_functions; i++) {
		bool is_gpu = i == F_KERNEL || i == F_DEVICE, is_placeholder = i < F_NAMED && (kinds[i] || i == F_OTHER_KERNEL), is_libc = i == F_QSORT || i == F_ENQUEUE;
		functions[i] = (struct model_function){
			.name = i < F_NAMED ? names[i] : keep(m->private_, "extra_", i - F_NAMED, ""),
			.module = is_placeholder ? MODEL_NONE : is_gpu ? GPU_CODE : is_libc ? LIBC : EXE,
			.file = is_placeholder || is_libc ? MODEL_NONE : is_gpu ? KERNEL_CL : MAIN_C,
			.line = is_placeholder || is_libc ? 0 : is_gpu ? (i == F_KERNEL ? 4 : 1) : 10 * (i + 1),
			.link_addr = is_placeholder || i == F_DEVICE ? 0 : i == F_KERNEL ? 0x100 : 0x1000 * (i + 1),
			.gpu_kind = i < F_NAMED ? kinds[i] : MSR_GPU_NO_KIND,
		};
	}
	m->functions = functions;
}

enum { G_OP, G_KERNEL, G_COPY, G_SYNC, G_KERNELS, G_BLOCKS, G_BYTES_IN, G_BYTES_OUT, G_COPIES, G_INS, G_STALL, N_GPU_METRICS };

static void make_metrics(struct model *m, const struct fixture_options *o)
{
	static const struct model_metric sampled[3] = {
		{.parent = MODEL_NONE, .divisor = MODEL_NONE, .name = "CPUTIME (sec)", .event = "CPUTIME", .unit = "sec", .description = "CPU time of the thread",
			.period = PERIOD_NS, .source = MSR_SOURCE_PERF},
		{.parent = MODEL_NONE, .divisor = MODEL_NONE, .name = "REALTIME (sec)", .event = "REALTIME", .unit = "sec", .description = "Elapsed time: \"wall clock\"",
			.period = PERIOD_NS, .source = MSR_SOURCE_TIMER_REAL},
		{.parent = MODEL_NONE, .divisor = MODEL_NONE, .name = "perf::PAGE-FAULTS", .event = "perf::PAGE-FAULTS", .unit = "count", .description = "", .period = 100,
			.source = MSR_SOURCE_PAPI},
	};
	static const struct {
		const char *name, *unit;
		enum model_metric_kind kind;
		uint32_t parent, divisor;
		bool apportioned;
	} gpu[N_GPU_METRICS] = {
		[G_OP] = {"GPUOP (sec)", "sec", MODEL_METRIC_GPU_TIME, MODEL_NONE, MODEL_NONE, false},
		[G_KERNEL] = {"GKER (sec)", "sec", MODEL_METRIC_GPU_TIME, G_OP, MODEL_NONE, false},
		[G_COPY] = {"GXCOPY (sec)", "sec", MODEL_METRIC_GPU_TIME, G_OP, MODEL_NONE, false},
		[G_SYNC] = {"GSYNC (sec)", "sec", MODEL_METRIC_GPU_TIME, MODEL_NONE, MODEL_NONE, false},
		[G_KERNELS] = {"GKER:COUNT", "count", MODEL_METRIC_GPU_COUNT, MODEL_NONE, MODEL_NONE, false},
		[G_BLOCKS] = {"GKER:BLKS", "count", MODEL_METRIC_GPU_MEAN, MODEL_NONE, G_KERNELS, false},
		[G_BYTES_IN] = {"GXCOPY:H2D (B)", "B", MODEL_METRIC_GPU_COUNT, MODEL_NONE, MODEL_NONE, false},
		[G_BYTES_OUT] = {"GXCOPY:D2H (B)", "B", MODEL_METRIC_GPU_COUNT, MODEL_NONE, MODEL_NONE, false},
		[G_COPIES] = {"GXCOPY:COUNT", "count", MODEL_METRIC_GPU_COUNT, MODEL_NONE, MODEL_NONE, false},
		[G_INS] = {"GINS", "count", MODEL_METRIC_GPU_SAMPLES, MODEL_NONE, MODEL_NONE, true},
		[G_STALL] = {"GINS:STL_GMEM", "count", MODEL_METRIC_GPU_SAMPLES, G_INS, MODEL_NONE, true},
	};
	struct model_metric *metrics = must(calloc(o->n_metrics + N_GPU_METRICS, sizeof *metrics));
	memcpy(metrics, sampled, o->n_metrics * sizeof *metrics);
	m->n_metrics = o->n_metrics;
	for (unsigned i = 0; o->n_gpu_ops && i < N_GPU_METRICS; i++) {
		uint32_t parent = gpu[i].parent == MODEL_NONE ? MODEL_NONE : o->n_metrics + gpu[i].parent;
		uint32_t divisor = gpu[i].divisor == MODEL_NONE ? MODEL_NONE : o->n_metrics + gpu[i].divisor;
		metrics[m->n_metrics++] = (struct model_metric){.kind = (uint8_t)gpu[i].kind, .parent = parent, .divisor = divisor, .name = gpu[i].name, .event = "gpu=opencl",
			.unit = gpu[i].unit, .description = "made up", .apportioned = gpu[i].apportioned};
	}
	m->metrics = m->private_->metrics = metrics;
	m->private_->n_sampled = o->n_metrics;
}

static void make_objects(struct model *m, const struct fixture_options *o)
{
	static const uint8_t build_id[4] = {1, 2, 3, 4}, code_hash[16] = {0xab, 0xcd};
	struct model_module *modules = must(calloc(N_MODULES, sizeof *modules));
	modules[EXE] = (struct model_module){.path = "/opt/app/bin/app", .build_id = build_id, .build_id_bytes = 4, .structure = MODEL_STRUCTURE_LINES};
	modules[LIBC] = (struct model_module){.path = "/lib/x86_64-linux-gnu/libc.so.6", .structure = MODEL_STRUCTURE_SYMBOLS};
	modules[GPU_CODE] = (struct model_module){.path = "/no/such/dir/gpubins/abcd0000000000000000000000000000.gpubin", .build_id = code_hash, .build_id_bytes = 16,
		.structure = MODEL_STRUCTURE_LINES, .is_gpu = true};
	struct model_file *files = must(calloc(N_FILES, sizeof *files));
	files[MAIN_C].path = o->source ? o->source : "/no/such/dir/main.c";
	files[WORK_H].path = "include/work.h"; /* not absolute */
	files[MISSING_C].path = "/no/such/dir/sub/../missing.c";
	files[UMLAUT_C].path = "/no/such/dir/gr\xc3\xb6\xc3\x9f" "e.c";
	files[KERNEL_CL].path = o->kernels ? o->kernels : "/no/such/dir/saxpy.cl";
	m->modules = modules;
	m->n_modules = o->n_gpu_ops ? N_MODULES : N_MODULES - 1; /* the last of both is the GPU's */
	m->files = files;
	m->n_files = o->n_gpu_ops ? N_FILES : N_FILES - 1;
	make_functions(m, o);
	make_metrics(m, o);
}

/* One device with one context and two queues for each process; two launch shapes; a ledger that closes with a few losses. */
static void make_gpu(struct model *m, const struct fixture_options *o)
{
	static const struct msr_gpu_def_device definition = {.n_units = 132, .threads_per_unit = 2048, .group_max = 1024, .lanes = 32, .clock_mhz = 1980,
		.memory_bytes = UINT64_C(141) << 30, .type = MSR_GPU_DEVICE_GPU};
	static const struct msr_gpu_shape shapes[2] = {
		{.grid = {64, 1, 1}, .block = {256, 1, 1}, .registers = 32},
		{.grid = {16, 16, 1}, .block = {16, 16, 1}, .registers = 40, .static_shared_bytes = 2048, .dynamic_shared_bytes = 512, .local_bytes = 8},
	};
	uint32_t n = o->n_processes;
	struct model_gpu_device *devices = must(calloc(n, sizeof *devices));
	struct model_gpu_context *contexts = must(calloc(n, sizeof *contexts));
	struct model_gpu_queue *queues = must(calloc((size_t)n * N_QUEUES, sizeof *queues));
	struct model_gpu_ledger *ledgers = must(calloc(n, sizeof *ledgers));
	for (uint32_t i = 0; i < n; i++) {
		devices[i] = (struct model_gpu_device){.name = "Synthetic GPU", .driver = "OpenCL 3.0 made up", .definition = &definition, .process = i, .first_process = i};
		contexts[i] = (struct model_gpu_context){.process = i, .device = i};
		for (uint32_t q = 0; q < N_QUEUES; q++)
			queues[i * N_QUEUES + q] = (struct model_gpu_queue){.name = q ? "GPU 0 queue 1" : "GPU 0 queue 0", .context = i, .device = i, .ordinal = q,
				.flags = q ? MSR_GPU_QUEUE_OUT_OF_ORDER : 0, .n_lanes = q + 1, .busy_ns = (uint64_t)o->n_gpu_ops * PERIOD_NS / 4 * 3};
		uint64_t ops = (uint64_t)o->n_gpu_ops * N_LANES, kernels = 0;
		for (uint32_t lane = 0; lane < N_LANES; lane++)
			for (uint64_t k = 0; k < o->n_gpu_ops; k++)
				kernels += gpu_op(m, i * m->private_->stride + o->n_threads + lane, k).kind == MSR_GPU_KERNEL;
		ledgers[i] = (struct model_gpu_ledger){.backend = "opencl", .entrance = "ICD loader's layer", .n_ops = ops + o->n_threads, .n_orphans = 1, .handler_ns = 1500 * ops,
			.launched = {[MSR_GPU_KERNEL] = kernels - 1 + 3, [MSR_GPU_COPY] = ops - kernels, [MSR_GPU_SYNC] = o->n_threads},
			.joined = {[MSR_GPU_KERNEL] = kernels - 1, [MSR_GPU_COPY] = ops - kernels, [MSR_GPU_SYNC] = o->n_threads},
			.losses = {[MSR_GPU_LOSS_FAILED] = 2, [MSR_GPU_LOSS_NEVER_DONE] = 1}, .closes = true};
		struct model_process *p = (struct model_process *)&m->processes[i];
		p->gpu = &ledgers[i];
		p->n_gpu = 1;
		struct model_gpu_ledger *sum = &m->gpu_ledger;
		for (unsigned k = 0; k < 16; k++) {
			sum->launched[k] += ledgers[i].launched[k];
			sum->joined[k] += ledgers[i].joined[k];
		}
		for (unsigned k = 0; k < MSR_GPU_LOSS_ROOM; k++)
			sum->losses[k] += ledgers[i].losses[k];
		sum->n_ops += ledgers[i].n_ops;
		sum->n_orphans++;
		sum->handler_ns += ledgers[i].handler_ns;
	}
	m->gpu_ledger.backend = m->gpu_ledger.entrance = "";
	m->gpu_ledger.closes = m->has_gpu = true;
	m->gpu_devices = devices;
	m->gpu_contexts = contexts;
	m->gpu_queues = queues;
	m->n_gpu_devices = m->n_gpu_contexts = n;
	m->n_gpu_queues = n * N_QUEUES;
	m->gpu_shapes = shapes;
	m->n_gpu_shapes = 2;
}

/* Point values of one GPU metric in one profile. */
static void add_gpu_points(const struct model *m, uint32_t profile, unsigned metric, double (*at)[MODEL_N_SCOPES], struct model_total *totals)
{
	const struct model_private *x = m->private_;
	const struct gpu_tree *t = &x->gpu;
	uint32_t first_lane = profile / x->stride * x->stride + x->n_threads;
	for (uint32_t lane = first_lane; lane < first_lane + N_LANES; lane++)
		for (uint64_t k = 0; k < x->n_gpu_ops; k++) {
			struct model_gpu_op op = gpu_op(m, lane, k);
			uint32_t profile_of = op.launcher == MODEL_NONE ? first_lane - x->n_threads : op.launcher;
			double seconds = (double)(op.end_ns - op.start_ns) * 1e-9;
			bool is_kernel = op.kind == MSR_GPU_KERNEL;
			const double values[N_GPU_METRICS] = {[G_OP] = seconds, [G_KERNEL] = is_kernel ? seconds : 0, [G_COPY] = is_kernel ? 0 : seconds, [G_KERNELS] = is_kernel,
				[G_BLOCKS] = is_kernel ? (op.shape ? 256 : 64) : 0, [G_COPIES] = !is_kernel,
				[G_BYTES_IN] = op.detail == MSR_GPU_COPY_H2D ? (double)op.amount : 0, [G_BYTES_OUT] = op.detail == MSR_GPU_COPY_D2H ? (double)op.amount : 0};
			if (profile_of != profile || values[metric] == 0)
				continue;
			at[op.context][MODEL_POINT] += values[metric];
			totals[(size_t)op.context * m->n_metrics + x->n_sampled + metric].n_samples++;
		}
	if (metric == G_SYNC) {
		at[t->sync][MODEL_POINT] += 0.25;
		totals[(size_t)t->sync * m->n_metrics + x->n_sampled + metric].n_samples++;
	}
	for (unsigned k = 0; (metric == G_INS || metric == G_STALL) && k < 2 * N_PC_LINES; k++) {
		uint32_t context = t->lines[k / N_PC_LINES][k % N_PC_LINES];
		double samples = metric == G_INS ? 100 * (k + 1) : 60 * (k + 1);
		at[context][MODEL_POINT] += samples;
		totals[(size_t)context * m->n_metrics + x->n_sampled + metric].n_samples += (uint64_t)samples;
	}
}

static void make_processes(struct model *m, const struct fixture_options *o)
{
	const uint64_t start_ns = UINT64_C(1700000000000000000);
	uint64_t length = ((o->n_samples > o->n_gpu_ops ? o->n_samples : o->n_gpu_ops) + 10) * PERIOD_NS;
	uint32_t stride = m->private_->stride = o->n_threads + (o->n_gpu_ops ? N_LANES : 0);
	m->private_->n_threads = o->n_threads;
	m->private_->n_gpu_ops = o->n_gpu_ops;
	struct model_process *processes = must(calloc(o->n_processes, sizeof *processes));
	struct model_profile *profiles = must(calloc((size_t)o->n_processes * stride, sizeof *profiles));
	for (uint32_t i = 0; i < o->n_processes; i++) {
		processes[i] = (struct model_process){
			.path = keep(m->private_, "/tmp/run/", i, ".hpcrun"), .host = i < (o->n_processes + 1) / 2 ? "node1" : "node2",
			.host_id = i < (o->n_processes + 1) / 2 ? 0x1111 : 0x2222, .pid = 1000 + i, .rank = o->ranks ? (int32_t)i : -1,
			.executable = "/opt/app/bin/app", .command = "app --size 3 'a b'", .exit_kind = MSR_EXIT_RETURN, .exit_code = 0,
			.start_ns = start_ns + i * 1000, .end_ns = start_ns + i * 1000 + length, .ledger = {.bytes_file = 65536},
		};
		for (uint32_t t = 0; t < o->n_threads; t++) {
			struct model_profile *p = &profiles[i * stride + t];
			*p = (struct model_profile){.queue = MODEL_NONE, .process = i, .thread = t, .tid = 2000 + 10 * i + t, .name = t ? "worker" : "", .start_ns = processes[i].start_ns + t,
				.end_ns = processes[i].end_ns, .cpu_ns = length, .n_trace_records = o->traces ? o->n_samples * o->n_metrics : 0};
			p->ledger = (struct model_ledger){.delivered = o->n_samples * o->n_metrics + 3, .recorded = o->n_samples * o->n_metrics,
				.in_tree = o->n_samples * o->n_metrics, .losses = {[MSR_LOSS_BUSY] = 2, [MSR_LOSS_NO_SPACE] = 1},
				.path_ends = {[MSR_END_NO_CFI] = 5}, .n_trace_records = p->n_trace_records};
		}
		for (uint32_t lane = 0; o->n_gpu_ops && lane < N_LANES; lane++)
			profiles[i * stride + o->n_threads + lane] = (struct model_profile){.kind = MODEL_PROFILE_QUEUE, .queue = i * N_QUEUES + (lane ? 1 : 0), .lane = lane ? lane - 1 : 0,
				.process = i, .thread = MODEL_NONE, .name = lane ? "GPU 0 queue 1" : "GPU 0 queue 0", .start_ns = processes[i].start_ns, .end_ns = processes[i].end_ns,
				.n_trace_records = o->traces ? o->n_gpu_ops : 0};
	}
	m->processes = processes;
	m->n_processes = o->n_processes;
	m->profiles = profiles;
	m->n_profiles = o->n_processes * stride;
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
	uint32_t n_sampled = m->private_->n_sampled;
	uint64_t n_records = o->n_samples * n_sampled;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_profile *profile = (struct model_profile *)&m->profiles[p];
		struct model_value *values = must(calloc((size_t)m->n_contexts * m->n_metrics, sizeof *values));
		for (uint32_t metric = 0; metric < m->n_metrics; metric++) {
			double weight = m->metrics[metric].source == MSR_SOURCE_PAPI ? 100 : PERIOD_NS * 1e-9;
			memset(at, 0, m->n_contexts * sizeof *at);
			if (metric >= n_sampled && profile->kind == MODEL_PROFILE_THREAD)
				add_gpu_points(m, p, metric - n_sampled, at, totals);
			for (uint64_t k = metric; metric < n_sampled && profile->kind == MODEL_PROFILE_THREAD && k < n_records; k += n_sampled) {
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
	if (o->n_gpu_ops)
		make_gpu(m, o);
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
	free((void *)m->profiles);
	free((void *)m->totals);
	free(x->metrics);
	free((void *)m->gpu_devices);
	free((void *)m->gpu_contexts);
	free((void *)m->gpu_queues);
	if (m->n_gpu_devices)
		free((void *)m->processes[0].gpu);
	free((void *)m->processes);
	vec_free(&x->contexts);
	vec_free(&x->leaves);
	vec_free(&x->strings);
	free(x);
	free(m);
}
