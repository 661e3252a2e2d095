/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way back of a thread that makes a call for us: a signal frame with all that it had when it
 * was stopped, and code that calls a function and then returns through the frame. So a call ends
 * well without us, should we be killed meanwhile. Test: tests/cli/attach/attach_killed.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_ATTACH_FRAME_H
#define HPCRUN_LITE_LAUNCH_ATTACH_FRAME_H

#include "hpcrun-lite/launch/attach/remote.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes that a frame takes at most, with all vector registers. */
enum { FRAME_MOST_BYTES = 32768 + 1024 };

/*
 * Writes the frame of a stopped thread into its process, ending at or before `end`. Its first word
 * is `restorer`, the address of code that makes the system call rt_sigreturn. A `ret` with the
 * stack pointer there goes on where the thread was. A system call in which it waited begins again,
 * with the whole of its time-out. Returns the frame's address; 0: it cannot be written.
 */
uintptr_t frame_put(const struct remote *r, uintptr_t end, uintptr_t restorer);
/* Bytes of the frame that frame_put() would write, with what alignment needs. */
size_t frame_bytes(const struct remote *r);
/* True if these bytes are such code. */
bool frame_is_restorer(const uint8_t *code, size_t n_bytes);

/* What the code at frame_call reads and writes in the process, at the address in its register. */
struct frame_call {
	uint64_t result;
	uint64_t done;    /* 1: the function has returned */
	uint64_t wait[2]; /* struct timespec; how long it waits for us then */
};

/*
 * Position-independent code that is copied into the process. It calls the function, writes the
 * result, waits for us to take the thread over, and returns through the frame if nobody comes.
 */
extern const uint8_t frame_code[], frame_code_end[];
/* Sets registers for that code at `code`: function(a, b) on the stack that ends at `stack_end`. */
struct frame_registers {
	uintptr_t code, call, frame, stack_end, function;
	uint64_t a, b;
};
void frame_set_registers(struct user_regs_struct *regs, const struct frame_registers *to);

#endif
