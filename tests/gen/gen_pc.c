/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gen_pc DIR CUBIN SAMPLES: a measurement whose GPU code is CUBIN and whose PC samples are the lines "kernel offset count" of SAMPLES (the offset in hexadecimal), as CUPTI gave them. Each
 * kernel ran once, for 1 us. For tests/cli/prof_gpu_calls.sh.
 */
#include "common/base/map.h"
#include "common/base/mapfile.h"
#include "tests/gen/gen_gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_KERNELS = 64, NAME_BYTES = 256 };

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

struct kernels {
	char names[MOST_KERNELS][NAME_BYTES];
	uint32_t functions[MOST_KERNELS], n;
};

/* The kernel's function; when new, it is launched and runs. */
static uint32_t get_kernel(struct gen *g, struct kernels *k, const char *name, uint32_t code, uint32_t node, uint32_t queue)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (strcmp(k->names[i], name) == 0)
			return k->functions[i];
	if (k->n == MOST_KERNELS)
		fail("too many kernels");
	uint64_t id = k->n + 1;
	snprintf(k->names[k->n], NAME_BYTES, "%s", name);
	k->functions[k->n] = gen_gpu_function(g, code, name, "");
	uint32_t shape = gen_gpu_shape(g, (struct msr_gpu_shape){.function = k->functions[k->n], .grid = {1, 1, 1}, .block = {32, 1, 1}});
	gen_gpu_launch(g, 0, node, id, MSR_GPU_KERNEL, 1000 + id * 10000);
	gen_gpu_op(g, &(struct gen_gpu_op){.id = id, .kind = MSR_GPU_KERNEL, .start_ns = 2000 + id * 10000, .end_ns = 3000 + id * 10000, .queue = queue, .shape = shape});
	return k->functions[k->n++];
}

int main(int argc, char **argv)
{
	static struct kernels k;
	uint64_t hash[2];
	char file[48];
	FILE *in = argc == 4 ? fopen(argv[3], "r") : NULL;
	if (!in)
		fail("usage: gen_pc DIR CUBIN SAMPLES");
	struct gen *g = gen_open(argv[1], &(struct gen_process){.pid = 7, .rank = -1, .start_mono_ns = 1000, .start_real_ns = UINT64_C(1700000000000000000)});
	keep_code(argv[1], argv[2], hash, file);
	uint16_t module = gen_module(g, "/opt/bin/app", NULL, 0, MSR_MODULE_MAIN);
	gen_thread(g, "app");
	uint32_t node = gen_child(g, 0, gen_entry(g, 0, MSR_ENTRY_MAIN), msr_addr_make(module, 0x1000, false));
	gen_gpu_tally(g, 0, "nvidia", "a test");
	uint32_t device = gen_gpu_device(g, "Device", "", (struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU});
	uint32_t queue = gen_gpu_queue(g, "stream 7", (struct msr_gpu_def_queue){.context = gen_gpu_context(g, device, 0), .device = device});
	uint32_t code = gen_gpu_code(g, file, "", hash, MSR_GPU_CODE_ELF);
	gen_gpu_stall(g, 1, "long_scoreboard", "", 0);
	char name[NAME_BYTES];
	uint64_t offset, count, total = 0;
	while (fscanf(in, "%255s %" SCNx64 " %" SCNu64, name, &offset, &count) == 3) {
		gen_gpu_pc(g, &(struct msr_gpu_pc){offset, 0, count, get_kernel(g, &k, name, code, node, queue), 1, 0});
		total += count;
	}
	fclose(in);
	gen_gpu_range(g, &(struct msr_gpu_pc_range){.start_ns = 1000, .end_ns = 2000, .total = total, .recorded = total});
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	return 0;
}
