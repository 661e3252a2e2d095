/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conditions as JUnit XML: one suite with a test case for each. An absent verdict is a skipped
 * test. Attributes are those that Jenkins and GitLab read. Test: tests/cli/compare/compare_gate.sh,
 * where xmllint reads it.
 */
#include "hpcprof-lite/compare/compare_file.h"

#include "common/safe/printable.h"
#include "hpcprof-lite/compare/compare_text.h"
#include "hpcprof-lite/sink/text/text_print.h"

#include <inttypes.h>
#include <string.h>

enum { CELL = 32 };

/* XML 1.0 forbids U+FFFE and U+FFFF. */
static bool is_forbidden(const char *s)
{
	return memcmp(s, "\xef\xbf", 2) == 0 && ((unsigned char)s[2] | 1) == 0xbf;
}

/* XML 1.0 has no control characters, not even escaped. Harmful characters become U+FFFD. */
static void put_escaped(FILE *out, const char *s)
{
	for (size_t n; *s; s += n) {
		bool is_harmless;
		n = printable_step(s, &is_harmless);
		switch (*s) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\'': fputs("&apos;", out); break;
		default:
			if (is_harmless && !(n == 3 && is_forbidden(s)))
				fwrite(s, 1, n, out);
			else
				fputs("\xef\xbf\xbd", out);
		}
	}
}

static void put_numbers(const struct compare_report *r, const struct compare_check *x, FILE *out)
{
	const struct compare_estimate *e = &x->estimate;
	enum model_unit unit = compare_unit(r->c, x->metric);
	char base[TEXT_CELL], new[TEXT_CELL], change[CELL], deviation[TEXT_CELL], factor[CELL];
	fprintf(out, "base %s, new %s, change %s, ", text_value(base, unit, e->base),
		text_value(new, unit, e->new), compare_change(change, unit, e->new - e->base));
	fprintf(out, "sd %s, factor %s", text_value(deviation, unit, compare_deviation(e)),
		compare_factor(factor, e));
}

static void put_case(const struct compare_report *r, const struct compare_check *x, FILE *out)
{
	fputs("    <testcase classname=\"hpcprof-lite.compare\" name=\"", out);
	put_escaped(out, x->condition->text);
	fputs("\">\n", out);
	if (x->verdict == COMPARE_FAILS) {
		fputs("      <failure type=\"fail-if\" message=\"", out);
		put_numbers(r, x, out);
		fputs("\"/>\n", out);
	} else if (x->verdict == COMPARE_ABSENT) {
		fprintf(out, "      <skipped message=\"%s\"/>\n",
			x->lacks_mean ? "a side has no launch to average over"
				      : "no run has the function");
	} else {
		fputs("      <system-out>", out);
		fputs(x->verdict == COMPARE_NOISE ? "true, but within its uncertainty: " : "", out);
		put_numbers(r, x, out);
		fputs("</system-out>\n", out);
	}
	fputs("    </testcase>\n", out);
}

void compare_junit_put(const struct compare_report *r, FILE *out)
{
	size_t n_failed = 0, n_skipped = 0;
	for (size_t i = 0; i < r->n_checks; i++) {
		n_failed += r->checks[i].verdict == COMPARE_FAILS;
		n_skipped += r->checks[i].verdict == COMPARE_ABSENT;
	}
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
		"  <testsuite name=\"hpcprof-lite compare\" tests=\"%zu\" failures=\"%zu\""
		" errors=\"0\" skipped=\"%zu\">\n",
		r->n_checks, n_failed, r->n_checks, n_failed, n_skipped);
	for (size_t i = 0; i < r->n_checks; i++)
		put_case(r, &r->checks[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
}
