/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where threads wait for GPUs, by API function and the place that calls it. Test:
 * tests/unit/prof/test_view_gpu.c.
 */
#ifndef HPCPROF_VIEW_VIEW_WAITS_H
#define HPCPROF_VIEW_VIEW_WAITS_H

#include "hpcprof-lite/model/model.h"

/* Waits in one API function that one place calls. */
struct view_wait {
	/*
	 * Contexts. api: the function. call: the line that calls it; if that has no line, the
	 * Python line above; MODEL_NONE: there is none.
	 */
	uint32_t api, call;
	double seconds;
};

struct view_waits {
	struct view_wait *at; /* by falling time, then first context */
	size_t n;
};

/* False if memory is short; then there is nothing to free. */
bool view_waits_make(const struct model *m, struct view_waits *w);
void view_waits_free(struct view_waits *w);

#endif
