/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of GPU work in the text. Test: tests/unit/sink/test_text_gpu.c. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_GPU_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_GPU_H

#include "hpcprof-lite/model/model.h"

/*
 * "GMEM 71%, IDEP 12%": the stall reasons of a context, inclusive or only at the context itself. ""
 * if there are none.
 */
void text_gpu_stalls(const struct model *m, uint32_t context, bool inclusive, char *to,
	size_t n_bytes);
/*
 * "64 x 256" or "16,16 x 8,8": groups x work-items of a group. "4096 items": the GPU runtime chose
 * the groups. "*" at the end: other launches have other shapes. "": unknown.
 */
void text_gpu_shape(char *to, size_t n_bytes, const struct model *m, uint32_t shape, bool more);
/*
 * "kernels.cu:4 in fma_of, inlined at kernels.cu:39". If it is too long, the function's name is
 * cut.
 */
void text_gpu_line(const struct model *m, uint32_t context, size_t room, char *to, size_t n_bytes);
/*
 * "cuLaunchKernel at solve.cu:20 in step, at ...": the call that an operation belongs to, and where
 * it and its callers were called, n_callers lines. If it is too long, it is cut.
 */
void text_gpu_call(const struct model *m, uint32_t context, unsigned n_callers, char *to,
		   size_t n_bytes);
/* "host to device" and so on. */
const char *text_gpu_direction(enum msr_gpu_direction d);

#endif
