/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the generator share: writing extents. Not for tests. */
#ifndef TESTS_GEN_GEN_EXTENT_H
#define TESTS_GEN_GEN_EXTENT_H

#include <stddef.h>
#include <stdint.h>

struct gen;
struct gen_gpu;

struct gen_extent {
	unsigned kind; /* enum msr_kind */
	uint16_t record_bytes;
	uint32_t thread, sequence;
	uint64_t first;
	size_t slack; /* room reserved and not used */
};

void gen_put_extent(struct gen *g, const struct gen_extent *s, const void *content, size_t n_bytes);
/* Adds an extent to a file that gen_close() wrote. */
void gen_add_extent(const char *path, const struct gen_extent *s, const void *content, size_t n);
/* Content of an extent. */
uint32_t gen_extent_bytes(const struct gen *g);
/* Something happened then: the process ends after it. */
void gen_moment(struct gen *g, uint64_t mono_ns);
struct gen_gpu *gen_gpu_new(void);

#endif
