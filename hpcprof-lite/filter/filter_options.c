/* SPDX-License-Identifier: BSD-3-Clause */
/* The filters on the command line. Test: tests/cli/prof/prof_filter.sh. */
#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/filter/filter_text.h"

static enum status set_rank(void *arg, const char *value)
{
	if (!filter_is_list(value))
		return options_refuse("--rank wants numbers and ranges, as in 0,4-7, not '%s'",
				      value);
	((struct filter *)arg)->ranks = value;
	return STATUS_OK;
}

static enum status set_process(void *arg, const char *value)
{
	const char *at = value, *name;
	if (!filter_next_name(&at, &name))
		return options_refuse("--process needs process ids or names of programs");
	((struct filter *)arg)->processes = value;
	return STATUS_OK;
}

static enum status set_thread(void *arg, const char *value)
{
	if (!filter_is_list(value))
		return options_refuse("--thread wants numbers and ranges, as in 0,4-7, not '%s'",
				      value);
	((struct filter *)arg)->threads = value;
	return STATUS_OK;
}

static enum status set_time(void *arg, const char *value)
{
	struct filter_moment from, to;
	if (!filter_read_time(value, &from, &to))
		return options_refuse("--time wants FROM:TO in seconds or percent, as in 10:20, "
				      "50%%:100%% or :3.5, not '%s'",
				      value);
	((struct filter *)arg)->time = from.is_given || to.is_given ? value : NULL;
	return STATUS_OK;
}

static enum status set_below(void *arg, const char *value)
{
	if (!*value)
		return options_refuse("--below needs the name of a function");
	((struct filter *)arg)->below = value;
	return STATUS_OK;
}

const struct option_spec filter_options[] = {
	{0, "rank", "LIST", "only these ranks: 0,4-7", OPTION_CALL(set_rank)},
	{0, "process", "LIST", "only these processes, by pid or name of the program",
	 OPTION_CALL(set_process)},
	{0, "thread", "LIST", "only these threads of each process; 0 is its main thread",
	 OPTION_CALL(set_thread)},
	{0, "time", "FROM:TO",
	 "only this time of the run, in seconds or percent: 10:20, 50%:100%, :3.5",
	 OPTION_CALL(set_time)},
	{0, "below", "FUNCTION", "only what runs in or below this function, or pattern",
	 OPTION_CALL(set_below)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};
