/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of struct compare that do not read a model. Test: tests/unit/compare/test_compare.c. */
#include "hpcprof-lite/compare/compare.h"

#include "hpcprof-lite/compare/compare_names.h"
#include "hpcprof-lite/view/names.h"

#include <stdlib.h>
#include <string.h>

bool compare_open(struct compare *c)
{
	*c = (struct compare){0};
	return strtab_add_z(&c->strings, "") == 0 && vec_push(&c->nodes);
}

void compare_close(struct compare *c)
{
	for (size_t i = 0; i < c->runs.n; i++) {
		vec_free(&c->runs.at[i].cells);
		vec_free(&c->runs.at[i].ranks);
	}
	vec_free(&c->runs);
	vec_free(&c->functions);
	vec_free(&c->lines);
	vec_free(&c->nodes);
	vec_free(&c->metrics);
	vec_free(&c->ranks);
	vec_free(&c->renames);
	vec_free(&c->builds);
	map_free(&c->function_ids);
	map_free(&c->named_ids);
	map_free(&c->line_ids);
	map_free(&c->node_ids);
	map_free(&c->rank_ids);
	map_free(&c->build_ids);
	strtab_free(&c->strings);
}

bool compare_rename(struct compare *c, const char *from, const char *to)
{
	char *old = compare_function_name(from), *new = compare_function_name(to);
	struct compare_renaming *r = old && new ? vec_push(&c->renames) : NULL;
	bool ok = r && (r->from = strtab_add_z(&c->strings, old)) != STRTAB_FAILED &&
		  (r->to = strtab_add_z(&c->strings, new)) != STRTAB_FAILED;
	free(old);
	free(new);
	return ok;
}

uint32_t compare_find_metric(const struct compare *c, const char *name, size_t n_bytes)
{
	for (uint32_t i = 0; i < c->metrics.n; i++) {
		const char *full = compare_string(c, c->metrics.at[i].name),
			   *event = compare_string(c, c->metrics.at[i].event);
		if (names_is_metric(full, c->metrics.at[i].unit, name, n_bytes))
			return i;
		if (c->metrics.at[i].kind == MODEL_METRIC_SAMPLED && n_bytes == strlen(event) &&
		    memcmp(event, name, n_bytes) == 0)
			return i;
	}
	return MODEL_NONE;
}

bool compare_is_exact(const struct compare *c, uint32_t metric)
{
	const struct compare_metric *m = &c->metrics.at[metric];
	return (m->kind == MODEL_METRIC_GPU_COUNT || m->kind == MODEL_METRIC_GPU_MEAN ||
		m->kind == MODEL_METRIC_MPI_COUNT) &&
	       !m->is_of_pc_samples;
}

uint32_t compare_function_of(const struct compare *c, uint32_t node)
{
	const struct compare_node *n = &c->nodes.at[node];
	return n->kind == COMPARE_FUNCTION ? n->id
	       : n->kind == COMPARE_LINE   ? c->lines.at[n->id].function
					   : MODEL_NONE;
}

uint32_t compare_count_runs(const struct compare *c, enum compare_side side)
{
	uint32_t n = 0;
	for (size_t i = 0; i < c->runs.n; i++)
		n += c->runs.at[i].side == side;
	return n;
}
