/* SPDX-License-Identifier: BSD-3-Clause */
/* Scanner of OpenCL C; see opencl_source.h. Must not read outside the text. Test:
 * tests/unit/struct/test_opencl_source.c, tests/fuzz/fuzz_source.c. */
#include "hpcstruct-lite/debug/opencl_source.h"

#include "common/base/sorted.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONDITIONS = 64 /* nested #if; deeper ones do not move braces back */ };

enum previous { OTHER, IDENTIFIER, GROUP_END };

/* A name in the text; n_bytes 0: none. */
struct word {
	uint32_t at, n_bytes, file, line;
};

/* Where the scanner is in the grammar: all that #else has to put back. */
struct place {
	uint32_t braces;       /* open ones of a function's body or of another block */
	uint32_t parens;       /* open ones outside blocks */
	bool in_function;
	bool started;          /* a declaration has begun at `start` */
	bool has_equals;       /* what follows is an initialiser */
	bool is_template;      /* "template" was seen: an "=" may be that of a default */
	bool is_space;         /* "namespace" or "extern" was seen: its braces do not count */
	bool is_attribute;     /* the open group belongs to __attribute__ or the like */
	enum previous previous;
	uint32_t start;
	struct word last;      /* the identifier before this token */
	struct word group;     /* the identifier before the open group */
	struct word inside;    /* the only token in the open group, if it is an identifier */
	uint32_t n_inside;     /* tokens in the open group */
	struct word name;      /* of the function, if this is one */
};

struct condition {
	struct place before, first_end;
	bool has_else;
	bool is_disabled;      /* what came so far was left out */
};

struct scanner {
	struct source_text *text;
	const uint8_t *bytes;
	uint32_t at, n_bytes;
	uint32_t file, line;
	bool at_line_start;    /* nothing but blanks since the line began */
	bool ok;               /* false: memory is short */
	struct place place;
	struct condition conditions[MAX_CONDITIONS];
	uint32_t n_conditions; /* may exceed MAX_CONDITIONS */
};

static bool is_word_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c >= 0x80;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

static uint8_t peek(const struct scanner *s, uint32_t ahead)
{
	return s->n_bytes - s->at > ahead ? s->bytes[s->at + ahead] : 0;
}

/* Bytes of a line continuation here, or 0. */
static uint32_t continuation(const struct scanner *s)
{
	if (peek(s, 0) != '\\')
		return 0;
	return peek(s, 1) == '\n' ? 2 : peek(s, 1) == '\r' && peek(s, 2) == '\n' ? 3 : 0;
}

/* Steps over one byte, which may end a line. */
static void step(struct scanner *s)
{
	if (s->bytes[s->at++] != '\n')
		return;
	s->line++;
	struct source_line *l = vec_push(&s->text->lines);
	if (l)
		*l = (struct source_line){s->at, s->file, s->line};
	else
		s->ok = false;
}

static void step_by(struct scanner *s, uint32_t n)
{
	while (n-- > 0 && s->at < s->n_bytes)
		step(s);
}

/* Steps over a comment if one starts here. */
static bool skip_comment(struct scanner *s)
{
	if (peek(s, 0) != '/' || (peek(s, 1) != '/' && peek(s, 1) != '*'))
		return false;
	bool to_line_end = peek(s, 1) == '/';
	for (step_by(s, 2); s->at < s->n_bytes;) {
		if (to_line_end && peek(s, 0) == '\n')
			break;
		if (!to_line_end && peek(s, 0) == '*' && peek(s, 1) == '/') {
			step_by(s, 2);
			break;
		}
		uint32_t n = continuation(s);
		step_by(s, n ? n : 1);
	}
	return true;
}

/* Steps over a string or a character; an unfinished one ends with its line. */
static void skip_literal(struct scanner *s)
{
	uint8_t quote = s->bytes[s->at];
	for (step(s); s->at < s->n_bytes && peek(s, 0) != '\n';) {
		uint8_t c = peek(s, 0);
		uint32_t n = continuation(s);
		step_by(s, n ? n : c == '\\' && peek(s, 1) != '\n' ? 2 : 1);
		if (c == quote)
			break;
	}
}

static struct word read_word(struct scanner *s)
{
	struct word w = {.at = s->at, .file = s->file, .line = s->line};
	while (s->at < s->n_bytes && is_word_byte(s->bytes[s->at]))
		s->at++;
	w.n_bytes = s->at - w.at;
	return w;
}

static bool is_word(const struct scanner *s, const struct word *w, const char *text)
{
	return w->n_bytes == strlen(text) && memcmp(s->bytes + w->at, text, w->n_bytes) == 0;
}

