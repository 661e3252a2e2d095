/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the command line that are for the text. Test: tests/cli/prof/prof_text.sh,
 * tests/cli/prof/prof_cli.sh. */
#include "hpcprof-lite/sink/text/text_options.h"

#include "hpcprof-lite/sink/text/text_sink.h"

/* The names of --by are in the order of the bits SINK_TEXT_... */
const struct option_spec text_options[] = {
	{0, "metric", "NAME", "text: the metric to report (the first)",
	 OPTION_TEXT(struct sink_text_options, metric)},
	{0, "by", "LIST",
	 "text: only the views named: path, function, line, module, thread, gpu, mpi, operator, "
	 "torch-module",
	 OPTION_LIST(struct sink_text_options, views,
		     "path, function, line, module, thread, gpu, mpi, operator, torch-module")},
	{0, "sort", "ORDER", "text: tables by self, the own value (default), or total",
	 OPTION_CHOICE(struct sink_text_options, by_total, "self, total")},
	{0, "depth", "N", "text: functions below the entry to show",
	 OPTION_NUMBER(struct sink_text_options, depth, 1, 1000000)},
	{0, "threshold", "PERCENT",
	 "text: hide what is below this share of the whole (1, and 3 samples)",
	 OPTION_PERCENT(struct sink_text_options, threshold)},
	{0, "interpreter", NULL, "text: show the interpreter's frames between Python functions",
	 OPTION_FLAG(struct sink_text_options, interpreter, true)},
	{0, "all", NULL, "text: everything, one record a line, tab separated",
	 OPTION_FLAG(struct sink_text_options, all, true)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};
