/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another order of a recording that could have happened. Each thread keeps its own order. Between
 * threads, an event comes after what it depends on:
 *
 * - a record after the entry of its launch and after the modules that were loaded before it
 * - a use of a handle after the call that returned it, a release after its allocation
 * - the return of a buffer after its request, the end of a flush after what it delivered
 *
 * Flushes and calls of PC sampling, which one lock guards, keep their order. Contexts, captures,
 * the end of the process and rounds that switch sampling keep their place among all other events.
 * Each rule points forward in the recorded order, so an order that keeps all rules always exists.
 */
#ifndef TESTS_REPLAY_SHUFFLE_H
#define TESTS_REPLAY_SHUFFLE_H

#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"
#include "hpcrun-lite/replay/player.h"

void shuffle_seed(uint64_t seed);
/* For replay_seam.plan. Says how many events were moved. */
bool shuffle_plan(struct player *p);

#endif
