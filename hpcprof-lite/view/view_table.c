/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_table.h. One pass over the contexts for a table.
 * Test: tests/unit/prof/test_view_table.c. */
#include "hpcprof-lite/view/view_table.h"

#include "common/base/map.h"
#include "common/base/vec.h"

#include <stdlib.h>

static bool is_around(const struct model *m, const struct model_context *c, enum view_by by)
{
	if (c->kind != MODEL_CONTEXT_FUNCTION || c->function >= m->n_functions)
		return false;
	const struct model_function *f = &m->functions[c->function];
	return by == VIEW_BY_OPERATOR ? f->is_operator : f->is_torch_module;
}

/* By context: the operator or module around it, or MODEL_NONE. NULL if memory is short. */
static uint32_t *find_around(const struct model *m, enum view_by by)
{
	uint32_t *at = calloc((size_t)m->n_contexts + 1, sizeof *at);
	for (uint32_t i = 0; at && i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		at[i] = is_around(m, c, by) ? c->function : i ? at[c->parent] : MODEL_NONE;
	}
	return at;
}

/* How a table groups contexts into rows. */
struct keys {
	const struct model *m;
	enum view_by by;
	uint32_t *around; /* BY_OPERATOR, BY_TORCH_MODULE: by context; others: NULL */
};

static bool keys_open(const struct model *m, enum view_by by, struct keys *k)
{
	*k = (struct keys){.m = m, .by = by};
	return by < VIEW_BY_OPERATOR || (k->around = find_around(m, by));
}

/* The row that context `i` belongs to, as a pair of words. False: none. */
static bool key_of(const struct keys *k, uint32_t i, uint64_t *a, uint64_t *b)
{
	const struct model_context *c = &k->m->contexts[i];
	*b = 0;
	switch (k->by) {
	case VIEW_BY_OPERATOR:
	case VIEW_BY_TORCH_MODULE: *a = k->around[i]; return k->around[i] != MODEL_NONE;
	case VIEW_BY_FUNCTION: *a = c->function; return c->function != MODEL_NONE;
	case VIEW_BY_MODULE: *a = c->module; return c->module != MODEL_NONE;
	case VIEW_BY_LINE:
		if (c->kind == MODEL_CONTEXT_LINE) {
			/* a line of a macro in assembler, or of a template, is in several functions
			 */
			*a = (uint64_t)c->function << 32 | c->file;
			*b = (uint64_t)1 << 32 | c->line;
		} else if (c->kind == MODEL_CONTEXT_INSTRUCTION) {
			*a = c->function; /* one row for a function whose lines are not known */
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

/*
 * By context: the part of its total that depends on a guessed frame, here or further in. *guessed
 * is NULL if no frame was guessed. False if memory is short.
 */
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

/*
 * Rows while they are filled. ends[i] is the end of the outermost subtree of row i that the pass is
 * in.
 */
struct filling {
	VEC(struct view_row) rows;
	VEC(uint32_t) ends;
	struct map index;
};

/* The index of the row, which is made if it is new. SIZE_MAX if memory is short. */
static size_t get_row(struct filling *f, uint64_t a, uint64_t b, uint32_t context)
{
	uint64_t id = map_put(&f->index, a, b, f->rows.n);
	if (id == MAP_NONE || id < f->rows.n)
		return id == MAP_NONE ? SIZE_MAX : (size_t)id;
	struct view_row *row = vec_push(&f->rows);
	if (!row || !vec_push(&f->ends))
		return SIZE_MAX;
	row->context = context;
	return (size_t)id;
}

/* A row that ends after this context contains it, so its total already has the value. */
static bool fill(const struct keys *k, const struct view_values *t, const double *guessed,
		 struct filling *f, bool *has_guesses)
{
	const struct model *m = k->m;
	for (uint32_t c = 0; c < m->n_contexts; c++) {
		uint64_t a = 0, b = 0;
		if (t->total[c] == 0 || !key_of(k, c, &a, &b))
			continue;
		size_t at = get_row(f, a, b, c);
		if (at == SIZE_MAX)
			return false;
		struct view_row *row = &f->rows.at[at];
		row->self += t->self[c];
		row->n_samples += t->n_samples[c];
		if (f->ends.at[at] <= c) {
			f->ends.at[at] = c + m->contexts[c].subtree_n;
			row->total += t->total[c];
			row->guessed += guessed ? guessed[c] : 0;
			*has_guesses |= guessed && guessed[c] > 0;
		}
	}
	return true;
}

bool view_rows_make(const struct model *m, const struct view_values *t, enum view_by by,
		    struct view_rows *rows)
{
	struct filling f = {0};
	struct keys k;
	double *guessed = NULL;
	*rows = (struct view_rows){0};
	bool ok = keys_open(m, by, &k) && sum_guessed(m, t, &guessed) &&
		  fill(&k, t, guessed, &f, &rows->has_guesses);
	free(guessed);
	free(k.around);
	map_free(&f.index);
	vec_free(&f.ends);
	if (!ok) {
		vec_free(&f.rows);
		return false;
	}
	rows->at = f.rows.at;
	rows->n = f.rows.n;
	if (rows->n)
		qsort(rows->at, rows->n, sizeof *rows->at, compare_rows);
	return true;
}

bool view_rows_add_entries(const struct model *m, const struct view_values *t,
			   struct view_rows *rows)
{
	size_t n = rows->n;
	for (uint32_t c = 0; c < m->n_contexts; c++) {
		if (m->contexts[c].kind != MODEL_CONTEXT_ENTRY || t->self[c] == 0)
			continue;
		struct view_row *at = realloc(rows->at, (rows->n + 1) * sizeof *at);
		if (!at)
			return false;
		rows->at = at;
		at[rows->n++] = (struct view_row){.context = c,
						  .self = t->self[c],
						  .total = t->total[c],
						  .n_samples = t->n_samples[c]};
	}
	if (rows->n > n)
		qsort(rows->at, rows->n, sizeof *rows->at, compare_rows);
	return true;
}

void view_rows_free(struct view_rows *rows)
{
	free(rows->at);
	*rows = (struct view_rows){0};
}

bool view_find_outermost(const struct model *m, enum view_by by, bool *is_outermost)
{
	struct filling f = {0};
	struct keys k;
	bool ok = keys_open(m, by, &k);
	for (uint32_t c = 0; ok && c < m->n_contexts; c++) {
		uint64_t a = 0, b = 0;
		is_outermost[c] = false;
		if (!key_of(&k, c, &a, &b))
			continue;
		size_t at = get_row(&f, a, b, c);
		ok = at != SIZE_MAX;
		if (ok && f.ends.at[at] <= c) {
			f.ends.at[at] = c + m->contexts[c].subtree_n;
			is_outermost[c] = true;
		}
	}
	free(k.around);
	map_free(&f.index);
	vec_free(&f.ends);
	vec_free(&f.rows);
	return ok;
}
