/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the path of a thread that works for a parallel region with the path of the thread that
 * forked the region. Leaves out the frames of the OpenMP run time between them:
 *
 *     in the function of a region    path of the fork, function, what it calls
 *     at the end of a region         path of the fork, MSR_WAIT_OMP_END, the run time's frames
 *     a worker outside regions       MSR_ENTRY_OMP_IDLE, the run time's frames
 *
 * This happens after the walk of the thread's own stack and, if there is Python, after the Python
 * frames were added. So the unwinder's result depends only on the stack. Each thread walks the path
 * of the fork once for each instance of a region, if a sample needs it; its frames do not change
 * until the join. Signal-safe unless noted. See doc/openmp.md.
 * Test: tests/unit/openmp/test_region.c.
 */
#ifndef HPCRUN_LITE_REGIONS_REGION_PATH_H
#define HPCRUN_LITE_REGIONS_REGION_PATH_H

#include "hpcrun-lite/regions/region.h"

enum { REGION_MAX_PIECES = REGION_MAX_NESTED + 1 + STACK_MARKS_MAX };

/* The pieces of the thread's own path that remain. */
struct region_plan {
	uint32_t n_pieces;
	/* Piece i has the addresses from cut[2 * i] to before cut[2 * i + 1]; they ascend. */
	uint32_t cut[2 * REGION_MAX_PIECES];
	uint64_t outside[REGION_MAX_PIECES]; /* a synthetic frame outside the piece; 0: none */
	bool is_idle;
	bool has_other;                /* outside the pieces is the path of a fork */
};

/* Not signal-safe: call once per process before the first path. */
void region_path_start(uint32_t max_depth);

/*
 * Finds out what to do with the path that `own` walked last: looks for regions and for marks on the
 * stack. Returns false if the path stays as it is.
 */
bool region_path_plan(struct region_thread *t, const struct unwind_thread *own,
		      const struct unwind_path *walked, struct region_plan *plan);

/*
 * Identifies everything except its own stack that the calling thread's path depends on: how far it
 * is in the regions that it forked, the instance of a region that another thread forked, and marks.
 * Equal stacks with equal tags have equal paths. 0: none of these.
 */
uint64_t region_path_tag(const struct region_thread *t);

/*
 * A path to insert into the tree. If is_joined, module 0 means synthetic frames and 0xffff means
 * code in no module; otherwise module 0 means code in no module.
 */
struct region_path {
	const uint64_t *addr; /* borrowed, valid until the next path */
	uint32_t n, n_same;
	enum unwind_end end;
	bool heuristic, is_joined, is_idle;
	bool broken;  /* Python frames of the thread that forked could not be read */
	bool is_lost; /* not joined, although the thread is in a region: MSR_LOSS_OMP_PATHS */
	bool is_main; /* the outermost frame is one of the thread that ran main */
};

/*
 * *path is the thread's own path, perhaps with Python frames. The cuts of the plan are indices into
 * it. Replaces it by the joined path. `plan` NULL: leaves it unchanged. All paths of a thread must
 * go through here, because n_same refers to the previous one.
 */
void region_path_make(struct region_thread *t, const struct region_plan *plan,
		      struct region_path *path);

#endif
