/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that replay fuzz inputs and mutants of them without a fuzzing engine: always the same
 * mutants for the same input. A fuzz target that tries bytes and says how to change them is all but
 * its main with this; fuzz_elf.c judges what it sees and goes through its files itself.
 */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t mutate_random(uint64_t *state) /* xorshift64* (Vigna 2016) */
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

/* Changes up to 8 places between `low` and `high`: odd numbers of all widths, single bits, blocks
 * from elsewhere. */
static inline void mutate_bytes(uint8_t *bytes, size_t low, size_t high, uint64_t *state)
{
	static const uint64_t odd[] = {
		0,         1,          0x7f,       0xff,
		0xffff,    0x7fffffff, 0xffffffff, UINT64_C(0x7fffffffffffffff),
		UINT64_MAX};
	for (uint64_t k = 1 + mutate_random(state) % 8; k && high > low; k--) {
		size_t at = low + mutate_random(state) % (high - low),
		       size = (size_t)1 << mutate_random(state) % 4;
		uint64_t value = mutate_random(state) % 3 ? odd[mutate_random(state) % 9]
							  : mutate_random(state);
		if (at + size > high)
			continue;
		switch (mutate_random(state) % 4) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << mutate_random(state) % 8);
			break;
		case 1: {
			size_t n = 1 + mutate_random(state) % 16,
			       from = low + mutate_random(state) % (high - low);
			if (at + n <= high && from + n <= high)
				memmove(bytes + at, bytes + from, n);
			break;
		}
		default:
			memcpy(bytes + at, &value, size);
		}
	}
}

/* The bytes of a file, to be freed; ends the program when it cannot be read. */
static inline uint8_t *mutate_load(const char *path, size_t *n)
{
	FILE *in = fopen(path, "rb");
	if (!in || fseek(in, 0, SEEK_END) != 0)
		exit(1);
	*n = (size_t)ftell(in);
	rewind(in);
	uint8_t *bytes = malloc(*n + 1);
	if (!bytes || fread(bytes, 1, *n, in) != *n)
		exit(1);
	fclose(in);
	return bytes;
}

static inline uint64_t mutate_seed(size_t n)
{
	return UINT64_C(88172645463325252) + n;
}

/* All of a mutant, or each sixteenth time the beginning of it. */
static inline size_t mutate_length(size_t n, unsigned long k, uint64_t *state)
{
	return k % 16 ? n : n - mutate_random(state) % n;
}

struct mutate_target {
	int (*one)(const uint8_t *bytes, size_t n);
	/* Changes mutant k, a copy of the input, which is not empty; returns how many of its bytes
	 * are tried. NULL: bytes anywhere. */
	size_t (*change)(uint8_t *bytes, size_t n, unsigned long k, uint64_t *state);
	size_t least_bytes; /* no mutants of a shorter input */
	bool speaks;        /* on stderr, of damage: not shown */
};

static inline void mutate_file(const struct mutate_target *t, const char *path,
			       unsigned long n_mutants)
{
	size_t n;
	uint8_t *bytes = mutate_load(path, &n), *mutant = malloc(n + 1);
	uint64_t state = mutate_seed(n);
	if (!mutant)
		exit(1);
	t->one(bytes, n);
	for (unsigned long k = 0; k < n_mutants && n > t->least_bytes; k++) {
		size_t some = n;
		memcpy(mutant, bytes, n);
		if (t->change) {
			some = t->change(mutant, n, k, &state);
		} else {
			mutate_bytes(mutant, 0, n, &state);
			some = mutate_length(n, k, &state);
		}
		t->one(mutant, some);
	}
	free(bytes);
	free(mutant);
}

/* PROGRAM [-n MUTANTS] FILE...; returns the number of mutants of each file, and in *n_files how
 * many files there were. */
static inline unsigned long mutate_files(const struct mutate_target *t, int argc, char **argv,
					 int *n_files)
{
	unsigned long n_mutants = 0;
	int first = 1;
	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		n_mutants = strtoul(argv[2], NULL, 10);
		first = 3;
	}
	if (t->speaks && !freopen("/dev/null", "w", stderr))
		exit(1);
	for (int i = first; i < argc; i++)
		mutate_file(t, argv[i], n_mutants);
	*n_files = argc - first;
	return n_mutants;
}

#endif
