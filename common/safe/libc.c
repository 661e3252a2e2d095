/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that a program's libc may lack, or may have in another library or with a newer version.
 * We define them under their own names, but hidden. If a preloaded library needs a function that
 * the program's libc does not have, the program does not even start. So we look these functions up
 * at run time, in libc and, before glibc 2.34, in libpthread and libdl, which we load if necessary.
 * Only linked into libraries. Nothing here needs more than GLIBC_2.17. Test: tests/lint/symbols.sh.
 */
#include "common/safe/libc.h"

#include "common/safe/find_object.h"
#include "common/safe/library_symbol.h"
#include "common/safe/newer.h"
#include "common/safe/sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- the names ---- */

enum name {
	DLSYM, DLOPEN, DLERROR, DLADDR, DLADDR1, DLINFO,
	ATTR_GETSTACK, ATTR_GETSTACKSIZE, GETSPECIFIC, SETSPECIFIC, KEY_CREATE, ONCE, TRYLOCK,
	TIMEDLOCK, CLOCKLOCK, SEM_GETVALUE, SEM_INIT, SEM_POST, SEM_TIMEDWAIT, SEM_CLOCKWAIT,
	PRIVATE_DLOPEN, N_NAMES
};

static const char *const names[N_NAMES] = {
	"dlsym", "dlopen", "dlerror", "dladdr", "dladdr1", "dlinfo",
	"pthread_attr_getstack", "pthread_attr_getstacksize", "pthread_getspecific",
	"pthread_setspecific", "pthread_key_create", "pthread_once", "pthread_mutex_trylock",
	"pthread_mutex_timedlock", "pthread_mutex_clocklock", "sem_getvalue", "sem_init",
	"sem_post", "sem_timedwait", "sem_clockwait", "__libc_dlopen_mode"
};

static struct {
	atomic_bool is_done;
	_Atomic(void *) address[N_NAMES];
} libc;

/* The loader's list. We do not call dl_iterate_phdr: the program may have its own that calls us. */
extern struct r_debug _r_debug;

/* ---- the start ---- */

static void *known(enum name name)
{
	return atomic_load_explicit(&libc.address[name], memory_order_relaxed);
}

static void look(void)
{
	struct library l;
	size_t n_bytes;
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		for (unsigned i = library_read_libc(map, &l) ? 0 : N_NAMES; i < N_NAMES; i++)
			if (!known((enum name)i))
				atomic_store_explicit(&libc.address[i],
						      library_symbol(&l, names[i], &n_bytes),
						      memory_order_relaxed);
}

/*
 * Before glibc 2.34 a program may run without libpthread and libdl. libc can load a library even
 * then, for its own use. RTLD_GLOBAL: a GPU's module finds them, too.
 */
static void load_rest(void)
{
	enum { OF_LIBC = (int)0x80000000 };
	void *(*load)(const char *, int);
	*(void **)&load = known(PRIVATE_DLOPEN);
	if (!load)
		return;
	(void)load("libpthread.so.0", RTLD_NOW | RTLD_GLOBAL | OF_LIBC);
	(void)load("libdl.so.2", RTLD_NOW | RTLD_GLOBAL | OF_LIBC);
	look();
}

/* Two threads that run this find the same. A hook may call it before our constructor. */
__attribute__((noinline)) static void libc_start(void)
{
	look();
	if (!known(DLSYM) || !known(KEY_CREATE))
		load_rest();
	find_object_start();
	/* Release: a thread that sees is_done sees the addresses. */
	atomic_store_explicit(&libc.is_done, true, memory_order_release);
}

__attribute__((constructor(101))) static void construct(void)
{
	if (!atomic_load_explicit(&libc.is_done, memory_order_acquire))
		libc_start();
}

static void *real(enum name name)
{
	if (!atomic_load_explicit(&libc.is_done, memory_order_acquire))
		libc_start();
	return known(name);
}

#define REAL(name, function) ((__typeof__(&function))real(name))

/* ---- the loader ---- */

void *libc_dlsym(void)
{
	return real(DLSYM);
}

void *libc_threads(void)
{
	return known(PRIVATE_DLOPEN) && known(DLOPEN)
		       ? dlopen("libpthread.so.0", RTLD_NOW | RTLD_NOLOAD)
		       : NULL;
}

void *dlopen(const char *path, int flags)
{
	return real(DLOPEN) ? REAL(DLOPEN, dlopen)(path, flags) : NULL;
}

