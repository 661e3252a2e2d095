/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcprof-lite turns measurement directories into the outputs of sink/sinks.c. This file has the
 * command line and the order of the steps; load, attribute and sink do the work. Test:
 * tests/cli/prof/prof_cli.sh.
 */
#include "config.h"

#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/pool.h"
#include "common/base/standard_files.h"
#include "common/base/vec.h"
#include "common/safe/fnv.h"
#include "hpcprof-lite/archive.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/compare_main.h"
#include "hpcprof-lite/database.h"
#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/model_hash.h"
#include "hpcprof-lite/needed_structures.h"
#include "hpcprof-lite/parts/comm_mpi.h"
#include "hpcprof-lite/sink/unread.h"
#include "hpcprof-lite/sinks.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct arguments {
	const char *database;
	unsigned n_workers;
	const char *to; /* NULL: all but those on request */
	const char *archive; /* NULL: none */
	bool no_structs, no_sources, quiet, internals, ranges;
	enum comm_mpi_use mpi;
	uint64_t command; /* hash of version and arguments */
	void **settings; /* by sink; NULL where it has none */
	const struct filter *filter;
	/* all ranks; NULL: this process works alone, and the others wait for it */
	struct comm *ranks;
	/* those that make the database with this one, and have the same model; NULL: none */
	struct comm *comm;
	bool is_apart; /* the other ranks make the database, and the first one all else */
};

static bool is_first(const struct arguments *a)
{
	return !a->ranks || a->ranks->part == 0;
}

/* ---- options ---- */

/* True if the comma separated list has the word `name`. */
static bool names(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && strncmp(at, name, n) == 0)
			return true;
	return false;
}

static bool is_wanted(const struct arguments *a, const struct sink_ops *sink)
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

/* The table of options: those of this file and those of the sinks. */
struct options {
	VEC(struct option_spec) specs;
	VEC(void *) args; /* by spec */
	void **settings; /* by sink; owned */
	struct filter filter;
	char *to_help; /* owned */
};

/* Appends options; their set() gets `arg`. */
static bool add_options(struct options *o, const struct option_spec *from, void *arg)
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
static bool add_outputs(struct options *o)
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
static bool add_sinks(struct options *o, bool makes_files)
{
	for (size_t i = 0; sinks[i]; i++)
		if (sinks[i]->makes_files == makes_files &&
		    !add_options(o, sinks[i]->options, o->settings[i]))
			return false;
	return true;
}

static void free_options(struct options *o)
{
	for (size_t i = 0; o->settings && sinks[i]; i++)
		free(o->settings[i]);
	free(o->settings);
	free(o->to_help);
	vec_free(&o->specs);
	vec_free(&o->args);
}

static bool make_options(struct options *o)
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

/* ---- writing ---- */

static bool shows(const struct arguments *a)
{
	for (size_t i = 0; sinks[i]; i++)
		if (!sinks[i]->makes_files && is_wanted(a, sinks[i]))
			return true;
	return false;
}

/*
 * Writes the outputs that go to standard output. A terminal gets many lines at once, too: a
 * complete report has so many of them.
 */
static enum status write_shown(const struct model *m, const struct arguments *a)
{
	enum status s = STATUS_OK;
	setvbuf(stdout, NULL, _IOFBF, 64 << 10);
	for (size_t i = 0; sinks[i] && s == STATUS_OK; i++)
		if (!sinks[i]->makes_files && is_wanted(a, sinks[i]))
			s = sinks[i]->write(m, &(struct sink_options){.n_workers = a->n_workers,
								      .settings = a->settings[i]});
	return s;
}

/*
 * The same in a thread of its own, while the files are written: people want to see the report, and
 * those who page it should have the files before they have read it.
 */
struct showing {
	const struct model *m;
	const struct arguments *a;
	pthread_t thread;
	bool is_apart, is_closed; /* is_closed: nobody reads standard output any more */
	enum status status;
};

static void *show(void *arg)
{
	struct showing *s = arg;
	sigset_t pipes;
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipes, NULL);
	s->status = write_shown(s->m, s->a);
	s->is_closed = unread_is_output();
	return NULL;
}

/* Who reads a pipe may be a pager, which has painted the terminal that standard error is, too. */
static bool is_watched(int fd)
{
	struct stat st;
	return isatty(fd) ||
	       (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)));
}

static void begin_showing(struct showing *s, const struct model *m, const struct arguments *a)
{
	*s = (struct showing){.m = m, .a = a};
	s->is_apart = shows(a) && pthread_create(&s->thread, NULL, show, s) == 0;
	log_hold_progress(s->is_apart && is_watched(STDOUT_FILENO));
}

