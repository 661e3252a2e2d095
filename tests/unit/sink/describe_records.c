/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes what the tables of fields (hpcprof-lite/record) say of the exports of everything:
 * describe_records page > doc/formats/records.md
 * describe_records schema hpcprof-lite/sink/json/advice.schema.json >
 *     doc/formats/profile.schema.json
 * The file has the members of the JSON that are no records. tests/cli/sink/sink_records.sh.
 */
#include "hpcprof-lite/record/record.h"

#include <stdio.h>
#include <string.h>

static bool is_in(const struct record_kind *k, unsigned sink)
{
	return k->sinks & sink;
}

/* ---- the schema ---- */

static void put_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (strchr("\"\\", *s))
			putchar('\\');
		putchar(*s);
	}
	putchar('"');
}

static const char *type_of(const struct field *f)
{
	const bool is_nullable = !f->is_optional;
	switch (f->kind) {
	case FIELD_BOOL: return "\"type\": \"boolean\"";
	case FIELD_SIGNED: return "\"type\": \"integer\"";
	case FIELD_REAL: return "\"type\": [\"number\", \"null\"]";
	case FIELD_TIME: return "\"$ref\": \"#/$defs/time\"";
	case FIELD_ADDRESS: return "\"$ref\": \"#/$defs/address\"";
	case FIELD_TEXT:
	case FIELD_WORD:
		return is_nullable ? "\"type\": [\"string\", \"null\"]" : "\"type\": \"string\"";
	case FIELD_ID:
	case FIELD_RANK:
		return is_nullable ? "\"$ref\": \"#/$defs/indexOrNull\""
				   : "\"$ref\": \"#/$defs/index\"";
	default:
		return is_nullable && f->is_known
			       ? "\"type\": [\"integer\", \"null\"], \"minimum\": 0"
			       : "\"$ref\": \"#/$defs/count\"";
	}
}

static void put_meaning(const char *meaning)
{
	if (!meaning)
		return;
	fputs(", \"description\": ", stdout);
	put_string(meaning);
}

/* Of a word that is looked up by a number: all that there are, and null if it may be unknown. */
static void put_word_list(const struct field *f)
{
	enum { MOST = 256 };
	const char *words[MOST + 1];
	unsigned n = 0, last = 0;
	for (unsigned i = 0; i < MOST; i++) {
		const char *word = f->word(i);
		unsigned k = 0;
		while (word && k < n && strcmp(words[k], word) != 0)
			k++;
		if (!word || k < n)
			continue;
		words[n++] = word;
		if (strcmp(word, "unknown") != 0)
			last = n;
	}
	fputs("{\"enum\": [", stdout);
	for (unsigned i = 0; i < last; i++) {
		fputs(i ? ", " : "", stdout);
		put_string(words[i]);
	}
	fputs(f->is_optional ? "]" : ", null]", stdout);
}

static void put_field_type(const struct field *f)
{
	if (strcmp(f->name, "format") == 0)
		fputs("{\"const\": \"hpctoolkit-lite profile\"", stdout);
	else if (strcmp(f->name, "version") == 0)
		printf("{\"const\": %d", RECORD_VERSION);
	else if (f->kind == FIELD_WORD && f->word && !f->n_items)
		put_word_list(f);
	else if (f->n_items)
		printf("{\"type\": \"array\", \"items\": {%s}, \"minItems\": %u, \"maxItems\": %u",
		       type_of(f), f->n_items, f->n_items);
	else
		printf("{%s", type_of(f));
	put_meaning(f->meaning);
	putchar('}');
}

static bool has_field(const struct field *f)
{
	return field_is_in(f, RECORD_JSON) && f->kind != FIELD_KEY;
}

static void put_items(const struct record_kind *k)
{
	unsigned n = 0;
	fputs("{\"type\": \"array\", \"prefixItems\": [", stdout);
	for (unsigned i = 0; i < k->n_fields; i++)
		if (has_field(&k->fields[i])) {
			fputs(n++ ? ",\n        " : "\n        ", stdout);
			put_field_type(&k->fields[i]);
		}
	printf("\n      ], \"minItems\": %u, \"maxItems\": %u}", n, n);
}

/* The value of the member in which records of this kind are. */
static void put_member(const struct record_kind *k)
{
	switch (k->form) {
	case RECORD_COUNTS: fputs("{\"$ref\": \"#/$defs/counts\"", stdout); break;
	case RECORD_VALUES:
		fputs("{\"type\": \"array\", \"items\": ", stdout);
		put_field_type(&k->fields[k->n_fields - 1]);
		break;
	case RECORD_OBJECT:
		printf("{%s\"$ref\": \"#/$defs/%s\"%s", k->is_wanted ? "\"anyOf\": [{" : "",
		       k->name, k->is_wanted ? "}, {\"type\": \"null\"}]" : "");
		break;
	default: printf("{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/%s\"}", k->name);
	}
	if (k->form != RECORD_COUNTS)
		put_meaning(k->meaning);
	putchar('}');
}

