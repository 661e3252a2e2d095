/* SPDX-License-Identifier: BSD-3-Clause */
/* The place in the program that launched a kernel. Test: tests/unit/prof/test_view_launch.c. */
#ifndef HPCPROF_VIEW_VIEW_LAUNCH_H
#define HPCPROF_VIEW_VIEW_LAUNCH_H

#include "hpcprof-lite/model/model.h"

struct view_launch {
	/*
	 * The innermost line in the program's own code; without one, the innermost function;
	 * otherwise the entry.
	 */
	uint32_t site;
	uint32_t node;    /* the placeholder of the graph node between, or MODEL_NONE */
	bool is_on_guess; /* a frame between the site and the kernel was guessed */
};

/* `kernel` is the context of a kernel. */
struct view_launch view_launch_of(const struct model *m, uint32_t kernel);
/*
 * The context of the function that asked for operations, usually of the API: the innermost above
 * their placeholders. `context` is a kernel or a placeholder. MODEL_NONE: the call path has none.
 */
uint32_t view_launch_caller(const struct model *m, uint32_t context);

#endif
