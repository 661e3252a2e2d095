/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gen_scale [options] DIR writes the measurement of a parallel job of any size, whose sums are
 * known: every value follows from rank, thread and leaf. DIR/expected has a line for each leaf
 * function: its name, the threads that have it, and sum, least and most nanoseconds of a thread.
 * Used by tests/cli/prof/prof_scale.sh and tests/bench/bench_scale.sh.
 */
#include "common/base/log.h"
#include "common/base/options.h"
#include "tests/gen/gen.h"
#include "tests/gen/gen_gpu.h"
#include "tests/gen/gen_mpi.h"
#include "tests/gen/gen_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAN_OUT = 4, MOST_DEPTH = 64, ODD_EVERY = 500, ODD_AT = 123, ODD_FACTOR = 3 };

struct leaf_sums {
	uint64_t n_threads, sum_ns, least_ns, most_ns;
};

struct job {
	uint32_t n_ranks, n_threads, depth, n_leaves, percent, n_samples, n_gpu_ops, n_mpi_calls,
		n_readings;
	bool no_trace;
	uint32_t first[MOST_DEPTH + 1]; /* by level, the leaves' is `depth`: its first function */
	uint32_t n_functions;
	struct leaf_sums *sums;         /* by leaf */
	uint32_t *nodes, *mpi_nodes;    /* of the leaves of a thread; of thread 0 */
};

/* The functions of the modules whose structure is known: nine of ten. */
static uint32_t function_of(uint32_t number)
{
	return number / 9 * 10 + number % 9;
}

static void name_function(uint32_t f, char *to, size_t n)
{
	snprintf(to, n, gen_program_module(f) ? "solve_%u" : "synthetic::step_%u(double*, int)", f);
}

/* Numbers the functions of all levels. main is number 0. */
static void number_functions(struct job *j)
{
	uint32_t n = 1, width = j->n_leaves;
	for (uint32_t level = j->depth; level > 0; level--) {
		j->first[level] = n;
		n += width;
		width = (width + FAN_OUT - 1) / FAN_OUT;
	}
	j->n_functions = function_of(n) + 1;
}

/* The finalizer of MurmurHash3 (A. Appleby, public domain). */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static bool has_leaf(const struct job *j, uint32_t rank, uint32_t thread, uint32_t leaf)
{
	uint64_t key = ((uint64_t)rank * j->n_threads + thread) * j->n_leaves + leaf + 1;
	return mix(key) % 100 < j->percent;
}

/* Of one sample. Some ranks take longer for all they do. */
static uint64_t weight_ns(uint32_t rank, uint32_t thread, uint32_t leaf)
{
	uint64_t ns = 1000000 + leaf % 7 * 1000 + thread % 5 * 10 + rank % 3;
	return rank % ODD_EVERY == ODD_AT ? ODD_FACTOR * ns : ns;
}

static uint32_t grow_path(const struct job *j, struct gen *g, uint32_t thread,
			  const uint16_t *modules, uint32_t leaf)
{
	uint32_t node = gen_child(g, thread,
				  gen_entry(g, thread, thread ? MSR_ENTRY_THREAD : MSR_ENTRY_MAIN),
				  msr_addr_make(modules[0], gen_program_address(0, 1, 0), false));
	uint32_t index[MOST_DEPTH + 1];
	index[j->depth] = leaf;
	for (uint32_t level = j->depth; level > 1; level--)
		index[level - 1] = index[level] / FAN_OUT;
	for (uint32_t level = 1; level <= j->depth; level++) {
		uint32_t f = function_of(j->first[level] + index[level]);
		node = gen_child(g, thread, node,
				 msr_addr_make(modules[gen_program_module(f)],
					       gen_program_address(f, 1, 0), false));
	}
	return node;
}

static void add_sums(struct leaf_sums *s, uint64_t ns)
{
	s->least_ns = s->n_threads && s->least_ns < ns ? s->least_ns : ns;
	s->most_ns = s->most_ns > ns ? s->most_ns : ns;
	s->n_threads++;
	s->sum_ns += ns;
}

