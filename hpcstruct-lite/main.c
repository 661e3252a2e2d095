/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line of hpcstruct-lite. Test: tests/cli/struct_*.sh. */
#include "config.h"

#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/pool.h"
#include "common/base/vec.h"
#include "common/format/structure.h"
#include "hpcstruct-lite/gpu_code.h"
#include "hpcstruct-lite/jobs.h"
#include "hpcstruct-lite/print.h"
#include "hpcstruct-lite/rundir.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_DEBUG_DIR "/usr/lib/debug"
#ifdef HAVE_ZYDIS
#define NO_LOOPS_HELP "do not look for loops in the code, which takes time"
#else
#define NO_LOOPS_HELP "do not look for loops (built without Zydis, so that\nthere are none in x86-64 code anyway)"
#endif

struct settings {
	const char *out, *print, *gpu_code;
	VEC(const char *) debug_dirs; /* ended by NULL */
	long long n_at_once;          /* 0: one for each CPU */
	bool no_cache, force, no_loops;
	char cache_dir[PATH_MAX];     /* "": none */
};

static enum status set_jobs(void *arg, const char *value)
{
	struct settings *s = arg;
	return options_number(value, 1, 256, &s->n_at_once) ? STATUS_OK : options_refuse("-j takes a number from 1 to 256, not '%s'", value);
}

static enum status set_out(void *arg, const char *value)
{
	((struct settings *)arg)->out = value;
	return STATUS_OK;
}

static enum status set_print(void *arg, const char *value)
{
	((struct settings *)arg)->print = value;
	return STATUS_OK;
}

static enum status set_gpu_code(void *arg, const char *value)
{
	((struct settings *)arg)->gpu_code = value;
	return STATUS_OK;
}

static enum status add_debug_dir(void *arg, const char *value)
{
	struct settings *s = arg;
	const char **slot = vec_push(&s->debug_dirs);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = value;
	return STATUS_OK;
}

static enum status set_no_cache(void *arg, const char *value)
{
	(void)value;
	((struct settings *)arg)->no_cache = true;
	return STATUS_OK;
}

static enum status set_force(void *arg, const char *value)
{
	(void)value;
	((struct settings *)arg)->force = true;
	return STATUS_OK;
}

static enum status set_no_loops(void *arg, const char *value)
{
	(void)value;
	((struct settings *)arg)->no_loops = true;
	return STATUS_OK;
}

static const struct option_spec specs[] = {
	{'j', "jobs", "N", "use N CPUs (default: all that may be used)", set_jobs},
	{'o', "output", "FILE", "of one binary: write the structure to FILE\n(default: <binary's name>.hpcstruct); of a\nmeasurement directory: write to the directory\nFILE (default: DIR/structs)", set_out},
	{0, "print", "FILE", "print a structure file as text", set_print},
	{0, "gpu-code", "DIR", "take the GPU code out of a program, library, object,\narchive or fat binary: write each cubin and its\nstructure to DIR", set_gpu_code},
	{0, "debug-dir", "DIR", "look for separate debug files below DIR too,\nbefore " DEFAULT_DEBUG_DIR "; may be repeated", add_debug_dir},
	{0, "no-loops", NULL, NO_LOOPS_HELP, set_no_loops},
	{0, "no-cache", NULL, "neither use nor fill the cache of structures", set_no_cache},
	{'f', "force", NULL, "make structures again even when they are up to date", set_force},
	{'q', "quiet", NULL, "say only what went wrong", options_set_quiet},
	{'v', "verbose", NULL, "say more", options_set_verbose},
	{0, NULL, NULL, NULL, NULL},
};

static const struct option_table table = {
	.program = "hpcstruct-lite",
	.synopsis = "hpcstruct-lite [options] [-o DIR2] DIR\n       hpcstruct-lite [options] [-o FILE] BINARY\n       hpcstruct-lite [options] --gpu-code DIR BINARY\n       hpcstruct-lite --print FILE",
	.about = "Finds out what the addresses of binaries mean: functions, inlined calls, loops, source lines.\n"
		 "For a measurement directory, of all binaries with samples in it and of the GPU code it keeps\n"
		 "(DIR/structs/). A BINARY may also be a cubin or OpenCL source text (*.cl).",
	.specs = specs,
	.footer = "The cache is $XDG_CACHE_HOME/hpctoolkit-lite (~/.cache/hpctoolkit-lite).\n"
		  "HPCTOOLKIT_LITE_CACHE names another directory; when it is empty, there is none.\n"
		  "A binary that cannot be read costs its own structure: exit status 1 says that one is missing.",
};

