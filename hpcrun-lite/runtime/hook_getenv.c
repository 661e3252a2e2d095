/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * getenv() and secure_getenv(), in front of libc's for one question only: an OpenCL loader that asks for OPENCL_LAYERS is told our module, in front of what the user
 * has there. The variable is never in environ, so the program and its children see what they would see without us; and it is not asked whether
 * the program uses OpenCL before OpenCL itself asks. All other questions, and all other askers, go straight on to libc. Must not allocate.
 * Test: tests/cli/ocl_entrance.sh, tests/unit/test_getenv.c.
 */
#include "hpcrun-lite/runtime/hook_getenv.h"

#include "hpcrun-lite/runtime/hook_next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "OPENCL_LAYERS"
#define N_ANSWERS 4u
#define ANSWER_BYTES 8192u

HOOK_NEXT(getenv);
HOOK_NEXT(secure_getenv);

/* Loaders cut the answer up in place, and two of them may ask at once: each has one to itself. */
static char answers[N_ANSWERS][ANSWER_BYTES];
static _Atomic unsigned n_answered;

void hook_getenv_start(void)
{
	hook_next_find(&next_getenv);
	hook_next_find(&next_secure_getenv);
}

/* Called before start, as by an allocator's constructor: finding libc's function could come back here. */
static char *plain(const char *name)
{
	extern char **environ;
	size_t n = strlen(name);
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

static char *by_libc(struct hook_next *next, const char *name)
{
	/* relaxed: the pointer is to code that was there before us */
	void *function = atomic_load_explicit(&next->function, memory_order_relaxed);
	return function ? ((char *(*)(const char *))function)(name) : plain(name);
}

/* An ICD loader, by the name of its file: libOpenCL.so.1, also copies that programs bring (libOpenCL-1f2e3d.so.1.0.0). */
static bool asks_for_layers(const char *name, const void *caller)
{
	struct dl_find_object found;
	const struct config *c = runtime_config();
	const struct config_gpu *g = c ? config_find_gpu(c, "opencl") : NULL;
	if (!g || !strcmp(g->options, "preload") || _dl_find_object((void *)(uintptr_t)caller, &found) != 0)
		return false;
	const char *path = found.dlfo_link_map->l_name, *slash = strrchr(path, '/');
	return !strcmp(name, VARIABLE) && strstr(slash ? slash : path, "OpenCL");
}

/* Our module, then what the user has. What the user has alone, where both do not fit. */
static char *answer(char *theirs)
{
	const struct config *c = runtime_config();
	const char *slash = strrchr(c->library, '/');
	size_t directory = slash ? (size_t)(slash - c->library) + 1 : 0, more = theirs && *theirs ? strlen(theirs) : 0;
	char *to = answers[atomic_fetch_add_explicit(&n_answered, 1, memory_order_relaxed) % N_ANSWERS];
	if (directory + sizeof CONFIG_MODULE_HEAD "opencl.so:" + more > ANSWER_BYTES)
		return theirs;
	memcpy(to, c->library, directory);
	char *end = stpcpy(to + directory, CONFIG_MODULE_HEAD "opencl.so");
	if (more) {
		*end = ':';
		memcpy(end + 1, theirs, more + 1);
	}
	return to;
}

/* The first letters sort out nearly all names without a call. */
static inline bool may_be_it(const char *name)
{
	return name[0] == 'O' && name[1] == 'P' && name[2] == 'E' && name[3] == 'N' && name[4] == 'C';
}

HOOK char *getenv(const char *name)
{
	if (__builtin_expect(may_be_it(name), 0) && asks_for_layers(name, __builtin_return_address(0)))
		return answer(by_libc(&next_getenv, name));
	return by_libc(&next_getenv, name);
}

HOOK char *secure_getenv(const char *name)
{
	if (__builtin_expect(may_be_it(name), 0) && asks_for_layers(name, __builtin_return_address(0)))
		return answer(by_libc(&next_secure_getenv, name));
	return by_libc(&next_secure_getenv, name);
}
