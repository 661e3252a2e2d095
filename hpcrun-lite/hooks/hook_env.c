/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our entries in the environment; see hook_env.h. The order and text of all other entries stay the
 * same. Must not allocate, because a child of vfork calls it. Test: tests/cli/sacred/sacred_env.sh.
 */
#include "hpcrun-lite/hooks/hook_env.h"

#include "common/safe/fnv.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/config/config.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD"

/*
 * Identifies the configuration that we were started with. A program may have copied its environment
 * before we removed our entries, and may pass them on.
 */
static struct {
	uint64_t hash;
	size_t n_bytes;
} started_with;

static uint64_t hash_text(const char *text)
{
	return fnv64(FNV64_START, text, strlen(text));
}

/* The value if `entry` is NAME=value, else NULL. */
static const char *value_of(const char *entry, const char *name)
{
	size_t n = strlen(name);
	return !strncmp(entry, name, n) && entry[n] == '=' ? entry + n + 1 : NULL;
}

/*
 * True for our library, and for the modules that the launcher adds after it: files in the same
 * directory whose names start with CONFIG_MODULE_HEAD.
 */
static bool is_ours(const char *name, size_t n, const char *library)
{
	const char *slash = strrchr(library, '/');
	size_t directory = slash ? (size_t)(slash - library) + 1 : 0,
	       head = strlen(CONFIG_MODULE_HEAD);
	if (n == strlen(library) && !strncmp(name, library, n))
		return true;
	return n > directory + head && !strncmp(name, library, directory) &&
	       !strncmp(name + directory, CONFIG_MODULE_HEAD, head);
}

/*
 * Finds our first name in a value of LD_PRELOAD, whose names are separated by ':' and ' '. Returns
 * NULL if there is none.
 */
static const char *find_ours(const char *value, const char *library)
{
	for (const char *at = value;; at++) {
		size_t name = strcspn(at, ": ");
		if (is_ours(at, name, library))
			return at;
		at += name;
		if (!*at)
			return NULL;
	}
}

/*
 * Removes our names from "LD_PRELOAD=...", in place. Returns true if nothing else is left, and so
 * the entry must be removed.
 */
static bool clean_preload(char *value, const char *library)
{
	char *at;
	while ((at = (char *)(uintptr_t)find_ours(value, library))) {
		size_t n = strcspn(at, ": ");
		if (at[n]) /* with the separator after it, which the launcher wrote */
			memmove(at, at + n + 1, strlen(at + n + 1) + 1);
		else if (at > value)
			at[-1] = 0;
		else
			return true;
	}
	return false;
}

const char *hook_env_find(char *const *environment)
{
	const char *text = NULL;
	for (; environment && *environment && !text; environment++)
		text = value_of(*environment, CONFIG_VARIABLE);
	return text;
}

void hook_env_start(const char *text)
{
	extern char **environ;
	Dl_info self;
	if (!text || !environ)
		return;
	/* The dynamic linker keeps the name that LD_PRELOAD gave it. */
	const char *library = dladdr((void *)hook_env_start, &self) ? self.dli_fname : "";
	started_with.hash = hash_text(text);
	started_with.n_bytes = strlen(text);
	char **to = environ;
	for (char **from = environ; *from; from++) {
		const char *preload = value_of(*from, PRELOAD);
		if (value_of(*from, CONFIG_VARIABLE) ||
		    (preload && clean_preload((char *)(uintptr_t)preload, library)))
			continue;
		*to++ = *from;
	}
	*to = NULL;
}

/* ---- the environment of another program ---- */

/* The layout of the caller's memory. The array of entries follows it. */
struct entries {
	struct config config;
	char text[sizeof CONFIG_VARIABLE + CONFIG_MAX_BYTES];
	char preload[];
};

/* What a scan of the environment found. */
struct found {
	size_t n;             /* entries */
	const char *preload;  /* the last LD_PRELOAD, which the dynamic linker uses */
	bool other_launcher;
};

static struct found examine(char *const *environment)
{
	struct found f = {0};
	for (; environment && environment[f.n]; f.n++) {
		const char *preload = value_of(environment[f.n], PRELOAD);
		const char *config = value_of(environment[f.n], CONFIG_VARIABLE);
		if (preload)
			f.preload = preload;
		if (config && (strlen(config) != started_with.n_bytes ||
			       hash_text(config) != started_with.hash))
			f.other_launcher = true;
	}
	return f;
}

static size_t preload_bytes(const struct found *f)
{
	const struct config *c = runtime_config();
	return sizeof PRELOAD + 1 + (c ? config_preload(c, f->preload, NULL, 0) : 0) + 1;
}

static size_t aligned(size_t n)
{
	return (n + 15) & ~(size_t)15;
}

