/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes measurements of a small program whose parts are given, so that the difference of two of
 * them is known: gen_compare [options] DIR. main calls smooth (10,000 samples) and solve, which is
 * in a library; a line of main launches a kernel. Every sample weighs 1 ms.
 */
#include "common/base/log.h"
#include "common/base/options.h"
#include "tests/gen/gen_gpu.h"
#include "tests/gen/gen_structure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_NS = 1000000, KERNEL_NS = 200000, BUILD_ID = 20, SMOOTH = 10000 };

struct program {
	uint32_t n_solve;   /* samples */
	uint32_t n_kernels; /* launches */
	uint32_t build;     /* changes paths, addresses, versions and build ids */
	uint32_t moved;     /* lines by which the source of solve moved */
	uint32_t n_ranks;   /* 0: no ranks */
	uint32_t slow;      /* rank that has twice the samples; 0: none */
	const char *name;   /* of solve */
	bool inlined;       /* solve is inlined into main */
	bool gpu;           /* measured with a GPU back end, even without a launch */
};

/* ---- structures ---- */

static uint64_t at(const struct program *p, uint64_t offset)
{
	return 0x1000 * (p->build + 1) + offset;
}

static const uint8_t *build_id(const struct program *p, int module)
{
	static uint8_t ids[2][BUILD_ID];
	memset(ids[module], 0x10 * (module + 1) + (int)p->build % 16, BUILD_ID);
	return ids[module];
}

static void add_solve(struct gen_structure *s, const struct program *p, uint32_t parent,
		      uint32_t file)
{
	uint32_t definition = gen_structure_definition(s, p->name, file, 20 + p->moved),
		 scope = parent == STRUCTURE_NONE ? gen_structure_function(s, definition, at(p, 0))
						  : gen_structure_inline(s, parent, definition,
									 file, 5, at(p, 0x200));
	gen_structure_interval(s, at(p, parent == STRUCTURE_NONE ? 0 : 0x200), scope, file,
			       25 + p->moved);
}