/* The samples of a thread, one round over its leaves after the other. */
static uint32_t take_samples(const struct job *j, struct gen *g, uint32_t rank, uint32_t thread,
			     const uint16_t *modules, uint64_t start_ns)
{
	uint32_t n = 0;
	uint64_t now = start_ns;
	for (uint32_t round = 0; round < j->n_samples; round++) {
		n = 0;
		for (uint32_t leaf = 0; leaf < j->n_leaves; leaf++) {
			if (!has_leaf(j, rank, thread, leaf))
				continue;
			const uint64_t ns = weight_ns(rank, thread, leaf);
			if (round == 0) {
				j->nodes[n] = grow_path(j, g, thread, modules, leaf);
				add_sums(&j->sums[leaf], ns * j->n_samples);
			}
			gen_sample(g, thread, j->nodes[n++], 0, now += ns, ns);
		}
	}
	gen_thread_record(g, thread)->cpu_end_ns = now - start_ns;
	return n;
}

/* ---- calls of MPI: thread 0 makes them in its leaves, one leaf after the other ---- */

enum { CALL_NS = 1000000, SENDS = 3, SEND_NS = 2000, MPI_BYTES = 800 };

/* How long the rank is in a collective call. All begin it within half its time, and leave it. */
static uint64_t call_ns(uint32_t rank, uint32_t call)
{
	return CALL_NS / 2 + 1000 - mix((uint64_t)rank << 32 | call) % (CALL_NS / 2);
}

static void add_collectives(const char *path, const struct job *j, uint32_t rank, uint32_t n,
			    uint64_t start_ns)
{
	struct msr_mpi_collective *c = calloc(j->n_mpi_calls, sizeof *c);
	for (uint32_t i = 0; c && i < j->n_mpi_calls; i++) {
		const uint64_t end_ns = start_ns + (uint64_t)(i + 1) * CALL_NS;
		c[i] = (struct msr_mpi_collective){.enter_ns = end_ns - call_ns(rank, i),
						   .leave_ns = end_ns,
						   .number = i,
						   .node = j->mpi_nodes[i % n],
						   .comm = 1,
						   .call = MPI_CALL_Allreduce};
	}
	if (c)
		gen_mpi_add(path, MSR_MPI_COLLECTIVE, 0, c, j->n_mpi_calls);
	free(c);
}

/* The calls in leaf i of n: those above, and some to the next rank. */
static void sum_calls(const struct job *j, uint32_t rank, uint32_t i, uint32_t n,
		      struct msr_mpi_call to[2])
{
	const uint8_t class = msr_mpi_size_class(MPI_BYTES);
	uint64_t n_calls = 0, ns = 0, least_ns = UINT64_MAX;
	for (uint32_t k = i; k < j->n_mpi_calls; k += n, n_calls++) {
		ns += call_ns(rank, k);
		least_ns = call_ns(rank, k) < least_ns ? call_ns(rank, k) : least_ns;
	}
	to[0] = (struct msr_mpi_call){.node = j->mpi_nodes[i],
				      .call = MPI_CALL_Allreduce,
				      .size_class = class,
				      .comm = 1,
				      .n_calls = n_calls,
				      .sent = n_calls * MPI_BYTES,
				      .received = n_calls * MPI_BYTES,
				      .ns = ns,
				      .least_ns = least_ns};
	to[1] = (struct msr_mpi_call){.node = j->mpi_nodes[i],
				      .call = MPI_CALL_Send,
				      .size_class = class,
				      .comm = 1,
				      .peer = (int32_t)((rank + 1) % j->n_ranks),
				      .n_calls = SENDS,
				      .sent = (uint64_t)SENDS * MPI_BYTES,
				      .ns = SENDS * SEND_NS + rank % 7,
				      .least_ns = SEND_NS};
}

