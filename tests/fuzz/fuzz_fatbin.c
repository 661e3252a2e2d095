/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a file with fat binaries in it: each entry lies inside, unpacking ends
 *well or badly but ends. As LLVMFuzzerTestOneInput for libFuzzer (clang
 *-fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE); else a program that replays files and mutants
 *of them:
 *
 *	fuzz_fatbin [-n MUTANTS] FILE...
 */
#include "hpcstruct-lite/image/fatbin.h"
#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static unsigned long n_entries, n_unpacked;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *bytes = malloc(n ? n : 1), *contents; /* exactly as long as the input */
	struct fatbin_search search = {0};
	struct fatbin_entry e;
	if (!bytes)
		return 0;
	memcpy(bytes, data, n);
	while (fatbin_next(bytes, n, &search, &e)) {
		if (e.bytes < bytes || e.n_bytes > n - (size_t)(e.bytes - bytes) || search.at > n)
			abort();
		n_entries++;
		if (fatbin_unpack(&e, &contents) == FATBIN_OK) {
			n_unpacked++;
			free(contents);
		}
	}
	free(bytes);
	return 0;
}

#ifndef FUZZ_ENGINE
/* Headers, or anything. */
static size_t change(uint8_t *mutant, size_t n, unsigned long k, uint64_t *state)
{
	mutate_bytes(mutant, 0, k % 2 ? 80 : n, state);
	return mutate_length(n, k, state);
}

int main(int argc, char **argv)
{
	int n_files;
	unsigned long n_mutants = mutate_files(
		&(struct mutate_target){
			.one = LLVMFuzzerTestOneInput, .change = change, .least_bytes = 80},
		argc, argv, &n_files);
	printf("# %d files, %lu mutants each: %lu entries, %lu unpacked\n", n_files, n_mutants,
	       n_entries, n_unpacked);
	return 0;
}
#endif
