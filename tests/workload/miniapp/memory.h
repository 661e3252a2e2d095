/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for a program that cannot go on without it.
 */
#ifndef MELT_MEMORY_H
#define MELT_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

/* Zeroed memory for n elements; says so and ends the program when there is none. Freed with
 * free(). */
static inline void *memory_get(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fprintf(stderr, "melt: no memory for %zu elements of %zu bytes\n", n, size);
		exit(1);
	}
	return p;
}

#endif
