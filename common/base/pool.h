/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a function over the indices 0 .. n-1 on several threads. Test: tests/unit/test_base.c. */
#ifndef COMMON_BASE_POOL_H
#define COMMON_BASE_POOL_H

#include <stddef.h>

/*
 * Calls work(arg, i, worker) once for every i < n, with worker in 0 .. n_workers-1 naming the calling thread, and returns when all
 * are done. Indices are handed out in order, one at a time. n_workers 0 means one for each CPU we may run on; with one worker, or where threads cannot be
 * made, the caller's thread does the work. Never fails. Returns the number of workers used.
 */
unsigned pool_run(size_t n, unsigned n_workers, void (*work)(void *arg, size_t i, unsigned worker), void *arg);
/* The same, and shows how far it is by log_progress(); `label` says what is done. */
unsigned pool_run_shown(const char *label, size_t n, unsigned n_workers,
			void (*work)(void *arg, size_t i, unsigned worker), void *arg);
/* CPUs this process may run on, at least 1. */
unsigned pool_n_cpus(void);

#endif
