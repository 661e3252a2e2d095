/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the function that a hook replaces: the next definition of the same name. Each hook looks it
 * up once, at the start or at its first call if that is earlier (constructors of other libraries
 * run before ours). Test: tests/cli/run/run_processes.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NEXT_H
#define HPCRUN_LITE_RUNTIME_NEXT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Marks a hook. Only hooks are exported from the library. */
#define HOOK __attribute__((visibility("default")))

struct hook_next {
	const char *name;
	_Atomic(void *) function;
};

/*
 * dlsym(RTLD_NEXT), cached. Returns NULL if no library after us has the name. Keeps errno. Not
 * signal-safe.
 */
void *hook_next_find(struct hook_next *next);

/* Signal-safe once found. */
static inline void *hook_next(struct hook_next *next)
{
	/* Relaxed: the pointer is to code that existed before us. */
	void *function = atomic_load_explicit(&next->function, memory_order_relaxed);
	return function ? function : hook_next_find(next);
}

/*
 * Called instead of a function that no library after us has. With an older libc than ours, a
 * program that checks whether the name exists finds our hook. Sets errno to ENOSYS and returns -1.
 */
int hook_next_missing(void);

static inline void *hook_next_or_missing(struct hook_next *next)
{
	void *function = hook_next(next);
	return function ? function : (void *)(uintptr_t)hook_next_missing;
}

/* HOOK_NEXT(close); ... NEXT(close)(fd) */
#define HOOK_NEXT(name_) static struct hook_next next_##name_ = {#name_, NULL}
#define NEXT(name_) ((__typeof__(&name_))hook_next_or_missing(&next_##name_))
/* For functions that are declared as deprecated. */
#define NEXT_AS(type, name_) ((type *)hook_next(&next_##name_))

#endif
