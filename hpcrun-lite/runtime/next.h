/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definition behind ours: every hook finds the next function of its name once, at start-up, or at its first call when that comes
 * earlier (constructors of other libraries run before ours). Test: tests/cli/sacred_early.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NEXT_H
#define HPCRUN_LITE_RUNTIME_NEXT_H

#include <stdatomic.h>
#include <stddef.h>

/* A hook: the only names that leave the library. */
#define HOOK __attribute__((visibility("default")))

struct hook_next {
	const char *name;
	_Atomic(void *) function;
};

/* dlsym(RTLD_NEXT), kept. NULL when nothing behind us has the name. Keeps errno. Not signal-safe. */
void *hook_next_find(struct hook_next *next);

/* Signal-safe once found. */
static inline void *hook_next(struct hook_next *next)
{
	/* relaxed: the pointer is to code that was there before us */
	void *function = atomic_load_explicit(&next->function, memory_order_relaxed);
	return function ? function : hook_next_find(next);
}

/* HOOK_NEXT(close); ... NEXT(close)(fd) */
#define HOOK_NEXT(name_) static struct hook_next next_##name_ = {#name_, NULL}
#define NEXT(name_) ((__typeof__(&name_))hook_next(&next_##name_))
/* For functions whose declaration says that they are old. */
#define NEXT_AS(type, name_) ((type *)hook_next(&next_##name_))

#endif
