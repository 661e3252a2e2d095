/* SPDX-License-Identifier: BSD-3-Clause */
/* See cctdb_statistics.h. Tests: tests/unit/sink/test_sink_cctdb.c,
 * tests/cli/sink/sink_cctdb.sh. */
#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"

#include <stdlib.h>

const char *const cctdb_scope_names[MODEL_N_SCOPES] = {
	[MODEL_FUNCTION] = "function",
	[MODEL_LEX_AWARE] = "lex_aware",
	[MODEL_EXECUTION] = "execution",
};
const char *const cctdb_formulas[CCTDB_N_PARTIALS] = {
	[CCTDB_SUM] = "$$",
	[CCTDB_SUM_OF_SQUARES] = "($$^2)",
	[CCTDB_MIN] = "$$",
	[CCTDB_MAX] = "$$",
};
const char *const cctdb_combines[CCTDB_N_PARTIALS] = {
	[CCTDB_SUM] = "sum",
	[CCTDB_SUM_OF_SQUARES] = "sum",
	[CCTDB_MIN] = "min",
	[CCTDB_MAX] = "max",
};

static bool is_measured_by_threads(const struct model_metric *metric)
{
	return metric->kind == MODEL_METRIC_SAMPLED || metric->kind == MODEL_METRIC_MPI_TIME ||
	       metric->kind == MODEL_METRIC_MPI_COUNT || metric->kind == MODEL_METRIC_MEMORY;
}

uint32_t *cctdb_choose_statistics(const struct model *m)
{
	const bool has_several = model_count_threads(m) > 1;
	uint32_t *all = calloc((size_t)m->n_metrics + 1, sizeof *all);
	for (uint32_t i = 0; all && i < m->n_metrics; i++) {
		for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++)
			all[i] |= 1u << cctdb_statistic(CCTDB_SUM, s);
		if (!has_several || !is_measured_by_threads(&m->metrics[i]))
			continue;
		for (unsigned p = CCTDB_SUM_OF_SQUARES; p < CCTDB_N_PARTIALS; p++)
			all[i] |= 1u << cctdb_statistic((enum cctdb_partial)p, MODEL_FUNCTION) |
				  1u << cctdb_statistic((enum cctdb_partial)p, MODEL_EXECUTION);
	}
	return all;
}