/* Members that are always there: fields that are not optional, and kinds that are always wanted. */
static void put_required(const struct record_kind *k)
{
	const struct record_kind *c;
	unsigned n = 0;
	fputs("\"required\": [", stdout);
	for (unsigned i = 0; i < k->n_fields; i++)
		if (has_field(&k->fields[i]) && !k->fields[i].is_optional)
			printf("%s\"%s\"", n++ ? ", " : "", k->fields[i].name);
	for (unsigned i = 0; (c = record_kind_at(i)); i++)
		if (is_in(c, RECORD_JSON) && c->parent == k && c->is_wanted == record_always)
			printf("%s\"%s\"", n++ ? ", " : "", c->json);
	putchar(']');
}

static void put_members(const struct record_kind *k, const char *indent)
{
	const struct record_kind *c;
	bool is_first = true;
	for (unsigned i = 0; i < k->n_fields; i++)
		if (has_field(&k->fields[i])) {
			printf("%s\n%s\"%s\": ", is_first ? "" : ",", indent, k->fields[i].name);
			put_field_type(&k->fields[i]);
			is_first = false;
		}
	for (unsigned i = 0; (c = record_kind_at(i)); i++)
		if (is_in(c, RECORD_JSON) && c->parent == k) {
			printf("%s\n%s\"%s\": ", is_first ? "" : ",", indent, c->json);
			put_member(c);
			is_first = false;
		}
}

static void put_definition(const struct record_kind *k)
{
	printf(",\n    \"%s\": ", k->name);
	if (k->form == RECORD_TUPLES) {
		put_items(k);
		return;
	}
	fputs("{\n      \"type\": \"object\",\n      \"properties\": {", stdout);
	put_members(k, "        ");
	fputs("\n      },\n      ", stdout);
	put_required(k);
	fputs(",\n      \"additionalProperties\": false\n    }", stdout);
}

/* Copies what is between the line and the next one of as many blanks and a bracket. */
static bool copy_part(const char *file, const char *line)
{
	char text[512];
	bool is_in_part = false, is_found = false;
	FILE *in = fopen(file, "r");
	while (in && fgets(text, sizeof text, in)) {
		if (is_in_part && strncmp(text, "  }", 3) == 0)
			is_in_part = false;
		if (is_in_part)
			fputs(text, stdout);
		if (strncmp(text, line, strlen(line)) == 0)
			is_in_part = is_found = true;
	}
	if (in)
		fclose(in);
	return is_found;
}

static const char common[] =
"    \"count\": {\"type\": \"integer\", \"minimum\": 0},\n"
"    \"index\": {\"type\": \"integer\", \"minimum\": 0},\n"
"    \"indexOrNull\": {\"type\": [\"integer\", \"null\"], \"minimum\": 0},\n"
"    \"time\": {\n"
"      \"type\": [\"integer\", \"null\"],\n"
"      \"description\": \"Nanoseconds since start_ns; null: unknown.\"\n"
"    },\n"
"    \"address\": {\n"
"      \"type\": \"string\",\n"
"      \"pattern\": \"^0x[0-9a-f]+$\",\n"
"      \"description\": \"Link address in the module, in hexadecimal digits.\"\n"
"    },\n"
"    \"counts\": {\n"
"      \"type\": [\"object\", \"null\"],\n"
"      \"description\": \"Numbers by group and name: samples.delivered, lost_samples.busy.\",\n"
"      \"additionalProperties\": {\n"
"        \"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/count\"}\n"
"      }\n"
"    }";

static bool put_schema(const char *more)
{
	const struct record_kind *run = record_kind_at(0), *k;
	printf("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	       "  \"$id\": \"urn:hpctoolkit-lite:profile:%d\",\n"
	       "  \"title\": \"Profile of hpctoolkit-lite\",\n"
	       "  \"description\": \"What hpcprof-lite --to json writes. References are indices in "
	       "the arrays.\",\n  \"type\": \"object\",\n  \"properties\": {",
	       RECORD_VERSION);
	put_members(run, "    ");
	fputs(",\n", stdout);
	bool ok = copy_part(more, "  \"properties\": {");
	fputs("  },\n  ", stdout);
	put_required(run);
	fputs(",\n  \"additionalProperties\": false,\n  \"$defs\": {\n", stdout);
	fputs(common, stdout);
	for (unsigned i = 1; (k = record_kind_at(i)); i++)
		if (is_in(k, RECORD_JSON) && k->form != RECORD_COUNTS && k->form != RECORD_VALUES)
			put_definition(k);
	fputs(",\n", stdout);
	ok = copy_part(more, "  \"$defs\": {") && ok;
	fputs("  }\n}\n", stdout);
	return ok;
}