static void add_mpi(const char *path, const struct job *j, uint32_t rank, uint32_t n,
		    uint64_t start_ns)
{
	const uint32_t n_used = n < j->n_mpi_calls ? n : j->n_mpi_calls;
	const struct msr_mpi_comm world = {.id = 1,
					   .size = j->n_ranks,
					   .rank = rank,
					   .flags = MSR_MPI_COMM_WORLD,
					   .identity = 7};
	struct msr_mpi_call *calls = calloc((size_t)n_used * 2 + 1, sizeof *calls);
	gen_mpi_add(path, MSR_MPI_COMM, 0, &world, 1);
	for (uint32_t i = 0; calls && i < n_used; i++)
		sum_calls(j, rank, i, n, &calls[(size_t)i * 2]);
	if (calls && n) {
		gen_mpi_add(path, MSR_MPI_CALL, 0, calls, (size_t)n_used * 2);
		add_collectives(path, j, rank, n, start_ns);
	}
	free(calls);
}

/* ---- energy: every second host reads the meters of its GPU and of itself ---- */

enum { READING_NS = 250000 };

static void add_energy(const struct job *j, struct gen *g, const struct gen_gpu_job *gpu,
		       uint32_t rank, uint64_t start_ns)
{
	for (uint32_t i = 0; i < 2 * j->n_readings && rank / 8 % 2; i++) {
		const uint64_t n = i / 2, now = start_ns + n * READING_NS;
		gen_gpu_energy(g, &(struct msr_gpu_energy){
					  .time_ns = now,
					  .unchanged_ns = now - n * 100,
					  .energy_uj = n * (n + 20) * (rank / 8),
					  .meter = gpu->counter,
					  .device = i % 2 ? gpu->device : 0,
					  .flags = n ? 0 : MSR_GPU_ENERGY_BEGINS});
	}
}

/* With MPI, each host was started at another time. */
static uint64_t host_ns(const struct job *j, uint32_t rank)
{
	return j->n_mpi_calls ? rank / 8 * UINT64_C(7000000000) : 0;
}

static void make_rank(const char *directory, const struct job *j, uint32_t rank)
{
	char host[32];
	snprintf(host, sizeof host, "node%u", rank / 8);
	const uint64_t start_ns = UINT64_C(50000000000) + host_ns(j, rank) + rank;
	const struct gen_process who = {.host = host,
					.pid = 1000 + rank,
					.rank = (int32_t)rank,
					.n_ranks = (int32_t)j->n_ranks,
					.start_mono_ns = start_ns,
					.start_real_ns = UINT64_C(1700000000000000000) + rank,
					.no_trace = j->no_trace};
	struct gen *g = gen_open(directory, &who);
	uint16_t modules[GEN_N_MODULES];
	gen_info(g, "command", "./synthetic --size 10");
	gen_info(g, "executable", gen_program_path(0));
	gen_info(g, "event", "CPUTIME@f1000");
	for (unsigned m = 0; m < GEN_N_MODULES; m++)
		modules[m] = gen_module(g, gen_program_path(m), gen_program_build_id(m),
					GEN_BUILD_ID_BYTES, m ? 0 : MSR_MODULE_MAIN);
	gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_PERF);
	struct gen_gpu_job gpu = {0};
	uint32_t n_mpi_nodes = 0;
	for (uint32_t t = 0; t < j->n_threads; t++) {
		uint32_t thread = gen_thread(g, t ? "worker" : "synthetic");
		uint32_t n = take_samples(j, g, rank, thread, modules, who.start_mono_ns);
		uint64_t random = (uint64_t)rank * j->n_threads + t + 1;
		if (t == 0 && j->n_mpi_calls)
			memcpy(j->mpi_nodes, j->nodes, (n_mpi_nodes = n) * sizeof *j->nodes);
		if (j->n_gpu_ops && n)
			gen_gpu_work(g, &gpu,
				     &(struct gen_gpu_work){.thread = thread,
							    .n_nodes = n,
							    .n_ops = j->n_gpu_ops,
							    .nodes = j->nodes,
							    .start_ns = who.start_mono_ns,
							    .random = &random,
							    .first = t == 0});
	}
	if (gpu.device)
		add_energy(j, g, &gpu, rank, who.start_mono_ns);
	char *path = gen_close(g, MSR_EXIT_RETURN, 0);
	if (j->n_mpi_calls)
		add_mpi(path, j, rank, n_mpi_nodes, who.start_mono_ns);
	free(path);
}

