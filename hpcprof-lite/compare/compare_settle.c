/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As long as all runs have the same build of a module, addresses distinguish its functions without
 * names. Otherwise this file makes them one function, and adds up what becomes the same: lines,
 * nodes and values. Test: tests/unit/compare/test_compare.c.
 */
#include "hpcprof-lite/compare/compare_adding.h"
#include "hpcprof-lite/compare/compare_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 32 }; /* of a build id that are looked at */

/* What an address means depends on the build, and on whether its structure was found. */
bool compare_add_build(struct compare *c, uint32_t module, const struct model_module *m)
{
	char hex[2 * MOST_BYTES + 1] = "";
	for (uint32_t k = 0; k < m->build_id_bytes && k < MOST_BYTES; k++)
		snprintf(hex + 2 * k, 3, "%02x", m->build_id[k]);
	uint32_t id = strtab_add_z(&c->strings, hex);
	uint64_t i = map_put(&c->build_ids, module, 0, c->builds.n);
	if (id == STRTAB_FAILED || i == MAP_NONE || (i == c->builds.n && !vec_push(&c->builds)))
		return false;
	struct compare_build *b = &c->builds.at[i];
	b->differs |= !m->build_id_bytes ||
		      (b->n_modules++ && (b->id != id || b->structure != m->structure));
	b->id = id;
	b->structure = (uint8_t)m->structure;
	return true;
}

/* By index: the function, line or node that each one becomes. */
struct settling {
	struct compare *c;
	uint32_t *function, *line, *node;
};

static bool settle_functions(struct settling *s, bool *any)
{
	struct compare *c = s->c;
	for (uint32_t i = 0, n = (uint32_t)c->functions.n; i < n; i++) {
		struct compare_function *f = &c->functions.at[i];
		uint64_t b = map_get(&c->build_ids, f->module, 0);
		s->function[i] = i;
		if (!compare_is_address(compare_string(c, f->name)) ||
		    (b != MAP_NONE && !c->builds.at[b].differs))
			continue;
		bool is_on[COMPARE_N_SIDES] = {f->is_on[COMPARE_BASE], f->is_on[COMPARE_NEW]};
		uint32_t to = s->function[i] = compare_find_unnamed(c, f->module);
		if (to == MODEL_NONE)
			return false;
		for (int side = 0; side < COMPARE_N_SIDES; side++)
			c->functions.at[to].is_on[side] |= is_on[side];
		*any = true;
	}
	return true;
}

static bool is_unnamed(const struct compare *c, uint32_t function)
{
	return strcmp(compare_string(c, c->functions.at[function].name), compare_unnamed) == 0;
}

/* A function without a name may have had lines before others became the same. */
static bool settle_lines(struct settling *s)
{
	struct map ids = {0};
	bool ok = true;
	for (uint32_t i = 0; ok && i < s->c->lines.n; i++) {
		struct compare_line *l = &s->c->lines.at[i];
		uint32_t function = s->function[l->function];
		s->line[i] = i;
		if (!is_unnamed(s->c, function))
			continue;
		l->function = function;
		uint64_t to = map_put(&ids, (uint64_t)function << 32 | l->file, l->line, i);
		s->line[i] = (uint32_t)to;
		ok = to != MAP_NONE;
	}
	map_free(&ids);
	return ok;
}

/* Parents come before their children. */
static bool settle_nodes(struct settling *s)
{
	struct compare *c = s->c;
	struct map ids = {0};
	size_t n = 1;
	for (size_t i = 1; i < c->nodes.n; i++) {
		struct compare_node x = c->nodes.at[i];
		x.parent = s->node[x.parent];
		if (x.kind == COMPARE_FUNCTION)
			x.id = s->function[x.id];
		else if (x.kind == COMPARE_LINE)
			x.id = s->line[x.id];
		uint64_t to = map_put(&ids, x.parent, (uint64_t)x.kind << 32 | x.id, n);
		if (to == MAP_NONE) {
			map_free(&ids);
			return false;
		}
		x.is_outermost =
			x.kind == COMPARE_FUNCTION && !compare_is_inside(c, x.parent, x.id);
		if (to == n)
			c->nodes.at[n++] = x;
		s->node[i] = (uint32_t)to;
	}
	c->nodes.n = n;
	map_free(&c->node_ids);
	c->node_ids = ids;
	return true;
}

static bool settle_cells(const struct settling *s, struct compare_run *run)
{
	struct map ids = {0};
	size_t n = 0;
	bool ok = true;
	for (size_t i = 0; ok && i < run->cells.n; i++) {
		struct compare_cell x = run->cells.at[i];
		x.node = s->node[x.node];
		uint64_t to = map_put(&ids, x.node, x.metric, n);
		ok = to != MAP_NONE;
		if (to == n) {
			run->cells.at[n++] = x;
		} else if (ok) {
			struct compare_cell *cell = &run->cells.at[to];
			cell->sum += x.sum;
			cell->variance += x.variance;
			cell->n += x.n;
		}
	}
	run->cells.n = n;
	map_free(&ids);
	return ok;
}

bool compare_settle(struct compare *c)
{
	struct settling s = {.c = c};
	bool any = false;
	s.function = calloc(c->functions.n + 1, sizeof *s.function);
	s.line = calloc(c->lines.n + 1, sizeof *s.line);
	s.node = calloc(c->nodes.n + 1, sizeof *s.node);
	bool ok = s.function && s.line && s.node && settle_functions(&s, &any);
	if (ok && any) {
		ok = settle_lines(&s) && settle_nodes(&s);
		for (size_t i = 0; ok && i < c->runs.n; i++)
			ok = settle_cells(&s, &c->runs.at[i]);
	}
	free(s.function);
	free(s.line);
	free(s.node);
	return ok;
}
