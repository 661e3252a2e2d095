/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that not every libc has; see libc.c. The functions that libc.c and libc_module.c
 * define under libc's own names are declared by libc's headers. Test: tests/lint/symbols.sh.
 */
#ifndef COMMON_SAFE_LIBC_H
#define COMMON_SAFE_LIBC_H

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

/* Like sem_clockwait and pthread_mutex_clocklock with CLOCK_MONOTONIC (both since glibc 2.30). */
int libc_sem_wait_until(sem_t *semaphore, const struct timespec *until);
int libc_mutex_lock_until(pthread_mutex_t *mutex, const struct timespec *until);

/* The address of libc's own dlsym, or NULL. */
void *libc_dlsym(void);
/* The libpthread that we loaded for a libc before 2.34, or NULL. */
void *libc_threads(void);

#endif
