/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a file with fat binaries in it: each entry lies inside, unpacking ends well or badly but ends. As LLVMFuzzerTestOneInput for libFuzzer
 * (clang -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE); else a program that replays files and mutants of them:
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
		for (unsigned long k = 0; k < n_mutants && n > 80; k++) {
			memcpy(mutant, bytes, n);
			mutate_bytes(mutant, 0, k % 2 ? 80 : n, &state); /* headers, or anything */
			LLVMFuzzerTestOneInput(mutant, k % 16 ? n : n - mutate_random(&state) % n);
		}
		free(bytes);
		free(mutant);
	}
	printf("# %d files, %lu mutants each: %lu entries, %lu unpacked\n", argc - first, n_mutants, n_entries, n_unpacked);
	return 0;
}
#endif