static void end_showing(struct showing *s)
{
	if (s->is_apart)
		pthread_join(s->thread, NULL);
	else
		s->status = write_shown(s->m, s->a);
	log_hold_progress(false);
}

enum { MOST_OUTPUTS = 32 }; /* more than there are sinks */

/*
 * The outputs in files, as many at a time as there are workers. While a sink has work for one
 * thread only, as most have, the threads of another go on.
 */
struct writing {
	const struct model *m;
	struct file_output {
		const struct sink_ops *sink;
		struct sink_options options;
		bool is_private;
		enum status status;
	} outputs[MOST_OUTPUTS];
	size_t n;
};

static void write_one(void *arg, size_t i, unsigned worker)
{
	struct writing *w = arg;
	struct file_output *f = &w->outputs[i];
	(void)worker;
	f->options.is_private = &f->is_private;
	f->status = f->sink->write(w->m, &f->options);
}

/* Ranks share the one output that they write. Its messages belong to the main thread. */
static void write_all(struct writing *w, const struct arguments *a)
{
	pool_run(w->n, w->m->share ? 1 : a->n_workers, write_one, w);
}

/* False: another rank writes it. */
static bool is_written_here(
	const struct model *m, const struct arguments *a, const struct sink_ops *sink)
{
	if (!a->ranks)
		return true;
	if (is_first(a))
		return !a->is_apart || !sink->is_shared;
	return sink->is_shared && (m->share || (a->is_apart && a->comm->part == 0));
}

/*
 * Lists the outputs that this process writes, and their names. Those that are too large are left
 * out.
 */
static void choose_files(const struct model *m, const struct arguments *a,
	char *const *directories, size_t n_directories, struct writing *w, char names[128])
{
	*w = (struct writing){.m = m};
	*names = 0;
	for (size_t i = 0; sinks[i] && w->n < MOST_OUTPUTS; i++) {
		if (!sinks[i]->makes_files || !is_wanted(a, sinks[i]))
			continue;
		if (!a->to && sinks[i]->is_too_large && sinks[i]->is_too_large(m, a->settings[i]))
			continue;
		snprintf(names + strlen(names), 128 - strlen(names), "%s%s", *names ? ", " : "",
			 sinks[i]->name);
		if (!is_written_here(m, a, sinks[i]))
			continue;
		w->outputs[w->n++] = (struct file_output){
			.sink = sinks[i],
			.options = {.n_workers = a->n_workers,
				    .progress = is_first(a) && isatty(STDERR_FILENO),
				    .no_sources = a->no_sources,
				    .settings = a->settings[i],
				    .source_dirs = directories,
				    .n_source_dirs = n_directories}};
	}
}

static enum status agree(const struct arguments *a, enum status s)
{
	return a->ranks ? comm_agree_both(a->comm, a->ranks, s) : s;
}

/* All ranks write into the directory of the first. `s`: whether that one has it. */
static enum status share_directory(
	const struct arguments *a, enum status s, char directory[PATH_MAX])
{
	s = agree(a, s);
	if (s == STATUS_OK && a->ranks)
		comm_broadcast(a->ranks, directory, PATH_MAX);
	return s;
}

/* Writes the outputs of this process, and waits for other ranks. Ends a step of theirs. */
static enum status write_into(
	const char *directory, const struct arguments *a, struct writing *w, bool *is_private)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < w->n; i++)
		w->outputs[i].options.directory = directory;
	write_all(w, a);
	for (size_t i = 0; i < w->n; i++) {
		s = s == STATUS_OK ? w->outputs[i].status : s;
		*is_private |= w->outputs[i].is_private;
	}
	s = agree(a, s);
	if (s == STATUS_OK && a->ranks)
		*is_private = comm_max(a->ranks, *is_private);
	return s;
}

static enum status write_as_helper(const struct model *m, const struct arguments *a,
	char *const *directories, size_t n_directories)
{
	struct writing w;
	char directory[PATH_MAX], names[128];
	bool is_private = false;
	choose_files(m, a, directories, n_directories, &w, names);
	const enum status s = share_directory(a, STATUS_OK, directory);
	return s == STATUS_OK ? write_into(directory, a, &w, &is_private) : s;
}

/* Makes the directory of the database. */
static enum status begin_database(struct database *d, const struct arguments *a,
	const char *first_directory, const char *title, char directory[PATH_MAX])
{
	enum status s = database_begin(d, a->database, first_directory, title);
	if (s != STATUS_OK)
		return s;
	if ((size_t)snprintf(directory, PATH_MAX, "%s", d->partial) < PATH_MAX)
		return STATUS_OK;
	log_error(d->partial, "%s", strerror(ENAMETOOLONG));
	return STATUS_IO;
}

