/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the command line that are for the text. Test: tests/cli/prof/prof_text.sh,
 * tests/cli/prof/prof_cli.sh. */
#include "hpcprof-lite/sink/text/text_options.h"

#include "hpcprof-lite/sink/text/text_sink.h"

#include <stdlib.h>
#include <string.h>

static enum status set_metric(void *settings, const char *value)
{
	((struct sink_text_options *)settings)->metric = value;
	return STATUS_OK;
}

static enum status set_depth(void *settings, const char *value)
{
	long long n;
	if (!options_number(value, 1, 1000000, &n))
		return options_refuse("--depth wants a number from 1 up, not '%s'", value);
	((struct sink_text_options *)settings)->depth = (unsigned)n;
	return STATUS_OK;
}

static enum status set_threshold(void *settings, const char *value)
{
	char *end;
	double percent = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
		return options_refuse(
			"--threshold wants a share in percent from 0 to 100, not '%s'", value);
	((struct sink_text_options *)settings)->threshold = percent;
	return STATUS_OK;
}

static enum status set_by(void *settings, const char *value)
{
	static const struct {
		const char *name;
		unsigned view;
	} views[] = {{"path", SINK_TEXT_PATHS},     {"function", SINK_TEXT_FUNCTIONS},
		     {"line", SINK_TEXT_LINES},     {"module", SINK_TEXT_MODULES},
		     {"thread", SINK_TEXT_THREADS}, {"gpu", SINK_TEXT_GPU},
		     {"mpi", SINK_TEXT_MPI},	    {"operator", SINK_TEXT_OPERATORS},
		     {"torch-module", SINK_TEXT_TORCH_MODULES}};
	const size_t n_views = sizeof views / sizeof views[0];
	unsigned *to = &((struct sink_text_options *)settings)->views;
	for (const char *at = value; *at || at == value;) {
		size_t n = strcspn(at, ","), i = 0;
		while (i < n_views &&
		       (strlen(views[i].name) != n || strncmp(views[i].name, at, n) != 0))
			i++;
		if (i == n_views)
			return options_refuse(
				"--by: '%.*s' is none of path, function, line, module, thread, "
				"gpu, mpi, operator, torch-module",
				(int)n, at);
		*to |= views[i].view;
		at += n + (at[n] == ',');
	}
	return STATUS_OK;
}

static enum status set_sort(void *settings, const char *value)
{
	if (strcmp(value, "self") != 0 && strcmp(value, "total") != 0)
		return options_refuse("--sort is 'self' or 'total', not '%s'", value);
	((struct sink_text_options *)settings)->by_total = *value == 't';
	return STATUS_OK;
}

static enum status set_all(void *settings, const char *value)
{
	(void)value;
	((struct sink_text_options *)settings)->all = true;
	return STATUS_OK;
}

static enum status set_interpreter(void *settings, const char *value)
{
	(void)value;
	((struct sink_text_options *)settings)->interpreter = true;
	return STATUS_OK;
}

const struct option_spec text_options[] = {
	{0, "metric", "NAME", "text: the metric to report (the first)", set_metric},
	{0, "by", "LIST",
	 "text: only the views named: path, function, line, module, thread, gpu, mpi, operator, "
	 "torch-module",
	 set_by},
	{0, "sort", "ORDER", "text: tables by self, the own value (default), or total", set_sort},
	{0, "depth", "N", "text: functions below the entry to show", set_depth},
	{0, "threshold", "PERCENT", "text: hide what is below this share of the whole (1)",
	 set_threshold},
	{0, "interpreter", NULL, "text: show the interpreter's frames between Python functions",
	 set_interpreter},
	{0, "all", NULL, "text: everything, one record a line, tab separated", set_all},
	{0, NULL, NULL, NULL, NULL},
};
