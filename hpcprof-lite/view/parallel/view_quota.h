/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processors that the processes of the model could use at one time: those that they were
 * allowed to use, and what the CPU quotas of their containers give. Test:
 * tests/unit/prof/test_view_processors.c.
 */
#ifndef HPCPROF_VIEW_VIEW_QUOTA_H
#define HPCPROF_VIEW_VIEW_QUOTA_H

#include "hpcprof-lite/model/model.h"

struct view_quota {
	uint32_t n_allowed; /* processors that the processes were allowed to use; 0: unknown */
	/* n_allowed, but no more than the quotas give. 0: unknown. */
	double n_given;
	bool has_quota; /* a quota makes n_given less than n_allowed, or it has throttled */
	/*
	 * For how long the cgroups were throttled meanwhile, as the kernel counts it: summed over
	 * processors on which one of their threads was ready. It includes other processes of these
	 * cgroups. 0: for a part of the run.
	 */
	double throttled;
};

/* False if memory is short. */
bool view_quota_make(const struct model *m, struct view_quota *q);
/*
 * By process: the processors that its threads may use beside those of other processes with regions
 * of OpenMP on its host; 0: unknown. False if memory is short.
 */
bool view_quota_of_processes(const struct model *m, double *processors);
/* "0.5", "2", "1.25": a number of processors; returns `to`. */
#define VIEW_QUOTA_TEXT 32
const char *view_quota_text(double processors, char to[VIEW_QUOTA_TEXT]);

#endif
