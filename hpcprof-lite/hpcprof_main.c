/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcprof-lite: measurement directories to text, CCT database and OTF2 archive. This file is the command line and the order of things; the work is in load, attribute
 * and sink. Tests: tests/cli/prof_cli.sh.
 */
#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/pool.h"
#include "hpcprof-lite/archive.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/database.h"
#include "hpcprof-lite/load/load_job.h"
#include "hpcprof-lite/load/structures.h"
#include "hpcprof-lite/sink/sinks.h"
#include "hpcprof-lite/sink/text/text_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
	const char *database;
	unsigned n_workers;
	const char *to; /* NULL: all */
	const char *otf2_form;
	const char *archive; /* NULL: none */
	bool no_structs, no_sources, quiet;
	struct sink_text_options text;
};

/* ---- options ---- */

static enum status set_database(void *arg, const char *value)
{
	if (!*value)
		return options_refuse("-o needs the name of a directory");
	((struct arguments *)arg)->database = value;
	return STATUS_OK;
}

static enum status set_workers(void *arg, const char *value)
{
	long long n;
	if (!options_number(value, 1, 4096, &n))
		return options_refuse("-j wants a number of threads from 1 to 4096, not '%s'", value);
	((struct arguments *)arg)->n_workers = (unsigned)n;
	return STATUS_OK;
}

/* Whether `name` is one of the words of the comma separated list; NULL lists everything. */
static bool names(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && strncmp(at, name, n) == 0)
			return true;
	return !list;
}

static enum status set_to(void *arg, const char *value)
{
	char have[128] = "";
	for (size_t i = 0; sinks[i]; i++)
		snprintf(have + strlen(have), sizeof have - strlen(have), "%s%s", i ? ", " : "", sinks[i]->name);
	for (const char *at = value; *at;) {
		size_t n = strcspn(at, ","), i = 0;
		while (sinks[i] && (strlen(sinks[i]->name) != n || strncmp(sinks[i]->name, at, n) != 0))
			i++;
		if (!sinks[i])
			return options_refuse("--to: '%.*s' is not an output of this build (%s)", (int)n, at, have);
		at += n + (at[n] == ',');
	}
	if (!*value)
		return options_refuse("--to needs one or more of: %s", have);
	((struct arguments *)arg)->to = value;
	return STATUS_OK;
}

static enum status set_otf2(void *arg, const char *value)
{
	if (strcmp(value, "enterleave") != 0 && strcmp(value, "callingcontext") != 0)
		return options_refuse("--otf2 is 'callingcontext' or 'enterleave', not '%s'", value);
	((struct arguments *)arg)->otf2_form = value;
	return STATUS_OK;
}

static enum status set_metric(void *arg, const char *value)
{
	((struct arguments *)arg)->text.metric = value;
	return STATUS_OK;
}

static enum status set_depth(void *arg, const char *value)
{
	long long n;
	if (!options_number(value, 1, 1000000, &n))
		return options_refuse("--depth wants a number from 1 up, not '%s'", value);
	((struct arguments *)arg)->text.depth = (unsigned)n;
	return STATUS_OK;
}

static enum status set_threshold(void *arg, const char *value)
{
	char *end;
	double percent = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
		return options_refuse("--threshold wants a share in percent from 0 to 100, not '%s'", value);
	((struct arguments *)arg)->text.threshold = percent;
	return STATUS_OK;
}

static enum status set_by(void *arg, const char *value)
{
	static const struct {
		const char *name;
		unsigned view;
	} views[] = {{"path", SINK_TEXT_PATHS}, {"function", SINK_TEXT_FUNCTIONS}, {"line", SINK_TEXT_LINES}, {"module", SINK_TEXT_MODULES},
		{"thread", SINK_TEXT_THREADS}, {"gpu", SINK_TEXT_GPU}};
	const size_t n_views = sizeof views / sizeof views[0];
	unsigned *to = &((struct arguments *)arg)->text.views;
	for (const char *at = value; *at || at == value;) {
		size_t n = strcspn(at, ","), i = 0;
		while (i < n_views && (strlen(views[i].name) != n || strncmp(views[i].name, at, n) != 0))
			i++;
		if (i == n_views)
			return options_refuse("--by: '%.*s' is none of path, function, line, module, thread, gpu", (int)n, at);
		*to |= views[i].view;
		at += n + (at[n] == ',');
	}
	return STATUS_OK;
}

static enum status set_sort(void *arg, const char *value)
{
	if (strcmp(value, "self") != 0 && strcmp(value, "total") != 0)
		return options_refuse("--sort is 'self' or 'total', not '%s'", value);
	((struct arguments *)arg)->text.by_total = *value == 't';
	return STATUS_OK;
}

