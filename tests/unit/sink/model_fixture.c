/* SPDX-License-Identifier: BSD-3-Clause */
/* A hand-made model: what the sinks ask of it, its objects, processes and values; see
 * model_fixture.h. */
#include "tests/unit/sink/model_fixture_private.h"

#include "common/base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the sinks call ---- */

const struct model_total *model_find_total(const struct model *m, uint32_t context, uint32_t metric)
{
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].context == context && m->totals[i].metric == metric)
			return &m->totals[i];
	return NULL;
}

const struct model_value *model_find_value(const struct model *m, uint32_t profile,
					   uint32_t context, uint32_t metric)
{
	const struct model_profile *p = &m->profiles[profile];
	for (size_t i = 0; i < p->n_values; i++)
		if (p->values[i].context == context && p->values[i].metric == metric)
			return &p->values[i];
	return NULL;
}

void model_values_done(const struct model *m, size_t n)
{
	(void)m;
	(void)n;
}

/* No program here is Python's. */
uint32_t model_find_python_line(const struct model *m, uint32_t context)
{
	(void)m;
	(void)context;
	return MODEL_NONE;
}

/* The k-th sample of a profile: metrics take turns, the context stays for a while as in real
 * programs. */
static struct model_sample sample(const struct model *m, uint32_t profile, uint64_t k)
{
	const struct model_private *x = m->private_;
	uint64_t h = hash_u64((uint64_t)profile << 40 ^ (k / (3 + profile % 5)));
	const uint32_t context = x->leaves.at[h % x->leaves.n];
	return (struct model_sample){
		.time_ns = m->profiles[profile].start_ns + (k + 1) * PERIOD_NS / x->n_sampled +
			   h % 1000,
		.context = context,
		.shown = context,
		.metric = (uint32_t)(k % x->n_sampled),
	};
}

size_t model_trace_read(const struct model *m, uint32_t profile, struct model_trace_cursor *c,
			struct model_sample *out, size_t n)
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

/* ---- building ---- */

void fixture_no_memory(void)
{
	fputs("out of memory\n", stderr);
	exit(99);
}

/* "prefix" number "suffix" */
static const char *keep(struct model_private *x, const char *prefix, uint32_t number,
			const char *suffix)
{
	size_t n = strlen(prefix) + strlen(suffix) + 12;
	char *s = fixture_must(malloc(n));
	snprintf(s, n, "%s%u%s", prefix, number, suffix);
	*(char **)fixture_must(vec_push(&x->strings)) = s;
	return s;
}

static void make_functions(struct model *m, const struct fixture_options *o)
{
	static const char *const names[F_NAMED] = {
		"main",
		"work",
		"inlined",
		"recurse",
		"qsort_r",
		"compare",
		"std::vector<int, std::allocator<int> >::push_back(int const&)",
		("gr\xc3\xb6\xc3\x9f"
		 "e(double)"),
		"thread_main",
		"bad\xff\xfe \"quoted\" \\name\\",
		"clEnqueueNDRangeKernel",
		"saxpy(float, float const*, float*)",
		"fma_of",
		"other_kernel",
		"<gpu kernel>",
		"<gpu copyin>",
		"<gpu copyout>",
		"<gpu sync>"};
	static const uint8_t kinds[F_NAMED] = {[F_GPU_KERNEL] = MSR_GPU_KERNEL,
					       [F_GPU_COPYIN] = MSR_GPU_COPY,
					       [F_GPU_COPYOUT] = MSR_GPU_COPY,
					       [F_GPU_SYNC] = MSR_GPU_SYNC};
	m->n_functions = F_NAMED + o->n_extra;
	struct model_function *functions = fixture_must(calloc(m->n_functions, sizeof *functions));
	for (uint32_t i = 0; i < m->n_functions; i++) {
		bool is_gpu = i == F_KERNEL || i == F_DEVICE,
		     is_placeholder = i < F_NAMED && (kinds[i] || i == F_OTHER_KERNEL),
		     is_libc = i == F_QSORT || i == F_ENQUEUE;
		functions[i] = (struct model_function){
			.name = i < F_NAMED ? names[i]
					    : keep(m->private_, "extra_", i - F_NAMED, ""),
			.module = is_placeholder ? MODEL_NONE
				  : is_gpu       ? GPU_CODE
				  : is_libc      ? LIBC
						 : EXE,
			.file = is_placeholder || is_libc ? MODEL_NONE
				: is_gpu                  ? KERNEL_CL
							  : MAIN_C,
			.line = is_placeholder || is_libc ? 0
				: is_gpu                  ? (i == F_KERNEL ? 4 : 1)
							  : 10 * (i + 1),
			.link_addr = is_placeholder || i == F_DEVICE ? 0
				     : i == F_KERNEL                 ? 0x100
								     : 0x1000 * (i + 1),
			.gpu_kind = i < F_NAMED ? kinds[i] : MSR_GPU_NO_KIND,
			.is_launch = i == F_ENQUEUE,
		};
	}
	m->functions = functions;
}

