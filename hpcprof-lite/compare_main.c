/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of hpcprof-lite compare. It opens one run after the other and keeps only what
 * the comparison needs, so memory does not grow with the size of all runs together. Test:
 * tests/cli/compare/compare.sh, tests/cli/compare/compare_gate.sh.
 */
#include "hpcprof-lite/compare_main.h"

#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/pool.h"
#include "common/base/vec.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/compare/compare_file.h"
#include "hpcprof-lite/compare/compare_page.h"
#include "hpcprof-lite/compare/compare_report.h"
#include "hpcprof-lite/compare/compare_text.h"
#include "hpcprof-lite/database.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/needed_structures.h"
#include "hpcprof-lite/sink/html/html_sink.h"
#include "hpcprof-lite/sink/outfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct arguments {
	VEC(char *) bases;
	VEC(struct compare_condition) conditions;
	VEC(const char *) renames; /* "OLD=NEW" */
	struct compare_options report;
	struct compare_text text;
	const char *junit, *markdown, *html;
	unsigned n_workers;
	double noise; /* percent */
	bool no_structs, quiet, ranges;
};

/* ---- options ---- */

static enum status no_memory(void)
{
	log_error(NULL, "out of memory");
	return STATUS_NO_MEMORY;
}

static enum status set_base(void *arg, const char *value)
{
	char **base = vec_push(&((struct arguments *)arg)->bases);
	if (!base)
		return no_memory();
	*base = (char *)(uintptr_t)value;
	return STATUS_OK;
}

static enum status set_fail_if(void *arg, const char *value)
{
	struct compare_condition *c = vec_push(&((struct arguments *)arg)->conditions);
	return c ? compare_condition_parse(value, c) : no_memory();
}

static enum status set_rename(void *arg, const char *value)
{
	const char *equals = strchr(value, '='), **rename;
	if (!equals || equals == value || !equals[1])
		return options_refuse("--rename wants OLD=NEW, not '%s'", value);
	rename = vec_push(&((struct arguments *)arg)->renames);
	if (!rename)
		return no_memory();
	*rename = value;
	return STATUS_OK;
}

