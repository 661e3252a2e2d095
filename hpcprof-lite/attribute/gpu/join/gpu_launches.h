/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launches of one file by id, and what happened to each. Launches are numbered from 0 in the
 * order of load_gpu.launches. If the ids of a back end are dense, it has a table from id to number
 * (4 bytes for each id); otherwise a sorted list (16 bytes for each launch). Each launch also has
 * one byte of state. Test: tests/unit/prof_gpu/test_gpu_join.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_LAUNCHES_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_LAUNCHES_H

#include "hpcprof-lite/load/load_gpu.h"

#define GPU_LAUNCH_NONE UINT32_MAX
/*
 * A value of `state`: the launch has an operation. Other values are the cause of its loss; 0:
 * neither.
 */
#define GPU_LAUNCH_JOINED 0x80u
#define GPU_LAUNCH_UNSOUND 0x7fu /* state: the record is damaged, or its id was already used */

struct gpu_launch_entry {
	uint64_t id;
	uint32_t number;
};

struct gpu_launch_table {
	uint64_t low;                     /* smallest id */
	uint64_t n; /* length of `dense`: largest id - low + 1; or length of `sorted` */
	uint32_t *dense;                  /* number + 1; 0: no such launch */
	struct gpu_launch_entry *sorted;  /* used if ids are too sparse */
};

struct gpu_launches {
	const struct load_gpu *gpu;
	/* by part: number of its first launch; the last entry: number of all launches */
	uint64_t *starts;
	uint32_t n;
	uint8_t *state;                   /* by number */
	struct gpu_launch_table tables[LOAD_GPU_BACKENDS];
	size_t last_part;
};

/* False if memory is short. In all cases call gpu_launches_free(). */
bool gpu_launches_index(struct gpu_launches *l, const struct load_gpu *g);
/* The number of the launch with this id, or GPU_LAUNCH_NONE. */
uint32_t gpu_launches_find(const struct gpu_launches *l, uint64_t id);
/* Returns the record of a launch. *part becomes the extent that contains it. */
const struct msr_gpu_launch *gpu_launches_get(struct gpu_launches *l, uint32_t number,
	const struct load_gpu_part **part);
void gpu_launches_free(struct gpu_launches *l);

#endif