static void find_cache(struct settings *s)
{
	const char *own = getenv("HPCTOOLKIT_LITE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = 0;
	if (s->no_cache)
		return;
	if (own)
		n = snprintf(s->cache_dir, sizeof s->cache_dir, "%s", own);
	else if (xdg && xdg[0] == '/')
		n = snprintf(s->cache_dir, sizeof s->cache_dir, "%s/hpctoolkit-lite", xdg);
	else if (home && home[0] == '/')
		n = snprintf(s->cache_dir, sizeof s->cache_dir, "%s/.cache/hpctoolkit-lite", home);
	if (n < 0 || (size_t)n >= sizeof s->cache_dir)
		s->cache_dir[0] = '\0';
}

static enum status run(const struct settings *s, struct job *jobs, size_t n)
{
	struct jobs_options o = {
		.debug_dirs = s->debug_dirs.at,
		.n_at_once = s->n_at_once ? (unsigned)s->n_at_once : pool_n_cpus(),
		.cache_dir = s->cache_dir[0] ? s->cache_dir : NULL,
		.force = s->force,
		.no_loops = s->no_loops,
	};
	return jobs_run(jobs, n, &o);
}

static enum status do_binary(const struct settings *s, const char *binary)
{
	const char *slash = strrchr(binary, '/');
	char out[PATH_MAX];
	if (snprintf(out, sizeof out, "%s%s", s->out ? s->out : slash ? slash + 1 : binary, s->out ? "" : STRUCTURE_SUFFIX) >= (int)sizeof out)
		return options_refuse("the name of the output is too long");
	struct job job = {.binary = binary, .out = out};
	enum status status = run(s, &job, 1);
	if (status != STATUS_OK)
		return status;
	if (job.result == JOB_UP_TO_DATE)
		log_detail(out, "was up to date");
	return job.result == JOB_MADE || job.result == JOB_UP_TO_DATE ? STATUS_OK : STATUS_BAD_INPUT;
}

/* Says what came of it; STATUS_BAD_INPUT when a structure is missing. */
static enum status sum_up(const char *dir, const struct job *jobs, size_t n)
{
	size_t by_result[JOB_FAILED + 1] = {0};
	for (size_t i = 0; i < n; i++)
		by_result[jobs[i].result]++;
	size_t skipped = by_result[JOB_SKIPPED], missing = n - by_result[JOB_MADE] - by_result[JOB_UP_TO_DATE] - skipped;
	log_note(dir, "%zu structures: %zu made, %zu up to date, %zu missing", n - skipped, by_result[JOB_MADE], by_result[JOB_UP_TO_DATE], missing);
	if (skipped > 0)
		log_note(dir, "%zu GPU code objects are in forms without lines to be read", skipped);
	return missing ? STATUS_BAD_INPUT : STATUS_OK;
}

static enum status do_gpu_code(const struct settings *s, const char *file)
{
	struct gpu_code code;
	enum status status = gpu_code_extract(file, s->gpu_code, &code);
	struct job *jobs = calloc(code.cubins.n + 1, sizeof *jobs);
	char *names = malloc((code.cubins.n + 1) * PATH_MAX);
	if (status == STATUS_OK && (!jobs || !names))
		status = STATUS_NO_MEMORY;
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

/* Big binaries first, so that the last ones to end are small. */
static int compare_sizes(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;
	if (x->n_bytes != y->n_bytes)
		return x->n_bytes > y->n_bytes ? -1 : 1;
	return strcmp(x->job.out, y->job.out);
}

static enum status do_modules(const struct settings *s, const char *dir, const struct rundir *r)
{
	struct sized *sized = calloc(r->n_modules + 1, sizeof *sized);
	struct job *jobs = calloc(r->n_modules + 1, sizeof *jobs);
	char *names = malloc((r->n_modules + 1) * PATH_MAX);
	enum status status = sized && jobs && names ? STATUS_OK : STATUS_NO_MEMORY;
	for (size_t i = 0; i < r->n_modules && status == STATUS_OK; i++) {
		const struct rundir_module *m = &r->modules[i];
		char *out = names + i * PATH_MAX;
		struct stat st;
		if (snprintf(out, PATH_MAX, "%s%s/%s" STRUCTURE_SUFFIX, s->out ? s->out : dir, s->out ? "" : "/structs", m->key) >= PATH_MAX)
			status = options_refuse("the name of the directory is too long");
		sized[i].n_bytes = stat(m->path, &st) == 0 ? st.st_size : 0;
		sized[i].job = (struct job){.binary = m->path, .out = out, .build_id = m->build_id, .build_id_bytes = m->build_id_bytes,
			.file_bytes = m->file_bytes, .file_mtime_ns = m->file_mtime_ns, .content_key = m->is_code_object ? m->key : NULL};
	}
	if (status == STATUS_OK) {
		qsort(sized, r->n_modules, sizeof *sized, compare_sizes);
		for (size_t i = 0; i < r->n_modules; i++)
			jobs[i] = sized[i].job;
		status = run(s, jobs, r->n_modules);
	}
	if (status == STATUS_OK)
		status = sum_up(dir, jobs, r->n_modules);
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
		log_note(dir, "%zu records of GPU code objects whose code was not kept", r.n_not_kept);
	status = do_modules(s, dir, &r);
	rundir_free(&r);
	return status;
}

static enum status do_operands(struct settings *s, int argc, char **argv, int first)
{
	if (s->print)
		return first == argc ? print_structure(s->print, stdout) : options_refuse("--print takes nothing else");
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
		return s->out ? options_refuse("-o goes with one structure, not with --gpu-code") : do_gpu_code(s, argv[first]);
	bool is_directory = stat(argv[first], &st) == 0 && S_ISDIR(st.st_mode);
	return is_directory ? do_directory(s, argv[first]) : do_binary(s, argv[first]);
}

int main(int argc, char **argv)
{
	struct settings s = {0};
	int first = 1, done = 0;
	/* large tables go back to the system when they are freed; glibc would else raise this threshold as it goes */
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	log_set_program(argv[0]);
	enum status status = options_parse(&table, argc, argv, 0, &s, &first, &done);
	if (status == STATUS_OK && !done)
		status = do_operands(&s, argc, argv, first);
	vec_free(&s.debug_dirs);
	return status_exit_code(status);
}
