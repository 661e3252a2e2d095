/* SPDX-License-Identifier: BSD-3-Clause */
/* Between view_gpu.c and view_gpu_share.c. All functions return false if memory is short. */
#ifndef HPCPROF_VIEW_VIEW_GPU_MAKING_H
#define HPCPROF_VIEW_VIEW_GPU_MAKING_H

#include "common/base/map.h"
#include "hpcprof-lite/view/view_gpu.h"

/* The first copy of a call path in a direction. */
struct gpu_first_copy {
	uint32_t context, direction;
	uint64_t amount;
};

struct gpu_making {
	const struct model *m;
	struct view_gpu *g;
	uint32_t first, end; /* the profiles first .. end - 1 are read */
	struct map index;    /* (function, 0) -> kernel, (context, 1 + direction) -> first copy */
	VEC(struct gpu_first_copy) firsts;
};

/* Makes *g of operations. */
bool view_gpu_read(struct gpu_making *w);
/* Makes the kernel if it is new. NULL: memory is short. */
struct view_gpu_kernel *view_gpu_kernel(struct gpu_making *w, uint32_t function);
/* Does nothing if there is one of the same path and direction. */
bool view_gpu_add_first(struct gpu_making *w, const struct gpu_first_copy *copy);
/* Adds totals, and frees all but *g; also *g if `ok` is false. Returns whether *g is whole. */
bool view_gpu_end(struct gpu_making *w, bool ok);

#endif
