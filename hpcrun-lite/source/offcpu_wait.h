/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what a thread waits for, from the registers of the system call that a signal interrupted.
 * Everything is signal-safe and keeps errno. Test: tests/unit/run/test_offcpu_wait.c.
 */
#ifndef HPCRUN_LITE_SOURCE_OFFCPU_WAIT_H
#define HPCRUN_LITE_SOURCE_OFFCPU_WAIT_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct offcpu_wait {
	enum msr_wait cause;
	uint8_t object;       /* enum source_object */
	uint64_t object_id;
	int owner;            /* tid of the thread that holds the lock; 0: unknown */
	/* a socket with a time-out: we continue the call, and the time-out starts again */
	bool is_timed_socket;
};

/* `number` is the number of the system call, or SOURCE_CALL_UNKNOWN. */
void offcpu_wait_find(const ucontext_t *context, long number, struct offcpu_wait *wait);

/*
 * True if the signal ended a transfer that waited after moving a part of the data, so its result is
 * smaller than the program asked for. A read that returns all data there is did not wait for more.
 */
bool offcpu_wait_is_cut_short(const ucontext_t *context, long number);

/*
 * Finds the code of libc, whose locks record their owner. Call once in the process. Not
 * signal-safe.
 */
void offcpu_wait_start(void);

#endif
