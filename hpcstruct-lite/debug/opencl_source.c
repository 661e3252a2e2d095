/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels in OpenCL C source text; see opencl_source.h. OpenCL has no samples inside kernels, so an
 * analysis only needs the place of a kernel's definition. Tests:
 * tests/unit/struct/test_opencl_source.c, tests/fuzz/fuzz_source.c.
 */
#include "hpcstruct-lite/debug/opencl_source.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A word, or one byte of anything else. */
struct token {
	uint32_t at, n_bytes, line;
};

struct scanner {
	const uint8_t *bytes;
	uint32_t at, n_bytes, line;
};

struct kernel {
	uint32_t start, end; /* of the head of its definition; exclusive: after the brace */
	struct token name;
};

struct kernels {
	VEC(struct kernel);
};

static bool is_word_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c >= 0x80;
}

static bool is_text(const struct scanner *s, const char *text)
{
	const size_t n = strlen(text);
	return s->n_bytes - s->at >= n && memcmp(s->bytes + s->at, text, n) == 0;
}

static void step(struct scanner *s)
{
	if (s->at < s->n_bytes)
		s->line += s->bytes[s->at++] == '\n';
}

/* Skips a text that ends with `end`. With escapes, a backslash hides the byte after it. */
static void skip(struct scanner *s, const char *end, bool has_escapes)
{
	while (s->at < s->n_bytes && !is_text(s, end)) {
		if (has_escapes && (is_text(s, "\\\r\n") || is_text(s, "\\")))
			s->at += is_text(s, "\\\r\n") ? 2 : 1;
		step(s);
	}
	for (size_t n = strlen(end); n > 0; n--)
		step(s);
}

static bool next_token(struct scanner *s, struct token *t)
{
	while (s->at < s->n_bytes) {
		const uint8_t c = s->bytes[s->at];
		const char quote[] = {(char)c, '\0'};
		*t = (struct token){s->at, 1, s->line};
		if (is_text(s, "//") || c == '#') {
			skip(s, "\n", true);
		} else if (is_text(s, "/*")) {
			s->at += 2;
			skip(s, "*/", false);
		} else if (is_text(s, "\"") || c == '\'') {
			step(s);
			skip(s, quote, true);
		} else {
			step(s);
			while (is_word_byte(c) && s->at < s->n_bytes &&
			       is_word_byte(s->bytes[s->at]))
				step(s);
			t->n_bytes = s->at - t->at;
			if (c > ' ')
				return true;
		}
	}
	return false;
}

static bool is_token(const struct scanner *s, struct token t, const char *text)
{
	return t.n_bytes == strlen(text) && memcmp(s->bytes + t.at, text, t.n_bytes) == 0;
}

static bool add(struct kernels *kernels, const struct kernel *k)
{
	struct kernel *slot = vec_push(kernels);
	if (slot)
		*slot = *k;
	return slot != NULL;
}

/*
 * In `kernel ... void ... NAME(...) ... {`, the name is the first word before a parenthesis after
 * `void`, other than __attribute__. Returns false when out of memory.
 */
static bool find_kernels(struct scanner *s, struct kernels *kernels)
{
	enum { NOTHING, KERNEL, RESULT, NAMED } seen = NOTHING;
	struct kernel k = {0, 0, {0, 0, 0}};
	uint32_t depth = 0;
	for (struct token t, last = {0, 0, 0}; next_token(s, &t); last = t) {
		const uint8_t c = s->bytes[t.at];
		if (is_token(s, t, "kernel") || is_token(s, t, "__kernel")) {
			seen = KERNEL;
			depth = 0;
			k.start = t.at;
		} else if (c == '(') {
			if (seen == RESULT && depth == 0 && is_word_byte(s->bytes[last.at]) &&
			    !is_token(s, last, "__attribute__")) {
				seen = NAMED;
				k.name = last;
			}
			depth++;
		} else if (c == ')') {
			depth -= depth > 0;
		} else if (depth == 0 && seen == KERNEL && is_token(s, t, "void")) {
			seen = RESULT;
		} else if (depth == 0 && (c == ';' || c == '{' || c == '}')) {
			k.end = s->at;
			if (c == '{' && seen == NAMED && !add(kernels, &k))
				return false;
			seen = NOTHING;
		}
	}
	return true;
}

static bool add_kernel(struct debug_unit *unit, const struct kernel *k, const char *name)
{
	const uint32_t id = (uint32_t)unit->scopes.n, line = k->name.line;
	struct debug_definition *d = vec_push(&unit->definitions);
	struct debug_scope *scope = vec_push(&unit->scopes);
	struct debug_range *range = vec_push(&unit->ranges);
	struct debug_row *row = vec_push(&unit->rows);
	if (!d || !scope || !range || !row)
		return false;
	*d = (struct debug_definition){name, NULL, 0, line};
	*scope = (struct debug_scope){DEBUG_NONE, id, DEBUG_NONE, 0, k->start, NULL};
	*range = (struct debug_range){k->start, k->end, id};
	*row = (struct debug_row){k->start, 0, line, false};
	row = vec_push(&unit->rows);
	if (row)
		*row = (struct debug_row){k->end, 0, line, true};
	return row != NULL;
}

enum status source_read_unit(const struct image *image, struct debug_unit *unit,
			     struct strtab *names)
{
	const char *bytes = (const char *)image->file.bytes;
	const size_t n_bytes = image->file.n_bytes;
	struct scanner s = {.bytes = image->file.bytes,
			    .n_bytes = n_bytes < UINT32_MAX ? (uint32_t)n_bytes : UINT32_MAX - 1,
			    .line = 1};
	struct kernels kernels = {0};
	char path[PATH_MAX];
	bool ok = strtab_add_z(&unit->files,
			       realpath(image->path, path) ? path : image->path) == 0 &&
		  find_kernels(&s, &kernels);
	/* add all names first, because adding a string may move the others */
	for (size_t i = 0; i < kernels.n && ok; i++)
		ok = strtab_add(names, bytes + kernels.at[i].name.at,
				kernels.at[i].name.n_bytes) != STRTAB_FAILED;
	for (size_t i = 0; i < kernels.n && ok; i++) {
		const struct token name = kernels.at[i].name;
		const uint32_t id = strtab_add(names, bytes + name.at, name.n_bytes);
		ok = add_kernel(unit, &kernels.at[i], strtab_get(names, id));
	}
	unit->origin = DEBUG_FROM_SOURCE;
	vec_free(&kernels);
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
