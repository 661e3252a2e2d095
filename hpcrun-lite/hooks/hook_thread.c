/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks of pthread_create and thrd_create, so that a thread is measured from its first instruction
 * of user code, and of dlclose, so that the unwinder forgets code that is unloaded. Must not call
 * malloc, and must not change what the program sees of these functions. Tests:
 * tests/cli/run/run_threads.sh, tests/cli/run/run_modules.sh.
 */
#include "hpcrun-lite/hooks/hook_thread.h"

#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/signal/hook_signal.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <threads.h>

#define EXPORT __attribute__((visibility("default")))
#define HOOK_N_STARTS 256u

typedef void *pthread_start_fn(void *);

/*
 * What a new thread needs to know. It is in a fixed table, or in its own page if the table is full.
 */
struct start {
	_Atomic bool taken;
	pthread_start_fn *posix;
	thrd_start_t c11;
	void *argument;
	unsigned long hidden; /* see hook_signal_inherit */
	struct thread_room room;
};

static struct start starts[HOOK_N_STARTS];

static struct {
	int (*pthread_create)(pthread_t *, const pthread_attr_t *, pthread_start_fn *, void *);
	int (*thrd_create)(thrd_t *, thrd_start_t, void *);
	int (*dlclose)(void *);
	bool has_tsan;
} next;

void hook_thread_start(void)
{
	*(void **)&next.pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	*(void **)&next.thrd_create = dlsym(RTLD_NEXT, "thrd_create");
	next.has_tsan = dlsym(RTLD_NEXT, "__tsan_init") != NULL;
	if (!next.thrd_create) /* before glibc 2.28 */
		*(void **)&next.thrd_create = (void *)(uintptr_t)hook_next_missing;
	*(void **)&next.dlclose = dlsym(RTLD_NEXT, "dlclose");
}

static struct start *take_start(void)
{
	for (unsigned i = 0; i < HOOK_N_STARTS; i++)
		if (!atomic_load_explicit(&starts[i].taken, memory_order_relaxed)
		    && !atomic_exchange_explicit(&starts[i].taken, true, memory_order_acquire))
			return &starts[i];
	long page =
		sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return sys_is_error(page) ? NULL : (struct start *)page;
}

static void release_start(struct start *s)
{
	if (s >= starts && s < starts + HOOK_N_STARTS)
		atomic_store_explicit(&s->taken, false,
				      memory_order_release); /* after all reads of the entry */
	else
		sys_munmap(s, 4096);
}

/*
 * Runs in the new thread: copies and releases its start record. `base`: a place outside of the
 * function that called this.
 */
static struct start begin(void *argument, uintptr_t base)
{
	struct start *s = argument;
	struct start copy = {.posix = s->posix, .c11 = s->c11, .argument = s->argument};
	struct thread_room room = s->room;
	room.code = s->posix ? (uintptr_t)s->posix : (uintptr_t)s->c11;
	room.base = base;
	hook_signal_inherit(s->hidden);
	release_start(s);
	runtime_thread_begins(&room);
	return copy;
}

static void *posix_thread(void *argument)
{
	struct start s = begin(argument, MACHINE_CFA());
	return s.posix(s.argument);
}

static int c11_thread(void *argument)
{
	struct start s = begin(argument, MACHINE_CFA());
	return s.c11(s.argument);
}

static struct thread_room room_of(const pthread_attr_t *attr)
{
	struct thread_room room = {0};
	void *lo = NULL;
	/*
	 * If the program provides no memory, libc returns NULL minus the size as the address. The
	 * size is 0 for the default size, which the program may change.
	 */
	if (pthread_attr_getstack(attr, &lo, &room.n_bytes) == 0 &&
	    (uintptr_t)lo + room.n_bytes != 0)
		room.lo = (uintptr_t)lo;
	else if (pthread_attr_getstacksize(attr, &room.n_bytes) != 0)
		room.n_bytes = 0;
	return room;
}

static struct thread_room default_room(void)
{
	pthread_attr_t attr;
	struct thread_room room = {0};
	if (pthread_attr_init(&attr) != 0)
		return room;
	room = room_of(&attr);
	pthread_attr_destroy(&attr);
	return room;
}

/*
 * Returns a start record if new threads are measured. NULL: call the original function unchanged.
 */
static struct start *prepare(const pthread_attr_t *attr)
{
	runtime_start();
	if (!runtime_thread_comes())
		return NULL;
	struct start *s = take_start();
	if (!s) {
		runtime_count_loss(MSR_LOSS_THREAD_SETUP);
		return NULL;
	}
	s->posix = NULL;
	s->c11 = NULL;
	s->hidden = hook_signal_hidden();
	s->room = attr ? room_of(attr) : default_room();
	return s;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, pthread_start_fn *fn,
			  void *argument)
{
	struct start *s = prepare(attr);
	if (!s)
		return next.pthread_create(thread, attr, fn, argument);
	s->posix = fn;
	s->argument = argument;
	/*
	 * gcc's ThreadSanitizer identifies the caller by its return address. So this must be a tail
	 * call, and the record is not released if the call fails.
	 */
	if (next.has_tsan)
		return next.pthread_create(thread, attr, posix_thread, s);
	const unsigned long hidden = s->hidden; /* the thread releases the record */
	hook_signal_thread_comes(hidden, false);
	int error = next.pthread_create(thread, attr, posix_thread, s);
	hook_signal_thread_comes(hidden, true);
	if (error)
		release_start(s);
	return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t fn, void *argument)
{
	struct start *s = prepare(NULL);
	if (!s)
		return next.thrd_create(thread, fn, argument);
	s->c11 = fn;
	s->argument = argument;
	const unsigned long hidden = s->hidden;
	hook_signal_thread_comes(hidden, false);
	int error = next.thrd_create(thread, c11_thread, s);
	hook_signal_thread_comes(hidden, true);
	if (error != thrd_success)
		release_start(s);
	return error;
}

EXPORT int dlclose(void *handle)
{
	runtime_start();
	/* if dlsym fails, dlclose clears the error that it leaves for dlerror */
	runtime_unload_begins(runtime_may_lose_code() ? dlsym(handle, "GOMP_parallel") : NULL);
	int result = next.dlclose(handle);
	runtime_unload_ends();
	return result;
}
