/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of the model: memory of a process, from sampled allocations. Include model.h. All amounts
 * are estimates: a sample stands for its weight (common/format/measurement_memory.h). An error is
 * half of the 95 % interval.
 */
#ifndef HPCPROF_MODEL_MODEL_MEMORY_H
#define HPCPROF_MODEL_MODEL_MEMORY_H

#include <stdint.h>

struct model_amount {
	double value, error;
	uint64_t n_samples;
};

enum model_memory_table {
	MODEL_MEMORY_SIZES, /* by size: `limit` in bytes */
	MODEL_MEMORY_LIVES  /* by life time: `limit` in ns; the last class was not freed */
};
/* Allocations of a class of sizes or life times: up to the limit, and more than the class before.
 */
struct model_memory_class {
	uint8_t table;  /* enum model_memory_table */
	uint64_t limit; /* UINT64_MAX: no limit */
	uint64_t n_samples;
	double calls, bytes, peak_bytes, end_bytes, temporary_calls;
};
enum { MODEL_MEMORY_SIZES_N = 10, MODEL_MEMORY_LIVES_N = 6, MODEL_MEMORY_POINTS = 512 };

struct model_memory {
	uint32_t process;
	uint64_t period; /* bytes; 1: every allocation was recorded */
	struct model_amount bytes, calls;
	struct model_amount mapped;    /* bytes of mmap: part of `bytes` */
	struct model_amount peak, end; /* live bytes */
	struct model_amount
		temporary;     /* calls whose block was its thread's last when it was freed */
	uint64_t peak_ns;      /* CLOCK_REALTIME: the first moment with the most live bytes */
	uint64_t n_unfollowed; /* samples whose end was not noticed; not in live bytes */
	uint64_t n_lost;       /* sampled allocations without a record; in no number here */
	/* most live bytes in equal parts of the process's time */
	float points[MODEL_MEMORY_POINTS];
	struct model_memory_class classes[MODEL_MEMORY_SIZES_N + MODEL_MEMORY_LIVES_N];
};

#endif
