/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is to be measured while it runs: what /proc says about it, and functions in its
 * memory. Nothing here stops or changes it. Test: tests/cli/attach/attach_refused.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_ATTACH_TARGET_H
#define HPCRUN_LITE_LAUNCH_ATTACH_TARGET_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	pid_t pid;
	int pidfd;  /* so that a later process with this number is never meant */
	int memory; /* of its /proc/PID/mem */
	uintptr_t linker_lo, linker_hi; /* where the dynamic linker is mapped */
};

/*
 * Opens a process and refuses, with a message, one that cannot be measured: not of this user,
 * traced by another, static, of another machine or C library, under a seccomp filter, stopped,
 * dead; or that does not see `library` (NULL: any).
 */
enum status target_open(struct target *t, pid_t pid, const char *library);
void target_close(struct target *t);
/* Returns false once the process has ended. */
bool target_is_alive(const struct target *t);

/* Copy memory of the process; false if any of it cannot be accessed. */
bool target_read(const struct target *t, uintptr_t at, void *to, size_t n_bytes);
/* Also where the process itself may not write. */
bool target_write(const struct target *t, uintptr_t at, const void *from, size_t n_bytes);

/*
 * True if the stack of a thread with this thread pointer is at `sp`, and goes on for n_bytes below.
 * A stack of another kind, a coroutine's, may have somebody's data there.
 */
bool target_is_stack(const struct target *t, uintptr_t sp, uintptr_t thread_pointer,
		     size_t n_bytes);

/* The object that is mapped at an address. Owns the copy of its tables. */
struct target_object {
	uintptr_t lo, hi;
	char path[4352];
	uint8_t *copy; /* NULL: not read yet */
};
/* Finds an object by an address in it, or by its file name. False if there is none. */
bool target_object_at(const struct target *t, uintptr_t address, struct target_object *o);
bool target_object_named(const struct target *t, const char *name, struct target_object *o);
/* The address of a function of the object; 0: it has none. */
uintptr_t target_function(const struct target *t, struct target_object *o, const char *name);
void target_object_free(struct target_object *o);

/* ---- threads ---- */

/* Calls fn for each thread until it returns true. Returns what the last call returned. */
typedef bool target_thread_fn(const struct target *t, pid_t tid, void *arg);
bool target_each_thread(const struct target *t, target_thread_fn *fn, void *arg);

struct target_thread {
	char state;                /* as in proc(5): R, S, D, T, Z ... */
	uint64_t blocked, pending; /* signals: bit n - 1 */
	long call;                 /* system call in which it waits; -1: it runs, or is unknown */
};
/* False if the thread has ended. */
bool target_thread_look(const struct target *t, pid_t tid, struct target_thread *thread);

#endif
