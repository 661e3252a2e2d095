/* SPDX-License-Identifier: BSD-3-Clause */
/* See cctdb_statistics.h. Tests: tests/unit/sink/test_sink_cctdb.c,
 * tests/cli/sink/sink_cctdb.sh. */
#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"

const char *const cctdb_scope_names[MODEL_N_SCOPES] = {
	[MODEL_POINT] = "point",
	[MODEL_FUNCTION] = "function",
	[MODEL_LEX_AWARE] = "lex_aware",
	[MODEL_EXECUTION] = "execution",
};
const char *const cctdb_formulas[CCTDB_N_PARTIALS] = {
	[CCTDB_SUM] = "$$",
	[CCTDB_COUNT] = "1",
	[CCTDB_SUM_OF_SQUARES] = "($$^2)",
	[CCTDB_MIN] = "$$",
	[CCTDB_MAX] = "$$",
};
const char *const cctdb_combines[CCTDB_N_PARTIALS] = {
	[CCTDB_SUM] = "sum",
	[CCTDB_COUNT] = "sum",
	[CCTDB_SUM_OF_SQUARES] = "sum",
	[CCTDB_MIN] = "min",
	[CCTDB_MAX] = "max",
};
