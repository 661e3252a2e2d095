/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of ranks that behave alike: they spend the same time in the same functions, apart from
 * what sampling leaves to chance. Reports show many ranks by their groups, so that unusual ranks
 * stand out. Test: tests/cli/prof/prof_scale.sh.
 */
#ifndef HPCPROF_VIEW_PARALLEL_VIEW_RANKS_H
#define HPCPROF_VIEW_PARALLEL_VIEW_RANKS_H

#include "hpcprof-lite/view/view_values.h"

#define VIEW_RANKS_LEAST 64 /* fewer ranks are better read one by one */
/* ranks that fit none of so many groups form the last one */
#define VIEW_RANKS_GROUPS 24

struct view_rank_group {
	uint32_t first, n;  /* in view_ranks.processes */
	double mean;        /* of the metric, for a rank */
	/*
	 * the function in which it differs most from the largest group; MODEL_NONE: it is that
	 * group
	 */
	uint32_t function;
	double here, there; /* means for a rank in that function: of this group, of the largest */
	bool is_mixed;      /* the ranks that fit no other group; they need not be alike */
};

struct view_ranks {
	struct view_rank_group groups[VIEW_RANKS_GROUPS + 1]; /* by falling size */
	uint32_t n_groups;
	uint32_t *processes; /* the first of each rank; by group, then by rank */
	uint32_t n;          /* of all groups */
};

/*
 * A rank is all processes with its number, as in other views. n_groups is 0 if there are less than
 * VIEW_RANKS_LEAST ranks. False if memory is short; then there is nothing to free.
 */
bool view_ranks_make(const struct model *m, const struct view_values *v, struct view_ranks *r);
void view_ranks_free(struct view_ranks *r);

#endif
