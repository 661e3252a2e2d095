/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A comparison in GitHub-flavoured Markdown, for the comment of a merge request: the conditions,
 * then the largest differences. Test: tests/cli/compare/compare_gate.sh.
 */
#include "hpcprof-lite/compare/compare_file.h"

#include "common/safe/printable.h"
#include "hpcprof-lite/compare/compare_text.h"
#include "hpcprof-lite/sink/text/text_print.h"

enum { CELL = 32 };

static size_t longest_run(const char *s, char c)
{
	size_t longest = 0;
	for (size_t n = 0; *s; s++) {
		n = *s == c ? n + 1 : 0;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static void put_fence(FILE *out, size_t n)
{
	while (n--)
		putc('`', out);
}

/*
 * A code span in a table. Its fence is longer than any run of backticks in the text, and a bar is
 * escaped, which tables undo. Harmful characters become U+FFFD.
 */
static void put_code(FILE *out, const char *s)
{
	size_t fence = longest_run(s, '`') + 1;
	put_fence(out, fence);
	fputs(fence > 1 ? " " : "", out);
	for (size_t n; *s; s += n) {
		bool is_harmless;
		n = printable_step(s, &is_harmless);
		if (*s == '|')
			putc('\\', out);
		if (is_harmless)
			fwrite(s, 1, n, out);
		else
			fputs("\xef\xbf\xbd", out);
	}
	fputs(fence > 1 ? " " : "", out);
	put_fence(out, fence);
}

static void put_numbers(FILE *out, const struct compare_estimate *e, enum model_unit unit)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[CELL], d[TEXT_CELL], f[CELL];
	fprintf(out, " %s | %s | %s | %s | %s |\n", text_value(a, unit, e->base),
		text_value(b, unit, e->new), compare_change(c, unit, e->new - e->base),
		text_value(d, unit, compare_deviation(e)), compare_factor(f, e));
}

/* `first`: the names of the columns before the numbers; `n` of them. */
static void put_heading(FILE *out, const char *first, unsigned n)
{
	fprintf(out, "| %s | base | new | change | sd | factor |\n", first);
	fprintf(out, "|---%s|---:|---:|---:|---:|---:|\n", n > 1 ? "|---" : "");
}

static void put_checks(const struct compare_report *r, FILE *out)
{
	if (!r->n_checks)
		return;
	fprintf(out, "**%s**\n\n", compare_report_fails(r) ? "A condition fails." : "Passed.");
	put_heading(out, "verdict | fails if", 2);
	for (size_t i = 0; i < r->n_checks; i++) {
		const struct compare_check *x = &r->checks[i];
		fprintf(out, "| %s | ", compare_verdict_name(x->verdict));
		put_code(out, x->condition->text);
		fputs(" |", out);
		put_numbers(out, &x->estimate, compare_unit(r->c, x->metric));
	}
	putc('\n', out);
}

static void put_rows(const struct compare_report *r, enum compare_by by, const char *what,
		     size_t n_rows, FILE *out)
{
	const struct compare_rows *rows = &r->rows[by];
	const struct compare_values *v = compare_report_values(r, by);
	size_t n_noise = rows->n - rows->n_real;
	if (!rows->n)
		return;
	fputs("By change of ", out);
	put_code(out, compare_string(r->c, r->c->metrics.at[v->metric].name));
	fprintf(out, " (%zu within noise):\n\n", n_noise);
	put_heading(out, what, 1);
	for (size_t i = 0; i < rows->n_real && i < n_rows; i++) {
		char name[TEXT_NAME];
		compare_row_name(r->c, by, rows->at[i].id, 0, name, sizeof name);
		fputs("| ", out);
		put_code(out, name);
		fputs(" |", out);
		put_numbers(out, compare_row_judged(rows, &rows->at[i]),
			    compare_unit(r->c, v->metric));
	}
	putc('\n', out);
}

void compare_markdown_put(const struct compare_report *r, size_t n_rows, FILE *out)
{
	fputs("### hpcprof-lite compare\n\n", out);
	put_checks(r, out);
	put_rows(r, COMPARE_BY_FUNCTION, "function", n_rows, out);
	put_rows(r, COMPARE_BY_KERNEL, "kernel", n_rows, out);
}
