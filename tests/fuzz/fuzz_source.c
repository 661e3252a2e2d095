/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as OpenCL source text; what is found lies inside it and in order. As LLVMFuzzerTestOneInput for libFuzzer
 * (clang -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE); else a program that replays files and mutants of them:
 *
 *	fuzz_source [-n MUTANTS] FILE...
 */
#include "hpcstruct-lite/debug/opencl_source.h"
#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint64_t sum; /* of all that was found, so that mutants are seen to differ */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct source_text text;
	uint8_t *bytes = malloc(n ? n : 1); /* exactly as long as the input */
	if (!bytes)
		return 0;
	memcpy(bytes, data, n);
	if (source_scan("fuzz.cl", bytes, n, &text)) {
		uint32_t end = 0;
		for (size_t i = 0; i < text.functions.n; i++) {
			const struct source_function *f = &text.functions.at[i];
			if (f->start < end || f->end <= f->start || f->end > n || f->name_bytes == 0 || f->name < f->start || f->name + f->name_bytes > f->end ||
				f->file >= text.files.starts.n)
				abort();
			end = f->end;
			sum += f->line + f->name;
		}
		for (size_t i = 1; i < text.lines.n; i++)
			if (text.lines.at[i].offset <= text.lines.at[i - 1].offset || text.lines.at[i].offset > n)
				abort();
	}
	source_text_free(&text);
	free(bytes);
	return 0;
}

#ifndef FUZZ_ENGINE
int main(int argc, char **argv)
{
	unsigned long n_mutants = 0;
	int first = 1;
	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		n_mutants = strtoul(argv[2], NULL, 10);
		first = 3;
	}
	for (int i = first; i < argc; i++) {
		size_t n;
		uint8_t *bytes = mutate_load(argv[i], &n), *mutant = malloc(n + 1);
		uint64_t state = 88172645463325252u + n;
		if (!mutant)
			return 1;
		LLVMFuzzerTestOneInput(bytes, n);
		for (unsigned long k = 0; k < n_mutants && n; k++) {
			memcpy(mutant, bytes, n);
			mutate_bytes(mutant, 0, n, &state);
			for (uint64_t tokens = mutate_random(&state) % 4; tokens > 0; tokens--)
				mutant[mutate_random(&state) % n] = (uint8_t)"{}()#\"\n\\/*;'="[mutate_random(&state) % 14];
			LLVMFuzzerTestOneInput(mutant, k % 16 ? n : n - mutate_random(&state) % n);
		}
		free(bytes);
		free(mutant);
	}
	printf("# %d files, %lu mutants each, sum %llu\n", argc - first, n_mutants, (unsigned long long)sum);
	return 0;
}
#endif
