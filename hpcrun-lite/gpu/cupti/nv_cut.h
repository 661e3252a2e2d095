/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts single kernels out of cubins: libraries have cubins of hundreds of kernels, of which a
 * program launches a few. The result is a cubin with one kernel: its code, relocations, resources
 * and symbols. It depends only on the cubin and the kernel. An image may contain anything. No
 * malloc. Test: tests/unit/cupti/test_cupti_cut.c, tests/cli/struct/struct_cut.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_CUT_H
#define HPCRUN_LITE_GPU_CUPTI_NV_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns true if all that reports need of a kernel is in the sections that belong to it: the cubin
 * has no lines, which are in one table for all kernels, and no device functions with sections of
 * their own, which kernels share. False if it has fewer than two kernels, or is damaged.
 */
bool nv_cut_is_possible(const void *image, size_t bytes);
/*
 * Reads from an image that is elsewhere what nv_cut needs of it, to its places in `to`, which has
 * `bytes` bytes. Returns false if `read` does, or if there is no such kernel.
 */
bool nv_cut_gather(void *to, size_t bytes, const char *name,
		   bool (*read)(void *arg, void *to, uint64_t offset, size_t n), void *arg);
/*
 * Writes the cubin with the kernel `name` alone to `out` if it has no more than `room` bytes.
 * Returns its size; 0: there is no such kernel, or something about it is damaged.
 */
size_t nv_cut(const void *image, size_t bytes, const char *name, void *out, size_t room);

#endif
