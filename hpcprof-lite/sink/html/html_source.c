/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section "sources": the lines of source files around those with values. A file is read under
 * the rules of rights.h. The section is a list of (file, number of blocks, blocks), a block
 * is (first line, number of lines, lines as strings). Test: tests/cli/sink/sink_html.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include "common/base/log.h"
#include "common/base/vec.h"
#include "common/rights/rights.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/source_find.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AROUND = 6, MAX_LINE_BYTES = 400, MAX_FILE_BYTES = 16 << 20 };

struct place {
	uint32_t file, line;
};

struct sources {
	struct html *h;
	struct rights owners;
	VEC(struct place) places; /* by file, then line */
	size_t n_bytes;           /* written so far */
	char *text;               /* of one file */
	VEC(uint32_t) starts;     /* offset of each of its lines; then its size */
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static bool collect_places(struct sources *s)
{
	const struct model *m = s->h->m;
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		if (!s->h->tree.is_kept[i] || c->file >= m->n_files || !c->line)
			continue;
		struct place *p = vec_push(&s->places);
		if (!p)
			return false;
		*p = (struct place){c->file, c->line};
	}
	if (s->places.n)
		qsort(s->places.at, s->places.n, sizeof *s->places.at, compare_places);
	return true;
}

/* Reads a whole file and finds its lines. False if it may not or cannot be read. */
static bool read_file(struct sources *s, const char *path)
{
	char archived[PATH_MAX], *relative;
	s->h->failed |= !source_relative(path, &relative);
	struct stat st;
	mode_t mode;
	int fd = relative ? rights_open(&s->owners,
					source_find(s->h->o, relative, path, archived), &st, &mode)
			  : -1;
	free(relative);
	if (fd < 0)
		return false;
	size_t n = 0, room = st.st_size <= MAX_FILE_BYTES ? (size_t)st.st_size : 0;
	s->text = malloc(room + 1);
	ssize_t got = 1;
	while (s->text && n < room && (got = read(fd, s->text + n, room - n)) > 0)
		n += (size_t)got;
	close(fd);
	s->h->failed |= !s->text;
	if (!s->text || !n || memchr(s->text, 0, n))
		return false;
	vec_clear(&s->starts);
	for (size_t i = 0; i <= n; i++)
		if (i == 0 || i == n || s->text[i - 1] == '\n') {
			uint32_t *start = vec_push(&s->starts);
			if (!start) {
				s->h->failed = true;
				return false;
			}
			*start = (uint32_t)i;
		}
	s->h->is_private |= !(mode & S_IROTH);
	return true;
}

static void put_line(struct sources *s, uint32_t line)
{
	uint32_t from = s->starts.at[line - 1], to = s->starts.at[line];
	char text[MAX_LINE_BYTES + 1];
	size_t n = to - from < MAX_LINE_BYTES ? to - from : MAX_LINE_BYTES;
	while (n && (s->text[from + n - 1] == '\n' || s->text[from + n - 1] == '\r'))
		n--;
	memcpy(text, s->text + from, n);
	text[n] = '\0';
	char *clean = names_clean(text);
	const char *shown = clean ? clean : "";
	s->h->failed |= !clean;
	html_put_number(&s->h->section, strlen(shown));
	html_put(&s->h->section, shown, strlen(shown));
	s->n_bytes += strlen(shown) + 1;
	free(clean);
}

/* The end of the block of lines that begins around `places[at]`. */
static size_t find_block(const struct sources *s, size_t at, size_t end, uint32_t n_lines,
			 uint32_t *first, uint32_t *n)
{
	uint64_t from = s->places.at[at].line > AROUND ? s->places.at[at].line - AROUND : 1;
	uint64_t to = from;
	while (at < end && s->places.at[at].line <= to + 2 * AROUND) {
		to = (uint64_t)s->places.at[at].line + AROUND;
		at++;
	}
	*first = (uint32_t)from;
	to = to < n_lines ? to : n_lines;
	*n = to >= from ? (uint32_t)(to - from + 1) : 0;
	return at;
}

static void put_blocks(struct sources *s, size_t begin, size_t end)
{
	uint32_t n_lines = (uint32_t)s->starts.n - 1, first, n;
	uint64_t n_blocks = 0;
	for (size_t at = begin; at < end;) {
		at = find_block(s, at, end, n_lines, &first, &n);
		n_blocks++;
	}
	html_put_number(&s->h->section, (uint64_t)s->places.at[begin].file + 1);
	html_put_number(&s->h->section, n_blocks);
	for (size_t at = begin; at < end;) {
		at = find_block(s, at, end, n_lines, &first, &n);
		html_put_number(&s->h->section, first);
		html_put_number(&s->h->section, n);
		for (uint32_t i = 0; i < n; i++)
			put_line(s, first + i);
	}
}

static void put_file(struct sources *s, size_t begin, size_t end)
{
	struct html *h = s->h;
	if (s->n_bytes >= HTML_MAX_SOURCE_BYTES) {
		h->n_source_left_out++;
	} else if (read_file(s, h->m->files[s->places.at[begin].file].path)) {
		h->n_source_files++;
		put_blocks(s, begin, end);
	} else {
		h->n_source_missing++;
	}
	free(s->text);
	s->text = NULL;
}

enum status html_write_sources(struct html *h)
{
	struct sources s = {.h = h};
	enum status status = STATUS_OK;
	html_section_begin(&h->section, &h->packer, "sources");
	if (!h->o->no_sources) {
		if (!source_owners_find(h->m, &s.owners) || !collect_places(&s)) {
			log_error(h->o->directory, "out of memory");
			status = STATUS_NO_MEMORY;
		}
		for (size_t i = 0, end; status == STATUS_OK && i < s.places.n; i = end) {
			uint32_t file = s.places.at[i].file;
			for (end = i; end < s.places.n && s.places.at[end].file == file;)
				end++;
			put_file(&s, i, end);
		}
		rights_free(&s.owners);
	}
	html_put_number(&h->section, 0); /* no more files */
	enum status ended = html_section_end(&h->section);
	vec_free(&s.places);
	vec_free(&s.starts);
	return status == STATUS_OK ? ended : status;
}
