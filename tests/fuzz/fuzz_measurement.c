/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a measurement file, through load, merge, expand, sums, time lines and the complete text. As LLVMFuzzerTestOneInput for libFuzzer
 * (clang -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE); else a program that replays files, and mutants of them:
 *
 *     fuzz_measurement [-n MUTANTS] FILE...
 *
 * make check replays the golden measurements with 1,000 mutants each. The inputs that once failed go to tests/fuzz/corpus/measurement.
 */
#include "common/base/log.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/sink/text_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static FILE *nowhere;
	/* exactly as long as the input: reads beyond it show under the sanitizers */
	void *bytes;
	if (posix_memalign(&bytes, 64, n ? n : 1) != 0)
		return 0;
	memcpy(bytes, data, n);
	if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
		abort();
	struct load_job job = {0};
	struct load_file *f = vec_push(&job.files);
	struct attribute_options o = {.n_workers = 1};
	struct model *m = NULL;
	if (f && load_file_bytes("fuzz", bytes, n, f) == STATUS_OK && attribute_run(&job, &o, &m) == STATUS_OK) {
		if (sink_text_all(m, nowhere) != STATUS_OK)
			abort();
		model_free(m);
	}
	load_job_close(&job);
	free(bytes);
	return 0;
}

#ifndef FUZZ_ENGINE

static uint64_t next_random(uint64_t *state) /* xorshift64* (Vigna 2016) */
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void mutate(uint8_t *bytes, size_t *n, uint64_t *state)
{
	static const uint64_t odd[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_C(0x7fffffffffffffff), UINT64_MAX};
	for (uint64_t k = 1 + next_random(state) % 8; k; k--) {
		size_t at = next_random(state) % *n, size = (size_t)1 << next_random(state) % 4;
		uint64_t value = next_random(state) % 3 ? odd[next_random(state) % 9] : next_random(state);
		at -= at % size;
		if (at + size > *n)
			continue;
		switch (next_random(state) % 8) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << next_random(state) % 8);
			break;
		case 1: { /* a block elsewhere */
			size_t to = next_random(state) % *n / 64 * 64, from = next_random(state) % *n / 64 * 64;
			if (to + 64 <= *n && from + 64 <= *n)
				memmove(bytes + to, bytes + from, 64);
			break;
		}
		case 2:
			if (next_random(state) % 16 == 0)
				*n -= *n > 64 ? next_random(state) % 64 : 0;
			break;
		default:
			memcpy(bytes + at, &value, size);
		}
	}
}

static int replay(const char *path, unsigned long n_mutants)
{
	FILE *in = fopen(path, "rb");
	if (!in) {
		perror(path);
		return 1;
	}
	fseek(in, 0, SEEK_END);
	size_t n = (size_t)ftell(in);
	rewind(in);
	uint8_t *bytes = malloc(n + 1), *mutant = malloc(n + 1);
	if (!bytes || !mutant || fread(bytes, 1, n, in) != n) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(1);
	}
	fclose(in);
	LLVMFuzzerTestOneInput(bytes, n);
	uint64_t state = 88172645463325252u + n;
	for (unsigned long i = 0; i < n_mutants && n; i++) {
		size_t length = n;
		memcpy(mutant, bytes, n);
		mutate(mutant, &length, &state);
		LLVMFuzzerTestOneInput(mutant, length);
	}
	free(bytes);
	free(mutant);
	printf("# %s: %lu mutants\n", path, n_mutants);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long n_mutants = 0;
	int failed = 0, first = 1;
	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		n_mutants = strtoul(argv[2], NULL, 10);
		first = 3;
	}
	if (!freopen("/dev/null", "w", stderr)) /* the loader speaks of damage */
		return 1;
	for (int i = first; i < argc; i++)
		failed |= replay(argv[i], n_mutants);
	return failed;
}

#endif
