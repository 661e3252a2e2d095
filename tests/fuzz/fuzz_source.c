/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as OpenCL source text; what is found lies inside it and in order. As
 *LLVMFuzzerTestOneInput for libFuzzer (clang -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE);
 *else a program that replays files and mutants of them:
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
			if (f->start < end || f->end <= f->start || f->end > n ||
			    f->name_bytes == 0 || f->name < f->start ||
			    f->name + f->name_bytes > f->end || f->file >= text.files.starts.n)
				abort();
			end = f->end;
			sum += f->line + f->name;
		}
		for (size_t i = 1; i < text.lines.n; i++)
			if (text.lines.at[i].offset <= text.lines.at[i - 1].offset ||
			    text.lines.at[i].offset > n)
				abort();
	}
	source_text_free(&text);
	free(bytes);
	return 0;
}

#ifndef FUZZ_ENGINE
/* Bytes anywhere, and tokens of the language. */
static size_t change(uint8_t *mutant, size_t n, unsigned long k, uint64_t *state)
{
	mutate_bytes(mutant, 0, n, state);
	for (uint64_t tokens = mutate_random(state) % 4; tokens > 0; tokens--)
		mutant[mutate_random(state) % n] =
			(uint8_t) "{}()#\"\n\\/*;'="[mutate_random(state) % 14];
	return mutate_length(n, k, state);
}

int main(int argc, char **argv)
{
	int n_files;
	unsigned long n_mutants = mutate_files(
		&(struct mutate_target){.one = LLVMFuzzerTestOneInput, .change = change}, argc,
		argv, &n_files);
	printf("# %d files, %lu mutants each, sum %llu\n", n_files, n_mutants,
	       (unsigned long long)sum);
	return 0;
}
#endif
