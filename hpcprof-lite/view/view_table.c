/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_table.h. One pass over the contexts for a table. Test: tests/unit/test_view_table.c. */
#include "hpcprof-lite/view/view_table.h"

#include "common/base/map.h"

#include <stdlib.h>
#include <string.h>

/* What a context belongs to: a pair of words, or false for nothing. */
static bool key_of(const struct model_context *c, enum view_by by, uint64_t *a, uint64_t *b)
{
	*b = 0;
	switch (by) {
	case VIEW_BY_FUNCTION:
		*a = c->function;
		return c->function != MODEL_NONE;
	case VIEW_BY_MODULE:
		*a = c->module;
		return c->module != MODEL_NONE;
	case VIEW_BY_LINE:
		if (c->kind == MODEL_CONTEXT_LINE) {
			/* a line of a macro in assembler, or of a template, is in several functions */
			*a = (uint64_t)c->function << 32 | c->file;
			*b = (uint64_t)1 << 32 | c->line;
		} else if (c->kind == MODEL_CONTEXT_INSTRUCTION) {
			*a = c->function; /* all of a function whose lines are not known */
		}
		return c->kind == MODEL_CONTEXT_LINE || c->kind == MODEL_CONTEXT_INSTRUCTION;
	}
	return false;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct view_row *a = pa, *b = pb;
	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return (a->context > b->context) - (a->context < b->context);
}

static int compare_totals(const void *pa, const void *pb)
{
	const struct view_row *a = pa, *b = pb;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return compare_rows(pa, pb);
}

void view_rows_sort_by_total(struct view_row *rows, size_t n)
{
	if (n)
		qsort(rows, n, sizeof *rows, compare_totals);
}

/* By context: what of its total came by a guessed frame, its own or one further in. *guessed is
 * NULL where no frame was guessed. False when memory is short. */
static bool sum_guessed(const struct model *m, const struct view_values *t, double **guessed)
{
	uint32_t c = 0;
	*guessed = NULL;
	while (c < m->n_contexts && !m->contexts[c].marked)
		c++;
	if (c == m->n_contexts)
		return true;
	double *at = *guessed = calloc(m->n_contexts, sizeof *at);
	if (!at)
		return false;
	for (c = m->n_contexts; c-- > 1;) { /* children before their parents */
		if (m->contexts[c].marked)
			at[c] = t->total[c];
		at[m->contexts[c].parent] += at[c];
	}
	return true;
}

static struct view_row *get_row(struct view_rows *rows, size_t *capacity, struct map *index, uint64_t a, uint64_t b, uint32_t context)
{
	uint64_t id = map_put(index, a, b, rows->n);
	if (id == MAP_NONE)
		return NULL;
	if (id == rows->n) {
		if (rows->n == *capacity) {
			size_t wanted = *capacity ? *capacity * 2 : 64;
			struct view_row *at = realloc(rows->at, wanted * sizeof *at);
			if (!at)
				return NULL;
			rows->at = at;
			*capacity = wanted;
		}
		rows->at[rows->n++] = (struct view_row){.context = context};
	}
	return &rows->at[id];
}

/* A row whose end lies behind the present context holds it: what is added to its total is in there already. */
static bool fill(const struct model *m, const struct view_values *t, enum view_by by,
		 const double *guessed, struct view_rows *rows, struct map *index)
{
	size_t capacity = 0, n_ends = 0;
	uint32_t *end_of = NULL; /* by row: end of the outermost subtree that is being passed */
	bool ok = true;
	for (uint32_t c = 0; c < m->n_contexts && ok; c++) {
		uint64_t a = 0, b = 0;
		if (t->total[c] == 0 || !key_of(&m->contexts[c], by, &a, &b))
			continue;
		struct view_row *row = get_row(rows, &capacity, index, a, b, c);
		ok = row != NULL;
		if (ok && capacity > n_ends) {
			uint32_t *grown = realloc(end_of, capacity * sizeof *end_of);
			ok = grown != NULL;
			if (ok) {
				memset(grown + n_ends, 0, (capacity - n_ends) * sizeof *grown);
				n_ends = capacity;
				end_of = grown;
			}
		}
		if (!ok)
			break;
		row->self += t->self[c];
		row->n_samples += t->n_samples[c];
		if (end_of[row - rows->at] <= c) {
			end_of[row - rows->at] = c + m->contexts[c].subtree_n;
			row->total += t->total[c];
			row->guessed += guessed ? guessed[c] : 0;
			rows->has_guesses |= guessed && guessed[c] > 0;
		}
	}
	free(end_of);
	return ok;
}

bool view_rows_make(const struct model *m, const struct view_values *t, enum view_by by, struct view_rows *rows)
{
	struct map index = {0};
	*rows = (struct view_rows){0};
	double *guessed;
	bool ok = sum_guessed(m, t, &guessed) && fill(m, t, by, guessed, rows, &index);
	free(guessed);
	map_free(&index);
	if (!ok)
		view_rows_free(rows);
	else if (rows->n)
		qsort(rows->at, rows->n, sizeof *rows->at, compare_rows);
	return ok;
}

void view_rows_free(struct view_rows *rows)
{
	free(rows->at);
	*rows = (struct view_rows){0};
}
