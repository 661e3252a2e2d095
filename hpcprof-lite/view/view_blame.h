/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the waiting lines of each kernel wait for: pairs of lines, summed over all contexts and
 * processes. Test: tests/unit/prof_gpu/test_blame_text.c.
 */
#ifndef HPCPROF_VIEW_VIEW_BLAME_H
#define HPCPROF_VIEW_VIEW_BLAME_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/format/structure.h"
#include "hpcprof-lite/model/model.h"

struct view_blame_pair {
	uint32_t kernel;         /* function */
	uint32_t waiting, cause; /* the contexts with the most samples; they name the lines */
	double most, samples;
	/* sums of the same members of struct model_gpu_blame */
	double issued, issued_bytes, cycles;
	uint32_t metric;         /* the stall reason */
	enum structure_wait_kind kind;
	enum structure_operation operation;
	bool is_carried, is_chained, is_before; /* as in struct model_gpu_blame */
	bool is_same_line;
};

/* Samples of a kernel that waited for an instruction or for warps, without a known cause. */
struct view_unblamed {
	uint32_t kernel;         /* function */
	double samples;
};

struct view_blame {
	VEC(struct view_blame_pair) pairs; /* by kernel, then falling samples */
	VEC(struct view_unblamed) unblamed;
};

/* False if memory is short; then there is nothing to close. */
bool view_blame_open(const struct model *m, struct view_blame *b);
void view_blame_close(struct view_blame *b);
/* Returns the index of the kernel's first pair, and sets *n to the number of its pairs. */
size_t view_blame_find(const struct view_blame *b, uint32_t kernel, size_t *n);
double view_blame_unblamed(const struct view_blame *b, uint32_t kernel);

/*
 * The innermost loop around the cause that is not around the waiting line, so the cause repeats in
 * it. MODEL_NONE: there is none.
 */
uint32_t view_blame_loop(const struct model *m, const struct view_blame_pair *p);
/*
 * What the line waits for: "global load of the iteration before at", to be followed by the place of
 * the cause; or "global load in the same line".
 */
void view_blame_words(const struct view_blame_pair *p, char *to, size_t n_bytes);

#endif