char *dlerror(void)
{
	return real(DLERROR) ? REAL(DLERROR, dlerror)() : NULL;
}

int dladdr(const void *address, Dl_info *info)
{
	return real(DLADDR) ? REAL(DLADDR, dladdr)(address, info) : 0;
}

int dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
	return real(DLADDR1) ? REAL(DLADDR1, dladdr1)(address, info, extra, flags) : 0;
}

int dlinfo(void *restrict handle, int request, void *restrict to)
{
	return real(DLINFO) ? REAL(DLINFO, dlinfo)(handle, request, to) : -1;
}

/* ---- threads ---- */

int pthread_attr_getstack(const pthread_attr_t *restrict attr, void **restrict lo,
			  size_t *restrict n_bytes)
{
	return real(ATTR_GETSTACK)
		       ? REAL(ATTR_GETSTACK, pthread_attr_getstack)(attr, lo, n_bytes)
		       : ENOSYS;
}

int pthread_attr_getstacksize(const pthread_attr_t *restrict attr, size_t *restrict n_bytes)
{
	return real(ATTR_GETSTACKSIZE)
		       ? REAL(ATTR_GETSTACKSIZE, pthread_attr_getstacksize)(attr, n_bytes)
		       : ENOSYS;
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
	return real(KEY_CREATE) ? REAL(KEY_CREATE, pthread_key_create)(key, destroy) : ENOSYS;
}

void *pthread_getspecific(pthread_key_t key)
{
	return real(GETSPECIFIC) ? REAL(GETSPECIFIC, pthread_getspecific)(key) : NULL;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	return real(SETSPECIFIC) ? REAL(SETSPECIFIC, pthread_setspecific)(key, value) : ENOSYS;
}

int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	return real(ONCE) ? REAL(ONCE, pthread_once)(once, fn) : ENOSYS;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	return real(TRYLOCK) ? REAL(TRYLOCK, pthread_mutex_trylock)(mutex) : ENOSYS;
}

/* ---- semaphores ---- */

int sem_init(sem_t *semaphore, int is_shared, unsigned n)
{
	return real(SEM_INIT) ? REAL(SEM_INIT, sem_init)(semaphore, is_shared, n) : -1;
}

int sem_post(sem_t *semaphore)
{
	return real(SEM_POST) ? REAL(SEM_POST, sem_post)(semaphore) : -1;
}

int sem_getvalue(sem_t *restrict semaphore, int *restrict n)
{
	return real(SEM_GETVALUE) ? REAL(SEM_GETVALUE, sem_getvalue)(semaphore, n) : -1;
}

/* ---- waits by the monotonic clock ---- */

static struct timespec clock_now(long clock)
{
	struct timespec t = {0};
	sys_call3(SYS_clock_gettime, clock, (long)&t, 0);
	return t;
}

/* Converts a time of CLOCK_MONOTONIC to CLOCK_REALTIME, by the present difference. */
static struct timespec real_time(const struct timespec *until)
{
	const struct timespec mono = clock_now(CLOCK_MONOTONIC), now = clock_now(CLOCK_REALTIME);
	struct timespec t = {.tv_sec = now.tv_sec + until->tv_sec - mono.tv_sec,
			     .tv_nsec = now.tv_nsec + until->tv_nsec - mono.tv_nsec};
	for (; t.tv_nsec < 0; t.tv_nsec += 1000000000)
		t.tv_sec--;
	for (; t.tv_nsec >= 1000000000; t.tv_nsec -= 1000000000)
		t.tv_sec++;
	return t;
}

int libc_sem_wait_until(sem_t *semaphore, const struct timespec *until)
{
	if (real(SEM_CLOCKWAIT))
		return REAL(SEM_CLOCKWAIT, sem_clockwait)(semaphore, CLOCK_MONOTONIC, until);
	const struct timespec t = real_time(until);
	return REAL(SEM_TIMEDWAIT, sem_timedwait)(semaphore, &t);
}

int libc_mutex_lock_until(pthread_mutex_t *mutex, const struct timespec *until)
{
	if (real(CLOCKLOCK))
		return REAL(CLOCKLOCK, pthread_mutex_clocklock)(mutex, CLOCK_MONOTONIC, until);
	const struct timespec t = real_time(until);
	return REAL(TIMEDLOCK, pthread_mutex_timedlock)(mutex, &t);
}
