/* SPDX-License-Identifier: BSD-3-Clause */
/* See known_waits.h. The names are those of glibc and musl. */
#include "hpcprof-lite/attribute/known/known_waits.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct row {
	const char *head;
	enum known_wait_object object;
};

/* Matched by the beginning of the exported name. */
static const struct row rows[] = {
	{"pthread_cond_", KNOWN_WAIT_CONDITION}, {"cnd_", KNOWN_WAIT_CONDITION},
	{"sem_", KNOWN_WAIT_SEMAPHORE},          {"pthread_barrier_", KNOWN_WAIT_BARRIER},
	{"pthread_join", KNOWN_WAIT_JOIN},       {"pthread_timedjoin", KNOWN_WAIT_JOIN},
	{"pthread_clockjoin", KNOWN_WAIT_JOIN},  {"thrd_join", KNOWN_WAIT_JOIN},
	{"pthread_mutex_", KNOWN_WAIT_LOCK},     {"mtx_", KNOWN_WAIT_LOCK},
	{"pthread_rwlock_", KNOWN_WAIT_LOCK},    {"lll_lock_", KNOWN_WAIT_LOCK},
};

static bool begins(const char *name, const char *head)
{
	return strncmp(name, head, strlen(head)) == 0;
}

/* The name without the prefixes that libc gives its internal functions. */
static const char *strip(const char *function)
{
	static const char *const heads[] = {"_", "GI_", "libc_", "new_", NULL};
	if (function[0] != '_')
		return function;
	const char *at = function;
	for (size_t i = 0; heads[i];) {
		const size_t n = strlen(heads[i]);
		const bool is_head = begins(at, heads[i]) && at[n];
		at += is_head ? n : 0;
		i = is_head ? 0 : i + 1;
	}
	return at;
}

void known_exported_name(const char *function, char name[KNOWN_NAME_BYTES])
{
	const char *at = strip(function);
	const size_t n = strlen(at);
	/* "___pthread_cond_timedwait64": the same function with a 64-bit time */
	const bool is_time64 =
		at != function && n > 2 && begins(at, "pthread_") && strcmp(at + n - 2, "64") == 0;
	snprintf(name, KNOWN_NAME_BYTES, "%.*s", (int)(n - (is_time64 ? 2 : 0)), at);
}

enum known_wait_object known_wait_object(const char *function)
{
	const char *name = strip(function);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (begins(name, rows[i].head))
			return rows[i].object;
	return KNOWN_WAIT_NONE;
}

bool known_waits_in(const char *function)
{
	return strstr(function, "wait") &&
	       (strstr(function, "futex") || known_wait_object(function) != KNOWN_WAIT_NONE);
}

bool known_is_thread(enum known_wait_object object)
{
	return object > KNOWN_WAIT_LOCK;
}

const char *known_wait_word(enum known_wait_object object)
{
	switch (object) {
	case KNOWN_WAIT_CONDITION: return "condition variable";
	case KNOWN_WAIT_SEMAPHORE: return "semaphore";
	case KNOWN_WAIT_BARRIER: return "barrier";
	case KNOWN_WAIT_JOIN: return "thread";
	default: return "lock";
	}
}

bool known_is_start(const char *function)
{
	const char *name = strip(function);
	return begins(name, "start_") || begins(name, "clone") || strcmp(name, "start") == 0;
}
