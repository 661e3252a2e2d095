/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of NVTX in generated measurements: adds extents to the file that gen_close() wrote. Nodes
 * are those of gen_child(). What ran in range number n is at the node gen_nvtx_inside() of n.
 */
#ifndef TESTS_GEN_GEN_NVTX_H
#define TESTS_GEN_GEN_NVTX_H

#include "common/format/measurement_nvtx.h"
#include "tests/gen/gen.h"

/* Sets `bytes` and `text_bytes` of the record. */
void gen_nvtx_name(const char *path, struct msr_nvtx_name name, const char *text);
void gen_nvtx_ranges(const char *path, uint32_t thread, const struct msr_nvtx_range *r, size_t n);
void gen_nvtx_events(const char *path, uint32_t thread, const struct msr_nvtx_event *e, size_t n);

static inline uint32_t gen_nvtx_inside(struct gen *g, uint32_t thread, uint32_t node, uint32_t n)
{
	return gen_child(g, thread, node, msr_addr_make(MSR_MODULE_NONE, MSR_NVTX + 1 + n, false));
}

#endif