static void write_expected(const char *directory, const struct job *j)
{
	char path[4096], name[64];
	snprintf(path, sizeof path, "%s/expected", directory);
	FILE *out = fopen(path, "w");
	if (!out) {
		perror(path);
		exit(99);
	}
	for (uint32_t leaf = 0; leaf < j->n_leaves; leaf++) {
		const struct leaf_sums *s = &j->sums[leaf];
		name_function(function_of(j->first[j->depth] + leaf), name, sizeof name);
		if (s->n_threads)
			fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
				name, s->n_threads, s->sum_ns, s->least_ns, s->most_ns);
	}
	if (fclose(out) != 0) {
		perror(path);
		exit(99);
	}
}

/* ---- command line ---- */

static const struct option_spec specs[] = {
	{'r', "ranks", "N", "ranks, a file each (1)",
	 OPTION_NUMBER(struct job, n_ranks, 1, 10000000)},
	{'t', "threads", "N", "threads of each rank (1)",
	 OPTION_NUMBER(struct job, n_threads, 1, 1000000)},
	{'d', "depth", "N", "frames between main and a leaf, the leaf included (6)",
	 OPTION_NUMBER(struct job, depth, 1, MOST_DEPTH)},
	{'l', "leaves", "N", "leaf functions of the program (64)",
	 OPTION_NUMBER(struct job, n_leaves, 1, 1000000)},
	{'p', "percent", "N", "of the leaves, what a thread has (50)",
	 OPTION_NUMBER(struct job, percent, 0, 100)},
	{'s', "samples", "N", "samples of a thread in each of its leaves (1)",
	 OPTION_NUMBER(struct job, n_samples, 1, 1000000)},
	{'g', "gpu", "N", "GPU operations of each thread (0)",
	 OPTION_NUMBER(struct job, n_gpu_ops, 0, 10000000)},
	{'m', "mpi", "N", "collective calls of each rank (0)",
	 OPTION_NUMBER(struct job, n_mpi_calls, 0, 1000000)},
	{'e', "energy", "N", "with GPU operations: readings of each meter (0)",
	 OPTION_NUMBER(struct job, n_readings, 0, 1000000)},
	{0, "no-trace", NULL, "no time lines", OPTION_FLAG(struct job, no_trace, true)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};

int main(int argc, char **argv)
{
	static const struct option_table table = {
		"gen_scale",
		"gen_scale [options] DIR",
		"Writes the measurement of a parallel job, and in DIR/expected what its sums are.",
		specs,
		NULL,
		NULL};
	struct job j = {.n_ranks = 1,
			.n_threads = 1,
			.depth = 6,
			.n_leaves = 64,
			.percent = 50,
			.n_samples = 1};
	int first, done = 0;
	log_set_program("gen_scale");
	enum status s = options_parse(&table, argc, argv, 0, &j, &first, &done);
	if (s || done)
		return status_exit_code(s);
	if (argc - first != 1)
		return status_exit_code(options_refuse("one directory is needed"));
	number_functions(&j);
	j.sums = calloc(j.n_leaves, sizeof *j.sums);
	j.nodes = calloc(j.n_leaves, sizeof *j.nodes);
	j.mpi_nodes = calloc(j.n_leaves, sizeof *j.mpi_nodes);
	if (!j.sums || !j.nodes || !j.mpi_nodes) {
		log_error(NULL, "out of memory");
		return 99;
	}
	for (uint32_t rank = 0; rank < j.n_ranks; rank++)
		make_rank(argv[first], &j, rank);
	gen_program_structures(argv[first], j.n_functions);
	if (j.n_gpu_ops)
		gen_gpu_structure(argv[first]);
	write_expected(argv[first], &j);
	free(j.sums);
	free(j.nodes);
	free(j.mpi_nodes);
	return 0;
}
