/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges the values of a model whose profiles are divided among parts, so that each part has all
 * values of its contexts. Sums over profiles are then added in the order of profiles, as in a
 * single process. Every part calls these functions in the same order. Test:
 * tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_ATTRIBUTE_SUM_SHARE_VALUES_H
#define HPCPROF_ATTRIBUTE_SUM_SHARE_VALUES_H

#include "hpcprof-lite/model/private.h"
#include "hpcprof-lite/parts/comm.h"

/*
 * Sets m->share: each part gets consecutive profiles with about the same work. weights: by profile,
 * the same in all parts. first: the first profile of each part, with an end entry, if that is
 * already decided; else NULL. False: memory is short.
 */
bool share_profiles(struct model *m, struct comm *c, const uint64_t *weights,
		    const uint64_t *first);
/*
 * Ends a step; `ok` says whether the part has the values of its profiles. Then chooses the contexts
 * of each part and exchanges values. False: some part has no memory.
 */
bool share_values(struct model *m, bool ok);
/*
 * Ends a step in the same way. All parts get the totals of all others, which become those of the
 * model. False: some part has no memory.
 */
bool share_totals(struct model *m, bool ok);

#endif
