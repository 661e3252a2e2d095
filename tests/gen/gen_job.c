/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gen_job() of gen.h: a synthetic program that calls through its functions at random, and the
 * samples of its threads. The addresses are those of gen_program.h, whose structure files hold what
 * they mean. The same parameters give the same bytes.
 */
#include "tests/gen/gen.h"
#include "tests/gen/gen_gpu.h"
#include "tests/gen/gen_program.h"

#include <stdio.h>
#include <stdlib.h>

/* splitmix64 (Steele, Lea, Flood 2014; public domain reference code by S. Vigna). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint32_t pick(uint64_t *state, uint32_t n)
{
	return (uint32_t)((next_random(state) >> 32) * n >> 32);
}

struct builder {
	struct gen *g;
	const struct gen_job *job;
	uint16_t modules[GEN_N_MODULES];
	uint32_t thread;
	uint32_t *nodes; /* where samples may fall */
	uint32_t n_nodes;
	uint32_t n_functions;
};

static msr_addr random_address(const struct builder *b, uint64_t *state)
{
	uint32_t f = pick(state, b->n_functions);
	uint64_t link = gen_program_address(f, pick(state, GEN_LINES_OF_FUNCTION), pick(state, 2));
	bool marked = b->job->losses && pick(state, 500) == 0;
	return msr_addr_make(b->modules[gen_program_module(f)], link, marked);
}

static uint32_t add_node(struct builder *b, uint32_t parent, msr_addr addr)
{
	return b->nodes[b->n_nodes++] = gen_child(b->g, b->thread, parent, addr);
}

static uint32_t add_wait(struct builder *b, uint32_t parent, uint32_t code)
{
	return add_node(b, parent, msr_addr_make(MSR_MODULE_NONE, code, false));
}

/*
 * A wait of each kind, some with frames of their own, some for an object, an idle thread, and a
 * parallel region. The object 7 is unknown.
 */
static void grow_waits(struct builder *b, uint64_t *own)
{
	uint32_t n = b->n_nodes;
	for (uint32_t w = 0; w <= MSR_N_WAITS; w++) { /* the last is of an unknown kind */
		uint32_t wait = add_wait(b, b->nodes[pick(own, n)], MSR_WAIT + w);
		if (w == MSR_WAIT_OMP_END)
			add_node(b, wait, random_address(b, own));
		else if (w == MSR_WAIT_FILE)
			add_wait(b, wait, MSR_WAIT_ON + 7);
		else if (w == MSR_WAIT_SOCKET || w == MSR_WAIT_FUTEX)
			add_wait(b, wait, MSR_WAIT_ON + (w == MSR_WAIT_SOCKET ? 1 : 2));
	}
	uint32_t idle = gen_entry(b->g, b->thread, MSR_ENTRY_OMP_IDLE);
	add_node(b, idle, random_address(b, own));
	const struct msr_omp_region region = {.call = random_address(b, own),
					      .function = random_address(b, own),
					      .n_threads = 4,
					      .instances = 100,
					      .elapsed_ns = 4000000,
					      .n_timed = 400,
					      .busy_ns = 12000000,
					      .max_ns = 3600000,
					      .min_ns = 2400000};
	gen_region(b->g, b->thread, &region);
}

/* Nodes grow as children of random nodes, rather deep than wide. The first of them come from the
 * common seed: all threads have them. */
static void grow_tree(struct builder *b, uint64_t *own)
{
	uint64_t common = b->job->seed;
	uint32_t entry = gen_entry(b->g, b->thread, b->thread ? MSR_ENTRY_THREAD : MSR_ENTRY_MAIN);
	uint32_t bound = b->job->n_nodes,
		 percent = b->job->common_percent ? b->job->common_percent : 50;
	uint32_t n_common = (uint32_t)((uint64_t)bound * percent / 100);
	b->n_nodes = 0;
	uint32_t parent = entry;
	for (uint32_t tries = 0; b->n_nodes + 4 < bound && tries < 2 * bound; tries++) {
		uint64_t *state = b->n_nodes < n_common ? &common : own;
		if (b->n_nodes && pick(state, 8) == 0)
			parent = b->nodes[pick(state, b->n_nodes)];
		uint32_t node = gen_child(b->g, b->thread, parent, random_address(b, state));
		b->nodes[b->n_nodes++] = node;
		parent = node;
		if (pick(state, 24) == 0)
			parent = entry;
	}
	if (b->job->losses) {
		uint32_t partial = gen_entry(b->g, b->thread, MSR_ENTRY_PARTIAL + MSR_END_NO_CFI);
		b->nodes[b->n_nodes++] =
			gen_child(b->g, b->thread, partial, random_address(b, own));
	}
	if (b->job->waits)
		grow_waits(b, own);
}

