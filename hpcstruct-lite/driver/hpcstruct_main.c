/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line of hpcstruct-lite. Test: tests/cli/struct/struct_*.sh. */
#include "config.h"

#include "common/base/cutguard.h"
#include "common/base/foreign.h"
#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "common/base/options.h"
#include "common/base/pool.h"
#include "common/base/standard_files.h"
#include "common/base/vec.h"
#include "common/format/structure.h"
#include "common/format/structure_cache.h"
#include "common/rights/inside.h"
#include "common/rights/rights.h"
#include "hpcstruct-lite/driver/gpu_code.h"
#include "hpcstruct-lite/driver/jobs.h"
#include "hpcstruct-lite/driver/print.h"
#include "hpcstruct-lite/driver/run_modules.h"
#include "hpcstruct-lite/driver/struct_cache.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_DEBUG_DIR "/usr/lib/debug"
#ifdef HAVE_ZYDIS
#define NO_LOOPS_HELP "do not look for loops in the code, which takes time"
#else
#define NO_LOOPS_HELP                                                                         \
	"do not look for loops (built without Zydis, so that there are none in x86-64 code " \
	"anyway)"
#endif

struct settings {
	const char *out, *print, *gpu_code;
	VEC(const char *) debug_dirs; /* ended by NULL */
	long long n_at_once;          /* 0: one for each CPU */
	bool no_cache, trust_cache, force, no_loops, show, clear;
	char cache_dir[PATH_MAX];     /* "": none */
};

static enum status add_debug_dir(void *arg, const char *value)
{
	struct settings *s = arg;
	const char **slot = vec_push(&s->debug_dirs);
	if (!slot) {
		log_error(NULL, "out of memory");
		return STATUS_NO_MEMORY;
	}
	*slot = value;
	return STATUS_OK;
}

