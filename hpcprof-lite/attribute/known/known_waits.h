/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libc that wait, by their names: what for, and what programs call them. Test:
 * tests/unit/prof/test_known_runtime.c.
 */
#ifndef HPCPROF_ATTRIBUTE_KNOWN_KNOWN_WAITS_H
#define HPCPROF_ATTRIBUTE_KNOWN_KNOWN_WAITS_H

#include <stdbool.h>

enum known_wait_object {
	KNOWN_WAIT_NONE, /* the name says nothing */
	KNOWN_WAIT_LOCK, /* mutex, read-write lock */
	KNOWN_WAIT_CONDITION,
	KNOWN_WAIT_SEMAPHORE,
	KNOWN_WAIT_BARRIER,
	KNOWN_WAIT_JOIN
};

enum { KNOWN_NAME_BYTES = 128 };

/* The name that programs call: "poll" of "__GI___poll". Cuts names that are too long. */
void known_exported_name(const char *function, char name[KNOWN_NAME_BYTES]);
enum known_wait_object known_wait_object(const char *function);
/* A sample here is of a wait: not of "pthread_cond_broadcast" or "futex_wake", which end waits. */
bool known_waits_in(const char *function);
/* True if another thread ends the wait because it has done something, not because it unlocks. */
bool known_is_thread(enum known_wait_object object);
/* "condition variable"; for objects that names say nothing about, "lock". */
const char *known_wait_word(enum known_wait_object object);
/* True for the functions of libc that start a program or a thread. They call the program. */
bool known_is_start(const char *function);

#endif
