/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcprof-lite turns measurement directories into the outputs of sinks.c. This file has the
 * order of the steps; hpcprof_options.c has the command line, hpcprof_outputs.c writes. Test:
 * tests/cli/prof/prof_cli.sh.
 */
#include "config.h"

#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/pool.h"
#include "common/base/standard_files.h"
#include "common/safe/fnv.h"
#include "hpcprof-lite/archive.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/compare_main.h"
#include "hpcprof-lite/database.h"
#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/hpcprof_arguments.h"
#include "hpcprof-lite/hpcprof_outputs.h"
#include "hpcprof-lite/live/live.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/model_hash.h"
#include "hpcprof-lite/needed_structures.h"
#include "hpcprof-lite/parts/comm_mpi.h"
#include "hpcprof-lite/sink/html/html_sink.h"
#include "hpcprof-lite/sinks.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/*
 * True if the ranks work together on the database of the whole run. *more: there are also outputs
 * that need the model of one process.
 */
static bool is_shared(const struct arguments *a, bool *more)
{
	bool any = false;
	*more = false;
	for (size_t i = 0; sinks[i]; i++) {
		any |= arguments_want(a, sinks[i]) && sinks[i]->is_shared;
		*more |= arguments_want(a, sinks[i]) && !sinks[i]->is_shared;
	}
	return any && !a->archive && filter_is_empty(a->filter);
}

/* The lowest rank that saw an error logs it, because the others saw none or the same one. */
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
					    .instructions = arguments_want(a, &sink_html) &&
							    filter_is_empty(a->filter),
					    .find_structures = needed_structures_find,
					    .arg = s,
					    .comm = a->comm};
	const char *place = a->archive ? a->archive : outputs_in_files(a) ? a->database : NULL;
	enum status status = place && arguments_are_of_first(a) ? database_check(place) : STATUS_OK;
	status = arguments_agree(a, status);
	if (status == STATUS_OK)
		status = load_job_open(directories, n, a->n_workers, &job);
	if (status == STATUS_OK)
		status = attribute_run(&job, &o, m);
	load_job_close(&job);
	status = arguments_agree(a, status == STATUS_OK ? s->status : status);
	return a->ranks && status == STATUS_OK ? comm_agree_on(a->ranks, STATUS_OK, model_hash(*m))
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
	log_set_silent(!arguments_are_of_first(a)); /* the first rank logs the same */
	enum status status = read_all(a, directories, n, &s, &m);
	if (m && status == STATUS_OK && a->archive)
		status = archive_write(&(struct archive){directories[0], a->archive, s.list, s.n, m,
							 a->no_sources, directories, n});
	if (m && status == STATUS_OK && !filter_is_empty(a->filter))
		status = filter_apply(&m, a->filter, a->n_workers);
	if (m && status == STATUS_OK && !a->archive)
		status = outputs_write(m, a, directories, n);
	model_free(m);
	needed_structures_close(&s);
	status = arguments_agree(a, status);
	if (a->ranks && status != STATUS_OK && status != STATUS_DIFFERS)
		say_cause(a->ranks);
	log_set_silent(false);
	return status;
}

/* Sets what this rank does, and with which other ranks. */
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

/* Must be the same in all ranks, because it decides what they exchange. */
static uint64_t hash_command(int argc, char **argv)
{
	uint64_t h = fnv64(FNV64_START, PACKAGE_VERSION, sizeof PACKAGE_VERSION);
	for (int i = 1; i < argc; i++)
		h = fnv64(h, argv[i], strlen(argv[i]) + 1);
	return h;
}

static enum status run_command(struct arguments *a, const struct hpcprof_options *o, int argc,
			       char **argv)
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
	if (a->prometheus_file && !a->live)
		return options_refuse("--prometheus-file needs --live");
	if (a->live && (a->database || a->to || a->archive || !filter_is_empty(a->filter)))
		return options_refuse(
			"--live writes no outputs and shows the whole run: leave out "
			"-o, --to, --archive, --rank, --process, --thread, --time and "
			"--below");
	if (a->live)
		return live_run(argv + first, (size_t)(argc - first),
				&(struct live_options){a->prometheus_file, PACKAGE_VERSION});
	a->n_workers = a->n_workers ? a->n_workers : pool_n_cpus();
	database_guard();
	return run_ranks(a, argv + first, (size_t)(argc - first));
}

int main(int argc, char **argv)
{
	struct hpcprof_options o = {0};
	enum status s = STATUS_NO_MEMORY;
	standard_files_keep();
	log_set_program("hpcprof-lite");
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error like any other */
	if (argc > 1 && strcmp(argv[1], "compare") == 0)
		return compare_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "diff") == 0 && access("diff", F_OK) != 0)
		s = options_refuse("there is no command diff: did you mean hpcprof-lite compare?");
	else if (hpcprof_options_make(&o))
		s = run_command(&(struct arguments){.settings = o.settings, .filter = &o.filter},
				&o, argc, argv);
	else
		log_error(NULL, "out of memory");
	hpcprof_options_free(&o);
	return status_exit_code(s);
}
