/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See text_all.h. Must not compute: prints what the records hold. Test:
 * tests/cli/prof/prof_text.sh.
 */
#include "hpcprof-lite/sink/text/text_all.h"

#include "common/base/foreign.h"

#include <inttypes.h>

/* Our own words: kinds, names of fields, enums. */
static void put_own(FILE *out, const char *word)
{
	fputs(word, out);
}

/* fprintf() takes several times as long, and most of the output are numbers. */
static void put_number(FILE *out, uint64_t n)
{
	char digits[24], *at = digits + sizeof digits - 1;
	*at = '\0';
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	fputs(at, out);
}

static void put_place(FILE *out, const struct value *v)
{
	if (v->text) {
		foreign_put_field(out, v->text);
		putc(':', out);
		put_number(out, v->n);
	} else if (v->n) {
		fprintf(out, "%#" PRIx64, v->n);
	}
}

/* Ranks, times and lines without a value are -1 and 0. */
static void put_value(FILE *out, const struct field *f, const struct record *r, unsigned item)
{
	const struct value v = field_value(f, r, item);
	putc('\t', out);
	if (f->kind == FIELD_PLACE)
		put_place(out, &v);
	else if (f->kind == FIELD_TEXT)
		foreign_put_field(out, v.is_known ? v.text : "");
	else if (f->kind == FIELD_RANK || f->kind == FIELD_SIGNED)
		fprintf(out, "%" PRId64, v.is_known ? (int64_t)v.n : -1);
	else if (!v.is_known && f->kind != FIELD_TIME && f->kind != FIELD_LINE)
		putc('-', out);
	else if (f->kind == FIELD_WORD)
		put_own(out, v.text);
	else if (f->kind == FIELD_REAL)
		fprintf(out, "%.17g", v.real);
	else if (f->kind == FIELD_ADDRESS)
		fprintf(out, "%#" PRIx64, v.n);
	else
		put_number(out, v.n);
}

static void put_header(FILE *out, const struct record_kind *k)
{
	char name[FIELD_NAME];
	fputs("# ", out);
	put_own(out, k->name);
	for (unsigned i = 0; i < k->n_fields; i++)
		for (unsigned item = 0; field_is_in(&k->fields[i], RECORD_TEXT) &&
					item < (k->fields[i].n_items ? k->fields[i].n_items : 1U);
		     item++) {
			putc('\t', out);
			put_own(out, field_column(&k->fields[i], item, name));
		}
	putc('\n', out);
}

/* True for the first record of its kind. */
static bool is_first(struct text_all *t, const struct record_kind *k)
{
	unsigned i = 0;
	if (t->last == k)
		return false;
	t->last = k;
	while (i < t->n_seen && t->seen[i] != k)
		i++;
	if (i < t->n_seen || i == TEXT_ALL_KINDS)
		return false;
	t->seen[t->n_seen++] = k;
	return true;
}

void text_all_fields(struct text_all *t, const struct record *r)
{
	const struct record_kind *k = r->kind;
	if (is_first(t, k))
		put_header(t->out, k);
	put_own(t->out, k->name);
	for (unsigned i = 0; i < k->n_fields; i++) {
		const struct field *f = &k->fields[i];
		for (unsigned item = 0;
		     field_is_in(f, RECORD_TEXT) && item < (f->n_items ? f->n_items : 1U); item++)
			put_value(t->out, f, r, item);
	}
}

static void visit(struct record_visitor *v, const struct record *r)
{
	struct text_all *t = (struct text_all *)v;
	text_all_fields(t, r);
	putc('\n', t->out);
}

enum status sink_text_all(const struct model *m, FILE *out)
{
	struct text_all t = {.v = {.sink = RECORD_TEXT, .visit = visit}, .out = out};
	fprintf(out, "# hpcprof-lite text %d\n", RECORD_VERSION);
	if (!records_visit(m, &t.v) || !text_all_words(m, &t))
		return STATUS_NO_MEMORY;
	records_visit_end(m, &t.v);
	return fflush(out) == 0 && !ferror(out) ? STATUS_OK : STATUS_IO;
}
