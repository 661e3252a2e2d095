/* SPDX-License-Identifier: BSD-3-Clause */
/* The complete text output, for programs: one record per line.
 * Test: tests/cli/prof/prof_text.sh. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_ALL_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_ALL_H

#include "common/base/status.h"
#include "hpcprof-lite/record/record.h"

#include <stdio.h>

/*
 * Writes the whole model with its time lines, as lines of tab-separated fields. The first field
 * names the kind of record. Before the first record of a kind, a line names its fields. That line
 * begins with "# " and the kind, and also separates names by tabs, so a field's name is in the
 * column of its values. Numbers have full precision. Tabs, newlines and backslashes in names become
 * \t, \n, \\. Each byte that could control a terminal, or is not UTF-8, becomes an escape like
 * \x1b. Equal models give equal bytes. Returns STATUS_IO if `out` fails, or STATUS_NO_MEMORY; does
 * not log.
 *
 * The records are those of hpcprof-lite/record. The records of text_all_words.c come after them,
 * and say the same in words, for scripts that do no joins:
 *
 *     # tree	metric	depth	kind	name	place	inclusive	exclusive	samples
 *     tree	CPUTIME (sec)	0	root	everything		6.015	0	0
 *     tree	CPUTIME (sec)	2	function	main	/src/mini.c:10	3.02	0	0
 */
enum status sink_text_all(const struct model *m, FILE *out);

enum { TEXT_ALL_KINDS = 128 };
struct text_all {
	struct record_visitor v; /* the first member */
	FILE *out;
	const struct record_kind *seen[TEXT_ALL_KINDS], *last; /* kinds with a line of names */
	unsigned n_seen;
};
/* The line of a record without its end. */
void text_all_fields(struct text_all *t, const struct record *r);
/* The records in words. False if memory is short. */
bool text_all_words(const struct model *m, struct text_all *t);

#endif
