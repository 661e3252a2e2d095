/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folds the internals of OpenMP, MPI and waits of libc while expand makes contexts. The call that
 * the program made is one context. Everything that the library does inside counts there, until it
 * calls back a function of the program:
 *
 * - The function of a parallel region is below the line that forked the region.
 * - The function of a task is below the line that forked the region around it, not below the
 *   barrier that happened to run it.
 * - What MPI calls back is below the call of MPI.
 * - Functions of libc between a call and its wait count at the call, "pthread_cond_wait".
 *
 * Private to expand.c. Test: tests/unit/prof/test_activity.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_EXPAND_FOLD_H
#define HPCPROF_ATTRIBUTE_EXPAND_EXPAND_FOLD_H

#include "hpcprof-lite/attribute/expand/expand_run.h"

struct expand_fold;

/* *fold is NULL if there is nothing to fold. False if memory is short. */
bool expand_fold_open(struct expand_run *r, const struct merge_tree *t, struct expand_fold **fold);
/*
 * Makes the context of node `i`, whose parent has one. `normal` makes it if the node is not folded.
 * If memory is short, sets r->failed.
 */
uint32_t expand_fold_enter(struct expand_fold *fold, uint32_t i,
	uint32_t (*normal)(struct expand_run *r, uint32_t above, const struct merge_node *n));
void expand_fold_close(struct expand_fold *fold);

#endif
