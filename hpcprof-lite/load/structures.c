/* SPDX-License-Identifier: BSD-3-Clause */
/* See structures.h. Test: tests/unit/prof/test_expand.c, tests/cli/prof/prof_structs.sh. */
#include "hpcprof-lite/load/structures.h"

#include "common/base/log.h"
#include "common/format/structure_cache.h"
#include "common/rights/inside.h"
#include "common/rights/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The number of path components below the cache or measurement directory. */
enum { IN_CACHE = 1, IN_MEASUREMENT = 2 };

/* ---- opening ---- */

static bool belongs_to(const struct structure *s, const struct msr_module *m)
{
	if (m->flags & LOAD_MODULE_GPU)
		/* named by a hash of the content; its build id is that of an ELF inside */
		return true;
	size_t n_bytes;
	const uint8_t *id = structure_build_id(s, &n_bytes);
	if (n_bytes > MSR_BUILD_ID_MAX)
		n_bytes = MSR_BUILD_ID_MAX;
	return n_bytes == m->build_id_bytes &&
	       (n_bytes == 0 || memcmp(id, m->build_id, n_bytes) == 0);
}

/* The number of addresses with samples that a partial structure covers. */
static size_t count_covered(const struct structure *s, const struct load_structure *l)
{
	const size_t n_regions = structure_n_regions(s);
	size_t n = 0, k = 0;
	uint64_t start = 0, end = 0;
	for (size_t i = 0; i < l->n_link_addrs; i++) {
		for (; k < n_regions; k++) {
			structure_get_region(s, k, &start, &end);
			if (l->link_addrs[i] < end)
				break;
		}
		n += k < n_regions && l->link_addrs[i] >= start;
	}
	return n;
}

static void close_part(struct load_structure *l)
{
	if (l->part) {
		structure_close(l->part);
		mapfile_close(&l->part_map);
	}
	l->part = NULL;
}

/* Puts aside a structure that lacks some of the functions. False: it has all. */
static bool put_aside(struct load_structure *l)
{
	const size_t n = structure_is_partial(l->structure) ? count_covered(l->structure, l)
							    : l->n_link_addrs;
	if (n == l->n_link_addrs)
		return false;
	if (!l->part || n > l->n_in_part) {
		close_part(l);
		l->part = l->structure;
		l->part_map = l->map;
		l->n_in_part = n;
	} else {
		structure_close(l->structure);
		mapfile_close(&l->map);
	}
	l->structure = NULL;
	return true;
}

/*
 * Opens one file, `depth` path components below its directory. Logs damage and files of other
 * binaries. *is_damaged: the file is useless to everyone.
 */
static bool open_file(const char *path, unsigned depth, struct load_structure *l, bool *is_damaged)
{
	const struct msr_module *m = l->module;
	*is_damaged = false;
	if (inside_map(path, depth, &l->map) != STATUS_OK)
		return false;
	if (depth == IN_CACHE && !inside_trusts(l->map.owner, l->path)) {
		mapfile_close(&l->map); /* an untrusted file has just replaced it */
		return false;
	}
	enum status status = structure_open(path, l->map.bytes, l->map.n_bytes, &l->structure);
	if (status != STATUS_OK) {
		l->structure = NULL;
		*is_damaged = status == STATUS_BAD_INPUT;
	} else if (!belongs_to(l->structure, m)) {
		log_warn(path, "is the structure of another binary than %s; not used", l->path);
		structure_close(l->structure);
		l->structure = NULL;
	} else if (m->flags & LOAD_MODULE_GPU &&
		structure_index_names(l->structure, path) != STATUS_OK) {
		structure_close(l->structure); /* only the names of kernels are known */
		l->structure = NULL;
	}
	if (!l->structure) {
		mapfile_close(&l->map);
		return false;
	}
	return !put_aside(l);
}

void load_structure_key(const struct load_structure *l, char key[STRUCTURE_KEY_BYTES])
{
	const struct msr_module *m = l->module;
	structure_key(key, m->build_id, m->build_id_bytes, l->path, m->file_bytes,
		      m->file_mtime_ns, msr_module_content(m));
}

/* Opens the structures in structs/ of a directory. Returns how many of the list still have none. */
static size_t open_beside(const char *directory, struct load_structure *list, size_t n)
{
	size_t n_without = 0;
	for (size_t i = 0; i < n; i++) {
		char key[STRUCTURE_KEY_BYTES], path[PATH_MAX];
		bool is_damaged;
		if (list[i].structure)
			continue;
		load_structure_key(&list[i], key);
		if (snprintf(path, sizeof path, "%s/structs/%s" STRUCTURE_SUFFIX, directory, key) >=
				(int)sizeof path ||
			!open_file(path, IN_MEASUREMENT, &list[i], &is_damaged))
			n_without++;
	}
	return n_without;
}

/*
 * Opens the structures in the cache and removes damaged ones. Returns the number of damaged files.
 */
