/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libc that wait: what they wait for, and the names by which programs call them.
 * Test: tests/unit/prof/test_known_runtime.c.
 */
#ifndef HPCPROF_ATTRIBUTE_KNOWN_KNOWN_WAITS_H
#define HPCPROF_ATTRIBUTE_KNOWN_KNOWN_WAITS_H

#include <stdbool.h>

enum known_wait_object {
	KNOWN_WAIT_NONE, /* the name does not say */
	KNOWN_WAIT_LOCK, /* mutex, read-write lock */
	KNOWN_WAIT_CONDITION,
	KNOWN_WAIT_SEMAPHORE,
	KNOWN_WAIT_BARRIER,
	KNOWN_WAIT_JOIN
};

enum { KNOWN_NAME_BYTES = 128 };

/* The name that programs call: "poll" for "__GI___poll". Cuts names that are too long. */
void known_exported_name(const char *function, char name[KNOWN_NAME_BYTES]);
enum known_wait_object known_wait_object(const char *function);
/*
 * True if a sample in this function means a wait. False for functions that end waits:
 * "pthread_cond_broadcast", "futex_wake".
 */
bool known_waits_in(const char *function);
/* True if another thread ends the wait by doing something, not by unlocking. */
bool known_is_thread(enum known_wait_object object);
/* "condition variable" and so on; "lock" if the name did not say. */
const char *known_wait_word(enum known_wait_object object);
/* True for the functions of libc that start a program or a thread. They call the program. */
bool known_is_start(const char *function);

#endif
