/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stops one thread of another process by ptrace(2) and calls functions in it, on a stack of their
 * own, with all signals blocked. Afterwards the thread goes on where it was, as if nothing had
 * happened: a system call in which it waited begins again with the arguments that it had. All other
 * threads run on meanwhile. If we are killed, the thread ends the call that it makes and then goes
 * on by itself (frame.h), unless its stack has no room for that. Tests: tests/cli/attach.
 */
#ifndef HPCRUN_LITE_LAUNCH_ATTACH_REMOTE_H
#define HPCRUN_LITE_LAUNCH_ATTACH_REMOTE_H

#include "hpcrun-lite/launch/attach/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

struct remote {
	const struct target *t;
	pid_t tid;
	bool is_stopped;
	uint64_t mask;    /* the thread's own */
	uint64_t pending; /* signals that wait for it and are not blocked */
	struct user_regs_struct regs;
	uint8_t *vectors; /* its floating point and vector registers */
	size_t vector_bytes;
	uintptr_t code, stack;        /* pages of ours in the process; 0: none */
	uintptr_t frame;              /* its way back without us; 0: none */
	uintptr_t restorer;           /* code of the process that takes it */
	uint64_t stopped_ns, took_ns; /* CLOCK_MONOTONIC when it stopped; how long it was stopped */
};

enum { REMOTE_STACK_BYTES = 512 << 10 };

/*
 * Stops the thread. Returns false, without a message, if it does not stop within two seconds, is in
 * the middle of a signal's delivery, or has ended.
 */
bool remote_stop(struct remote *r, const struct target *t, pid_t tid);
/* Lets it go on, if it is stopped. To be called once after remote_stop(). */
void remote_go(struct remote *r);

/*
 * Maps pages for calls and their data. `system_call` is the address of such an instruction, after
 * which a function returns; `restorer` is that of code which makes the call rt_sigreturn.
 */
bool remote_prepare(struct remote *r, uintptr_t system_call, uintptr_t restorer);
/* Gives them back. */
void remote_clean(struct remote *r, uintptr_t system_call);
/* Address of data in the process, at the low end of the pages of the stack. */
static inline uintptr_t remote_data(const struct remote *r)
{
	return r->stack;
}

/*
 * Calls function(a, b). Returns false if it crashed or the process has ended. If we come so late
 * that the thread has gone on alone, is_stopped is false and no other call can be made.
 */
bool remote_call(struct remote *r, uintptr_t function, uint64_t a, uint64_t b, uint64_t *result);

/* Adds to the mask with which the thread goes on, or removes from it. */
void remote_change_mask(struct remote *r, uint64_t add, uint64_t remove);

#endif