static const struct {
	const char *name;
	enum msr_unit unit;
	uint64_t period;
	enum msr_source source;
} metrics[3] = {
	{"CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_PERF},
	{"REALTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TIMER_REAL},
	{"PAPI_TOT_CYC", MSR_UNIT_COUNT, 2000000, MSR_SOURCE_PAPI},
};

static void take_samples(struct builder *b, uint64_t start_ns, uint64_t *own)
{
	uint64_t now = start_ns;
	uint32_t at = 0;
	for (uint32_t i = 0; i < b->job->n_samples; i++) {
		now += 900000 + pick(own, 200000);
		if (pick(own, 1000) == 0)
			now += UINT64_C(
				5000000000); /* asleep: more than fits the delta of a record */
		if (pick(own, 4))
			at = pick(own, b->n_nodes);
		uint32_t metric = pick(own, b->job->n_metrics);
		uint64_t weight = metrics[metric].period + pick(own, 1000);
		gen_sample(b->g, b->thread, b->nodes[at], metric, now, weight);
	}
	if (b->job->losses) {
		gen_loss(b->g, b->thread, MSR_LOSS_BUSY, 1 + pick(own, 5));
		gen_loss(b->g, b->thread, MSR_LOSS_COALESCED, pick(own, 5));
		gen_loss(b->g, b->thread, MSR_LOSS_TRACE, pick(own, 3));
	}
	struct msr_thread *t = gen_thread_record(b->g, b->thread);
	t->cpu_end_ns = now - start_ns;
	t->handler_ns = UINT64_C(1500) * b->job->n_samples;
}

static void make_process(const char *directory, const struct gen_job *job, uint32_t p,
			 uint32_t *nodes)
{
	struct gen_process who = {.pid = 1000 + p * 10,
				  .rank = job->ranks ? (int32_t)p : -1,
				  .n_ranks = (int32_t)job->n_processes,
				  .start_mono_ns = UINT64_C(50000000000) + p,
				  .start_real_ns = UINT64_C(1700000000000000000) + p,
				  .no_trace = job->no_trace};
	struct builder b = {.g = gen_open(directory, &who), .job = job, .nodes = nodes,
		.n_functions = job->n_functions ? job->n_functions : 200};
	gen_info(b.g, "command", "./synthetic --size 10");
	gen_info(b.g, "executable", gen_program_path(0));
	if (job->waits) {
		gen_wait_object(b.g, 1, MSR_WAIT_OBJECT_DESCRIPTOR, 0, "socket 10.0.0.2:80");
		gen_wait_object(b.g, 2, MSR_WAIT_OBJECT_LOCK, msr_addr_make(1, 0x4040, false), "");
	}
	gen_info(b.g, "event", job->event ? job->event : "CPUTIME@f1000");
	for (unsigned m = 0; m < GEN_N_MODULES; m++)
		b.modules[m] = gen_module(b.g, gen_program_path(m), gen_program_build_id(m),
					  GEN_BUILD_ID_BYTES, m ? 0 : MSR_MODULE_MAIN);
	for (uint32_t m = 0; m < job->n_metrics; m++)
		gen_metric(b.g, metrics[m].name, metrics[m].unit, metrics[m].period,
			   metrics[m].source);
	struct gen_gpu_job gpu = {0};
	for (uint32_t t = 0; t < job->n_threads; t++) {
		uint64_t own = job->seed * 1000003 + (uint64_t)p * 65537 + t + 1;
		b.thread = gen_thread(b.g, t ? "worker" : "synthetic");
		grow_tree(&b, &own);
		take_samples(&b, who.start_mono_ns, &own);
		if (job->n_gpu_ops)
			gen_gpu_work(b.g, &gpu,
				     &(struct gen_gpu_work){.thread = b.thread,
							    .n_nodes = b.n_nodes,
							    .n_ops = job->n_gpu_ops,
							    .nodes = b.nodes,
							    .start_ns = who.start_mono_ns,
							    .random = &own,
							    .losses = job->losses,
							    .first = t == 0,
							    .killed = job->killed});
		for (uint32_t i = 0; job->waits && t == 0 && i < 4; i++) {
			const uint64_t enter_ns = who.start_mono_ns + i * 50000000;
			gen_phase(b.g, &(struct msr_phase){.enter_ns = enter_ns,
							   .leave_ns = enter_ns + 40000000,
							   .node = b.nodes[i % 2 + 4]});
		}
		if (job->killed && t == 0)
			gen_in_flight(b.g, b.thread);
	}
	free(gen_close(b.g, job->killed ? MSR_EXIT_NONE : MSR_EXIT_RETURN, 0));
}

void gen_job(const char *directory, const struct gen_job *job)
{
	uint32_t *nodes = malloc((job->n_nodes + 16 + 2 * MSR_N_WAITS) * sizeof *nodes);
	if (!nodes || job->n_nodes < 16 || job->n_metrics > 3 ||
	    (job->n_samples && !job->n_metrics)) {
		fprintf(stderr, "gen_job: bad parameters or no memory\n");
		exit(99);
	}
	for (uint32_t p = 0; p < job->n_processes; p++)
		make_process(directory, job, p, nodes);
	if (job->structs)
		gen_program_structures(directory, job->n_functions ? job->n_functions : 200);
	if (job->structs && job->n_gpu_ops)
		gen_gpu_structure(directory);
	free(nodes);
}