/* Writes the files while the others are shown. Sets *shown, which is useful even if this fails. */
static enum status write_files(const struct model *m, const struct arguments *a,
	char *const *directories, size_t n_directories, struct showing *shown)
{
	struct database d = {0};
	struct writing w;
	char names[128], directory[PATH_MAX];
	choose_files(m, a, directories, n_directories, &w, names);
	begin_showing(shown, m, a);
	enum status s = STATUS_OK;
	if (*names) {
		s = begin_database(&d, a, directories[0], m->title, directory);
		s = share_directory(a, s, directory);
		if (s == STATUS_OK)
			s = write_into(directory, a, &w, &d.is_private);
		if (s == STATUS_OK)
			s = database_commit(&d);
	}
	end_showing(shown);
	if (s == STATUS_OK && d.path)
		log_note(NULL, "%s in %s", names, d.path);
	database_end(&d);
	return s;
}

static bool writes_files(const struct arguments *a)
{
	for (size_t i = 0; sinks[i]; i++)
		if (sinks[i]->makes_files && is_wanted(a, sinks[i]))
			return true;
	return false;
}

static enum status write_outputs(
	const struct model *m, const struct arguments *a, char *const *directories, size_t n)
{
	enum status status = STATUS_OK;
	if (!is_first(a))
		return write_as_helper(m, a, directories, n);
	for (size_t i = 0; sinks[i] && status == STATUS_OK; i++)
		if (sinks[i]->check && is_wanted(a, sinks[i]))
			status = sinks[i]->check(m, a->settings[i]);
	if (status != STATUS_OK)
		return status;
	if (!writes_files(a))
		return write_shown(m, a);
	struct showing shown;
	status = write_files(m, a, directories, n, &shown);
	if (shown.is_closed)
		raise(SIGPIPE); /* the end that it would have been */
	return status == STATUS_OK ? shown.status : status;
}

/*
 * True if ranks help, with the database of the whole run. *more: there are other outputs, which
 * need the model of one process.
 */
static bool is_shared(const struct arguments *a, bool *more)
{
	bool any = false;
	*more = false;
	for (size_t i = 0; sinks[i]; i++) {
		any |= is_wanted(a, sinks[i]) && sinks[i]->is_shared;
		*more |= is_wanted(a, sinks[i]) && !sinks[i]->is_shared;
	}
	return any && !a->archive && filter_is_empty(a->filter);
}

/* The lowest of the ranks that saw an error says it: the others had none, or the same. */
static void say_cause(const struct comm *c)
{
	const int64_t speaker = -comm_max(c, log_n_errors() ? -c->part : INT64_MIN);
	if (speaker == c->part)
		log_say_held();
}

/* Reads the measurement into *m. Ends a step: STATUS_DIFFERS if ranks did not read the same. */
static enum status read_all(const struct arguments *a, char *const *directories, size_t n,
			    struct needed_structures *s, struct model **m)
{
	struct load_job job = {.comm = a->comm};
	const struct attribute_options o = {.n_workers = a->n_workers,
					    .internals = a->internals,
					    .ranges = a->ranges,
					    .find_structures = needed_structures_find,
					    .arg = s,
					    .comm = a->comm};
	const char *place = a->archive ? a->archive : writes_files(a) ? a->database : NULL;
	enum status status = place && is_first(a) ? database_check(place) : STATUS_OK;
	status = agree(a, status);
	if (status == STATUS_OK)
		status = load_job_open(directories, n, a->n_workers, &job);
	if (status == STATUS_OK)
		status = attribute_run(&job, &o, m);
	load_job_close(&job);
	status = agree(a, status == STATUS_OK ? s->status : status);
	return a->ranks && status == STATUS_OK
		       ? comm_agree_on(a->ranks, STATUS_OK, model_hash(*m))
		       : status;
}

static enum status run(const struct arguments *a, char *const *directories, size_t n)
{
	struct model *m = NULL;
	struct needed_structures s = {.directories = directories,
				      .n_directories = n,
				      .n_workers = a->n_workers,
				      .make = !a->no_structs,
				      .quiet = a->quiet,
				      .all = a->ranks,
				      .comm = a->comm};
	log_set_silent(!is_first(a)); /* the first says the same */
	enum status status = read_all(a, directories, n, &s, &m);
	if (m && status == STATUS_OK && a->archive)
		status = archive_write(&(struct archive){
			directories[0], a->archive, s.list, s.n, m, a->no_sources, directories, n});
	needed_structures_close(&s);
	if (m && status == STATUS_OK && !filter_is_empty(a->filter))
		status = filter_apply(&m, a->filter, a->n_workers);
	if (m && status == STATUS_OK && !a->archive)
		status = write_outputs(m, a, directories, n);
	model_free(m);
	status = agree(a, status);
	if (a->ranks && status != STATUS_OK && status != STATUS_DIFFERS)
		say_cause(a->ranks);
	log_set_silent(false);
	return status;
}