static size_t open_cached(const char *directory, struct load_structure *list, size_t n)
{
	struct structure_cache cache;
	size_t n_removed = 0;
	if (structure_cache_list(directory, &cache) != STATUS_OK)
		return 0;
	for (size_t i = 0; i < n; i++) {
		char key[STRUCTURE_KEY_BYTES], path[PATH_MAX];
		load_structure_key(&list[i], key);
		bool is_damaged;
		if (list[i].structure)
			continue;
		for (size_t k = 0;
		     !list[i].structure &&
		     structure_cache_find(&cache, key, list[i].path, k, path);
		     k++)
			if (open_file(path, IN_CACHE, &list[i], &is_damaged) || list[i].part)
				structure_cache_touch(path);
			else if (is_damaged)
				n_removed += unlink(path) == 0;
	}
	structure_cache_free(&cache);
	return n_removed;
}

/*
 * True if hpcstruct-lite can make a structure: the binary exists, a measurement has a copy of it,
 * or it is the vdso.
 */
static bool can_be_made(const struct load_structures_options *o, const struct load_structure *l)
{
	char kept[PATH_MAX];
	if (l->module->flags & LOAD_MODULE_GPU)
		return access(l->path, R_OK) == 0;
	if (l->module->flags & MSR_MODULE_VDSO)
		return true;
	for (size_t d = 0; d < o->n_directories; d++)
		if (load_find_kept(l->module, o->directories[d], kept))
			return true;
	/* hpcstruct-lite reports binaries that it may not read */
	const enum load_binary binary = load_check_binary(l->readers, l->module, l->path);
	return binary == LOAD_BINARY_SAME || binary == LOAD_BINARY_PRIVATE;
}

/*
 * The number of binaries without a structure that hpcstruct-lite has to examine. It examines those
 * in the cache again, because their debug information may be new. *n_new: how many are not in the
 * cache.
 */
static size_t count_to_do(const struct load_structures_options *o, const char *cache_dir,
			  const struct load_structure *list, size_t n, size_t *n_new)
{
	struct structure_cache cache = {.entries = {0}};
	bool listed = cache_dir && structure_cache_list(cache_dir, &cache) == STATUS_OK;
	size_t n_to_do = 0;
	*n_new = 0;
	for (size_t i = 0; i < n; i++) {
		char key[STRUCTURE_KEY_BYTES], path[PATH_MAX];
		if (list[i].structure || !can_be_made(o, &list[i]))
			continue;
		n_to_do++;
		load_structure_key(&list[i], key);
		*n_new += !listed || !structure_cache_find(&cache, key, list[i].path, 0, path);
	}
	if (listed)
		structure_cache_free(&cache);
	return n_to_do;
}

/* ---- making ---- */

static bool is_directory(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool load_find_hpcstruct(char *path, size_t path_bytes)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return false;
	self[n] = 0;
	char *slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	slash = strrchr(self, '/');
	if (slash && strcmp(slash, "/.libs") == 0) /* where libtool keeps programs */
		*slash = 0;
	int length = snprintf(path, path_bytes, "%s/hpcstruct-lite", self);
	if (length > 0 && (size_t)length < path_bytes && access(path, X_OK) == 0 &&
	    !is_directory(path))
		return true;
	length = snprintf(path, path_bytes, "%s/../hpcstruct-lite/hpcstruct-lite", self);
	return length > 0 && (size_t)length < path_bytes && access(path, X_OK) == 0;
}

/*
 * Starts a program and unblocks the signals that this program blocks (database.c). Returns an
 * errno.
 */
