/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts single kernels out of cubins. A cubin of a library can have hundreds of kernels, but a
 * program launches only a few. The result is a cubin with one kernel: its code, relocations,
 * resources and symbols. It depends only on the cubin and the kernel. An image may contain
 * anything. No malloc. Test: tests/unit/cupti/test_cupti_cut.c, tests/cli/struct/struct_cut.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_CUT_H
#define HPCRUN_LITE_GPU_CUPTI_NV_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns true if the sections of a kernel contain everything that reports need. Then the cubin has
 * no lines (one table for all kernels) and no device functions in sections of their own (shared by
 * kernels). Returns false if it has fewer than two kernels, or is damaged.
 */
bool nv_cut_is_possible(const void *image, size_t bytes);
/*
 * Copies the parts of an image that nv_cut needs to the same offsets in `to`, which has `bytes`
 * bytes. `read` reads from the image, which is elsewhere. Returns false if `read` does, or if there
 * is no such kernel.
 */
bool nv_cut_gather(void *to, size_t bytes, const char *name,
		   bool (*read)(void *arg, void *to, uint64_t offset, size_t n), void *arg);
/*
 * Writes a cubin with only the kernel `name` to `out`, if it fits into `room` bytes. Returns its
 * size; 0: there is no such kernel, or the cubin is damaged.
 */
size_t nv_cut(const void *image, size_t bytes, const char *name, void *out, size_t room);

#endif
