/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the path of a thread that works for a parallel region with the path of the thread that
 * forked the region, and leaves out the frames of the OpenMP run time in between:
 *
 *     in the function of a region    path of the fork, function, what it calls
 *     at the end of a region         path of the fork, MSR_WAIT_OMP_END, the run time's frames
 *     a worker outside of regions    MSR_ENTRY_OMP_IDLE, the run time's frames
 *
 * This happens after the walk of the thread's own stack and, if there is Python, after the Python
 * frames are in. So the unwinder stays a function of the stack. The path of the fork is walked once
 * for each thread and instance of a region, if a sample needs it: until the join its frames do not
 * change. Signal-safe unless noted. See doc/openmp.md. Test: tests/unit/openmp/test_region.c.
 */
#ifndef HPCRUN_LITE_REGIONS_REGION_PATH_H
#define HPCRUN_LITE_REGIONS_REGION_PATH_H

#include "hpcrun-lite/regions/region.h"

enum { REGION_MAX_PIECES = REGION_MAX_NESTED + 1 + STACK_MARKS_MAX };

/* Which pieces of the thread's own path remain. */
struct region_plan {
	uint32_t n_pieces;
	/* Piece i has the addresses from cut[2 * i] to before cut[2 * i + 1]; they ascend. */
	uint32_t cut[2 * REGION_MAX_PIECES];
	uint64_t outside[REGION_MAX_PIECES]; /* a synthetic frame outside of the piece; 0: none */
	bool is_idle;
	bool has_other;                /* outside of the pieces is the path of a fork */
};

/* Not signal-safe: call once per process before the first path. */
void region_path_start(uint32_t max_depth);

/*
 * Finds out what to do with the path that `own` walked last: regions and marks of the stack.
 * Returns false if it stays as it is.
 */
bool region_path_plan(struct region_thread *t, const struct unwind_thread *own,
		      const struct unwind_path *walked, struct region_plan *plan);

/*
 * What the path of the calling thread depends on besides its own stack: how far it is in the
 * regions that it forked, the instance of one that another thread forked, and marks. Equal stacks
 * with equal tags have equal paths. 0: neither.
 */
uint64_t region_path_tag(const struct region_thread *t);

/*
 * A path to insert into the tree. If is_joined, module 0 stands for synthetic frames and
 * 0xffff for code in no module; otherwise module 0 stands for the latter.
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
 * *path is the thread's own path, perhaps with Python frames; the cuts of the plan are indices into
 * it. Replaces it by the joined one. `plan` NULL: it stays. All paths of a thread must go through
 * here, because n_same refers to the previous one.
 */
void region_path_make(struct region_thread *t, const struct region_plan *plan,
		      struct region_path *path);

#endif
