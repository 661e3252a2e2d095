/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives all parts the contexts that each part makes from its files. Each part sends what it added
 * to the files, functions and contexts that all have in common, and adds what the others sent.
 * Numbers differ between parts afterwards; order_contexts() makes them the same. Test:
 * tests/unit/prof_parts/test_parts_gpu.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_SHARE_CONTEXTS_H
#define HPCPROF_ATTRIBUTE_EXPAND_SHARE_CONTEXTS_H

#include "hpcprof-lite/attribute/expand/expand_run.h"
#include "hpcprof-lite/parts/comm.h"

/* What all parts have in common: the numbers of files, functions and contexts before the work. */
struct share_base {
	size_t n_files, n_functions, n_contexts;
};

struct share_base share_contexts_begin(const struct expand *e);
/*
 * Ends a step: `ok` says whether the part has its contexts. False: some part has no memory, or the
 * parts did not begin with the same contexts (STATUS_DIFFERS).
 */
bool share_contexts(struct comm *c, bool ok, struct expand_run *r, const struct share_base *base);

#endif
