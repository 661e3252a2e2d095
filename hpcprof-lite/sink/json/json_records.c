/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records as JSON: the objects and arrays that hold them, and the values of their fields. See
 * json.h. Test: tests/cli/sink/sink_json.sh.
 */
#include "hpcprof-lite/record/record.h"
#include "hpcprof-lite/sink/json/json.h"

#include <string.h>

enum { MOST_DEPTH = 8 };

/* An open object, and the array in it that is open. */
struct level {
	struct record r;
	const char *array; /* key; NULL: none */
	unsigned next;     /* index of the first kind that may still come */
};

struct json_records {
	struct record_visitor v; /* the first member */
	struct json *j;
	struct level levels[MOST_DEPTH];
	unsigned n;
};

/* ---- fields ---- */

/* A damaged file may have a time before the start. */
static void put_time(struct json *j, const char *key, const struct model *m, uint64_t ns)
{
	json_i64(j, key, (int64_t)(ns - m->start_ns));
}

static void put_value(struct json *j, const char *key, const struct field *f,
		      const struct record *r, unsigned item)
{
	const struct value v = field_value(f, r, item);
	if (!v.is_known)
		json_null(j, key);
	else if (f->kind == FIELD_TEXT || f->kind == FIELD_WORD)
		json_text(j, key, v.text);
	else if (f->kind == FIELD_BOOL)
		json_bool(j, key, v.n);
	else if (f->kind == FIELD_REAL)
		json_real(j, key, v.real);
	else if (f->kind == FIELD_TIME)
		put_time(j, key, r->m, v.n);
	else if (f->kind == FIELD_ADDRESS)
		json_hex(j, key, v.n);
	else if (f->kind == FIELD_SIGNED)
		json_i64(j, key, (int64_t)v.n);
	else
		json_u64(j, key, v.n);
}

static bool is_left_out(const struct field *f, const struct record *r)
{
	if (!field_is_in(f, RECORD_JSON) || f->kind == FIELD_KEY)
		return true;
	if (!f->is_optional)
		return false;
	const struct value v = field_value(f, r, 0);
	return !v.is_known ||
	       ((f->kind == FIELD_BOOL || f->kind == FIELD_ADDRESS) && !v.n && !f->is_known);
}

static void put_field(struct json *j, const char *key, const struct field *f,
		      const struct record *r)
{
	if (!f->n_items) {
		put_value(j, key, f, r, 0);
		return;
	}
	json_begin(j, key, '[');
	for (unsigned i = 0; i < f->n_items; i++)
		put_value(j, NULL, f, r, i);
	json_end(j, ']');
}

static void put_fields(struct json *j, const struct record *r, bool has_keys)
{
	for (unsigned i = 0; i < r->kind->n_fields; i++)
		if (!is_left_out(&r->kind->fields[i], r))
			put_field(j, has_keys ? r->kind->fields[i].name : NULL,
				  &r->kind->fields[i], r);
}

static void put_counts(struct json *j, const char *key, const struct record_counts *c)
{
	if (!c->n) {
		json_null(j, key);
		return;
	}
	json_begin(j, key, '{');
	for (size_t i = 0; i < c->n; i++) {
		const struct words_count *at = &c->at[i];
		if (i == 0 || strcmp(at[-1].group, at->group) != 0)
			json_begin(j, at->group, '{');
		json_u64(j, at->name, at->n);
		if (i + 1 == c->n || strcmp(at[1].group, at->group) != 0)
			json_end(j, '}');
	}
	json_end(j, '}');
}

/* ---- objects and arrays ---- */

static bool is_array(const struct record_kind *k)
{
	return k->form == RECORD_OBJECTS || k->form == RECORD_TUPLES || k->form == RECORD_VALUES;
}

static void close_array(struct json_records *t)
{
	struct level *l = &t->levels[t->n - 1];
	if (l->array)
		json_end(t->j, ']');
	l->array = NULL;
}

/* Writes the members that have no records, of the kinds before the one with index `end`. */
static void put_empty(struct json_records *t, unsigned end)
{
	struct level *l = &t->levels[t->n - 1];
	const struct record_kind *k;
	close_array(t);
	for (; l->next < end && (k = record_kind_at(l->next)); l->next++) {
		if (!(k->sinks & RECORD_JSON) || k->parent != l->r.kind || !k->is_wanted ||
		    !k->is_wanted(&l->r))
			continue;
		if (is_array(k)) {
			json_begin(t->j, k->json, '[');
			json_end(t->j, ']');
		} else {
			json_null(t->j, k->json);
		}
	}
}

/* What the level's fields were read from may be gone by now, but what `is_wanted` needs is not. */
static void close_level(struct json_records *t)
{
	put_empty(t, UINT32_MAX);
	json_end(t->j, '}');
	t->n--;
}

static unsigned index_of(const struct record_kind *kind)
{
	unsigned i = 0;
	while (record_kind_at(i) != kind)
		i++;
	return i;
}

/* Opens the array for records of this kind, in the object of the parent. */
static void open_member(struct json_records *t, const struct record_kind *k)
{
	struct level *l = &t->levels[t->n - 1];
	if (l->array == k->json)
		return;
	const unsigned index = index_of(k);
	put_empty(t, index);
	l->next = index + 1;
	if (is_array(k)) {
		json_begin(t->j, k->json, '[');
		l->array = k->json;
	}
}

static void open_level(struct json_records *t, const struct record *r, const char *key)
{
	json_begin(t->j, key, '{');
	put_fields(t->j, r, true);
	if (t->n < MOST_DEPTH)
		t->levels[t->n++] = (struct level){.r = *r};
}

static void put_record(struct json_records *t, const struct record *r, const char *key)
{
	switch (r->kind->form) {
	case RECORD_COUNTS: put_counts(t->j, key, r->at); break;
	case RECORD_VALUES:
		put_field(t->j, NULL, &r->kind->fields[r->kind->n_fields - 1], r);
		break;
	case RECORD_TUPLES:
		json_begin(t->j, NULL, '[');
		put_fields(t->j, r, false);
		json_end(t->j, ']');
		break;
	case RECORD_OBJECT: open_level(t, r, key); break;
	case RECORD_OBJECTS: open_level(t, r, NULL); break;
	}
}

static void visit(struct record_visitor *v, const struct record *r)
{
	struct json_records *t = (struct json_records *)v;
	const struct record_kind *parent = r->kind->parent;
	if (!parent) {
		open_level(t, r, NULL);
		return;
	}
	unsigned n = t->n;
	while (n && t->levels[n - 1].r.kind != parent)
		n--;
	if (!n) /* such as meters without GPUs */
		return;
	while (t->n > n)
		close_level(t);
	open_member(t, r->kind);
	put_record(t, r, r->kind->json);
}

bool json_put_records(struct json *j, const struct model *m)
{
	struct json_records t = {.v = {.sink = RECORD_JSON, .visit = visit}, .j = j};
	const bool ok = records_visit(m, &t.v);
	while (t.n > 1)
		close_level(&t);
	if (t.n)
		put_empty(&t, UINT32_MAX);
	return ok;
}
