/* SPDX-License-Identifier: BSD-3-Clause */
/* See text_lines.h. Test: tests/unit/sink/test_text.c. */
#include "hpcprof-lite/sink/text/text_lines.h"

#include "hpcprof-lite/sink/text/text_print.h"

#include <stdlib.h>
#include <string.h>

static const char bold[] = "\033[1m", plain[] = "\033[0m"; /* around a heading */

/* Takes `end` away from the end of the line. */
static bool cut(char *line, const char *end)
{
	const size_t n = strlen(line), n_end = strlen(end);
	const bool has = n >= n_end && !strcmp(line + n - n_end, end);
	if (has)
		line[n - n_end] = '\0';
	return has;
}

static void put_as_it_is(const char *at, FILE *out)
{
	const int indent = (int)strspn(at, " ");
	for (const char *end; (end = strchr(at, '\v')); at = end + 1)
		fprintf(out, "%.*s\n%*s", (int)(end - at), at, indent, "");
	fputs(at, out);
}

/* Continues two columns to the right. A word that is longer than a line stays as it is. */
static void put_broken(char *line, size_t width, FILE *out)
{
	const bool is_bold = !strncmp(line, bold, sizeof bold - 1) && cut(line, plain);
	char *at = is_bold ? line + sizeof bold - 1 : line;
	size_t indent = strspn(at, " ");
	indent = indent < width / 2 ? indent : width / 2;
	for (char *soft = at; (soft = strchr(soft, '\v'));)
		*soft = ' ';
	fputs(is_bold ? bold : "", out);
	for (bool is_first = true;; is_first = false) {
		at += strspn(at, " ");
		size_t n = text_fitting(at, width - indent), next = n + strspn(at + n, " ");
		while (n && at[next] && at[n - 1] == ' ')
			n--;
		fprintf(out, "%*s%.*s", (int)indent, "", (int)n, at);
		if (!at[next])
			break;
		putc('\n', out);
		at += next;
		indent += is_first ? 2 : 0;
	}
	fputs(is_bold ? plain : "", out);
}

bool text_lines_begin(struct text_lines *l, const struct text_style *s)
{
	*l = (struct text_lines){.style = *s, .to = s};
	l->style.out = open_memstream(&l->text, &l->n_bytes);
	return l->style.out;
}

bool text_lines_end(struct text_lines *l)
{
	const bool ok = fclose(l->style.out) == 0;
	for (char *at = l->text, *end; ok && (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		const bool is_whole = text_columns(at) <= l->to->width && !strchr(at, '\v');
		if (text_is_narrow(l->to) && !is_whole)
			put_broken(at, l->to->width, l->to->out);
		else
			put_as_it_is(at, l->to->out);
		putc('\n', l->to->out);
	}
	free(l->text);
	return ok;
}
