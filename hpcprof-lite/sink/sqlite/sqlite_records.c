/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records as rows of tables (hpcprof-lite/record), and the tables. Comments are inside of the
 * statements, so that .schema shows them. Tables have names in the singular. Test:
 * tests/cli/sink/sink_sqlite.sh.
 */
#include "hpcprof-lite/record/record.h"
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KINDS = 128 };

struct sqlite_records {
	struct record_visitor v; /* the first member */
	struct sqlite_writer *w;
	const struct record_kind *kinds[MOST_KINDS]; /* of the rows below */
	struct sqlite_rows rows[MOST_KINDS];
	unsigned n, last;
};

static unsigned n_items(const struct field *f)
{
	return !field_is_in(f, RECORD_SQL) ? 0 : f->n_items ? f->n_items : 1;
}

/* ---- tables ---- */

static void put_type(FILE *out, const struct field *f)
{
	if (f->kind == FIELD_KEY)
		fputs(" INTEGER PRIMARY KEY", out);
	else if (f->of)
		fprintf(out, " REFERENCES %s", f->of);
	else if (f->kind == FIELD_TEXT || f->kind == FIELD_WORD)
		fputs(" TEXT", out);
	else
		fputs(f->kind == FIELD_REAL ? " REAL" : " INTEGER", out);
}

/* A comment ends with its line, so the comma comes first. */
static void put_columns(FILE *out, const struct record_kind *k)
{
	const char *comment = k->meaning;
	bool is_first = true;
	char name[FIELD_NAME];
	for (unsigned i = 0; i < k->n_fields; i++)
		for (unsigned item = 0; item < n_items(&k->fields[i]); item++) {
			fputs(is_first ? "" : ",", out);
			if (comment)
				fprintf(out, " -- %s", comment);
			fprintf(out, "\n  %s", field_column(&k->fields[i], item, name));
			put_type(out, &k->fields[i]);
			comment = k->fields[i].meaning;
			is_first = false;
		}
	if (comment)
		fprintf(out, " -- %s\n", comment);
}

static void put_table(FILE *out, const struct record_kind *k)
{
	if (!(k->sinks & RECORD_SQL))
		return;
	fprintf(out, "CREATE TABLE %s(", k->table);
	put_columns(out, k);
	fputs(");\n", out);
}

/* Facts of the run are rows, so that a query finds them by name. */
static const char table_of_run[] = "CREATE TABLE run( -- facts of the whole measurement\n"
				   "  name TEXT PRIMARY KEY, value) WITHOUT ROWID;\n";

void sqlite_create_tables(struct sqlite_writer *w)
{
	char *sql = NULL;
	size_t n_bytes;
	const struct record_kind *k;
	FILE *out = open_memstream(&sql, &n_bytes);
	if (!out) {
		sqlite_fail(w);
		return;
	}
	for (unsigned i = 0; (k = record_kind_at(i)); i++)
		if (strcmp(k->name ? k->name : "", "run") == 0)
			fputs(table_of_run, out);
		else
			put_table(out, k);
	if (fclose(out) == 0)
		sqlite_execute(w, sql);
	else
		sqlite_fail(w);
	free(sql);
}

/* ---- rows ---- */

static void put_value(struct sqlite_writer *w, struct sqlite_rows *rows, const struct field *f,
		      const struct record *r, unsigned item)
{
	const struct value v = field_value(f, r, item);
	if (!v.is_known || (f->kind == FIELD_LINE && !v.n))
		sqlite_null(w, rows);
	else if (f->kind == FIELD_WORD)
		sqlite_word(w, rows, v.text);
	else if (f->kind == FIELD_TEXT)
		sqlite_text(w, rows, v.text);
	else if (f->kind == FIELD_REAL)
		sqlite_real(w, rows, v.real);
	else
		sqlite_int(w, rows, v.n);
}

static void put_row(struct sqlite_writer *w, struct sqlite_rows *rows, const struct record *r)
{
	for (unsigned i = 0; i < r->kind->n_fields; i++)
		for (unsigned item = 0; item < n_items(&r->kind->fields[i]); item++)
			put_value(w, rows, &r->kind->fields[i], r, item);
	sqlite_row(w, rows);
}

static void put_run(struct sqlite_writer *w, struct sqlite_rows *rows, const struct record *r)
{
	for (unsigned i = 0; i < r->kind->n_fields; i++) {
		const struct field *f = &r->kind->fields[i];
		if (!n_items(f) || (f->is_optional && !field_value(f, r, 0).is_known))
			continue;
		sqlite_word(w, rows, f->name);
		put_value(w, rows, f, r, 0);
		sqlite_row(w, rows);
	}
}

static unsigned count_columns(const struct record_kind *k)
{
	unsigned n = 0;
	for (unsigned i = 0; i < k->n_fields; i++)
		n += n_items(&k->fields[i]);
	return n;
}

/* The statement that inserts records of this kind. */
static struct sqlite_rows *rows_of(struct sqlite_records *t, const struct record_kind *k)
{
	if (t->n && t->kinds[t->last] == k)
		return &t->rows[t->last];
	for (t->last = 0; t->last < t->n && t->kinds[t->last] != k;)
		t->last++;
	if (t->last == t->n && t->n < MOST_KINDS) {
		const bool is_run = strcmp(k->table, "run") == 0;
		t->kinds[t->n++] = k;
		sqlite_begin(t->w, &t->rows[t->last], k->table, is_run ? 2 : count_columns(k));
	}
	return &t->rows[t->last];
}

static void visit(struct record_visitor *v, const struct record *r)
{
	struct sqlite_records *t = (struct sqlite_records *)v;
	struct sqlite_rows *rows = rows_of(t, r->kind);
	if (strcmp(r->kind->table, "run") == 0)
		put_run(t->w, rows, r);
	else
		put_row(t->w, rows, r);
	v->is_done = t->w->status != STATUS_OK;
}

void sqlite_put_records(struct sqlite_writer *w)
{
	struct sqlite_records t = {.v = {.sink = RECORD_SQL, .visit = visit}, .w = w};
	if (!records_visit(w->m, &t.v))
		sqlite_fail(w);
	for (unsigned i = 0; i < t.n; i++)
		sqlite_end(&t.rows[i]);
}
