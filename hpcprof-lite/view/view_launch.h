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

#endif
