/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a model whose profiles several parts add up: exchanged so that each part has all
 * values of its contexts. Sums over profiles are then added up in the order of profiles, as one
 * process does. Every part calls these functions in the same order. Test:
 * tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_ATTRIBUTE_SUM_SHARE_VALUES_H
#define HPCPROF_ATTRIBUTE_SUM_SHARE_VALUES_H

#include "hpcprof-lite/model/private.h"
#include "hpcprof-lite/parts/comm.h"

/*
 * Sets m->share: each part gets profiles in a row that are about the same work. weights: by
 * profile, the same in all parts. first: by part, and the end: its first profile, if that is
 * settled; else NULL. False: memory is short.
 */
bool share_profiles(struct model *m, struct comm *c, const uint64_t *weights,
		    const uint64_t *first);
/*
 * Ends a step: `ok` says whether the part has the values of its profiles. Then chooses the contexts
 * of each part, and exchanges values. False: some part has no memory.
 */
bool share_values(struct model *m, bool ok);
/*
 * Ends a step in the same way. The totals of each part become those of the model, in all parts.
 * False: some part has no memory.
 */
bool share_totals(struct model *m, bool ok);

#endif