static void make_metrics(struct model *m, const struct fixture_options *o)
{
	static const struct model_metric sampled[3] = {
		{.parent = MODEL_NONE,
		 .divisor = MODEL_NONE,
		 .name = "CPUTIME (sec)",
		 .event = "CPUTIME",
		 .measures = MODEL_EVENT_CPUTIME,
		 .unit = MODEL_SECONDS,
		 .description = "CPU time of the thread",
		 .period = PERIOD_NS,
		 .source = MSR_SOURCE_PERF},
		{.parent = MODEL_NONE,
		 .divisor = MODEL_NONE,
		 .name = "REALTIME (sec)",
		 .event = "REALTIME",
		 .measures = MODEL_EVENT_REALTIME,
		 .unit = MODEL_SECONDS,
		 .description = "Elapsed time: \"wall clock\"",
		 .period = PERIOD_NS,
		 .source = MSR_SOURCE_TIMER_REAL},
		{.parent = MODEL_NONE,
		 .divisor = MODEL_NONE,
		 .name = "perf::PAGE-FAULTS",
		 .event = "perf::PAGE-FAULTS",
		 .unit = MODEL_COUNT,
		 .description = "",
		 .period = 100,
		 .source = MSR_SOURCE_PAPI},
	};
	static const struct {
		const char *name;
		enum model_unit unit;
		enum model_metric_kind kind;
		enum model_metric_role role;
		uint32_t parent, divisor;
		bool apportioned;
	} gpu[N_GPU_METRICS] = {
		[G_OP] = {"GPUOP (sec)", MODEL_SECONDS, MODEL_METRIC_GPU_TIME, MODEL_ROLE_GPU_TIME,
			  MODEL_NONE, MODEL_NONE, false},
		[G_KERNEL] = {"GKER (sec)", MODEL_SECONDS, MODEL_METRIC_GPU_TIME,
			      MODEL_ROLE_KERNEL_TIME, G_OP, MODEL_NONE, false},
		[G_COPY] = {"GXCOPY (sec)", MODEL_SECONDS, MODEL_METRIC_GPU_TIME,
			    MODEL_ROLE_COPY_TIME, G_OP, MODEL_NONE, false},
		[G_SYNC] = {"GSYNC (sec)", MODEL_SECONDS, MODEL_METRIC_GPU_TIME,
			    MODEL_ROLE_SYNC_TIME, MODEL_NONE, MODEL_NONE, false},
		[G_KERNELS] = {"GKER:COUNT", MODEL_COUNT, MODEL_METRIC_GPU_COUNT,
			       MODEL_ROLE_KERNELS, MODEL_NONE, MODEL_NONE, false},
		[G_BLOCKS] = {"GKER:BLKS", MODEL_COUNT, MODEL_METRIC_GPU_MEAN, MODEL_ROLE_NONE,
			      MODEL_NONE, G_KERNELS, false},
		[G_BYTES_IN] = {"GXCOPY:H2D (B)", MODEL_BYTES, MODEL_METRIC_GPU_COUNT,
				MODEL_ROLE_COPY_BYTES, MODEL_NONE, MODEL_NONE, false},
		[G_BYTES_OUT] = {"GXCOPY:D2H (B)", MODEL_BYTES, MODEL_METRIC_GPU_COUNT,
				 MODEL_ROLE_COPY_BYTES, MODEL_NONE, MODEL_NONE, false},
		[G_COPIES] = {"GXCOPY:COUNT", MODEL_COUNT, MODEL_METRIC_GPU_COUNT,
			      MODEL_ROLE_COPIES, MODEL_NONE, MODEL_NONE, false},
		[G_INS] = {"GINS", MODEL_COUNT, MODEL_METRIC_GPU_SAMPLES, MODEL_ROLE_SAMPLES,
			   MODEL_NONE, MODEL_NONE, true},
		[G_STALL] = {"GINS:STL_GMEM", MODEL_COUNT, MODEL_METRIC_GPU_SAMPLES,
			     MODEL_ROLE_ISSUED, G_INS, MODEL_NONE, true},
	};
	struct model_metric *metrics =
		fixture_must(calloc(o->n_metrics + N_GPU_METRICS, sizeof *metrics));
	memcpy(metrics, sampled, o->n_metrics * sizeof *metrics);
	m->n_metrics = o->n_metrics;
	for (unsigned i = 0; o->n_gpu_ops && i < N_GPU_METRICS; i++) {
		uint32_t parent =
			gpu[i].parent == MODEL_NONE ? MODEL_NONE : o->n_metrics + gpu[i].parent;
		uint32_t divisor =
			gpu[i].divisor == MODEL_NONE ? MODEL_NONE : o->n_metrics + gpu[i].divisor;
		metrics[m->n_metrics++] =
			(struct model_metric){.kind = (uint8_t)gpu[i].kind,
					      .role = (uint8_t)gpu[i].role,
					      .reason = i == G_STALL ? "GMEM" : NULL,
					      .parent = parent,
					      .divisor = divisor,
					      .name = gpu[i].name,
					      .event = "gpu=opencl",
					      .unit = (uint8_t)gpu[i].unit,
					      .description = "made up",
					      .apportioned = gpu[i].apportioned};
	}
	m->metrics = m->private_->metrics = metrics;
	m->private_->n_sampled = o->n_metrics;
}

