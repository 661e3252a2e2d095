/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that MPI_Comm_spawn starts. A daemon starts them, with its own environment and what the
 * spawning process adds to it. MPI libraries pass that to PMIx_Spawn, and we add our entries there.
 * An MPI_Info would not do: it has room for 255 bytes only, and MPI would report errors in it to
 * the program. Command, arguments and results stay the program's. Tests:
 * tests/cli/mpi/mpi_spawn.sh, tests/cli/run/run_spawn.sh.
 */
#include "common/safe/clock.h"
#include "common/safe/find_object.h"
#include "common/safe/fnv.h"
#include "hpcrun-lite/hooks/hook_env.h"
#include "hpcrun-lite/hooks/hook_exec.h"
#include "hpcrun-lite/hooks/hook_scratch.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NOT_SUPPORTED (-47) /* PMIX_ERR_NOT_SUPPORTED; returned if there is no PMIx */

/* pmix_app_t of PMIx 2 to 5. */
struct app {
	char *command;
	char **argv;
	char **environment; /* added to the daemon's environment; NULL: nothing */
	char *directory;    /* NULL: the daemon's */
	int n_processes;
	void *info;
	size_t n_info;
};

/* PMIx_Spawn has the first five arguments, PMIx_Spawn_nb all. */
typedef int spawn_fn(const void *, size_t, const struct app *, size_t, void *, void *);

HOOK_NEXT(dlclose);

/* Set during a call, because PMIx calls its own hooked functions. */
static __thread bool is_inside;

/*
 * Finds the function that `caller` would call if we did not replace it. MPI libraries open the
 * library that has it without making its names global.
 */
static void *find(const char *name, const void *caller)
{
	struct dl_find_object object;
	void *function = dlsym(RTLD_NEXT, name);
	if (function || find_object_surely((void *)(uintptr_t)caller, &object) != 0)
		return function;
	void *library = dlopen(object.dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (library) {
		function = dlsym(library, name);
		NEXT(dlclose)(library);
	}
	return function;
}

/* ---- the applications with our entries ---- */

struct changed {
	struct app *apps;
	enum msr_unmeasured_reason *reasons;
	char *path;    /* path of an executable, PATH_MAX bytes */
	char *rest;
	size_t n_rest;
};

static size_t bytes_of(const struct app *apps, size_t n)
{
	size_t n_bytes = n * (sizeof *apps + sizeof(enum msr_unmeasured_reason)) + PATH_MAX + 32;
	for (size_t i = 0; i < n; i++)
		n_bytes += hook_env_job_bytes(apps[i].environment);
	return n_bytes;
}

static struct changed lay_out(void *memory, size_t n_bytes, size_t n)
{
	struct changed c = {.apps = memory};
	c.reasons = (void *)(c.apps + n);
	c.path = (char *)(c.reasons + n);
	c.rest = (char *)(((uintptr_t)c.path + PATH_MAX + 15) & ~(uintptr_t)15);
	c.n_rest = n_bytes - (size_t)(c.rest - (char *)memory);
	return c;
}

/* The file that the daemon will run, as far as we know it here. */
static const char *file_of(const struct app *app, char *path)
{
	const size_t n = app->directory ? strlen(app->directory) : 0;
	if (!n || app->command[0] == '/' || !strchr(app->command, '/') ||
	    n + strlen(app->command) + 2 > PATH_MAX)
		return app->command;
	memcpy(path, app->directory, n);
	path[n] = '/';
	strcpy(path + n + 1, app->command);
	return path;
}

static void change(struct changed *c, size_t i, const struct config_job *job)
{
	struct app *app = &c->apps[i];
	char file[PATH_MAX];
	const size_t n = hook_env_job_bytes(app->environment);
	bool takes = true;
	if (app->command)
		c->reasons[i] = hook_exec_examine(file_of(app, file), c->path, &takes);
	if (!takes)
		return;
	app->environment =
		(char **)(uintptr_t)hook_env_make_job(app->environment, c->rest, n, job);
	c->rest += n;
	c->n_rest -= n;
}

/* `reasons`: NULL if we know of nothing that prevents measurement. */
static void record(int result, const struct app *apps, size_t n,
		   const enum msr_unmeasured_reason *reasons, uint64_t job)
{
	for (size_t i = 0; result == 0 && i < n; i++)
		if (apps[i].n_processes > 0)
			runtime_spawned(&(struct runtime_spawn){
				job, apps[i].command ? apps[i].command : "",
				reasons ? reasons[i] : MSR_UNMEASURED_VOID,
				(uint32_t)apps[i].n_processes});
}

static int spawn(spawn_fn *next, const void *info, size_t n_info, const struct app *apps, size_t n,
		 void *a, void *b, bool is_later)
{
	const struct config_job job = {fnv64(FNV64_START, runtime_host(), strlen(runtime_host())),
				       clock_mono_ns(), (uint32_t)sys_getpid()};
	const int saved = errno;
	const size_t n_bytes = bytes_of(apps, n);
	void *memory = hook_scratch_take(n_bytes);
	errno = saved;
	if (!memory) { /* the reader of the measurement finds no data of the job, and says so */
		const int result = next(info, n_info, apps, n, a, b);
		record(result, apps, n, NULL, job.id);
		return result;
	}
	struct changed c = lay_out(memory, n_bytes, n);
	memcpy(c.apps, apps, n * sizeof *apps);
	for (size_t i = 0; i < n; i++)
		change(&c, i, &job);
	errno = saved;
	const int result = next(info, n_info, c.apps, n, a, b);
	record(result, apps, n, c.reasons, job.id);
	if (!is_later) /* else PMIx may still read it */
		hook_scratch_release(memory);
	return result;
}

static int call(const char *name, const void *caller, const void *info, size_t n_info,
		 const struct app *apps, size_t n, void *a, void *b)
{
	spawn_fn *next;
	memcpy(&next, &(void *){find(name, caller)}, sizeof next);
	if (!next)
		return NOT_SUPPORTED;
	const bool is_later = strstr(name, "_nb");
	/* PMIx 1 had other arguments and did not have PMIx_tool_init. */
	if (is_inside || !runtime_config() || !runtime_is_owner() || !apps || !n ||
	    (name[0] == 'P' && !find("PMIx_tool_init", caller)))
		return next(info, n_info, apps, n, a, b);
	is_inside = true;
	const int result = spawn(next, info, n_info, apps, n, a, b, is_later);
	is_inside = false;
	return result;
}

/* The OPAL names belong to the PMIx that is bundled with Open MPI 4. */
#define SPAWN(name)                                                                              \
	HOOK int name(const void *info, size_t n_info, const struct app *apps, size_t n, void *a, \
		      void *b);                                                                  \
	HOOK int name(const void *info, size_t n_info, const struct app *apps, size_t n, void *a, \
		      void *b)                                                                   \
	{                                                                                        \
		return call(#name, __builtin_return_address(0), info, n_info, apps, n, a, b);   \
	}
SPAWN(PMIx_Spawn)
SPAWN(PMIx_Spawn_nb)
SPAWN(OPAL_MCA_PMIX3X_PMIx_Spawn)
SPAWN(OPAL_MCA_PMIX3X_PMIx_Spawn_nb)
