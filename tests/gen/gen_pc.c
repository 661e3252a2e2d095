/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gen_pc DIR CUBIN SAMPLES [bursts]: a measurement whose GPU code is CUBIN and whose PC samples are
 * the lines "kernel offset count" of SAMPLES (the offset in hexadecimal), as CUPTI gave them. Each
 * kernel ran once, for 1 us, and all samples have one stall reason. For
 * tests/cli/prof/prof_gpu_calls.sh.
 *
 * With "bursts" a whole life of PC sampling is made around them, as on an H200: each kernel is
 * launched at two lines of a program (three quarters of its time at the first), the samples come in
 * continuous ranges at the rate that the device promises, with several stall reasons; then in a
 * serialized one, where they know their launch, and the first line has 78 % of them instead of 75;
 * some were dropped, 4 % not attributed, and there is a gap after the hardware's buffer was full.
 * For tests/cli/prof/prof_gpu_pc.sh.
 */
#include "common/base/map.h"
#include "common/base/mapfile.h"
#include "tests/gen/gen_gpu.h"
#include "tests/gen/gen_structure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MOST_KERNELS = 64,
	MOST_SAMPLES = 4096,
	NAME_BYTES = 256,
	PERIOD = 1024,
	UNITS = 132,
	CLOCK_MHZ = 1980,
	N_CALLS = 2
};

static void fail(const char *what)
{
	fprintf(stderr, "gen_pc: %s\n", what);
	exit(99);
}

/* Copies it to where the run time keeps code; sets its hash and name there. */
static void keep_code(const char *directory, const char *cubin, uint64_t hash[2], char name[48])
{
	struct mapfile m;
	char path[4096];
	if (mapfile_open(cubin, &m) != STATUS_OK)
		fail(cubin);
	hash[0] = hash_bytes(m.bytes, m.n_bytes);
	hash[1] = m.n_bytes;
	snprintf(name, 48, "%016" PRIx64 "%016" PRIx64 ".gpubin", hash[0], hash[1]);
	snprintf(path, sizeof path, "%s/gpubins", directory);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/gpubins/%s", directory, name);
	FILE *out = fopen(path, "wb");
	if (!out || fwrite(m.bytes, 1, m.n_bytes, out) != m.n_bytes || fclose(out) != 0)
		fail(path);
	mapfile_close(&m);
}

/* ---- what CUPTI gave ---- */

struct sample {
	uint32_t kernel;
	uint64_t offset, count;
};

static struct {
	char names[MOST_KERNELS][NAME_BYTES];
	uint64_t totals[MOST_KERNELS];
	uint32_t n_kernels, n_samples;
	struct sample samples[MOST_SAMPLES];
} given;

static uint32_t kernel_of(const char *name)
{
	uint32_t i = 0;
	while (i < given.n_kernels && strcmp(given.names[i], name) != 0)
		i++;
	if (i == MOST_KERNELS)
		fail("too many kernels");
	if (i == given.n_kernels)
		snprintf(given.names[given.n_kernels++], NAME_BYTES, "%s", name);
	return i;
}

static void read_samples(const char *path)
{
	char name[NAME_BYTES];
	uint64_t offset, count;
	FILE *in = fopen(path, "r");
	if (!in)
		fail(path);
	while (fscanf(in, "%255s %" SCNx64 " %" SCNu64, name, &offset, &count) == 3) {
		if (given.n_samples == MOST_SAMPLES)
			fail("too many samples");
		struct sample *s = &given.samples[given.n_samples++];
		*s = (struct sample){kernel_of(name), offset, count};
		given.totals[s->kernel] += count;
	}
	fclose(in);
}

/* ---- the measurement ---- */

struct life {
	struct gen *g;
	uint32_t calls[N_CALLS], context, queue, functions[MOST_KERNELS], shapes[MOST_KERNELS];
	uint64_t now_ns, next_id;
};

