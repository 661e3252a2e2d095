/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How each metric is spread over threads and processes (view_balance.h); see record.h. Test:
 * tests/cli/sink/sink_tables.sh.
 */
#include "hpcprof-lite/record/record_build.h"
#include "hpcprof-lite/view/parallel/view_balance.h"

/* The threads or the processes by one metric. */
struct balance {
	uint32_t metric;
	bool is_of_processes;
	uint32_t n;
	double mean, most;
};

static const char *of_word(unsigned is_of_processes)
{
	return is_of_processes == 0 ? "threads" : is_of_processes == 1 ? "processes" : NULL;
}

static const struct field fields[] = {
	ID(balance, metric, "metric", NULL),
	{.name = "among", .kind = FIELD_WORD, .word = of_word, FIELD_AT(balance, is_of_processes)},
	COUNT(balance, n, "n", "All of them"),
	REAL(balance, mean, "mean", "A time of threads: of as many as matter at one time"),
	REAL(balance, most, "most", NULL),
};
static const struct record_kind record_balance = {
	.name = "balance", .table = "balance", .json = "balances", .parent = &record_run,
	.meaning = "How evenly a metric is spread: mean / most", .sinks = RECORD_ALL,
	FIELDS(fields)};

static bool visit_all(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	for (uint32_t i = 0; i < m->n_metrics && !v->is_done; i++) {
		struct view_balance b;
		if (!view_balance_make(m, i, &b))
			return false;
		const struct view_side *const sides[] = {&b.threads, &b.processes};
		for (unsigned k = 0; k < 2; k++)
			record_visit(v, &r, &record_balance,
				     &(struct balance){i, k, sides[k]->n, sides[k]->mean,
						       sides[k]->most},
				     2 * i + k);
		view_balance_free(&b);
	}
	return true;
}

static const struct record_kind *const kinds[] = {&record_balance};
const struct record_part record_part_balance = {KINDS(kinds), visit_all};
