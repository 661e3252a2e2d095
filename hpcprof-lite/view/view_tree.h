/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of call paths as reports show it: the values of one metric with the frames of the Python
 * interpreter folded, the part with guessed frames, and the GPU time beside a CPU metric. Lists
 * what is below a context, largest first. Test: tests/unit/test_view_tree.c,
 * tests/unit/sink/test_text.c.
 */
#ifndef HPCPROF_VIEW_VIEW_TREE_H
#define HPCPROF_VIEW_VIEW_TREE_H

#include "common/base/vec.h"
#include "hpcprof-lite/view/view_fold.h"
#include "hpcprof-lite/view/view_values.h"

/* GPU time and launches by context. In kernels with PC samples, the samples divide the time. */
struct view_gpu_values {
	struct view_values time, kernels;
	struct view_values samples; /* without arrays if there are no PC samples */
};

/*
 * Opens the GPU values to show beside `metric`. *any becomes false if there is no GPU time or
 * `metric` is not a CPU metric; then, and if memory is short (false), there is nothing to close.
 */
bool view_gpu_values_open(const struct model *m, uint32_t metric, struct view_gpu_values *g,
	bool *any);
void view_gpu_values_close(struct view_gpu_values *g);
/* Divides v by PC samples if it is a GPU time of kernels. False if memory is short. */
bool view_gpu_values_spread(const struct model *m, struct view_values *v);

struct view_tree {
	const struct model *m;
	struct view_values values;
	struct view_values guessed; /* the part of `values` with guessed frames */
	bool has_guesses, has_gpu;
	struct view_gpu_values gpu;
	struct view_fold fold;
	/*
	 * An item is listed if its share of the metric or of the GPU time is at least this, and its
	 * value at least `least` of that metric.
	 */
	double threshold;
	double *owned[4]; /* folded totals */
};

/* A row: an entry, function or loop with all below it, or a line with only its own value. */
struct view_item {
	uint32_t context;
	bool is_line;
};
typedef VEC(struct view_item) view_items;

/*
 * Borrows the values `v` and `gpu` (NULL: none). `folds`: hide frames of the Python interpreter.
 * False if memory is short. In all cases call view_tree_close().
 */
bool view_tree_open(const struct model *m, const struct view_values *v,
	const struct view_gpu_values *gpu, bool folds, double threshold, struct view_tree *t);
void view_tree_close(struct view_tree *t);

/* Appends the items directly below a context: lines with own values, loops, calls and inlined
 * calls. False if memory is short. */
bool view_tree_list(const struct view_tree *t, uint32_t context, view_items *to);
/* By the larger share of metric and GPU time, largest first. */
void view_tree_sort(const struct view_tree *t, struct view_item *items, size_t n);
/* The item's value in t->values, or in another metric of the tree. */
double view_item_value(const struct view_values *v, const struct view_item *i);
/* The context's own value with all that is lexically inside it: its lines and loops. */
double view_tree_self(const struct view_tree *t, const struct view_values *v, uint32_t context);
/* True if view_tree_self() is large enough to be listed. */
bool view_tree_has_self(const struct view_tree *t, uint32_t context);
/* True if folding moved the function; t->fold.caller says where. */
bool view_tree_is_moved(const struct view_tree *t, uint32_t context);

#endif
