/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads whose code goes away at a dlclose: libgomp's workers, which nobody ends or joins. They
 * sleep on in code that is no longer mapped. See doc/transparency.md. Test:
 * tests/cli/openmp/gomp_two.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_UNLOAD_H
#define HPCRUN_LITE_RUNTIME_UNLOAD_H

#include <stdint.h>
#include <ucontext.h>

struct link_map;
struct thread;

/* Call once per process. Objects that are loaded now are never unloaded. Not signal-safe. */
void unload_start(void);
/* The object that contains `code`, if a dlclose can unload it; else NULL. Signal-safe. */
const struct link_map *unload_map_of(uintptr_t code);
/* At the start of a thread that runs `code`; 0: unknown. */
void unload_thread_begins(struct thread *t, uintptr_t code);
/*
 * Call before each dlclose. `map`: the object that it may unload, or NULL. Other threads that began
 * in it are not sampled from now on. Waits, for a bounded time, until they sleep.
 */
void unload_begins(const struct link_map *map);
/* After each dlclose: finds the threads whose code has gone. */
void unload_ends(void);
/*
 * At the end of our handler: if it interrupted a futex call whose code may go or has gone, the
 * thread makes the call here. It may never come back. Signal-safe.
 */
void unload_stay(const struct thread *t, ucontext_t *context);

#endif
