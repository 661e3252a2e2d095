/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutants for programs that replay fuzz inputs without a fuzzing engine: always the same ones for the same input. */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

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

/* Changes up to 8 places between `low` and `high`: odd numbers of all widths, single bits, blocks from elsewhere. */
static inline void mutate_bytes(uint8_t *bytes, size_t low, size_t high, uint64_t *state)
{
	static const uint64_t odd[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_C(0x7fffffffffffffff), UINT64_MAX};
	for (uint64_t k = 1 + mutate_random(state) % 8; k && high > low; k--) {
		size_t at = low + mutate_random(state) % (high - low), size = (size_t)1 << mutate_random(state) % 4;
		uint64_t value = mutate_random(state) % 3 ? odd[mutate_random(state) % 9] : mutate_random(state);
		if (at + size > high)
			continue;
		switch (mutate_random(state) % 4) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << mutate_random(state) % 8);
			break;
		case 1: {
			size_t n = 1 + mutate_random(state) % 16, from = low + mutate_random(state) % (high - low);
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

#endif