/* ---- the page ---- */

static void put_path(const struct record_kind *k)
{
	if (k->parent)
		put_path(k->parent);
	if (k->json)
		printf(".%s%s", k->json,
		       k->form == RECORD_OBJECT || k->form == RECORD_COUNTS ? "" : "[]");
}

/* Words to be broken into lines. */
struct lines {
	unsigned column, indent;
};

static void put_words(struct lines *l, const char *text)
{
	enum { COLUMNS = 100 };
	for (const char *end; *text; text = end + strspn(end, " ")) {
		end = text + strcspn(text, " ");
		const unsigned n = (unsigned)(end - text);
		if (l->column + 1 + n > COLUMNS) {
			printf("\n%*s", (int)l->indent, "");
			l->column = l->indent;
		} else if (l->column > l->indent) {
			putchar(' ');
			l->column++;
		}
		fwrite(text, 1, n, stdout);
		l->column += n;
	}
}

static void put_line(const struct record_kind *k, const struct field *f)
{
	struct lines l = {2, 2};
	char text[FIELD_NAME + 16], name[FIELD_NAME];
	const char *unit = field_unit(f);
	fputs("- ", stdout);
	if (f->n_items)
		snprintf(text, sizeof text, "`%s_x`, `_y`, `_z`", f->name);
	else
		snprintf(text, sizeof text, "`%s`", field_column(f, 0, name));
	put_words(&l, text);
	if (unit) {
		snprintf(text, sizeof text, "(%s)", unit);
		put_words(&l, text);
	}
	if (f->meaning) {
		fputs(":", stdout);
		l.column++;
		put_words(&l, f->meaning);
	}
	const unsigned sinks = (f->sinks ? f->sinks : ~0U) & k->sinks;
	if (sinks != k->sinks) {
		static const char *const names[] = {"text", "JSON", "SQL"};
		const char *sep = "(";
		for (unsigned i = 0; i < 3; i++)
			if (sinks >> i & 1) {
				snprintf(text, sizeof text, "%s%s", sep, names[i]);
				sep = "";
				put_words(&l, text);
			}
		fputs(")", stdout);
	}
	putchar('\n');
}

static void put_kind(const struct record_kind *k)
{
	const char *sep = "";
	printf("\n### %s\n\n", k->name);
	struct lines l = {0, 0};
	put_words(&l, k->meaning);
	fputs(".\n", stdout);
	if (is_in(k, RECORD_SQL) || is_in(k, RECORD_JSON)) {
		putchar('\n');
		if (is_in(k, RECORD_JSON)) {
			fputs("JSON: `", stdout);
			if (k->json)
				put_path(k);
			else
				putchar('.');
			fputs("`", stdout);
			sep = ". ";
		}
		if (is_in(k, RECORD_SQL))
			printf("%sSQL: `%s`", sep, k->table);
		fputs(is_in(k, RECORD_TEXT) ? ".\n" : ". Not in the text.\n", stdout);
	}
	putchar('\n');
	for (unsigned i = 0; i < k->n_fields; i++)
		put_line(k, &k->fields[i]);
}

static void put_page(void)
{
	const struct record_kind *k;
	fputs("# Records\n\n"
	      "`hpcprof-lite --all`, `--to json` and `--to sqlite` share these records. This\n"
	      "page is made from the tables of fields in hpcprof-lite/record, as are the exports\n"
	      "and their schemas.\n\n"
	      "In the text, the heading below is the first field of the line. Before the first\n"
	      "record of a kind, a line that begins with `#` and the kind names the fields; tabs\n"
	      "separate them, so a name and its values are in the same column. Records without a\n"
	      "line about JSON and SQL are in the text alone. Unknown values are `-` in the text\n"
	      "(times and lines 0, ranks -1), and null in JSON and SQL; JSON leaves some out. In\n"
	      "JSON, an `id` is the index in the array, and times are nanoseconds since the start\n"
	      "of the run. The ledgers of the text are in the JSON members `ledger` and\n"
	      "`sampling`, by group and name, and in the SQL table `ledger`.\n",
	      stdout);
	for (unsigned i = 0; (k = record_kind_at(i)); i++)
		if (k->name)
			put_kind(k);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "page") == 0) {
		put_page();
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "schema") == 0)
		return put_schema(argv[2]) ? 0 : 1;
	fputs("usage: describe_records page | schema FILE\n", stderr);
	return 2;
}