size_t hook_env_bytes(char *const *environment)
{
	struct found f = examine(environment);
	return aligned(sizeof(struct entries) + preload_bytes(&f)) + (f.n + 3) * sizeof(char *);
}

/* Writes "LD_PRELOAD=" with our names and the names that were there before. */
static void make_preload(char *to, const struct config *c, const char *others)
{
	char *at = stpcpy(to, PRELOAD "=");
	if (others && find_ours(others, c->library))
		stpcpy(at, others);
	else
		config_preload(c, others, at, config_preload(c, others, NULL, 0) + 1);
}

/* A process of a job learns its rank from its own environment. */
static void make_job(struct config *c, const struct config_job *job)
{
	c->spawned = *job;
	c->rank = c->n_ranks = -1;
	c->root_pid = 0;
}

static bool make_config(struct entries *m, bool same_process, const struct config_job *job)
{
	memcpy(&m->config, runtime_config(), sizeof m->config);
	m->config.exec_pid = same_process ? (uint32_t)sys_getpid() : 0;
	m->config.exec_seq = same_process ? runtime_exec_seq() + 1 : 0;
	m->config.process_start_ns = same_process ? runtime_process_start_ns() : 0;
	if (job)
		make_job(&m->config, job);
	char *value = stpcpy(m->text, CONFIG_VARIABLE "=");
	return config_encode(&m->config, value, CONFIG_MAX_BYTES) > 0;
}

static struct entries *make_entries(const struct found *f, void *memory, size_t n_bytes,
				    bool same_process, const struct config_job *job)
{
	struct entries *m = memory;
	const struct config *c = runtime_config();
	if (!c || c->attached || !memory || f->other_launcher ||
	    n_bytes < sizeof *m + preload_bytes(f) || !make_config(m, same_process, job))
		return NULL;
	make_preload(m->preload, &m->config, f->preload);
	return m;
}

/* `f` is what examine() found in the environment. */
static char *const *make(char *const *environment, const struct found *found, void *memory,
			 size_t n_bytes, struct entries *m)
{
	const struct found f = *found;
	size_t head = aligned(sizeof *m + preload_bytes(&f));
	if (!m || n_bytes < head + (f.n + 3) * sizeof(char *))
		return environment;
	char **array = (char **)((char *)memory + head), **to = array;
	bool placed = false;
	for (size_t i = 0; i < f.n; i++) {
		if (value_of(environment[i], CONFIG_VARIABLE))
			continue;
		const char *preload = value_of(environment[i], PRELOAD);
		*to++ = preload == f.preload && preload ? m->preload : environment[i];
		placed |= preload == f.preload && preload;
	}
	if (!placed)
		*to++ = m->preload;
	*to++ = m->text;
	*to = NULL;
	return array;
}

char *const *hook_env_make(char *const *environment, void *memory, size_t n_bytes,
			   bool same_process)
{
	const struct found f = examine(environment);
	struct entries *m = make_entries(&f, memory, n_bytes, same_process, NULL);
	return make(environment, &f, memory, n_bytes, m);
}

static struct found examine_part(char *const *environment)
{
	extern char **environ;
	struct found f = examine(environment);
	if (!f.preload)
		f.preload = examine(environ).preload;
	return f;
}

size_t hook_env_job_bytes(char *const *environment)
{
	const struct found f = examine_part(environment);
	return aligned(aligned(sizeof(struct entries) + preload_bytes(&f)) +
		       (f.n + 3) * sizeof(char *));
}

char *const *hook_env_make_job(char *const *environment, void *memory, size_t n_bytes,
			       const struct config_job *job)
{
	const struct found f = examine_part(environment);
	struct entries *m = make_entries(&f, memory, n_bytes, false, job);
	return make(environment, &f, memory, n_bytes, m);
}

bool hook_env_pair(char *const *environment, void *memory, size_t n_bytes,
		   struct hook_env_pair *pair)
{
	struct found f = examine(environment);
	struct entries *m = make_entries(&f, memory, n_bytes, false, NULL);
	if (!m)
		return false;
	pair->preload = value_of(m->preload, PRELOAD);
	pair->config = value_of(m->text, CONFIG_VARIABLE);
	return true;
}

/* Other errors, such as too many open files, need not happen to the program. */
static bool is_hidden(long error)
{
	return error == -ENOENT || error == -EACCES || error == -ENOTDIR || error == -ELOOP;
}

bool hook_env_in_reach(void)
{
	const struct config *c = runtime_config();
	if (c->attached)
		return false;
	const char *directory = c->local[0] ? c->local : c->directory;
	int fd = sys_open(c->library, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0)
		sys_close(fd);
	return !is_hidden(fd) && !is_hidden(sys_access(directory, 0 /* F_OK */));
}
