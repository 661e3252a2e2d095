/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as OpenCL source text. The kernels found are inside it and in order. As
 * LLVMFuzzerTestOneInput for libFuzzer (clang -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE);
 * else a program that replays files and mutants of them:
 *
 *	fuzz_source [-n MUTANTS] FILE...
 */
#include "hpcstruct-lite/debug/opencl_source.h"
#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint64_t sum; /* of all that was found, so that mutants are seen to differ */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char path[] = "/nowhere/fuzz.cl";
	uint8_t *bytes = malloc(n ? n : 1); /* exactly as long as the input */
	struct image image = {.path = path, .file = {.bytes = bytes, .n_bytes = n}};
	struct debug_unit unit = {.offset = 0};
	struct strtab names = {0};
	if (!bytes)
		return 0;
	memcpy(bytes, data, n);
	if (source_read_unit(&image, &unit, &names) == STATUS_OK) {
		uint64_t end = 0;
		for (size_t i = 0; i < unit.ranges.n; i++) {
			const struct debug_range *r = &unit.ranges.at[i];
			if (r->start < end || r->end <= r->start || r->end > n || r->scope != i ||
			    !unit.definitions.at[i].name[0] || unit.definitions.at[i].line == 0)
				abort();
			end = r->end;
			sum += unit.definitions.at[i].line + r->start;
		}
	}
	debug_unit_free(&unit);
	strtab_free(&names);
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
