/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * getenv() and secure_getenv(). Three calls get another answer than libc's. An OpenCL loader that
 * asks for OPENCL_LAYERS gets our module and then the user's layers. CUDA's driver gets our module
 * for CUDA_INJECTION64_PATH, and NVTX gets this library for NVTX_INJECTION64_PATH. All other calls
 * go to libc. The variables are never in environ, so the program and its children see their own
 * environment. We need not find out whether the program uses a GPU: the vendor's library asks when
 * it is loaded. Must not allocate. Tests: tests/cli/opencl/ocl_entrance.sh,
 * tests/cli/gpu/cupti_trace.sh, tests/unit/run/test_getenv.c.
 */
#include "hpcrun-lite/hooks/hook_getenv.h"

#include "common/safe/find_object.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N_ANSWERS 4u
#define ANSWER_BYTES 8192u

HOOK_NEXT(getenv);
HOOK_NEXT(secure_getenv);

/*
 * Loaders modify the answer in place, and two may ask at the same time. So each gets its own copy.
 */
static char answers[N_ANSWERS][ANSWER_BYTES];
static _Atomic unsigned n_answered;

void hook_getenv_start(void)
{
	hook_next_find(&next_getenv);
	hook_next_find(&next_secure_getenv);
}

/*
 * For calls before hook_getenv_start(), for example from an allocator's constructor: searching for
 * libc's function could call us again.
 */
static char *find_in_environ(const char *name)
{
	extern char **environ;
	size_t n = strlen(name);
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

static char *ask_libc(struct hook_next *next, const char *name)
{
	/* relaxed: the code it points to was loaded before us */
	void *function = atomic_load_explicit(&next->function, memory_order_relaxed);
	return function ? ((char *(*)(const char *))function)(name) : find_in_environ(name);
}

/*
 * A variable and the library that asks for it. `asker` is a part of its file name, so that copies
 * bundled with programs (libOpenCL-1f2e3d.so.1.0.0) match, too.
 */
struct question {
	const char *variable, *asker;
	const char *backend, *module;
	const char *off;  /* with these options the module is loaded in another way */
	bool adds;        /* the user's value follows ours */
};
static const struct question questions[] = {
	{"OPENCL_LAYERS", "OpenCL", "opencl", CONFIG_MODULE_HEAD "opencl.so", "preload", true},
	{"CUDA_INJECTION64_PATH", "libcuda.so", "nvidia", CONFIG_MODULE_HEAD "cupti.so", NULL,
	 false},
};

static bool is_asked_by(const struct question *q, const void *caller)
{
	struct dl_find_object found;
	const struct config *c = runtime_config();
	const struct config_gpu *g = c ? config_find_gpu(c, q->backend) : NULL;
	if (!g || (q->off && !strcmp(g->options, q->off)) ||
	    find_object_surely((void *)(uintptr_t)caller, &found) != 0)
		return false;
	const char *path = found.dlfo_link_map->l_name, *slash = strrchr(path, '/');
	return strstr(slash ? slash : path, q->asker) != NULL;
}

/* Our module, then the user's value. Only the user's value if both do not fit. */
static char *answer(const struct question *q, char *theirs)
{
	const struct config *c = runtime_config();
	const char *slash = strrchr(c->library, '/');
	size_t directory = slash ? (size_t)(slash - c->library) + 1 : 0,
	       more = q->adds && theirs && *theirs ? strlen(theirs) : 0;
	char *to = answers[atomic_fetch_add_explicit(&n_answered, 1, memory_order_relaxed) %
			   N_ANSWERS];
	if (directory + strlen(q->module) + 2 + more > ANSWER_BYTES)
		return theirs;
	memcpy(to, c->library, directory);
	char *end = stpcpy(to + directory, q->module);
	if (more) {
		*end = ':';
		memcpy(end + 1, theirs, more + 1);
	}
	return to;
}

/*
 * NVTX is a header library, so any module may ask. A tool that the user has set takes precedence.
 */
static char *answer_nvtx(char *theirs)
{
	const struct config *c = runtime_config();
	return c && c->nvtx && (!theirs || !*theirs) ? (char *)(uintptr_t)c->library : theirs;
}

/* The first letters exclude nearly all names without a call. */
static inline bool may_match(const char *name)
{
	return (name[0] == 'O' && name[1] == 'P' && name[2] == 'E' && name[3] == 'N' &&
		name[4] == 'C') ||
	       (name[0] == 'C' && name[1] == 'U' && name[2] == 'D' && name[3] == 'A' &&
		name[4] == '_') ||
	       (name[0] == 'N' && name[1] == 'V' && name[2] == 'T' && name[3] == 'X' &&
		name[4] == '_');
}

static char *ask(struct hook_next *next, const char *name, const void *caller)
{
	if (__builtin_expect(may_match(name), 0)) {
		if (!strcmp(name, "NVTX_INJECTION64_PATH"))
			return answer_nvtx(ask_libc(next, name));
		for (const struct question *q = questions;
		     q < questions + sizeof questions / sizeof *questions; q++)
			if (!strcmp(name, q->variable) && is_asked_by(q, caller))
				return answer(q, ask_libc(next, name));
	}
	return ask_libc(next, name);
}

HOOK char *getenv(const char *name)
{
	return ask(&next_getenv, name, __builtin_return_address(0));
}

HOOK char *secure_getenv(const char *name)
{
	return ask(&next_secure_getenv, name, __builtin_return_address(0));
}
