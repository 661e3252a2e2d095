/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of the model goes into the database. Left out is what no reader of the format needs:
 *
 * - instructions and loops without a line and without values of their own, from which calls were
 *   made. They say no more than the function around them; calls go below that function.
 * - statistics that metrics/default.yaml does not show (cctdb_statistics.h).
 * - in cct.db, the values of a context that are those of its only child: both share one block.
 *
 * Every process that writes the database makes the same plan. Tests:
 * tests/unit/sink/test_sink_cctdb.c, tests/cli/sink/sink_cctdb.sh.
 */
#ifndef HPCPROF_LITE_SINK_CCTDB_CCTDB_PLAN_H
#define HPCPROF_LITE_SINK_CCTDB_CCTDB_PLAN_H

#include "hpcprof-lite/model/model.h"

struct cctdb_plan {
	const struct model *m;
	uint32_t n_contexts; /* in the database */
	uint32_t *id_of;     /* by context of the model: its id there; MODEL_NONE: left out */
	/* by context: the one with the same values, at or below it, whose block in cct.db it has */
	uint32_t *block_of;
	uint32_t *statistics; /* by metric, see cctdb_choose_statistics() */
};

/* False: memory is short; nothing to free then. */
bool cctdb_plan_make(struct cctdb_plan *p, const struct model *m);
void cctdb_plan_free(struct cctdb_plan *p);

/* The id of the context, or if it is left out, of the next one above it. */
uint32_t cctdb_plan_id(const struct cctdb_plan *p, uint32_t context);
/*
 * The first child that a context has in the database, and the next one after `child`. If there is
 * none, they return the end of the parent's subtree.
 */
uint32_t cctdb_plan_first_child(const struct cctdb_plan *p, uint32_t parent);
uint32_t cctdb_plan_next_child(const struct cctdb_plan *p, uint32_t parent, uint32_t child);

#endif