static enum status set_all(void *arg, const char *value)
{
	(void)value;
	((struct arguments *)arg)->text.all = true;
	return STATUS_OK;
}

static enum status set_interpreter(void *arg, const char *value)
{
	(void)value;
	((struct arguments *)arg)->text.interpreter = true;
	return STATUS_OK;
}

static enum status set_no_structs(void *arg, const char *value)
{
	(void)value;
	((struct arguments *)arg)->no_structs = true;
	return STATUS_OK;
}

static enum status set_no_sources(void *arg, const char *value)
{
	(void)value;
	((struct arguments *)arg)->no_sources = true;
	return STATUS_OK;
}

static enum status set_archive(void *arg, const char *value)
{
	if (!*value)
		return options_refuse("--archive needs the name of a directory");
	((struct arguments *)arg)->archive = value;
	return STATUS_OK;
}

static enum status set_quiet(void *arg, const char *value)
{
	(void)value;
	((struct arguments *)arg)->quiet = true;
	log_set_quiet(true);
	return STATUS_OK;
}

static const struct option_spec specs[] = {
	{'o', "output", "DB", "directory of the database; must not exist\n(hpctoolkit-lite-<app>-database[-<job>], numbered if it exists)", set_database},
	{'j', "jobs", "N", "threads to work with (one for each CPU)", set_workers},
	{0, "to", "LIST", "outputs, separated by commas: text, cctdb, otf2 (all;\n"
		"otf2 up to 1000 threads). Text goes to standard output,\nthe others into DB", set_to},
	{0, "otf2", "FORM", "callingcontext (default), or enterleave for readers that\nknow no calling-context events", set_otf2},
	{0, "archive", "DIR2",
		"write nothing but DIR2: a copy of the measurement DIR with\n"
		"its structures and sources, for another machine",
		set_archive},
	{0, "no-structs", NULL, "do not run hpcstruct-lite for missing structure files", set_no_structs},
	{0, "no-sources", NULL, "copy no source files into DB or DIR2", set_no_sources},
	{'q', "quiet", NULL, "errors and warnings only on standard error", set_quiet},
	{'v', "verbose", NULL, "say more", options_set_verbose},
	{0, "metric", "NAME", "text: the metric to report (the first)", set_metric},
	{0, "by", "LIST", "text: only the views named: path, function, line, module,\nthread, gpu", set_by},
	{0, "sort", "ORDER", "text: tables by self, the own value (default), or total", set_sort},
	{0, "depth", "N", "text: functions below the entry to show", set_depth},
	{0, "threshold", "PERCENT", "text: hide what is below this share of the whole (1)", set_threshold},
	{0, "interpreter", NULL, "text: show the interpreter's frames between Python functions", set_interpreter},
	{0, "all", NULL, "text: everything, one record a line, tab separated", set_all},
	{0, NULL, NULL, NULL, NULL},
};

static const struct option_table table = {
	"hpcprof-lite", "hpcprof-lite [-o DB] [-j N] [--to LIST] [options] DIR...",
	"Merges the measurements of hpcrun-lite in all DIRs into one calling-context tree,\nwith functions, inlined calls and lines from hpcstruct-lite, and writes it.",
	specs, NULL};

/* ---- structures ---- */

struct structures {
	const struct arguments *a;
	char *const *directories;
	size_t n_directories;
	struct load_structure *list;
	size_t n;
};

static void find_structures(void *arg, const struct merge_modules *all, const bool *needed, const struct structure **structures,
	enum model_structure *states)
{
	struct structures *s = arg;
	s->list = calloc(all->list.n + 1, sizeof *s->list);
	if (!s->list) {
		log_warn(NULL, "out of memory: functions and lines stay unknown");
		return;
	}
	for (size_t i = 0; i < all->list.n; i++)
		if (needed[i]) {
			s->list[s->n].module = all->list.at[i].record;
			s->list[s->n++].path = all->list.at[i].path;
		}
	struct load_structures_options o = {s->directories, s->n_directories, s->a->n_workers, !s->a->no_structs, s->a->quiet, database_begin_scratch};
	load_structures_open(&o, s->list, s->n);
	database_end_scratch();
	for (size_t i = 0, k = 0; i < all->list.n; i++)
		if (needed[i]) {
			structures[i] = s->list[k].structure;
			states[i] = s->list[k++].state;
		}
}

/* ---- writing ---- */

/* An archive has two files for each thread and queue. Unasked it is written up to so many of them. */
enum { OTF2_LOCATIONS = 1000 };

