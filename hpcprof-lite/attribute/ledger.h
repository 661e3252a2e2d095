/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger: what was delivered equals what is in the tree plus the counted losses, thread by thread. Counts what is in the tree itself and does not believe the
 * run time. Test: tests/unit/test_ledger.c.
 */
#ifndef HPCPROF_ATTRIBUTE_LEDGER_H
#define HPCPROF_ATTRIBUTE_LEDGER_H

#include "hpcprof-lite/load/load_file.h"
#include "hpcprof-lite/model/model.h"

/* Fills *l from one thread; samples between delivery and record when the thread was killed, or its
 * process ended by another, become the loss MSR_LOSS_IN_FLIGHT. False when memory is short. */
bool ledger_of_thread(const struct load_file *f, const struct load_thread *t,
		      struct model_ledger *l);
/* The process's own part: losses outside its threads, and the state of the file. */
void ledger_of_process(const struct load_file *f, struct model_ledger *l);
/* delivered == in_tree + losses that take a sample, and recorded == in_tree. */
bool ledger_closes(const struct model_ledger *l);
/* A number of it stopped at 2^64 - 1, and says no more what it is the sum of. */
bool ledger_is_at_bound(const struct model_ledger *l);
/* Samples of `l` that were lost, by the causes that take one. */
uint64_t ledger_samples_lost(const struct model_ledger *l);
void ledger_add(struct model_ledger *to, const struct model_ledger *from);

#endif