static const struct option_spec specs[] = {
	{'j', "jobs", "N", "use N CPUs (default: all that may be used)",
	 OPTION_NUMBER(struct settings, n_at_once, 1, 256)},
	{'o', "output", "FILE",
	 "of one binary: write the structure to FILE (default: <binary's name>.hpcstruct); of a "
	 "measurement directory: write to the directory FILE (default: the cache)",
	 OPTION_TEXT(struct settings, out)},
	{0, "print", "FILE", "print a structure file as text", OPTION_TEXT(struct settings, print)},
	{0, "gpu-code", "DIR",
	 "take the GPU code out of a program, library, object, archive or fat binary: write each "
	 "cubin and its structure to DIR",
	 OPTION_TEXT(struct settings, gpu_code)},
	{0, "debug-dir", "DIR",
	 "look for separate debug files below DIR too, before " DEFAULT_DEBUG_DIR
	 "; may be repeated",
	 OPTION_CALL(add_debug_dir)},
	{0, "no-loops", NULL, NO_LOOPS_HELP, OPTION_FLAG(struct settings, no_loops, true)},
	{0, "no-cache", NULL,
	 "neither use nor fill the cache of structures; of a "
	 "measurement directory: write to DIR/structs",
	 OPTION_FLAG(struct settings, no_cache, true)},
	{0, "trust-cache", NULL,
	 "look only at the headers of structures in the cache; "
	 "whoever reads them notices damage",
	 OPTION_FLAG(struct settings, trust_cache, true)},
	{0, "cache", NULL, "show what the cache holds", OPTION_FLAG(struct settings, show, true)},
	{0, "clear-cache", NULL, "remove all structures from the cache",
	 OPTION_FLAG(struct settings, clear, true)},
	{'f', "force", NULL, "make structures again even when they are up to date",
	 OPTION_FLAG(struct settings, force, true)},
	{'q', "quiet", NULL, "say only what went wrong", OPTION_CALL(options_set_quiet)},
	{'v', "verbose", NULL, "say more", OPTION_CALL(options_set_verbose)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};

static const struct option_table table = {
	.program = "hpcstruct-lite",
	.synopsis = "hpcstruct-lite [options] [-o DIR2] DIR\n"
		    "       hpcstruct-lite [options] [-o FILE] BINARY\n"
		    "       hpcstruct-lite [options] --gpu-code DIR BINARY\n"
		    "       hpcstruct-lite --print FILE\n"
		    "       hpcstruct-lite --cache | --clear-cache",
	.about = "Finds out what the addresses of binaries mean: functions, inlined calls, loops, "
		 "source lines. "
		 "For a measurement directory, of all binaries with samples in it and of the GPU "
		 "code it keeps; "
		 "the structures go into the user's cache, where hpcprof-lite finds them. A BINARY "
		 "may also "
		 "be a cubin or OpenCL source text (*.cl).",
	.specs = specs,
	.footer =
		"The cache is $XDG_CACHE_HOME/hpctoolkit-lite (~/.cache/hpctoolkit-lite). "
		"HPCTOOLKIT_LITE_CACHE names another directory; when it is empty, there is none. "
		"HPCTOOLKIT_LITE_CACHE_SIZE bounds it (2G): what was not used for longest goes "
		"first. "
		"A binary that cannot be read costs its own structure: exit status 1 says that one "
		"is missing.",
};

static void find_cache(struct settings *s)
{
	if (s->no_cache || !structure_cache_directory(s->cache_dir))
		s->cache_dir[0] = '\0';
}

/* ---- the cache itself ---- */

static void put_size(char *text, size_t text_bytes, uint64_t n_bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double n = (double)n_bytes;
	size_t unit = 0;
	for (; n >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
		n /= 1024;
	snprintf(text, text_bytes, "%.*f %s", unit > 0 && n < 10, n, units[unit]);
}

/* Prints one line: when the entry was used, its size, and its binary. */
static void print_entry(const struct structure_cache *cache, const struct structure_cache_entry *e)
{
	char path[PATH_MAX], size[32], used[32] = "?";
	struct mapfile file;
	struct structure *structure = NULL;
	struct tm tm;
	time_t at = (time_t)(e->used_ns / 1000000000u);
	if (localtime_r(&at, &tm))
		strftime(used, sizeof used, "%Y-%m-%d %H:%M", &tm);
	put_size(size, sizeof size, e->n_bytes);
	if (snprintf(path, sizeof path, "%s/%s", cache->dir, e->name) >= (int)sizeof path ||
		inside_map(path, 1, &file) != STATUS_OK)
		return;
	if (!e->is_draft && structure_open(path, file.bytes, file.n_bytes, &structure) == STATUS_OK)
		foreign_printf(stdout, "%-16s  %10s  %s\n", used, size,
			       structure_binary(structure));
	else
		printf("%-16s  %10s  (%s)\n", used, size, e->is_draft ? "not complete" : "damaged");
	structure_close(structure);
	mapfile_close(&file);
}

static int compare_latest(const void *a, const void *b)
{
	const struct structure_cache_entry *x = a, *y = b;
	return x->used_ns != y->used_ns ? (x->used_ns > y->used_ns ? -1 : 1)
					: strcmp(x->name, y->name);
}

static enum status show_cache(const char *dir)
{
	struct structure_cache cache;
	char used[32], limit[32];
	enum status status = structure_cache_list(dir, &cache);
	if (status == STATUS_IO)
		log_error(dir, "cannot be read: %s", strerror(errno));
	if (status != STATUS_OK)
		return status;
	put_size(used, sizeof used, structure_cache_bytes(&cache));
	put_size(limit, sizeof limit, structure_cache_limit());
	foreign_printf(stdout, "%s: %zu structures, %s of at most %s\n", dir, cache.entries.n, used,
		       limit);
	if (cache.entries.n > 1)
		qsort(cache.entries.at, cache.entries.n, sizeof *cache.entries.at, compare_latest);
	if (cache.entries.n > 0)
		printf("%-16s  %10s  %s\n", "last used", "size", "binary");
	for (size_t i = 0; i < cache.entries.n; i++)
		print_entry(&cache, &cache.entries.at[i]);
	structure_cache_free(&cache);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return STATUS_OK;
	log_error(NULL, "standard output: %s", strerror(errno));
	return STATUS_IO;
}

static enum status clear_cache(const char *dir)
{
	size_t n_failed, n = structure_cache_clear(dir, &n_failed);
	log_note(dir, "%zu structures removed", n);
	return n_failed ? STATUS_IO : STATUS_OK;
}

static enum status do_cache(struct settings *s)
{
	find_cache(s);
	if (!s->cache_dir[0]) {
		log_error(NULL, "there is no cache: HPCTOOLKIT_LITE_CACHE is empty, "
			"or neither HOME nor XDG_CACHE_HOME is set");
		return STATUS_NOT_FOUND;
	}
	return s->clear ? clear_cache(s->cache_dir) : show_cache(s->cache_dir);
}

/* ---- binaries ---- */

static enum status run(const struct settings *s, struct job *jobs, size_t n)
{
	struct jobs_options o = {
		.debug_dirs = s->debug_dirs.at,
		.n_at_once = s->n_at_once ? (unsigned)s->n_at_once : pool_n_cpus(),
		.cache_dir = s->cache_dir[0] ? s->cache_dir : NULL,
		.force = s->force,
		.no_loops = s->no_loops,
		.trust_cache = s->trust_cache,
	};
	if (o.cache_dir && !cache_make_private(o.cache_dir))
		log_detail(o.cache_dir, "the cache cannot be made: %s", strerror(errno));
	enum status status = jobs_run(jobs, n, &o);
	size_t n_removed =
		o.cache_dir ? structure_cache_evict(o.cache_dir, structure_cache_limit()) : 0;
	if (n_removed > 0)
		log_detail(o.cache_dir, "%zu structures removed that were used longest ago",
			   n_removed);
	return status;
}

/* Follows a link to a file: the link stays, and the file that it points to is replaced. */
static void follow_link(char path[PATH_MAX])
{
	struct stat st;
	char target[PATH_MAX];
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && stat(path, &st) == 0 &&
	    S_ISREG(st.st_mode) && realpath(path, target))
		snprintf(path, PATH_MAX, "%s", target);
}

static enum status do_binary(const struct settings *s, const char *binary)
{
	const char *slash = strrchr(binary, '/');
	char out[PATH_MAX];
	if (snprintf(out, sizeof out, "%s%s",
		     s->out  ? s->out
		     : slash ? slash + 1
			     : binary,
		     s->out ? "" : STRUCTURE_SUFFIX) >= (int)sizeof out)
		return options_refuse("the name of the output is too long");
	follow_link(out);
	struct job job = {.binary = binary, .out = out, .is_out_named = true};
	enum status status = run(s, &job, 1);
	if (status != STATUS_OK)
		return status;
	if (job.result == JOB_UP_TO_DATE)
		log_detail(out, "was up to date");
	return job.result == JOB_MADE || job.result == JOB_UP_TO_DATE ? STATUS_OK
								      : STATUS_BAD_INPUT;
}

/* Logs the results. Returns STATUS_BAD_INPUT if a structure is missing. */
static enum status sum_up(const char *dir, const struct job *jobs, size_t n)
{
	size_t by_result[JOB_FAILED + 1] = {0};
	for (size_t i = 0; i < n; i++)
		by_result[jobs[i].result]++;
	size_t skipped = by_result[JOB_SKIPPED],
	       missing = n - by_result[JOB_MADE] - by_result[JOB_UP_TO_DATE] - skipped;
	log_note(dir, "%zu structures: %zu made, %zu up to date, %zu missing", n - skipped,
		 by_result[JOB_MADE], by_result[JOB_UP_TO_DATE], missing);
	if (skipped > 0)
		log_note(dir, "%zu GPU code objects are in forms without lines to be read",
			 skipped);
	return missing ? STATUS_BAD_INPUT : STATUS_OK;
}

static enum status do_gpu_code(const struct settings *s, const char *file)
{
	struct gpu_code code;
	enum status status = gpu_code_extract(file, s->gpu_code, &code);
	struct job *jobs = calloc(code.cubins.n + 1, sizeof *jobs);
	char *names = malloc((code.cubins.n + 1) * PATH_MAX);
	if (status == STATUS_OK && (!jobs || !names)) {
		log_error(file, "out of memory");
		status = STATUS_NO_MEMORY;
	}
	for (size_t i = 0; i < code.cubins.n && status == STATUS_OK; i++) {
		char *out = names + i * PATH_MAX;
		if (snprintf(out, PATH_MAX, "%s" STRUCTURE_SUFFIX, code.cubins.at[i]) >= PATH_MAX)
			status = options_refuse("the name of the directory is too long");
		jobs[i] = (struct job){.binary = code.cubins.at[i], .out = out};
	}
	if (status == STATUS_OK)
		status = run(s, jobs, code.cubins.n);
	if (status == STATUS_OK)
		status = sum_up(s->gpu_code, jobs, code.cubins.n);
	free(names);
	free(jobs);
	gpu_code_free(&code);
	return status;
}

struct sized {
	struct job job;
	off_t n_bytes;
};

/* Sorts big binaries first, so that the last ones to finish are small. */
static int compare_sizes(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;
	if (x->n_bytes != y->n_bytes)
		return x->n_bytes > y->n_bytes ? -1 : 1;
	return strcmp(x->job.binary, y->job.binary);
}

/* Where the structures of a measurement directory go. */
struct destination {
	const char *dir;       /* NULL: into the cache */
	char beside[PATH_MAX]; /* DIR/structs */
	bool keeps; /* structures in `beside` count as up to date, and are only made again there */
};

/* We do not write into a directory that is a symbolic link, because it may lead anywhere. */
static bool is_link(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static enum status choose_destination(
	const struct settings *s, const char *dir, struct destination *d)
{
	*d = (struct destination){.dir = s->out, .keeps = !s->out};
	if (snprintf(d->beside, sizeof d->beside, "%s/structs", dir) >= (int)sizeof d->beside)
		return options_refuse("the name of the directory is too long");
	if (!s->out && (!s->cache_dir[0] || !structure_cache_is_writable(s->cache_dir)))
		d->dir = d->beside;
	if (d->dir != d->beside || !is_link(d->beside))
		return STATUS_OK;
	log_error(d->beside,
		"is a symbolic link, which is not followed to write; name a directory with -o");
	return STATUS_IO;
}

/*
 * Returns false if the file lacks functions that have samples now, and the binary can still be
 * read. A report may combine several measurements, so it needs the functions of all of them.
 */
static bool lasts(const struct settings *s, const char *path, const struct rundir_module *m)
{
	return cache_covers(path, NULL, m->link_addrs.at, s->trust_cache ? 0 : m->link_addrs.n) ||
	       (access(m->path, R_OK) != 0 && !m->kept);
}

/*
 * Decides what to make for one module. `out` is room for its path. Returns false if the path is too
 * long.
 */
static bool plan(const struct settings *s, const struct destination *d,
	const struct rights *readers, const struct rundir_module *m, char out[PATH_MAX],
	struct job *job)
{
	*job = (struct job){.binary = m->path,
			    .depth = m->is_inside ? 2 : 0,
			    .kept = m->kept,
			    .module_flags = m->flags,
			    .readers = readers,
			    .build_id = m->build_id,
			    .build_id_bytes = m->build_id_bytes,
			    .file_bytes = m->file_bytes,
			    .file_mtime_ns = m->file_mtime_ns,
			    .content = m->content,
			    .content_key = m->is_code_object ? m->key : NULL,
			    .link_addrs = m->link_addrs.at,
			    .n_link_addrs = m->link_addrs.n};
	if (snprintf(out, PATH_MAX, "%s/%s" STRUCTURE_SUFFIX, d->beside, m->key) >= PATH_MAX)
		return false;
	bool has_id = !m->is_code_object && m->build_id_bytes > 0;
	/* the run time copied the structure and not the code, because it knew the code already */
	bool is_instead = m->is_code_object && access(m->path, F_OK) != 0;
	job->has_beside = (d->keeps || is_instead) &&
			  cache_is_of(out, has_id ? m->build_id : NULL, m->build_id_bytes);
	if (job->has_beside && (s->force || lasts(s, out, m))) {
		bool again = s->force && !is_instead;
		job->out = again && !is_link(d->beside) ? out : NULL;
		job->result = again ? JOB_NOT_RUN : JOB_UP_TO_DATE;
		return true;
	}
	job->out = d->dir ? out : NULL;
	return !d->dir ||
	       snprintf(out, PATH_MAX, "%s/%s" STRUCTURE_SUFFIX, d->dir, m->key) < PATH_MAX;
}

static enum status do_modules(const struct settings *s, const char *dir, const struct rundir *r)
{
	struct sized *sized = calloc(r->n_modules + 1, sizeof *sized);
	struct job *jobs = calloc(r->n_modules + 1, sizeof *jobs);
	char *names = malloc((r->n_modules + 1) * PATH_MAX);
	struct destination d;
	struct rights readers = {0};
	enum status status =
		rights_add(&readers, r->owner) && sized && jobs && names
			? choose_destination(s, dir, &d)
			: STATUS_NO_MEMORY;
	if (status == STATUS_NO_MEMORY)
		log_error(dir, "out of memory");
	size_t n = 0;
	for (size_t i = 0; i < r->n_modules && status == STATUS_OK; i++) {
		struct stat st;
		sized[i].n_bytes = stat(r->modules[i].path, &st) == 0 ? st.st_size : 0;
		if (!plan(s, &d, &readers, &r->modules[i], names + i * PATH_MAX, &sized[i].job))
			status = options_refuse("the name of the directory is too long");
	}
	if (status == STATUS_OK) {
		qsort(sized, r->n_modules, sizeof *sized, compare_sizes);
		for (size_t i = 0; i < r->n_modules; i++)
			if (sized[i].job.result == JOB_NOT_RUN)
				jobs[n++] = sized[i].job;
		status = run(s, jobs, n);
	}
	for (size_t i = 0, k = n; i < r->n_modules && status == STATUS_OK; i++)
		if (sized[i].job.result != JOB_NOT_RUN)
			jobs[k++] = sized[i].job;
	if (status == STATUS_OK)
		status = sum_up(dir, jobs, r->n_modules);
	rights_free(&readers);
	free(names);
	free(jobs);
	free(sized);
	return status;
}

static enum status do_directory(const struct settings *s, const char *dir)
{
	struct rundir r;
	enum status status = rundir_read(dir, &r);
	if (status != STATUS_OK)
		return status;
	if (r.n_not_kept > 0)
		log_note(dir, "%zu records of GPU code objects whose code was not kept",
			 r.n_not_kept);
	status = do_modules(s, dir, &r);
	rundir_free(&r);
	return status;
}

static enum status do_operands(struct settings *s, int argc, char **argv, int first)
{
	if (s->show || s->clear)
		return first == argc && !(s->show && s->clear)
			? do_cache(s)
			: options_refuse("--cache and --clear-cache take nothing else");
	if (s->print)
		return first == argc ? print_structure(s->print, stdout)
				     : options_refuse("--print takes nothing else");
	if (first + 1 != argc)
		return options_refuse("expected one directory or one binary");
	enum status status = add_debug_dir(s, DEFAULT_DEBUG_DIR);
	if (status == STATUS_OK)
		status = add_debug_dir(s, NULL);
	if (status != STATUS_OK)
		return status;
	find_cache(s);
	struct stat st;
	if (s->gpu_code)
		return s->out ? options_refuse("-o goes with one structure, not with --gpu-code")
			      : do_gpu_code(s, argv[first]);
	bool is_directory = stat(argv[first], &st) == 0 && S_ISDIR(st.st_mode);
	return is_directory ? do_directory(s, argv[first]) : do_binary(s, argv[first]);
}

int main(int argc, char **argv)
{
	struct settings s = {0};
	int first = 1, done = 0;
	standard_files_keep();
	/*
	 * Return freed large tables to the system. Without this, glibc would raise the threshold
	 * over time.
	 */
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	log_set_program(argv[0]);
	cutguard_start(NULL);
	enum status status = options_parse(&table, argc, argv, 0, &s, &first, &done);
	if (status == STATUS_OK && !done)
		status = do_operands(&s, argc, argv, first);
	vec_free(&s.debug_dirs);
	return status_exit_code(status);
}