static const struct option_spec specs[] = {
	{0, "base", "DIR",
	 "a run of the base side; may be repeated. With it, every "
	 "operand is a run of the new side",
	 OPTION_CALL(set_base)},
	{0, "metric", "NAME", "compare this metric (the first CPU metric)",
	 OPTION_TEXT(struct arguments, report.metric)},
	{0, "by", "LIST", "only these tables: function, line, path, kernel, rank",
	 OPTION_LIST(struct arguments, text.by, "function, line, path, kernel, rank")},
	{0, "sort", "ORDER", "functions by their 'self' (default) or 'total' change",
	 OPTION_CHOICE(struct arguments, report.by_total, "self, total")},
	{0, "rows", "N", "at most so many rows in a table (20)",
	 OPTION_NUMBER(struct arguments, text.n_rows, 0, 1000000)},
	{0, "noise", "PERCENT",
	 "how much two runs of the same program are assumed to "
	 "differ when no side has several runs (3)",
	 OPTION_PERCENT(struct arguments, noise)},
	{0, "rename", "OLD=NEW", "the base runs' function OLD is NEW; may be repeated",
	 OPTION_CALL(set_rename)},
	{0, "fail-if", "CONDITION",
	 "exit with status 3 if the condition is true beyond its "
	 "uncertainty, as in 'CPUTIME in solve > +5%'; may be repeated",
	 OPTION_CALL(set_fail_if)},
	{0, "junit", "FILE", "write the conditions as JUnit XML",
	 OPTION_FILE(struct arguments, junit)},
	{0, "markdown", "FILE", "write conditions and differences as Markdown",
	 OPTION_FILE(struct arguments, markdown)},
	{0, "html", "FILE", "write a page with a differential flame graph",
	 OPTION_FILE(struct arguments, html)},
	{'j', "jobs", "N", "threads to work with (one for each CPU)",
	 OPTION_NUMBER(struct arguments, n_workers, 1, 4096)},
	{0, "nvtx", "tree", "ranges of NVTX are in the tree, around what ran in them",
	 OPTION_LIST(struct arguments, ranges, "tree")},
	{0, "no-structs", NULL, "do not run hpcstruct-lite for missing structure files",
	 OPTION_FLAG(struct arguments, no_structs, true)},
	{'q', "quiet", NULL, "errors and warnings only on standard error",
	 OPTION_FLAG(struct arguments, quiet, true)},
	{'v', "verbose", NULL, "say more", OPTION_CALL(options_set_verbose)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};

static const struct option_table table = {
	.program = "hpcprof-lite compare",
	.synopsis = "hpcprof-lite compare [options] BASE NEW...\n"
		    "       hpcprof-lite compare [options] --base BASE1 --base BASE2 ... NEW...",
	.about = "Shows what differs between two sides, each one or more measurement directories "
		 "of the same program, and what of it is noise.",
	.specs = specs,
	.footer =
		"A condition is METRIC [total | self] [in FUNCTION] > VALUE, or < VALUE. A value "
		"with a sign is a change (+5%, -200 ms); one without is the new value (2 s).",
};

/* ---- runs ---- */

static void warn(const struct compare_run *run, const char *directory)
{
	if (!run->is_complete)
		log_warn(directory, "its ledger does not close, or it was still running; "
				    "differences may be losses");
	if (run->lacks_names)
		log_warn(directory, "a binary was rebuilt since the run, so its functions have no "
				    "names and match nothing; archive a base before you rebuild");
}

static enum status add_run(const struct arguments *a, struct compare *c, enum compare_side side,
			   char *directory)
{
	struct load_job job = {0};
	struct model *m = NULL;
	struct needed_structures s = {.directories = &directory,
				      .n_directories = 1,
				      .n_workers = a->n_workers,
				      .make = !a->no_structs,
				      .quiet = a->quiet};
	struct attribute_options o = {.n_workers = a->n_workers,
				      .ranges = a->ranges,
				      .find_structures = needed_structures_find,
				      .arg = &s};
	enum status status = load_job_open(&directory, 1, a->n_workers, &job);
	if (status == STATUS_OK)
		status = attribute_run(&job, &o, &m);
	if (status == STATUS_OK)
		status = s.status;
	needed_structures_close(&s);
	if (status == STATUS_OK && !compare_add(c, side, directory, m))
		status = no_memory();
	if (status == STATUS_OK)
		warn(&c->runs.at[c->runs.n - 1], directory);
	model_free(m);
	load_job_close(&job);
	return status;
}

static enum status add_renames(const struct arguments *a, struct compare *c)
{
	for (size_t i = 0; i < a->renames.n; i++) {
		const char *both = a->renames.at[i], *equals = strchr(both, '=');
		char *from = strndup(both, (size_t)(equals - both));
		bool ok = from && compare_rename(c, from, equals + 1);
		free(from);
		if (!ok)
			return no_memory();
	}
	return STATUS_OK;
}

/* A name must be written as the tables show it, with its parameters. */
static void warn_renames(const struct compare *c)
{
	for (size_t i = 0; i < c->renames.n; i++)
		if (!c->renames.at[i].is_used)
			log_warn("--rename", "no base run has a function '%s'",
				 compare_string(c, c->renames.at[i].from));
}

/* True if half of the functions of one side's program are those of the other side's, too. */
static bool share_functions(const struct compare *c)
{
	size_t n[COMPARE_N_SIDES] = {0}, n_both = 0;
	for (size_t i = 0; i < c->functions.n; i++) {
		const struct compare_function *f = &c->functions.at[i];
		const char *name = compare_string(c, f->name);
		if (f->module || name[0] == '<' || name[0] == '_' || strcmp(name, "main") == 0)
			continue;
		n[COMPARE_BASE] += f->is_on[COMPARE_BASE];
		n[COMPARE_NEW] += f->is_on[COMPARE_NEW];
		n_both += f->is_on[COMPARE_BASE] && f->is_on[COMPARE_NEW];
	}
	const size_t least = n[COMPARE_BASE] < n[COMPARE_NEW] ? n[COMPARE_BASE] : n[COMPARE_NEW];
	return least && 2 * n_both >= least;
}

/* True for "app-1" and "app-2", and for a program that is called the same. */
static bool are_alike(const char *a, const char *b)
{
	static const char behind[] = "-_.0123456789";
	const size_t n = strcspn(a, behind);
	return n == strcspn(b, behind) && strncmp(a, b, n) == 0;
}

static void warn_programs(const struct compare *c)
{
	const char *base = compare_string(c, c->runs.at[0].program);
	for (size_t i = 1; i < c->runs.n; i++) {
		const char *name = compare_string(c, c->runs.at[i].program);
		if (!*base || !*name || are_alike(base, name) || share_functions(c))
			continue;
		log_warn(compare_string(c, c->runs.at[i].path),
			 "this is a run of %s, and the first base is one of %s: few of their "
			 "functions can be compared",
			 name, base);
		return;
	}
}

static enum status add_runs(const struct arguments *a, struct compare *c, char **news, size_t n)
{
	enum status s = add_renames(a, c);
	for (size_t i = 0; i < a->bases.n && s == STATUS_OK; i++)
		s = add_run(a, c, COMPARE_BASE, a->bases.at[i]);
	for (size_t i = 0; i < n && s == STATUS_OK; i++)
		s = add_run(a, c, COMPARE_NEW, news[i]);
	if (s == STATUS_OK && !compare_settle(c))
		s = no_memory();
	if (s == STATUS_OK) {
		warn_renames(c);
		warn_programs(c);
	}
	return s;
}

/* ---- output ---- */

static enum status write_file(const struct compare_report *r, const struct arguments *a,
			      const char *path, bool is_junit)
{
	char *bytes = NULL;
	size_t n_bytes = 0;
	FILE *to = path ? open_memstream(&bytes, &n_bytes) : NULL;
	if (!path)
		return STATUS_OK;
	if (!to)
		return no_memory();
	if (is_junit)
		compare_junit_put(r, to);
	else
		compare_markdown_put(r, a->text.n_rows, to);
	bool ok = !ferror(to);
	ok = fclose(to) == 0 && ok;
	enum status s = ok ? compare_file_replace(path, bytes, n_bytes) : no_memory();
	free(bytes);
	return s;
}

/* The page is complete under another name before it takes the place of an older one. */
static enum status write_page(const struct compare_page *p, const char *path, const char *directory,
			      const char *partial)
{
	struct sink_html_settings settings = {partial, &p->comparison};
	struct sink_options o = {.directory = directory, .no_sources = true, .settings = &settings};
	char *made = outfile_path(directory, partial);
	if (!made)
		return STATUS_NO_MEMORY;
	unlink(made); /* left by a run that was killed */
	enum status s = sink_html.write(p->m, &o);
	if (s == STATUS_OK && rename(made, path) != 0) {
		log_error(path, "cannot be written: %s", strerror(errno));
		unlink(made);
		s = STATUS_IO;
	}
	free(made);
	return s;
}

static enum status write_html(const struct compare_report *r, const struct arguments *a)
{
	const char *path = a->html, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n_directory = slash == path ? 1 : (size_t)(name - path) - (slash != NULL);
	struct compare_page p = {0};
	struct stat old;
	if (lstat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
		log_error(path, "is not a regular file; --html needs the name of a file");
		return STATUS_IO;
	}
	char *directory = slash ? strndup(path, n_directory) : strdup("."), *partial = NULL;
	if (asprintf(&partial, ".%s.partial", name) < 0)
		partial = NULL;
	enum status s = directory && partial && compare_page_open(r, a->report.assumed, &p)
				? write_page(&p, path, directory, partial)
				: no_memory();
	compare_page_close(&p);
	free(directory);
	free(partial);
	return s;
}

static void say_failures(const struct compare_report *r)
{
	for (size_t i = 0; i < r->n_checks; i++)
		if (r->checks[i].verdict == COMPARE_FAILS)
			log_error("--fail-if", "the condition '%s' is true",
				  r->checks[i].condition->text);
}

static enum status write_report(const struct arguments *a, const struct compare *c, bool *fails)
{
	struct compare_report r;
	struct compare_options o = a->report;
	o.conditions = a->conditions.at;
	o.n_conditions = a->conditions.n;
	enum status s = compare_report_open(c, &o, &r);
	/* Files come first: a pager that closes its pipe ends the program with SIGPIPE. */
	if (s == STATUS_OK)
		s = write_file(&r, a, a->junit, true);
	if (s == STATUS_OK)
		s = write_file(&r, a, a->markdown, false);
	if (s == STATUS_OK && a->html)
		s = write_html(&r, a);
	if (s == STATUS_OK)
		s = compare_text_write(&r, &a->text, stdout);
	*fails = s == STATUS_OK && compare_report_fails(&r);
	if (*fails)
		say_failures(&r);
	compare_report_close(&r);
	return s;
}

static enum status run(struct arguments *a, int argc, char **argv, bool *fails)
{
	struct compare c = {0};
	int first, done = 0;
	enum status s = options_parse(&table, argc, argv, 0, a, &first, &done);
	if (s != STATUS_OK || done)
		return s;
	if (a->quiet)
		log_set_quiet(true);
	a->report.assumed = a->noise / 100;
	if (!a->bases.n && first < argc)
		s = set_base(a, argv[first++]);
	if (s == STATUS_OK && first == argc)
		return options_refuse("compare needs a base and a new measurement directory");
	if (s == STATUS_OK && a->junit && !a->conditions.n)
		return options_refuse("--junit needs a condition (--fail-if)");
	a->n_workers = a->n_workers ? a->n_workers : pool_n_cpus();
	database_guard();
	if (s == STATUS_OK && !compare_open(&c))
		s = no_memory();
	if (s == STATUS_OK)
		s = add_runs(a, &c, argv + first, (size_t)(argc - first));
	if (s == STATUS_OK)
		s = write_report(a, &c, fails);
	compare_close(&c);
	return s;
}

int compare_main(int argc, char **argv)
{
	struct arguments a = {.noise = 3, .text = {.n_rows = 20}};
	bool fails = false;
	enum status s = run(&a, argc, argv, &fails);
	vec_free(&a.bases);
	vec_free(&a.conditions);
	vec_free(&a.renames);
	return s == STATUS_OK && fails ? COMPARE_EXIT_FAILS : status_exit_code(s);
}