/* Sets what this rank does, with which others. */
static void choose_work(struct arguments *a, struct comm *all, struct comm *rest)
{
	if (!is_shared(a, &a->is_apart)) {
		if (all->part == 0)
			log_note(NULL, "rank 0 works alone: other ranks help only to write cctdb "
				       "of a whole run");
		return;
	}
	a->ranks = all;
	a->comm = !a->is_apart ? all : all->part ? rest : NULL;
}

static enum status run_rank(const struct arguments *a, struct comm *c, char *const *directories,
			    size_t n)
{
	struct arguments mine = *a;
	struct comm rest = comm_others(c);
	enum status status = STATUS_OK;
	if (c->part != 0) {
		log_set_quiet(true);
		log_set_rank(c->part);
	}
	choose_work(&mine, c, &rest);
	if (c->part == 0 || mine.ranks)
		status = run(&mine, directories, n);
	if (status != STATUS_DIFFERS)
		return comm_agree(c, status);
	c->failed = STATUS_OK;
	if (c->part != 0)
		return comm_agree(c, STATUS_OK);
	log_warn(NULL, "the ranks did not read the same measurement: the first one does all the "
		       "work");
	return comm_agree(c, run(a, directories, n));
}

/* The ranks of an MPI program write one database, and return the same status. */
static enum status run_ranks(const struct arguments *a, char *const *directories, size_t n)
{
	struct comm c = {.n_parts = 1};
	enum status status = comm_mpi_begin(&c, a->mpi, a->command);
	if (status != STATUS_OK)
		return status;
	if (c.n_parts > 1) {
		if (c.part == 0)
			database_watch();
		status = run_rank(a, &c, directories, n);
		database_end_watch();
	} else {
		status = run(a, directories, n);
	}
	comm_mpi_end(&c);
	return status;
}

/* The same in all ranks: what they exchange depends on it. */
static uint64_t hash_command(int argc, char **argv)
{
	uint64_t h = fnv64(FNV64_START, PACKAGE_VERSION, sizeof PACKAGE_VERSION);
	for (int i = 1; i < argc; i++)
		h = fnv64(h, argv[i], strlen(argv[i]) + 1);
	return h;
}

static enum status run_command(struct arguments *a, const struct options *o, int argc, char **argv)
{
	const struct option_table table = {
		.program = "hpcprof-lite",
		.synopsis = "hpcprof-lite [-o DB] [-j N] [--to LIST] [options] DIR...\n"
			    "       hpcprof-lite compare [options] BASE NEW...",
		.about = "Merges the measurements of hpcrun-lite in all DIRs into one "
			 "calling-context tree, with functions, inlined calls and lines from "
			 "hpcstruct-lite, and writes it.",
		.specs = o->specs.at,
		.args = o->args.at,
	};
	int first, done = 0;
	a->command = hash_command(argc, argv);
	enum status s = options_parse(&table, argc, argv, 0, a, &first, &done);
	if (a->quiet)
		log_set_quiet(true);
	if (s == STATUS_OK && !done && first == argc)
		s = options_refuse("which measurement directory?");
	if (s != STATUS_OK || done)
		return s;
	if (a->archive && (a->database || a->to || argc - first != 1))
		return options_refuse(
			"--archive takes one measurement directory, and neither -o nor --to");
	if (a->archive && !filter_is_empty(a->filter))
		return options_refuse("--archive copies the whole measurement: leave out --rank, "
				      "--process, --thread, --time and --below");
	a->n_workers = a->n_workers ? a->n_workers : pool_n_cpus();
	database_guard();
	return run_ranks(a, argv + first, (size_t)(argc - first));
}

int main(int argc, char **argv)
{
	struct options o = {0};
	enum status s = STATUS_NO_MEMORY;
	standard_files_keep();
	log_set_program("hpcprof-lite");
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error like any other */
	if (argc > 1 && strcmp(argv[1], "compare") == 0)
		return compare_main(argc - 1, argv + 1);
	if (make_options(&o))
		s = run_command(&(struct arguments){.settings = o.settings, .filter = &o.filter},
				&o, argc, argv);
	else
		log_error(NULL, "out of memory");
	free_options(&o);
	return status_exit_code(s);
}
