/* SPDX-License-Identifier: BSD-3-Clause */
/* See front.h. CUPTI is found at the first call, since it may be loaded late. */
#include "hpcrun-lite/gpu/cupti/front/front.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))
#define MAX_PATH 4096u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cupti_table table;
static _Atomic bool is_found;

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

/* Programs may load CUPTI so that its names are not global, and an older one than ours. */
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
		void *symbol = dlsym(library, #name); \
		memcpy(&table.name, &symbol, sizeof symbol); \
	}
	CUPTI_FRONT_FUNCTIONS(FIND)
	return true;
}

static const struct cupti_table *behind(void)
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

static struct cupti_front front = {.behind = behind};

VISIBLE cupti_front_fn hpcrun_lite_cupti_front;
struct cupti_front *hpcrun_lite_cupti_front(void)
{
	return &front;
}

static const struct cupti_table *receiver(void)
{
	const struct cupti_table *client =
		atomic_load_explicit(&front.client, memory_order_acquire);
	return client ? client : behind();
}

#define IN_FRONT(name, parameters, arguments) \
	VISIBLE CUptiResult CUPTIAPI name parameters \
	{ \
		const struct cupti_table *t = receiver(); \
		return t && t->name ? t->name arguments : CUPTI_ERROR_NOT_INITIALIZED; \
	}
CUPTI_FRONT_FUNCTIONS(IN_FRONT)