static int start(pid_t *pid, const char *program, char **argv)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigemptyset(&none);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return ENOMEM;
	int cause = posix_spawnattr_init(&attributes);
	if (cause == 0) {
		posix_spawnattr_setsigmask(&attributes, &none);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
		cause = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
		if (cause == 0)
			cause = posix_spawn(pid, program, &actions, &attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return cause;
}

/*
 * Runs `program --trust-cache [-q] -j N [-o scratch/structs] directory`; Its messages go to our
 * standard error, because standard output is for our own output.
 */
static void run_hpcstruct(const char *program, char *directory, const char *scratch,
	unsigned n_workers, bool be_quiet)
{
	char workers[16], out[PATH_MAX], name[] = "hpcstruct-lite", jobs[] = "-j",
					 trust[] = "--trust-cache", to[] = "-o", quiet[] = "-q",
					 end[] = "--";
	char *argv[10] = {name, jobs, workers, trust};
	size_t n = 4;
	if (be_quiet)
		argv[n++] = quiet;
	if (scratch && snprintf(out, sizeof out, "%s/structs", scratch) < (int)sizeof out) {
		argv[n++] = to;
		argv[n++] = out;
	}
	argv[n++] = end;
	argv[n++] = directory;
	snprintf(workers, sizeof workers, "%u", n_workers);
	pid_t pid;
	int cause = start(&pid, program, argv);
	if (cause) {
		log_warn(program, "cannot be run: %s", strerror(cause));
		return;
	}
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		log_warn(directory,
			 "hpcstruct-lite was ended by signal %d; some binaries have no structure",
			 WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		log_warn(
			directory,
			"hpcstruct-lite failed with status %d; some binaries may have no structure",
			WEXITSTATUS(status));
}

/*
 * Lets hpcstruct-lite examine all directories. It fills the cache. If the cache cannot be written,
 * the structures go to a directory of this run only, which is returned. *has_run: it was run.
 */
static const char *make_missing(
	const struct load_structures_options *o, const char *cache_dir, size_t n_new, bool *has_run)
{
	char program[PATH_MAX];
	if (!load_find_hpcstruct(program, sizeof program)) {
		if (n_new > 0)
			log_warn(NULL, "hpcstruct-lite is not beside this program; functions and "
				       "lines stay "
				       "unknown where structures are missing");
		return NULL;
	}
	bool can_keep = cache_dir && structure_cache_is_writable(cache_dir);
	const char *scratch = !can_keep && o->make_scratch ? o->make_scratch() : NULL;
	if (!can_keep && !scratch)
		return NULL;
	if (!can_keep && n_new > 0)
		log_note(cache_dir,
			"%s: missing structures are made for this run alone; "
			"HPCTOOLKIT_LITE_CACHE can name a directory for them",
			cache_dir ? "cannot be written to" : "there is no cache");
	for (size_t d = 0; d < o->n_directories; d++)
		run_hpcstruct(
			program, o->directories[d], scratch, o->n_workers, o->quiet || n_new == 0);
	*has_run = true;
	return scratch;
}

/*
 * Finds why a module has no structure. If hpcstruct-lite has run, it already reported binaries that
 * changed.
 */
static void judge_missing(struct load_structure *l, bool say)
{
	bool changed = !(l->module->flags & LOAD_MODULE_GPU) &&
		load_check_binary(l->readers, l->module, l->path) == LOAD_BINARY_CHANGED;
	l->state = changed ? MODEL_STRUCTURE_CHANGED : MODEL_STRUCTURE_NONE;
	if (changed && say)
		log_warn(l->path,
			"structure missing: the file changed since the run, and no structure of "
			"the one that ran was kept; its addresses stay without names");
}

/* Uses the structure that was put aside. If hpcstruct-lite could not make a better one, says so. */
static void use_part(const struct load_structures_options *o, struct load_structure *l,
		     bool has_run)
{
	if (!l->part)
		return;
	l->structure = l->part;
	l->map = l->part_map;
	l->part = NULL;
	if (!has_run || !can_be_made(o, l))
		log_warn(l->path,
			 "its structure has only functions of other runs; %zu of %zu addresses "
			 "stay without names",
			 l->n_link_addrs - l->n_in_part, l->n_link_addrs);
}

static void judge(const struct load_structures_options *o, struct load_structure *l, bool has_run)
{
	if (!l->structure)
		use_part(o, l, has_run);
	close_part(l);
	if (l->structure)
		l->state = structure_has_lines(l->structure) ? MODEL_STRUCTURE_LINES
							     : MODEL_STRUCTURE_SYMBOLS;
	else
		judge_missing(l, !has_run);
}

/* ---- the whole ---- */

/* Finds the users who may read what the measurements name. False: memory is short. */
static bool find_readers(const struct load_structures_options *o, struct rights *readers)
{
	struct stat st;
	bool ok = true;
	for (size_t d = 0; d < o->n_directories && ok; d++)
		ok = stat(o->directories[d], &st) != 0 || rights_add(readers, st.st_uid);
	if (!ok)
		log_error(NULL, "out of memory; functions and lines stay unknown");
	return ok;
}

void load_structures_open(const struct load_structures_options *o, struct load_structure *list,
			  size_t n)
{
	char dir[PATH_MAX];
	const char *cache_dir = structure_cache_directory(dir) ? dir : NULL, *scratch = NULL;
	size_t n_without = n, n_new;
	bool has_run = false;
	struct rights readers = {0};
	if (!find_readers(o, &readers))
		n = n_without = 0;
	for (size_t i = 0; i < n; i++)
		list[i].readers = &readers;
	for (size_t d = 0; d < o->n_directories && n_without > 0; d++)
		n_without = open_beside(o->directories[d], list, n);
	if (n_without > 0 && o->make && count_to_do(o, cache_dir, list, n, &n_new) > 0)
		scratch = make_missing(o, cache_dir, n_new, &has_run);
	if (n_without > 0 && scratch)
		n_without = open_beside(scratch, list, n);
	if (n_without > 0 && cache_dir && open_cached(cache_dir, list, n) > 0 && o->make
		&& count_to_do(o, cache_dir, list, n, &n_new) > 0) {
		make_missing(o, cache_dir, n_new, &has_run); /* again, to replace damaged files */
		open_cached(cache_dir, list, n);
	}
	for (size_t i = 0; i < n; i++)
		judge(o, &list[i], has_run);
	rights_free(&readers);
}

void load_structures_close(struct load_structure *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!list[i].structure)
			continue;
		structure_close(list[i].structure);
		list[i].structure = NULL;
		mapfile_close(&list[i].map);
	}
}
