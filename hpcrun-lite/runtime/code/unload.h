/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads whose code is unloaded by a dlclose: libgomp's workers, which nobody ends or joins. They
 * go on sleeping in code that is no longer mapped. See doc/transparency.md. Test:
 * tests/cli/openmp/gomp_two.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_UNLOAD_H
#define HPCRUN_LITE_RUNTIME_CODE_UNLOAD_H

#include <ucontext.h>

struct thread;
struct thread_room;

/* Call once per process. Objects that are loaded now are never unloaded. Not signal-safe. */
void unload_start(void);
/* At the start of a thread: see runtime/life/parts.h. */
void unload_thread_begins(struct thread *t, const struct thread_room *room);
/*
 * At the end of our handler: if it interrupted a futex call in code that was or may be unloaded,
 * repeats the call here. It may never return. Signal-safe.
 */
void unload_stay(const struct thread *t, ucontext_t *context);

#endif
