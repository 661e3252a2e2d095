/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the value of counters=...: our sets and CUPTI's names, joined by '+'. Independent of CUDA,
 * because the launcher checks it too. Pure; signal-safe. Test: tests/unit/cupti/test_counters.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_COUNTER_LIST_H
#define HPCRUN_LITE_GPU_CUPTI_NV_COUNTER_LIST_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>

#define NV_COUNTER_SETS "dram, l2, flops, tensor, roofline"
#define NV_MAX_COUNTERS 32u
#define NV_COUNTER_NAME_BYTES 96u

struct nv_counter {
	char name[NV_COUNTER_NAME_BYTES]; /* CUPTI's name; ends in ".sum" */
	enum msr_unit unit;
	const char *description;          /* "": the counter is in no set */
};

struct nv_counter_list {
	struct nv_counter at[NV_MAX_COUNTERS]; /* each once, in the order of the request */
	unsigned n;
};

/*
 * Only sums are allowed, because reports add values up. Returns false if a word is neither a set
 * nor a name of a sum, or if there are too many counters. *wrong and *wrong_bytes are then that
 * word.
 */
bool nv_counter_list_read(const char *words, size_t n_bytes, struct nv_counter_list *l,
			  const char **wrong, size_t *wrong_bytes);

#endif
