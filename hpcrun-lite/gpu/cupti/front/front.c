/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See front.h. It looks for CUPTI at the first call, because CUPTI may be loaded late.
 *
 * A program that opens CUPTI itself gets its functions from dlsym(). Our dlsym() handles only names
 * of CUPTI in a library that was opened. Everything else jumps to libc's dlsym() with the caller's
 * return address, from which libc knows where RTLD_NEXT begins.
 */
#include "hpcrun-lite/gpu/cupti/front/front.h"

#include "common/safe/libc.h"
#include "common/safe/sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))
#define MAX_PATH 4096u
#define BACK_END "libhpcrun-lite-cupti.so"

typedef void *dlsym_fn(void *library, const char *name);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t early_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cupti_table table;
static void *table_library;
static _Atomic bool is_found, was_early;
static struct cupti_front front;

/* libc's dlsym, for the assembler below */
__attribute__((visibility("hidden"))) dlsym_fn *_Atomic front_next_dlsym;

static void *symbol(void *library, const char *name)
{
	dlsym_fn *next = atomic_load_explicit(&front_next_dlsym, memory_order_acquire);
	if (!next) {
		void *found = libc_dlsym();
		memcpy(&next, &found, sizeof next);
	}
	atomic_store_explicit(&front_next_dlsym, next, memory_order_release);
	return name ? next(library, name) : NULL;
}

/* Only looks at names, because the dynamic loader's lock is held. */
static int note_library(struct dl_phdr_info *info, size_t bytes, void *path)
{
	const char *name = info->dlpi_name, *slash = name ? strrchr(name, '/') : NULL;
	(void)bytes;
	if (!name || strncmp(slash ? slash + 1 : name, "libcupti.so", 11) != 0 ||
	    strlen(name) >= MAX_PATH)
		return 0;
	strcpy(path, name);
	return 1;
}

/*
 * The program's CUPTI may be an older version, and may be loaded without making its names global.
 */
static void *find_library(void)
{
	char path[MAX_PATH] = "";
	void *library = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		dl_iterate_phdr(note_library, path);
	return *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : library;
}

static bool find(void)
{
	void *library = find_library();
	if (!library)
		return false;
#define FIND(name, parameters, arguments) \
	{ \
		void *found = symbol(library, #name); \
		memcpy(&table.name, &found, sizeof found); \
	}
	CUPTI_FRONT_FUNCTIONS(FIND)
	table_library = library;
	return true;
}

static const struct cupti_table *look(void)
{
	if (atomic_load_explicit(&is_found, memory_order_acquire))
		return &table;
	int saved = errno;
	pthread_mutex_lock(&lock);
	if (find())
		atomic_store_explicit(&is_found, true, memory_order_release);
	pthread_mutex_unlock(&lock);
	errno = saved;
	return atomic_load_explicit(&is_found, memory_order_acquire) ? &table : NULL;
}

static const struct cupti_table *behind(const void **text)
{
	const struct cupti_table *t = look();
	*text = t ? symbol(table_library, "cuptiGetVersion") : NULL;
	return t;
}

static struct cupti_front front = {.behind = behind, .symbol = symbol};

VISIBLE cupti_front_fn hpcrun_lite_cupti_front;
struct cupti_front *hpcrun_lite_cupti_front(void)
{
	return &front;
}

/* The program may be linked with a CUPTI of its own, which ours does not replace. */
__attribute__((constructor)) static void begin(void)
{
	symbol(NULL, NULL);
	look();
}

/* ---- the back end ---- */

/* Loads the back end's library, which is in the same directory as ours. */
static void load_back_end(void)
{
	char path[MAX_PATH];
	Dl_info own;
	if (!dladdr(&front, &own) || strlen(own.dli_fname) >= MAX_PATH)
		return;
	strcpy(path, own.dli_fname);
	char *slash = strrchr(path, '/');
	size_t room = slash ? (size_t)(path + MAX_PATH - slash - 1) : 0;
	if (room < sizeof BACK_END)
		return;
	memcpy(slash + 1, BACK_END, sizeof BACK_END);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *found = library ? symbol(library, CUPTI_EARLY_SYMBOL) : NULL;
	cupti_early_fn *enter = (cupti_early_fn *)(uintptr_t)found;
	if (enter)
		enter();
}

/* Once: starts the back end. If that fails, this process has none. */
static void come_early(void)
{
	int saved = errno;
	pthread_mutex_lock(&early_lock);
	if (!atomic_load_explicit(&was_early, memory_order_relaxed)) {
		atomic_store_explicit(&was_early, true, memory_order_release);
		if (!atomic_load_explicit(&front.client, memory_order_acquire))
			load_back_end();
	}
	pthread_mutex_unlock(&early_lock);
	errno = saved;
}

static const struct cupti_table *receiver(void)
{
	const struct cupti_table *own = look();
	atomic_store_explicit(&front.was_called, true, memory_order_relaxed);
	if (own && !atomic_load_explicit(&was_early, memory_order_acquire))
		come_early();
	const struct cupti_table *client =
		atomic_load_explicit(&front.client, memory_order_acquire);
	return client ? client : own;
}

#define IN_FRONT(name, parameters, arguments) \
	VISIBLE CUptiResult CUPTIAPI name parameters \
	{ \
		const struct cupti_table *t = receiver(); \
		return t && t->name ? t->name arguments : CUPTI_ERROR_NOT_INITIALIZED; \
	}
CUPTI_FRONT_FUNCTIONS(IN_FRONT)

/* ---- dlsym ---- */

#define NAMED(name, parameters, arguments) {#name, (void (*)(void))name},
static const struct named {
	const char *name;
	void (*own)(void);
} names[] = {CUPTI_FRONT_FUNCTIONS(NAMED)};

static const struct named *named(const char *name)
{
	for (const struct named *n = names; n < names + sizeof names / sizeof *names; n++)
		if (!strcmp(n->name, name))
			return n;
	return NULL;
}

/*
 * The driver serves only one copy of CUPTI in a process. If we use one and the program opens
 * another, the program gets the functions of our copy.
 */
static void *of_our_copy(const struct named *n, const char *name)
{
	void *own = NULL;
	if (!atomic_load_explicit(&front.client, memory_order_acquire)) {
		if (n)
			atomic_store_explicit(&front.has_stranger, true, memory_order_release);
		return NULL;
	}
	if (n)
		memcpy(&own, &n->own, sizeof own);
	return n ? own : symbol(front.library, name);
}

/* For the assembler: returns the result of dlsym(). NULL: call libc's. */
__attribute__((visibility("hidden"))) void *front_dlsym(void *library, const char *name);
void *front_dlsym(void *library, const char *name)
{
	symbol(NULL, NULL);
	if (!name || strncmp(name, "cupti", 5) != 0 || library == RTLD_DEFAULT ||
	    library == RTLD_NEXT)
		return NULL;
	void *own = NULL, *found = symbol(library, name);
	const struct named *n = named(name);
	const struct cupti_table *t = look();
	if (!found || !t)
		return NULL;
	if (n)
		memcpy(&own, &n->own, sizeof own);
	if (found == own || found == symbol(table_library, name))
		return own;
	return of_our_copy(n, name);
}

MACHINE_HOOK_DLSYM(front_dlsym, front_next_dlsym);