static void make_objects(struct model *m, const struct fixture_options *o)
{
	static const uint8_t build_id[4] = {1, 2, 3, 4}, code_hash[16] = {0xab, 0xcd};
	struct model_module *modules = fixture_must(calloc(N_MODULES, sizeof *modules));
	modules[EXE] = (struct model_module){.path = "/opt/app/bin/app",
					     .build_id = build_id,
					     .build_id_bytes = 4,
					     .structure = MODEL_STRUCTURE_LINES};
	modules[LIBC] = (struct model_module){.path = "/lib/x86_64-linux-gnu/libc.so.6",
					      .structure = MODEL_STRUCTURE_SYMBOLS};
	modules[GPU_CODE] = (struct model_module){
		.path = "/no/such/dir/gpubins/abcd0000000000000000000000000000.gpubin",
		.build_id = code_hash,
		.build_id_bytes = 16,
		.structure = MODEL_STRUCTURE_LINES,
		.is_gpu = true};
	struct model_file *files = fixture_must(calloc(N_FILES, sizeof *files));
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

static void make_processes(struct model *m, const struct fixture_options *o)
{
	const uint64_t start_ns = UINT64_C(1700000000000000000);
	uint64_t length =
		((o->n_samples > o->n_gpu_ops ? o->n_samples : o->n_gpu_ops) + 10) * PERIOD_NS;
	uint32_t stride = m->private_->stride = o->n_threads + (o->n_gpu_ops ? N_LANES : 0);
	m->private_->n_threads = o->n_threads;
	m->private_->n_gpu_ops = o->n_gpu_ops;
	struct model_process *processes = fixture_must(calloc(o->n_processes, sizeof *processes));
	struct model_profile *profiles =
		fixture_must(calloc((size_t)o->n_processes * stride, sizeof *profiles));
	struct model_ledger *ledgers =
		fixture_must(calloc((size_t)o->n_processes * stride, sizeof *ledgers));
	for (uint32_t i = 0; i < o->n_processes; i++) {
		processes[i] = (struct model_process){
			.path = keep(m->private_, "/tmp/run/", i, ".hpcrun"),
			.host = i < (o->n_processes + 1) / 2 ? "node1" : "node2",
			.host_id = i < (o->n_processes + 1) / 2 ? 0x1111 : 0x2222,
			.pid = 1000 + i,
			.rank = o->ranks ? (int32_t)i : -1,
			.executable = "/opt/app/bin/app",
			.command = "app --size 3 'a b'",
			.command_line = "app --size 3 'a b'",
			.exit_kind = MSR_EXIT_RETURN,
			.exit_code = 0,
			.start_ns = start_ns + i * 1000,
			.end_ns = start_ns + i * 1000 + length,
			.ledger = {.bytes_file = 65536},
		};
		for (uint32_t t = 0; t < o->n_threads; t++) {
			struct model_profile *p = &profiles[i * stride + t];
			*p = (struct model_profile){
				.queue = MODEL_NONE,
				.process = i,
				.thread = t,
				.tid = 2000 + 10 * i + t,
				.name = t ? "worker" : "",
				.start_ns = processes[i].start_ns + t,
				.end_ns = processes[i].end_ns,
				.cpu_ns = length,
				.ledger = &ledgers[i * stride + t],
				.n_trace_records = o->traces ? o->n_samples * o->n_metrics : 0};
			ledgers[i * stride + t] = (struct model_ledger){
				.delivered = o->n_samples * o->n_metrics + 3,
				.recorded = o->n_samples * o->n_metrics,
				.in_tree = o->n_samples * o->n_metrics,
				.losses = {[MSR_LOSS_BUSY] = 2, [MSR_LOSS_NO_SPACE] = 1},
				.path_ends = {[MSR_END_NO_CFI] = 5},
				.n_complete = o->n_samples * o->n_metrics,
				.n_trace_records = p->n_trace_records};
		}
		for (uint32_t lane = 0; o->n_gpu_ops && lane < N_LANES; lane++)
			profiles[i * stride + o->n_threads + lane] = (struct model_profile){
				.kind = MODEL_PROFILE_QUEUE,
				.queue = i * N_QUEUES + (lane ? 1 : 0),
				.lane = lane ? lane - 1 : 0,
				.process = i,
				.thread = MODEL_NONE,
				.name = lane ? "GPU 0 queue 1" : "GPU 0 queue 0",
				.start_ns = processes[i].start_ns,
				.end_ns = processes[i].end_ns,
				.ledger = &ledgers[i * stride + o->n_threads + lane],
				.n_trace_records = o->traces ? o->n_gpu_ops : 0};
	}
	m->processes = processes;
	m->n_processes = o->n_processes;
	m->profiles = profiles;
	m->n_profiles = o->n_processes * stride;
	m->start_ns = start_ns;
	m->end_ns = processes[o->n_processes - 1].end_ns;
	m->elapsed_ns = m->end_ns - m->start_ns;
	m->n_runs = 1;
}

/* Fills the scopes of the values of one profile from their points: children are behind their
 * parents. */
static void propagate(const struct model *m, double (*at)[MODEL_N_SCOPES], double *no_loops)
{
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		at[i][MODEL_FUNCTION] = at[i][MODEL_EXECUTION] = no_loops[i] = at[i][MODEL_POINT];
	}
	for (uint32_t i = m->n_contexts; --i > 0;) {
		const struct model_context *c = &m->contexts[i];
		at[i][MODEL_LEX_AWARE] =
			c->kind == MODEL_CONTEXT_LOOP ? no_loops[i] : at[i][MODEL_FUNCTION];
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
	double(*at)[MODEL_N_SCOPES] = fixture_must(calloc(m->n_contexts, sizeof *at)),
	*no_loops = fixture_must(calloc(m->n_contexts, sizeof *no_loops));
	struct model_total *totals =
		fixture_must(calloc((size_t)m->n_contexts * m->n_metrics, sizeof *totals));
	uint32_t n_sampled = m->private_->n_sampled;
	uint64_t n_records = o->n_samples * n_sampled;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_profile *profile = (struct model_profile *)&m->profiles[p];
		struct model_value *values =
			fixture_must(calloc((size_t)m->n_contexts * m->n_metrics, sizeof *values));
		for (uint32_t metric = 0; metric < m->n_metrics; metric++) {
			double weight = m->metrics[metric].source == MSR_SOURCE_PAPI
						? 100
						: PERIOD_NS * 1e-9;
			memset(at, 0, m->n_contexts * sizeof *at);
			if (metric >= n_sampled && profile->kind == MODEL_PROFILE_THREAD)
				fixture_add_gpu_points(m, p, metric - n_sampled, at, totals);
			for (uint64_t k = metric;
			     metric < n_sampled && profile->kind == MODEL_PROFILE_THREAD &&
			     k < n_records;
			     k += n_sampled) {
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
					t->n_values[s] += v->at[s] != 0;
					t->sum[s] += v->at[s];
					t->sum_of_squares[s] += v->at[s] * v->at[s];
					t->min[s] = t->n_profiles && t->min[s] < v->at[s]
							    ? t->min[s]
							    : v->at[s];
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
	struct model *m = fixture_must(calloc(1, sizeof *m));
	m->private_ = fixture_must(calloc(1, sizeof *m->private_));
	fixture_build_tree(m->private_, o);
	m->contexts = m->private_->contexts.at;
	m->n_contexts = (uint32_t)m->private_->contexts.n;
	make_objects(m, o);
	make_processes(m, o);
	m->has_traces = o->traces;
	m->title = "app";
	if (o->n_gpu_ops)
		fixture_make_gpu(m, o);
	make_values(m, o);
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		const struct model_ledger *l = m->profiles[p].ledger;
		m->ledger.delivered += l->delivered;
		m->ledger.recorded += l->recorded;
		m->ledger.in_tree += l->in_tree;
		m->ledger.n_complete += l->n_complete;
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
	if (m->n_profiles)
		free((void *)m->profiles[0].ledger); /* of all */
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
