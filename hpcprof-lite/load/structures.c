/* SPDX-License-Identifier: BSD-3-Clause */
/* See structures.h. Test: tests/unit/test_expand.c, tests/cli/prof_structs.sh. */
#include "hpcprof-lite/load/structures.h"

#include "common/base/log.h"

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

/* ---- opening ---- */

static bool belongs_to(const struct structure *s, const struct msr_module *m)
{
	if (m->flags & LOAD_MODULE_GPU)
		return true; /* its name is the hash of the content; what it says is the build id of an ELF inside */
	size_t n_bytes;
	const uint8_t *id = structure_build_id(s, &n_bytes);
	if (n_bytes > MSR_BUILD_ID_MAX)
		n_bytes = MSR_BUILD_ID_MAX;
	return n_bytes == m->build_id_bytes && (n_bytes == 0 || memcmp(id, m->build_id, n_bytes) == 0);
}

static void open_in(const char *directory, struct load_structure *l)
{
	const struct msr_module *m = l->module;
	char key[STRUCTURE_KEY_BYTES], *path;
	structure_key(key, m->build_id, m->build_id_bytes, l->path, m->file_bytes, m->file_mtime_ns);
	if (asprintf(&path, "%s/structs/%s" STRUCTURE_SUFFIX, directory, key) < 0)
		return;
	if (mapfile_open(path, &l->map) == STATUS_OK) {
		if (structure_open(path, l->map.bytes, l->map.n_bytes, &l->structure) != STATUS_OK) {
			l->structure = NULL;
		} else if (!belongs_to(l->structure, m)) {
			log_warn(path, "is the structure of another binary than %s; not used", l->path);
			structure_close(l->structure);
			l->structure = NULL;
		} else if (m->flags & LOAD_MODULE_GPU && structure_index_names(l->structure, path) != STATUS_OK) {
			structure_close(l->structure); /* kernels are known by name alone */
			l->structure = NULL;
		}
		if (l->structure)
			l->state = structure_has_lines(l->structure) ? MODEL_STRUCTURE_LINES : MODEL_STRUCTURE_SYMBOLS;
		else
			mapfile_close(&l->map);
		l->refused = !l->structure;
	}
	free(path);
}

/* hpcstruct-lite can make one: the binary is there (for the vdso: its copy beside the measurements). */
static bool can_be_made(const struct load_structure *l)
{
	if (l->module->flags & LOAD_MODULE_GPU)
		return access(l->path, R_OK) == 0;
	return l->module->flags & MSR_MODULE_VDSO || load_check_binary(l->module, l->path) == LOAD_BINARY_SAME;
}

/* Returns how many modules of the list are still without and need not be. `scratch` NULL: there is none. */
static size_t open_what_is_there(const struct load_structures_options *o, const char *scratch, struct load_structure *list, size_t n)
{
	size_t n_missing = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t d = 0; d < o->n_directories && !list[i].structure && !list[i].refused; d++)
			open_in(o->directories[d], &list[i]);
		if (scratch && !list[i].structure && !list[i].refused)
			open_in(scratch, &list[i]);
		n_missing += !list[i].structure && !list[i].refused && can_be_made(&list[i]);
	}
	return n_missing;
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
	if (length > 0 && (size_t)length < path_bytes && access(path, X_OK) == 0 && !is_directory(path))
		return true;
	length = snprintf(path, path_bytes, "%s/../hpcstruct-lite/hpcstruct-lite", self);
	return length > 0 && (size_t)length < path_bytes && access(path, X_OK) == 0;
}

/* Signals that this program blocks (database.c) are not blocked there. Returns an errno. */
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

/* Runs `program [-q] -j N [-o scratch/structs] directory`; its messages go to our standard error, so that standard output stays ours. */
static void run_hpcstruct(const char *program, char *directory, const char *scratch, const struct load_structures_options *o)
{
	char workers[16], out[PATH_MAX], name[] = "hpcstruct-lite", jobs[] = "-j", to[] = "-o", quiet[] = "-q", end[] = "--";
	char *argv[9] = {name, jobs, workers};
	size_t n = 3;
	if (o->quiet)
		argv[n++] = quiet;
	if (scratch && snprintf(out, sizeof out, "%s/structs", scratch) < (int)sizeof out) {
		argv[n++] = to;
		argv[n++] = out;
	}
	argv[n++] = end;
	argv[n++] = directory;
	snprintf(workers, sizeof workers, "%u", o->n_workers);
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
		log_warn(directory, "hpcstruct-lite was ended by signal %d; some binaries have no structure", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		log_warn(directory, "hpcstruct-lite failed with status %d; some binaries may have no structure", WEXITSTATUS(status));
}

static bool can_be_written(const char *directory)
{
	char *path;
	if (asprintf(&path, "%s/structs", directory) < 0)
		return true;
	bool can = access(access(path, F_OK) == 0 ? path : directory, W_OK | X_OK) == 0;
	free(path);
	return can;
}

/* Returns where structures are that have no place beside their measurements; NULL: nowhere. */
static const char *make_missing(const struct load_structures_options *o)
{
	const char *scratch = NULL;
	char program[PATH_MAX];
	if (!load_find_hpcstruct(program, sizeof program)) {
		log_warn(NULL, "hpcstruct-lite is not beside this program; functions and lines stay unknown where structures are missing");
		return NULL;
	}
	for (size_t d = 0; d < o->n_directories; d++) {
		bool beside = can_be_written(o->directories[d]);
		if (!beside && !scratch && o->make_scratch)
			scratch = o->make_scratch();
		if (!beside && scratch)
			log_note(o->directories[d], "cannot be written to: missing structures are made for this run, and kept in the cache alone");
		run_hpcstruct(program, o->directories[d], beside ? NULL : scratch, o);
	}
	return scratch;
}

/* ---- the whole ---- */

void load_structures_open(const struct load_structures_options *o, struct load_structure *list, size_t n)
{
	if (open_what_is_there(o, NULL, list, n) && o->make)
		open_what_is_there(o, make_missing(o), list, n);
	for (size_t i = 0; i < n; i++)
		if (!list[i].structure && list[i].module->flags & LOAD_MODULE_GPU)
			list[i].state = MODEL_STRUCTURE_NONE;
		else if (!list[i].structure)
			list[i].state = load_check_binary(list[i].module, list[i].path) == LOAD_BINARY_CHANGED ? MODEL_STRUCTURE_CHANGED
				: MODEL_STRUCTURE_NONE;
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