static void write_structures(const char *directory, const struct program *p, const char *app,
			     const char *library)
{
	struct gen_structure *s = gen_structure_new(app, build_id(p, 0), BUILD_ID);
	uint32_t file = gen_structure_file(s, "/src/app.c"),
		 source = gen_structure_file(s, "/src/solve.c"),
		 main_ = gen_structure_function(s, gen_structure_definition(s, "main", file, 1),
						at(p, 0));
	gen_structure_interval(s, at(p, 0), main_, file, 5);
	if (p->inlined)
		add_solve(s, p, main_, source);
	uint32_t smooth = gen_structure_function(s, gen_structure_definition(s, "smooth", file, 40),
						 at(p, 0x400));
	gen_structure_interval(s, at(p, 0x400), smooth, file, 42);
	gen_structure_interval(s, at(p, 0x800), STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
	s = gen_structure_new(library, build_id(p, 1), BUILD_ID);
	add_solve(s, p, STRUCTURE_NONE, gen_structure_file(s, "/src/solve.c"));
	gen_structure_interval(s, at(p, 0x800), STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

/* ---- a process ---- */

/* Kernels take 200 us and a little more or less, by turns. */
static void launch(struct gen *g, const struct program *p, uint32_t thread, uint32_t node)
{
	struct msr_gpu_def_device d = {.type = MSR_GPU_DEVICE_GPU, .uuid = {1}};
	uint32_t device = gen_gpu_device(g, "Synthetic GPU", "1", d),
		 context = gen_gpu_context(g, device, 0),
		 queue = gen_gpu_queue(g, "queue 0",
				       (struct msr_gpu_def_queue){
					       .context = context, .device = device, .clock = 1}),
		 code = gen_gpu_code(g, "", "", (uint64_t[]){p->build + 1, 7}, MSR_GPU_CODE_ELF),
		 kernel = gen_gpu_function(g, code, "axpy", ""),
		 shape = gen_gpu_shape(g, (struct msr_gpu_shape){.function = kernel,
								 .grid = {64, 1, 1},
								 .block = {128, 1, 1}});
	gen_gpu_pair(g, 1, 1000000000, 1000000000, 100);
	gen_gpu_pair(g, 1, 90000000000, 90000000000, 100);
	for (uint64_t i = 0; i < p->n_kernels; i++) {
		uint64_t start = 2000000000 + i * 2 * KERNEL_NS;
		struct gen_gpu_op op = {.id = i + 1,
					.kind = MSR_GPU_KERNEL,
					.queue = queue,
					.shape = shape,
					.start_ns = start,
					.end_ns = start + KERNEL_NS + (i % 2 ? 5000 : 0)};
		gen_gpu_launch(g, thread, node, i + 1, MSR_GPU_KERNEL, start - 10000);
		gen_gpu_op(g, &op);
	}
}

static void write_process(const char *directory, const struct program *p, int32_t rank)
{
	char app[64], library[64];
	snprintf(app, sizeof app, "/opt/app-%u/bin/app-%u.0", p->build, p->build);
	snprintf(library, sizeof library, "/opt/app-%u/lib/libsolve.so.%u", p->build, p->build);
	struct gen *g = gen_open(
		directory, &(struct gen_process){.pid = 100 + (uint32_t)(rank > 0 ? rank : 0),
						 .rank = rank,
						 .n_ranks = (int32_t)p->n_ranks,
						 .start_mono_ns = 1000000000,
						 .start_real_ns = UINT64_C(1700000000) * 1000000000,
						 .no_trace = true});
	uint64_t factor = rank > 0 && rank == (int32_t)p->slow ? 2 : 1;
	gen_info(g, "executable", app);
	gen_info(g, "command", app);
	uint16_t main_ = gen_module(g, app, build_id(p, 0), BUILD_ID, MSR_MODULE_MAIN),
		 solve = gen_module(g, library, build_id(p, 1), BUILD_ID, 0);
	uint32_t cpu = gen_metric(g, "CPUTIME", MSR_UNIT_NS, SAMPLE_NS, MSR_SOURCE_PERF),
		 thread = gen_thread(g, "app"), entry = gen_entry(g, thread, MSR_ENTRY_MAIN),
		 in_main = gen_child(g, thread, entry, msr_addr_make(main_, at(p, 0x10), false)),
		 in_smooth =
			 gen_child(g, thread, in_main, msr_addr_make(main_, at(p, 0x410), false)),
		 in_solve = p->inlined ? gen_child(g, thread, entry,
						   msr_addr_make(main_, at(p, 0x210), false))
				       : gen_child(g, thread, in_main,
						   msr_addr_make(solve, at(p, 0x10), false));
	gen_weight(g, thread, in_smooth, cpu, SMOOTH, (uint64_t)SMOOTH * SAMPLE_NS);
	if (p->n_solve)
		gen_weight(g, thread, in_solve, cpu, p->n_solve * factor,
			   p->n_solve * factor * SAMPLE_NS);
	if (p->n_kernels || p->gpu)
		gen_gpu_tally(g, 0, "opencl", "ICD loader's layer");
	if (p->n_kernels)
		launch(g, p, thread, in_main);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	if (rank <= 0)
		write_structures(directory, p, app, library);
}

static const struct option_spec specs[] = {
	{0, "solve", "N", "samples of solve (10000)",
	 OPTION_NUMBER(struct program, n_solve, 0, UINT32_MAX)},
	{0, "kernels", "N", "launches of the kernel (0)",
	 OPTION_NUMBER(struct program, n_kernels, 0, UINT32_MAX)},
	{0, "build", "N", "another build of the same program (0)",
	 OPTION_NUMBER(struct program, build, 0, UINT32_MAX)},
	{0, "moved", "N", "lines by which the source of solve moved (0)",
	 OPTION_NUMBER(struct program, moved, 0, UINT32_MAX)},
	{0, "ranks", "N", "processes are ranks (one process without)",
	 OPTION_NUMBER(struct program, n_ranks, 0, UINT32_MAX)},
	{0, "slow", "RANK", "this rank spends twice the time in solve",
	 OPTION_NUMBER(struct program, slow, 0, UINT32_MAX)},
	{0, "name", "NAME", "the name of solve", OPTION_TEXT(struct program, name)},
	{0, "inlined", NULL, "solve is inlined into main",
	 OPTION_FLAG(struct program, inlined, true)},
	{0, "gpu", NULL, "measured with a GPU back end even if nothing is launched",
	 OPTION_FLAG(struct program, gpu, true)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};

int main(int argc, char **argv)
{
	static const struct option_table table = {
		"gen_compare",
		"gen_compare [options] DIR",
		"Writes a measurement of a program whose parts are given.",
		specs,
		NULL,
		NULL};
	struct program p = {.n_solve = 10000, .name = "solve"};
	int first, done = 0;
	log_set_program("gen_compare");
	enum status s = options_parse(&table, argc, argv, 0, &p, &first, &done);
	if (s || done)
		return status_exit_code(s);
	if (argc - first != 1)
		return status_exit_code(options_refuse("one directory is needed"));
	for (uint32_t rank = 0; rank == 0 || rank < p.n_ranks; rank++)
		write_process(argv[first], &p, p.n_ranks ? (int32_t)rank : -1);
	return 0;
}