/* The program: solve() launches in line 41, again() in line 58, and main() calls both. */
static uint16_t make_program(struct gen *g, const char *directory)
{
	static const uint8_t id[20] = {0x77, 1};
	struct gen_structure *s = gen_structure_new("/opt/bin/app", id, sizeof id);
	uint32_t file = gen_structure_file(s, "/src/app.cu"),
		 main_of = gen_structure_function(s, gen_structure_definition(s, "main", file, 90),
						  0x1000);
	gen_structure_interval(s, 0x1000, main_of, file, 94);
	gen_structure_interval(s, 0x1100, main_of, file, 97);
	uint32_t solve = gen_structure_function(
		s, gen_structure_definition(s, "solve(float*, int)", file, 30), 0x2000);
	gen_structure_interval(s, 0x2000, solve, file, 41);
	uint32_t again = gen_structure_function(
		s, gen_structure_definition(s, "again(float*)", file, 50), 0x3000);
	gen_structure_interval(s, 0x3000, again, file, 58);
	gen_structure_interval(s, 0x4000, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
	return gen_module(g, "/opt/bin/app", id, sizeof id, MSR_MODULE_MAIN);
}

static void begin(struct life *l, const char *directory, const char *cubin, bool bursts)
{
	uint64_t hash[2];
	char file[48];
	l->g = gen_open(directory,
			&(struct gen_process){.pid = 7,
					      .rank = -1,
					      .start_mono_ns = 1000,
					      .start_real_ns = UINT64_C(1700000000000000000)});
	keep_code(directory, cubin, hash, file);
	gen_info(l->g, "executable", "/opt/bin/app");
	gen_info(l->g, "command", "./app");
	uint16_t module = bursts ? make_program(l->g, directory)
				 : gen_module(l->g, "/opt/bin/app", NULL, 0, MSR_MODULE_MAIN);
	gen_thread(l->g, "app");
	uint32_t top = gen_entry(l->g, 0, MSR_ENTRY_MAIN);
	for (unsigned i = 0; i < N_CALLS; i++) {
		uint32_t at = bursts ? gen_child(l->g, 0, top,
						 msr_addr_make(module, 0x1010 + i * 0x100, false))
				     : top;
		l->calls[i] = gen_child(
			l->g, 0, at,
			msr_addr_make(module, bursts ? 0x2010 + i * 0x1000 : 0x1000 + i * 0x10,
				      false));
	}
	gen_gpu_tally(l->g, 0, "nvidia", "a test");
	uint32_t device =
		gen_gpu_device(l->g, "Device", "",
			       (struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU,
							   .n_units = UNITS,
							   .clock_mhz = CLOCK_MHZ,
							   .lanes = 32,
							   .threads_per_unit = 2048,
							   .group_max = 1024,
							   .registers_per_unit = 65536,
							   .shared_bytes_per_unit = 233472,
							   .groups_per_unit = 32});
	if (bursts)
		gen_gpu_limits(
			l->g, device,
			(struct msr_gpu_def_device_limits){.compute_major = 9,
							   .registers_per_group = 65536,
							   .reserved_shared_bytes = 1024,
							   .shared_bytes_per_group = 49152,
							   .shared_bytes_per_group_optin = 232448});
	l->context = gen_gpu_context(l->g, device, 0);
	l->queue =
		gen_gpu_queue(l->g, "stream 7",
			      (struct msr_gpu_def_queue){.context = l->context, .device = device});
	uint32_t code = gen_gpu_code(l->g, file, "", hash, MSR_GPU_CODE_ELF);
	for (uint32_t i = 0; i < given.n_kernels; i++) {
		l->functions[i] = gen_gpu_function(l->g, code, given.names[i], "");
		l->shapes[i] = gen_gpu_shape(
			l->g, (struct msr_gpu_shape){.function = l->functions[i],
						     .grid = {bursts ? 1056 : 1, 1, 1},
						     .block = {bursts ? 256 : 32, 1, 1},
						     .registers = bursts ? 40 : 0});
	}
	l->now_ns = 2000;
	l->next_id = 1;
}

/* A launch at one of the calls that takes so long, directly after the one before. Returns its
 * id. */
static uint64_t launch(struct life *l, unsigned call, uint32_t kernel, uint64_t length_ns)
{
	uint64_t id = l->next_id++;
	gen_gpu_launch(l->g, 0, l->calls[call], id, MSR_GPU_KERNEL, l->now_ns - 500);
	gen_gpu_op(l->g, &(struct gen_gpu_op){.id = id,
					      .kind = MSR_GPU_KERNEL,
					      .start_ns = l->now_ns,
					      .end_ns = l->now_ns + length_ns,
					      .queue = l->queue,
					      .shape = l->shapes[kernel]});
	l->now_ns += length_ns;
	return id;
}

static void once(struct life *l)
{
	uint64_t total = 0;
	gen_gpu_stall(l->g, 1, "long_scoreboard", "", 0);
	for (uint32_t i = 0; i < given.n_kernels; i++, l->now_ns += 9000)
		launch(l, 0, i, 1000);
	for (uint32_t i = 0; i < given.n_samples; i++) {
		const struct sample *s = &given.samples[i];
		gen_gpu_pc(l->g, &(struct msr_gpu_pc){s->offset, 0, s->count,
						      l->functions[s->kernel], 1, 0});
		total += s->count;
	}
	gen_gpu_range(l->g,
		      &(struct msr_gpu_pc_range){
			      .start_ns = 1000, .end_ns = 2000, .total = total, .recorded = total});
}

/* ---- bursts ---- */

static const struct {
	const char *name;
	unsigned percent,
		idle_percent; /* of the samples, and of those in which nothing was issued */
} reasons[] = {{"selected", 22, 0},    {"long_scoreboard", 0 /* the rest */, 85},
	       {"wait", 18, 40},       {"short_scoreboard", 9, 60},
	       {"not_selected", 7, 0}, {"math_pipe_throttle", 6, 20}};
enum { N_REASONS = sizeof reasons / sizeof *reasons };

static void define_reasons(struct life *l)
{
	char name[96];
	for (unsigned i = 0; i < N_REASONS; i++) {
		snprintf(name, sizeof name, "smsp__pcsamp_warps_issue_stalled_%s", reasons[i].name);
		gen_gpu_stall(l->g, 1 + 2 * i, name, "", i == 0 ? MSR_GPU_STALL_ISSUED : 0);
		strcat(name, "_not_issued");
		gen_gpu_stall(l->g, 2 + 2 * i, name, "", MSR_GPU_STALL_ONLY_NOT_ISSUED);
	}
}

/* The share of a reason depends on the instruction. */
static void put_reasons(struct life *l, const struct sample *s, uint64_t id, uint64_t count)
{
	uint64_t left = count;
	for (unsigned i = 0; i < N_REASONS; i++) {
		unsigned r = i + 1 < N_REASONS ? (i ? i + 1 : 0) : 1; /* long_scoreboard last */
		uint64_t n =
			r == 1 ? left : count * reasons[r].percent * (1 + s->offset / 16 % 3) / 200;
		n = n < left ? n : left;
		left -= n;
		if (n)
			gen_gpu_pc(l->g,
				   &(struct msr_gpu_pc){s->offset, id, n, l->functions[s->kernel],
							(uint16_t)(1 + 2 * r), 0});
		if (n * reasons[r].idle_percent / 100)
			gen_gpu_pc(l->g, &(struct msr_gpu_pc){s->offset, id,
							      n * reasons[r].idle_percent / 100,
							      l->functions[s->kernel],
							      (uint16_t)(2 + 2 * r), 0});
	}
}

static uint64_t length_of(uint64_t n_samples)
{
	return n_samples * PERIOD * 1000 / ((uint64_t)UNITS * CLOCK_MHZ);
}

static void put_range(struct life *l, uint64_t start_ns, uint64_t recorded, uint64_t dropped,
		      uint64_t outside, uint32_t flags)
{
	gen_gpu_range(l->g, &(struct msr_gpu_pc_range){.start_ns = start_ns,
						       .end_ns = l->now_ns,
						       .total = recorded + dropped + outside,
						       .recorded = recorded,
						       .dropped = dropped,
						       .outside = outside,
						       .period = PERIOD,
						       .context = l->context,
						       .samplers = UNITS,
						       .flags = flags});
}

/* All samples, continuous: what is not attributed ran as well. */
static void continuous(struct life *l)
{
	uint64_t start_ns = l->now_ns, total = 0;
	for (uint32_t k = 0; k < given.n_kernels; k++) {
		uint64_t length = length_of(given.totals[k] + given.totals[k] / 24);
		for (unsigned i = 0; i < 8; i++)
			launch(l, i % 4 == 3, k, length / 8);
		total += given.totals[k];
	}
	for (uint32_t i = 0; i < given.n_samples; i++)
		put_reasons(l, &given.samples[i], 0, given.samples[i].count);
	put_range(l, start_ns, total, 5, total / 24, 0);
}

/* A quarter of the samples again, with their launches. */
static void serialized(struct life *l)
{
	uint64_t ids[MOST_KERNELS][N_CALLS], start_ns = l->now_ns, total = 0;
	for (uint32_t k = 0; k < given.n_kernels; k++) {
		uint64_t length = length_of(given.totals[k] / 4);
		ids[k][0] = launch(l, 0, k, length * 3 / 4);
		ids[k][1] = launch(l, 1, k, length / 4);
	}
	for (uint32_t i = 0; i < given.n_samples; i++) {
		const struct sample *s = &given.samples[i];
		uint64_t n = s->count / 4, first = (n * 78 + 50) / 100;
		put_reasons(l, s, ids[s->kernel][0], first);
		put_reasons(l, s, ids[s->kernel][1], n - first);
		total += n;
	}
	put_range(l, start_ns, total, 0, 0, MSR_GPU_RANGE_SERIALIZED);
}

static void gap(struct life *l)
{
	uint64_t start_ns = l->now_ns;
	l->now_ns += 80000;
	gen_gpu_range(l->g, &(struct msr_gpu_pc_range){.start_ns = start_ns,
						       .end_ns = l->now_ns,
						       .context = l->context,
						       .flags = MSR_GPU_RANGE_GAP |
								MSR_GPU_RANGE_BUFFER_FULL});
}

int main(int argc, char **argv)
{
	static struct life l;
	bool bursts = argc == 5 && strcmp(argv[4], "bursts") == 0;
	if (argc != 4 && !bursts)
		fail("usage: gen_pc DIR CUBIN SAMPLES [bursts]");
	read_samples(argv[3]);
	begin(&l, argv[1], argv[2], bursts);
	if (!bursts) {
		once(&l);
	} else {
		define_reasons(&l);
		continuous(&l);
		gap(&l);
		serialized(&l);
	}
	free(gen_close(l.g, MSR_EXIT_RETURN, 0));
	return 0;
}
