/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of calls: functions and entries, without lines and loops. Contexts whose call paths have
 * the same names are one node, so a function called on two lines is one node below its caller.
 * Interpreter frames between Python functions are left out as in view_fold.h. Test:
 * tests/unit/prof/test_view_calls.c.
 */
#ifndef HPCPROF_VIEW_VIEW_CALLS_H
#define HPCPROF_VIEW_VIEW_CALLS_H

#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

struct view_call {
	uint32_t parent;  /* index of the caller, smaller than its own; the root: MODEL_NONE */
	uint32_t context; /* the first context of the node; it names the node */
	uint32_t depth;   /* the root: 0; entries: 1 */
};

struct view_calls {
	VEC(struct view_call) nodes; /* [0] is the root */
	uint32_t *node_of;           /* by context */
};

/* False if memory is short. In all cases call view_calls_close(). */
bool view_calls_open(const struct model *m, struct view_calls *c);
void view_calls_close(struct view_calls *c);

/*
 * The values of one metric by node, without those of its callees. The sum is the total of the
 * metric. The caller frees it. NULL if memory is short.
 */
double *view_calls_values(const struct model *m, const struct view_calls *c, uint32_t metric);

#endif
