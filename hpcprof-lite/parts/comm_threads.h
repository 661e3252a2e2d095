/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of one process as parts, for tests: without MPI, and under a memory checker. Test:
 * tests/unit/prof_parts/test_comm.c.
 */
#ifndef HPCPROF_PARTS_COMM_THREADS_H
#define HPCPROF_PARTS_COMM_THREADS_H

#include "hpcprof-lite/parts/comm.h"

#include <stdbool.h>

/* Calls work() in `n` threads, once for each part, and returns after all. False: no threads. */
bool comm_threads_run(int n, void (*work)(struct comm *c, void *arg), void *arg);

#endif
