/* SPDX-License-Identifier: BSD-3-Clause */
/* See hpcprof_arguments.h: the table of options. Test: tests/cli/prof/prof_cli.sh. */
#include "hpcprof-lite/hpcprof_arguments.h"
#include "hpcprof-lite/parts/comm.h"
#include "hpcprof-lite/sinks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the comma separated list has the word `name`. */
static bool names(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && strncmp(at, name, n) == 0)
			return true;
	return false;
}

bool arguments_want(const struct arguments *a, const struct sink_ops *sink)
{
	return a->to ? names(a->to, sink->name) : !sink->on_request;
}

static enum status set_to(void *arg, const char *value)
{
	char have[128] = "";
	for (size_t i = 0; sinks[i]; i++)
		snprintf(have + strlen(have), sizeof have - strlen(have), "%s%s", i ? ", " : "",
			 sinks[i]->name);
	for (const char *at = value; *at;) {
		size_t n = strcspn(at, ","), i = 0;
		while (sinks[i] &&
		       (strlen(sinks[i]->name) != n || strncmp(sinks[i]->name, at, n) != 0))
			i++;
		if (!sinks[i])
			return options_refuse("--to: '%.*s' is not an output of this build (%s)",
					      (int)n, at, have);
		at += n + (at[n] == ',');
	}
	if (!*value)
		return options_refuse("--to needs one or more of: %s", have);
	((struct arguments *)arg)->to = value;
	return STATUS_OK;
}

static const struct option_spec others[] = {
	{0, "archive", "DIR2",
	 "write nothing but DIR2: a copy of the measurement DIR with "
	 "its structures and sources, for another machine",
	 OPTION_FILE(struct arguments, archive)},
	{0, "live", NULL,
	 "look at a run while it goes on: what it did in the last seconds and in all, each second, "
	 "until it ends or q is typed; writes nothing else",
	 OPTION_FLAG(struct arguments, live, true)},
	{0, "prometheus-file", "FILE",
	 "with --live: also write numbers for Prometheus to FILE, for the textfile collector of "
	 "node_exporter (a name that ends in .prom)",
	 OPTION_FILE(struct arguments, prometheus_file)},
	{0, "internals", NULL, "show frames inside of OpenMP, MPI, PyTorch, waits, import",
	 OPTION_FLAG(struct arguments, internals, true)},
	{0, "nvtx", "tree", "show ranges of NVTX in the tree, around what ran in them",
	 OPTION_LIST(struct arguments, ranges, "tree")},
	{0, "no-structs", NULL, "do not run hpcstruct-lite for missing structure files",
	 OPTION_FLAG(struct arguments, no_structs, true)},
	{0, "no-sources", NULL, "copy no source files into DB or DIR2",
	 OPTION_FLAG(struct arguments, no_sources, true)},
	{0, "mpi", NULL, "work with the other ranks of mpirun or srun, even from a script",
	 OPTION_FLAG(struct arguments, mpi, COMM_MPI_ALWAYS)},
	{0, "no-mpi", NULL, "work alone, even as one of several ranks of mpirun or srun",
	 OPTION_FLAG(struct arguments, mpi, COMM_MPI_NEVER)},
	{'q', "quiet", NULL, "errors and warnings only on standard error",
	 OPTION_FLAG(struct arguments, quiet, true)},
	{'v', "verbose", NULL, "say more", OPTION_CALL(options_set_verbose)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};

/* Appends options; their set() gets `arg`. */
static bool add_options(struct hpcprof_options *o, const struct option_spec *from, void *arg)
{
	for (; from && (from->letter || from->name); from++) {
		struct option_spec *spec = vec_push(&o->specs);
		void **of = vec_push(&o->args);
		if (!spec || !of)
			return false;
		*spec = *from;
		*of = arg;
	}
	return true;
}

/* The help of --to: a line for each sink. The caller frees it. NULL if memory is short. */
static char *describe_sinks(void)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *to = open_memstream(&text, &n_bytes);
	if (!to)
		return NULL;
	fputs("outputs, separated by commas (those with a *)", to);
	for (size_t i = 0; sinks[i]; i++)
		fprintf(to, "\n%c %-8s %s", sinks[i]->on_request ? ' ' : '*', sinks[i]->name,
			sinks[i]->what);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/* The options that say what to write, and where. */
static bool add_outputs(struct hpcprof_options *o)
{
	o->to_help = describe_sinks();
	const struct option_spec specs[] = {
		{'o', "output", "DB",
		 "directory of the database; must not exist "
		 "(hpctoolkit-lite-<app>-database[-<job>], numbered if it exists)",
		 OPTION_FILE(struct arguments, database)},
		{'j', "jobs", "N", "threads to work with (one for each CPU)",
		 OPTION_NUMBER(struct arguments, n_workers, 1, 4096)},
		{0, "to", "LIST", o->to_help, OPTION_CALL(set_to)},
		{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
	};
	return o->to_help && add_options(o, specs, NULL);
}

/* Sinks that write files have their options after --to, the others at the end. */
static bool add_sinks(struct hpcprof_options *o, bool makes_files)
{
	for (size_t i = 0; sinks[i]; i++)
		if (sinks[i]->makes_files == makes_files &&
		    !add_options(o, sinks[i]->options, o->settings[i]))
			return false;
	return true;
}

void hpcprof_options_free(struct hpcprof_options *o)
{
	for (size_t i = 0; o->settings && sinks[i]; i++)
		free(o->settings[i]);
	free(o->settings);
	free(o->to_help);
	vec_free(&o->specs);
	vec_free(&o->args);
}

bool hpcprof_options_make(struct hpcprof_options *o)
{
	size_t n = 0;
	while (sinks[n])
		n++;
	o->settings = calloc(n + 1, sizeof *o->settings);
	for (size_t i = 0; o->settings && i < n; i++) {
		if (!sinks[i]->defaults)
			continue;
		if (!(o->settings[i] = malloc(sinks[i]->settings_bytes)))
			return false;
		memcpy(o->settings[i], sinks[i]->defaults, sinks[i]->settings_bytes);
	}
	return o->settings && add_outputs(o) && add_sinks(o, true) &&
	       add_options(o, filter_options, &o->filter) && add_options(o, others, NULL) &&
	       add_sinks(o, false) && vec_push(&o->specs);
}

/* ---- ranks ---- */

bool arguments_are_of_first(const struct arguments *a)
{
	return !a->ranks || a->ranks->part == 0;
}

enum status arguments_agree(const struct arguments *a, enum status s)
{
	return a->ranks ? comm_agree_both(a->comm, a->ranks, s) : s;
}
