/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The statistics in all files of the database: the sums from which readers compute them, their ids,
 * and the words for scopes and formulas. Tests: tests/unit/sink/test_sink_cctdb.c,
 * tests/cli/sink/sink_cctdb.sh.
 */
#ifndef HPCPROF_LITE_SINK_CCTDB_CCTDB_STATISTICS_H
#define HPCPROF_LITE_SINK_CCTDB_CCTDB_STATISTICS_H

#include "hpcprof-lite/model/model.h"

/* Readers compute summary statistics from these sums over profiles. */
enum cctdb_partial { CCTDB_SUM, CCTDB_SUM_OF_SQUARES, CCTDB_MIN, CCTDB_MAX, CCTDB_N_PARTIALS };

/*
 * The scopes of the database: all but MODEL_POINT. Nobody shows that, and it is MODEL_FUNCTION
 * without that of the lexical children.
 */
enum { CCTDB_FIRST_SCOPE = MODEL_FUNCTION, CCTDB_N_SCOPES = MODEL_N_SCOPES - CCTDB_FIRST_SCOPE };

/*
 * Ids of values. In the specification, the ids in profiles and in the summary are separate sets.
 * But Hatchet (LLNL) looks up values of the summary by the ids of the profiles. Therefore the sum
 * of a scope and the scope itself have the same number.
 */
#define CCTDB_IDS_PER_METRIC (CCTDB_N_PARTIALS * CCTDB_N_SCOPES)
#define CCTDB_MAX_METRICS (65536 / CCTDB_IDS_PER_METRIC)
static inline unsigned cctdb_statistic(enum cctdb_partial partial, unsigned scope)
{
	return (unsigned)partial * CCTDB_N_SCOPES + scope - CCTDB_FIRST_SCOPE;
}
static inline uint16_t cctdb_statistic_id(uint32_t metric, enum cctdb_partial partial,
	unsigned scope)
{
	return (uint16_t)(metric * CCTDB_IDS_PER_METRIC + cctdb_statistic(partial, scope));
}
static inline uint16_t cctdb_value_id(uint32_t metric, unsigned scope)
{
	return cctdb_statistic_id(metric, CCTDB_SUM, scope);
}
/*
 * By metric: a bit for each cctdb_statistic() of the summary. All metrics have the sums, which the
 * mean needs, too. The others are there if there are several threads, for what was measured in each
 * of them. (HPCToolkit writes the others only on request.) Owned by the caller. NULL: memory is
 * short.
 */
uint32_t *cctdb_choose_statistics(const struct model *m);
/* True if the bits say that there is more than the sums. */
static inline bool cctdb_has_spread(uint32_t statistics)
{
	return statistics >> cctdb_statistic(CCTDB_MIN, CCTDB_FIRST_SCOPE);
}
static inline bool cctdb_has_statistic(uint32_t statistics, enum cctdb_partial p, unsigned scope)
{
	return statistics >> cctdb_statistic(p, scope) & 1;
}
extern const char *const cctdb_scope_names[MODEL_N_SCOPES];
/* canonical, as in meta.db and default.yaml */
extern const char *const cctdb_formulas[CCTDB_N_PARTIALS];
extern const char *const cctdb_combines[CCTDB_N_PARTIALS]; /* "sum", "min", "max" */

#endif
