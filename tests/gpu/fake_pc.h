/* SPDX-License-Identifier: BSD-3-Clause */
/* PC sampling of the CUPTI that does not exist (fake_cuda.c), and what the two need of each other. */
#ifndef TESTS_GPU_FAKE_PC_H
#define TESTS_GPU_FAKE_PC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_UNITS 12u
#define FAKE_CLOCK_KHZ 1000000u

/* ---- fake_cuda.c */

bool fake_is(const char *how); /* FAKE_CUDA is that */
uint64_t fake_now_ns(void);
uint64_t fake_busy_until_ns(void); /* when all streams have done what they were asked for */

/* ---- fake_pc.c */

/* The checksum of a module that is being loaded. */
uint64_t fake_pc_load(const void *image, size_t bytes);
/* A kernel runs. */
void fake_pc_kernel(uint64_t crc, uint32_t index, char *name, uint64_t begin_ns, uint64_t end_ns, uint32_t correlation);
/* Launches return when their kernel has ended. */
bool fake_pc_is_serialized(void);
/* Records of kernels cannot be enabled any more. */
bool fake_pc_is_enabled(void);
void fake_pc_context_gone(void);

#endif