static bool is_too_many(const struct model *m, const struct arguments *a, const struct sink_ops *s)
{
	bool asked = a->to || a->otf2_form;
	if (strcmp(s->name, "otf2") != 0 || asked || m->n_profiles <= OTF2_LOCATIONS)
		return false;
	log_note(NULL, "no OTF2 archive: %u threads and queues would make %u files; --to %s",
		m->n_profiles, 2 * m->n_profiles, "text,cctdb,otf2 writes it");
	return true;
}

static bool makes_files(const struct sink_ops *s)
{
	return s != &sink_text;
}

static enum status write_text(const struct model *m, const struct arguments *a)
{
	struct sink_options o = {.n_workers = a->n_workers, .text = &a->text};
	return names(a->to, sink_text.name) ? sink_text.write(m, &o) : STATUS_OK;
}

static enum status write_files(const struct model *m, const struct arguments *a,
	char *const *directories, size_t n_directories)
{
	struct database d = {0};
	struct sink_options o = {.n_workers = a->n_workers, .otf2_form = a->otf2_form, .progress = isatty(STDERR_FILENO),
		.no_sources = a->no_sources, .is_private = &d.is_private, .source_dirs = directories,
		.n_source_dirs = n_directories};
	enum status s = STATUS_OK;
	char written[128] = "";
	for (size_t i = 0; sinks[i] && s == STATUS_OK; i++) {
		if (!makes_files(sinks[i]) || !names(a->to, sinks[i]->name))
			continue;
		if (is_too_many(m, a, sinks[i]))
			continue;
		if (!d.path)
			s = database_begin(&d, a->database, directories[0], m->title);
		o.directory = d.partial;
		if (s == STATUS_OK)
			s = sinks[i]->write(m, &o);
		snprintf(written + strlen(written), sizeof written - strlen(written), "%s%s", *written ? ", " : "", sinks[i]->name);
	}
	if (s == STATUS_OK && d.partial)
		s = database_commit(&d);
	if (s == STATUS_OK && d.path)
		log_note(NULL, "%s in %s", written, d.path);
	database_end(&d);
	return s;
}

static enum status write_outputs(
	const struct model *m, const struct arguments *a, char *const *directories, size_t n)
{
	enum status status = names(a->to, sink_text.name) ? sink_text_check(m, &a->text) : STATUS_OK;
	if (status != STATUS_OK)
		return status;
	status = write_files(m, a, directories, n);
	enum status said = write_text(m, a); /* of use also where there is no database */
	return status == STATUS_OK ? said : status;
}

static bool writes_files(const struct arguments *a)
{
	for (size_t i = 0; sinks[i]; i++)
		if (makes_files(sinks[i]) && names(a->to, sinks[i]->name))
			return true;
	return false;
}

static enum status run(const struct arguments *a, char *const *directories, size_t n)
{
	struct load_job job = {0};
	struct model *m = NULL;
	struct structures s = {.a = a, .directories = directories, .n_directories = n};
	struct attribute_options o = {a->n_workers, find_structures, &s};
	const char *place = a->archive ? a->archive : writes_files(a) ? a->database : NULL;
	enum status status = place ? database_check(place) : STATUS_OK;
	if (status == STATUS_OK)
		status = load_job_open(directories, n, a->n_workers, &job);
	if (status == STATUS_OK)
		status = attribute_run(&job, &o, &m);
	if (status == STATUS_OK && a->archive)
		status = archive_write(&(struct archive){
			directories[0], a->archive, s.list, s.n, m, a->no_sources, directories, n});
	if (s.list)
		load_structures_close(s.list, s.n);
	free(s.list);
	if (status == STATUS_OK && !a->archive)
		status = write_outputs(m, a, directories, n);
	model_free(m);
	load_job_close(&job);
	return status;
}

int main(int argc, char **argv)
{
	struct arguments a = {.text = {.threshold = -1}};
	int first, done = 0;
	log_set_program("hpcprof-lite");
	enum status s = options_parse(&table, argc, argv, 0, &a, &first, &done);
	if (s == STATUS_OK && !done && first == argc)
		s = options_refuse("which measurement directory?");
	if (s != STATUS_OK || done)
		return status_exit_code(s);
	if (a.archive && (a.database || a.to || argc - first != 1))
		return status_exit_code(options_refuse(
			"--archive takes one measurement directory, and neither -o nor --to"));
	a.n_workers = a.n_workers ? a.n_workers : pool_n_cpus();
	database_guard();
	return status_exit_code(run(&a, argv + first, (size_t)(argc - first)));
}
