/* SPDX-License-Identifier: BSD-3-Clause */
/* The complete form of the text: one record a line, for programs. Test: tests/cli/prof_text.sh. */
#ifndef HPCPROF_SINK_TEXT_ALL_H
#define HPCPROF_SINK_TEXT_ALL_H

#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

#include <stdio.h>

/*
 * Writes everything the model holds, time lines included, as lines of tab separated fields, the first of which names the kind of record; the lines that
 * begin with '#' name the fields. Numbers have full precision; tabs, newlines and backslashes in names are written as \t, \n, \\. Equal models give equal
 * bytes. STATUS_IO when `out` fails, STATUS_NO_MEMORY; not logged.
 *
 * The records context, total, value, sample ... repeat the model as it is. For scripts that want no joins, tree, by-function, by-line, by-module and thread say the
 * same in words ("exclusive" of a tree row is at the very context, of a function that of its own lines: see MODEL_POINT and text_table.h):
 *
 *     # tree metric depth kind name place inclusive exclusive samples
 *     tree	CPUTIME (sec)	0	root	everything		6.0150000000000006	0	0
 *     tree	CPUTIME (sec)	1	entry	<main thread>		3.02	0	0
 *     tree	CPUTIME (sec)	2	function	main	/src/mini.c:10	3.02	0	0
 *     tree	CPUTIME (sec)	3	line	main	/src/mini.c:12	3.02	0.010999999999999999	11
 *     tree	CPUTIME (sec)	4	inlined	small	/src/mini.c:4	0.5	0	0
 *     # by-function metric name place module exclusive inclusive samples
 *     by-function	CPUTIME (sec)	main	/src/mini.c:10	/bin/mini	0.010999999999999999	3.02	11
 *     # by-line metric place function exclusive inclusive samples
 *     by-line	CPUTIME (sec)	/src/mini.c:12	main	0.010999999999999999	3.02	11
 *     # by-module metric path exclusive inclusive samples
 *     by-module	CPUTIME (sec)	/bin/mini	3.02	3.02	3020
 *     # thread rank host pid exec thread name cpu-ns delivered in-tree lost closes metric value [metric value]...
 *     thread	0	node0	1000	0	0	mini	3021000000	3021	3020	1	1	CPUTIME (sec)	3.02
 *     ledger	all	-	3021	3020	3020	0	3020	0	65536	4500000	40000
 *     loss	all	-	busy	1	1
 *     closes	1
 */
enum status sink_text_all(const struct model *m, FILE *out);

#endif
