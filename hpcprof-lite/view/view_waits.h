/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads wait for GPUs, by function of the API and the place that calls it. Test:
 * tests/unit/test_view_gpu.c. */
#ifndef HPCPROF_VIEW_VIEW_WAITS_H
#define HPCPROF_VIEW_VIEW_WAITS_H

#include "hpcprof-lite/model/model.h"

/* Waits in one function of the API that one place calls. */
struct view_wait {
	uint32_t api, call; /* contexts: the function's, and the line's that calls it; where that
			       has no line, the Python line above; MODEL_NONE: there is none */
	double seconds;
};

struct view_waits {
	struct view_wait *at; /* falling time, then first context */
	size_t n;
};

/* False when memory is short; nothing is left to free then. */
bool view_waits_make(const struct model *m, struct view_waits *w);
void view_waits_free(struct view_waits *w);

#endif