static bool is_attribute_word(const struct scanner *s, const struct word *w)
{
	static const char *const names[] = {
		"__attribute__", "__attribute", "__declspec", "_Pragma",  "__pragma",
		"__asm__",       "__asm",       "asm",        "_Alignas", "alignas",
		"typeof",        "__typeof__",  "__typeof",   "decltype", "noexcept"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (is_word(s, w, names[i]))
			return true;
	return false;
}

/* Blanks, comments and continuations of a directive, which ends with its line. */
static void skip_directive_blanks(struct scanner *s)
{
	for (uint32_t n; s->at < s->n_bytes;) {
		if ((n = continuation(s)) > 0)
			step_by(s, n);
		else if (is_blank(peek(s, 0)))
			step(s);
		else if (peek(s, 0) != '/' || peek(s, 1) != '*' || !skip_comment(s))
			return;
	}
}

static void skip_directive(struct scanner *s)
{
	while (s->at < s->n_bytes && peek(s, 0) != '\n') {
		uint32_t n = continuation(s);
		if (n > 0)
			step_by(s, n);
		else if (peek(s, 0) == '"' || peek(s, 0) == '\'')
			skip_literal(s);
		else if (!skip_comment(s))
			step(s);
	}
}

/* The rest of `#line 12 "name"`, or of the compiler's form without the word: what the next line is
 * called. */
static void take_line_directive(struct scanner *s, uint32_t number_at)
{
	uint64_t number = 0;
	uint32_t i = number_at, file = s->file;
	for (; i < s->n_bytes && s->bytes[i] >= '0' && s->bytes[i] <= '9' && number <= INT32_MAX;
	     i++)
		number = number * 10 + (uint64_t)(s->bytes[i] - '0');
	if (number > INT32_MAX)
		return;
	s->at = i;
	skip_directive_blanks(s);
	if (peek(s, 0) == '"') {
		uint32_t first = s->at + 1;
		skip_literal(s);
		uint32_t n = s->at - first;
		if (n > 1 && s->bytes[s->at - 1] == '"' && n - 1 < PATH_MAX &&
		    !memchr(s->bytes + first, '\0', n - 1)) {
			file = strtab_add(&s->text->files, (const char *)s->bytes + first, n - 1);
			s->ok = s->ok && file != STRTAB_FAILED;
		}
	}
	skip_directive(s);
	s->file = file;
	s->line = (uint32_t)number - 1; /* the end of the line counts one up */
}

/* Steps over what `#if 0` leaves out: to the line of its #else, #elif or #endif. */
static void skip_disabled(struct scanner *s)
{
	unsigned depth = 0;
	for (skip_directive(s); s->at < s->n_bytes; skip_directive(s)) {
		uint32_t back_at = s->at, back_line = s->line;
		size_t n_lines = s->text->lines.n;
		step(s);
		skip_directive_blanks(s);
		if (peek(s, 0) != '#')
			continue;
		s->at++;
		skip_directive_blanks(s);
		struct word w = read_word(s);
		if (is_word(s, &w, "if") || is_word(s, &w, "ifdef") || is_word(s, &w, "ifndef")) {
			depth++;
		} else if (depth > 0 && is_word(s, &w, "endif")) {
			depth--;
		} else if (depth == 0 && (is_word(s, &w, "endif") || is_word(s, &w, "else") ||
					  is_word(s, &w, "elif"))) {
			/* read it again as a directive of the text */
			s->at = back_at;
			s->line = back_line;
			s->text->lines.n = n_lines;
			return;
		}
	}
}

static void open_condition(struct scanner *s, bool is_disabled)
{
	if (s->n_conditions < MAX_CONDITIONS) {
		struct condition *c = &s->conditions[s->n_conditions];
		c->before = s->place;
		c->has_else = false;
		c->is_disabled = is_disabled;
	}
	s->n_conditions++;
	if (is_disabled)
		skip_disabled(s);
}

/* Each further branch starts where the first one did; after #endif things are as the first one left
 * them. */
static void next_branch(struct scanner *s, bool is_end)
{
	if (s->n_conditions == 0)
		return;
	if (s->n_conditions <= MAX_CONDITIONS) {
		struct condition *c = &s->conditions[s->n_conditions - 1];
		if (!c->has_else)
			c->first_end = s->place;
		c->has_else = !c->is_disabled;
		c->is_disabled = false;
		s->place = is_end ? c->first_end : c->before;
	}
	if (is_end)
		s->n_conditions--;
}

/* At the '#'. */
static void directive(struct scanner *s)
{
	s->at++;
	skip_directive_blanks(s);
	struct word w = read_word(s);
	if (w.n_bytes > 0 && s->bytes[w.at] >= '0' && s->bytes[w.at] <= '9') {
		take_line_directive(s, w.at);
	} else if (is_word(s, &w, "line")) {
		skip_directive_blanks(s);
		if (peek(s, 0) >= '0' && peek(s, 0) <= '9')
			take_line_directive(s, s->at);
	} else if (is_word(s, &w, "if") || is_word(s, &w, "ifdef") || is_word(s, &w, "ifndef")) {
		skip_directive_blanks(s);
		struct word value = read_word(s);
		skip_directive_blanks(s);
		open_condition(s, is_word(s, &w, "if") && is_word(s, &value, "0") &&
					  (peek(s, 0) == '\n' || peek(s, 0) == '/'));
	} else if (is_word(s, &w, "else") || is_word(s, &w, "elif")) {
		next_branch(s, false);
	} else if (is_word(s, &w, "endif")) {
		next_branch(s, true);
	}
	skip_directive(s);
}

static void end_declaration(struct scanner *s)
{
	s->place = (struct place){.in_function = false};
}

static void add_function(struct scanner *s)
{
	const struct place *p = &s->place;
	struct source_function f = {p->start,        s->at,        p->name.at,
				    p->name.n_bytes, p->name.file, p->name.line};
	struct source_function *last =
		s->text->functions.n ? &s->text->functions.at[s->text->functions.n - 1] : NULL;
	if (last && f.start < last->end) { /* the other branch of a condition ends it too */
		last->end = f.start == last->start ? f.end : last->end;
		return;
	}
	struct source_function *slot = vec_push(&s->text->functions);
	if (slot)
		*slot = f;
	else
		s->ok = false;
}

/* A token inside a block. */
static void in_block(struct scanner *s, uint8_t c)
{
	struct place *p = &s->place;
	s->at++;
	if (c == '{')
		p->braces++;
	else if (c == '}' && --p->braces == 0) {
		if (p->in_function) {
			add_function(s);
			end_declaration(s);
		}
		p->previous = OTHER; /* a struct may be followed by what is declared with it */
	}
}

static void open_group(struct scanner *s)
{
	struct place *p = &s->place;
	if (p->parens++ > 0)
		return;
	p->group = p->previous == IDENTIFIER ? p->last
		   : p->previous == GROUP_END && !p->is_attribute && p->n_inside == 1
			   ? p->inside
			   : (struct word){0};
	p->is_attribute = p->previous == IDENTIFIER && is_attribute_word(s, &p->last);
	p->n_inside = 0;
	p->inside = (struct word){0};
}

static void close_group(struct scanner *s)
{
	struct place *p = &s->place;
	if (p->parens == 0)
		return;
	if (--p->parens > 0)
		return;
	if (!p->is_attribute && p->group.n_bytes > 0 && !p->has_equals)
		p->name = p->group;
	p->previous = GROUP_END;
}

static void open_block(struct scanner *s)
{
	struct place *p = &s->place;
	bool is_function = p->name.n_bytes > 0 && p->parens == 0 && !p->has_equals;
	if (!is_function && p->is_space && p->parens == 0) {
		end_declaration(s);
		return;
	}
	p->in_function = is_function;
	p->braces = 1;
}

/* A token of a declaration. */
static void in_declaration(struct scanner *s, uint8_t c)
{
	struct place *p = &s->place;
	uint32_t at = s->at++;
	if (c == '}' || (c == ';' && p->parens == 0)) {
		end_declaration(s);
		return;
	}
	if (!p->started) {
		p->started = true;
		p->start = at;
	}
	enum previous before = p->previous;
	p->n_inside += p->parens > 0;
	p->previous = OTHER;
	if (c == '(') {
		p->previous = before;
		open_group(s);
		p->previous = OTHER;
	} else if (c == ')') {
		if (p->parens == 1)
			p->n_inside--;
		close_group(s);
	} else if (c == '{') {
		open_block(s);
	} else if (c == '=' && p->parens == 0) {
		p->has_equals = !p->is_template;
	}
}

static void take_word(struct scanner *s)
{
	struct place *p = &s->place;
	struct word w = read_word(s);
	if (p->braces > 0)
		return;
	if (!p->started) {
		p->started = true;
		p->start = w.at;
	}
	if (p->parens > 0) {
		p->inside = w;
		p->n_inside++;
		return;
	}
	p->is_template = p->is_template || is_word(s, &w, "template");
	p->is_space = p->is_space || is_word(s, &w, "namespace") || is_word(s, &w, "extern");
	p->last = w;
	p->previous = IDENTIFIER;
}

static void token(struct scanner *s)
{
	uint8_t c = s->bytes[s->at];
	uint32_t n = continuation(s);
	if (n > 0 || c == '\n' || is_blank(c)) {
		s->at_line_start = (s->at_line_start && n == 0) || c == '\n';
		step_by(s, n ? n : 1);
		return;
	}
	if (skip_comment(s))
		return;
	bool first = s->at_line_start;
	s->at_line_start = false;
	if (c == '#' && first)
		directive(s);
	else if (c == '"' || c == '\'')
		skip_literal(s);
	else if (is_word_byte(c))
		take_word(s);
	else if (s->place.braces > 0)
		in_block(s, c);
	else
		in_declaration(s, c);
}

bool source_scan(const char *path, const uint8_t *bytes, size_t n_bytes, struct source_text *text)
{
	*text = (struct source_text){.functions = {0}};
	struct scanner *s = calloc(1, sizeof *s);
	struct source_line *first = vec_push(&text->lines);
	if (!s || !first || strtab_add_z(&text->files, path) == STRTAB_FAILED) {
		free(s);
		return false;
	}
	*first = (struct source_line){0, 0, 1};
	s->text = text;
	s->bytes = bytes;
	s->n_bytes = n_bytes < UINT32_MAX ? (uint32_t)n_bytes : UINT32_MAX - 1;
	s->line = 1;
	s->at_line_start = true;
	s->ok = true;
	while (s->at < s->n_bytes && s->ok)
		token(s);
	bool ok = s->ok;
	free(s);
	return ok;
}

void source_text_free(struct source_text *text)
{
	vec_free(&text->functions);
	vec_free(&text->lines);
	strtab_free(&text->files);
}

/* The last line that starts at or before the offset. */
static size_t line_at(const struct source_text *text, uint32_t offset)
{
	size_t n = sorted_up_to(text->lines.at, text->lines.n, offset, offset);
	return n ? n - 1 : 0;
}

static bool add_row(struct debug_unit *unit, uint64_t offset, const struct source_line *line,
		    bool is_end)
{
	struct debug_row *r = vec_push(&unit->rows);
	bool known = line->line > 0;
	if (r)
		*r = (struct debug_row){offset, known ? line->file : DEBUG_NONE,
					known ? line->line : 0, is_end};
	return r != NULL;
}

static bool add_rows(struct debug_unit *unit, const struct source_text *text,
		     const struct source_function *f)
{
	size_t i = line_at(text, f->start);
	bool ok = add_row(unit, f->start, &text->lines.at[i], false);
	while (ok && ++i < text->lines.n && text->lines.at[i].offset < f->end)
		ok = add_row(unit, text->lines.at[i].offset, &text->lines.at[i], false);
	return ok && add_row(unit, f->end, &text->lines.at[i - 1], true);
}

static bool add_functions(const struct image *image, struct debug_unit *unit,
			  const struct source_text *text, struct strtab *names)
{
	const char *bytes = (const char *)image->file.bytes;
	for (size_t i = 0; i < text->functions.n; i++) {
		const struct source_function *f = &text->functions.at[i];
		if (strtab_add(names, bytes + f->name, f->name_bytes) == STRTAB_FAILED)
			return false;
	}
	for (size_t i = 0; i < text->functions.n; i++) {
		const struct source_function *f = &text->functions.at[i];
		struct debug_definition *d = vec_push(&unit->definitions);
		struct debug_scope *scope = vec_push(&unit->scopes);
		struct debug_range *range = vec_push(&unit->ranges);
		if (!d || !scope || !range || !add_rows(unit, text, f))
			return false;
		const char *name =
			strtab_get(names, strtab_add(names, bytes + f->name, f->name_bytes));
		*d = (struct debug_definition){name, NULL, f->line ? f->file : DEBUG_NONE, f->line};
		*scope = (struct debug_scope){DEBUG_NONE, (uint32_t)i, DEBUG_NONE,
					      0,          f->start,    NULL};
		*range = (struct debug_range){f->start, f->end, (uint32_t)i};
	}
	return true;
}

enum status source_read_unit(const struct image *image, struct debug_unit *unit,
			     struct strtab *names)
{
	struct source_text text = {.functions = {0}};
	char path[PATH_MAX];
	bool ok = source_scan(realpath(image->path, path) ? path : image->path, image->file.bytes,
			      image->file.n_bytes, &text);
	for (uint32_t i = 0; i < text.files.starts.n && ok; i++)
		ok = strtab_add_z(&unit->files, strtab_get(&text.files, i)) == i;
	ok = ok && add_functions(image, unit, &text, names);
	unit->origin = DEBUG_FROM_SOURCE;
	source_text_free(&text);
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
