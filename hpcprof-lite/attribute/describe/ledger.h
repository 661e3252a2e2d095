/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger checks for each thread that samples delivered equal samples in the tree plus counted
 * losses. It counts the samples in the tree itself and does not rely on our runtime's count. Test:
 * tests/unit/prof/test_ledger.c.
 */
#ifndef HPCPROF_ATTRIBUTE_DESCRIBE_LEDGER_H
#define HPCPROF_ATTRIBUTE_DESCRIBE_LEDGER_H

#include "hpcprof-lite/load/load_file.h"
#include "hpcprof-lite/model/model.h"

/*
 * Fills *l from one thread. If the thread was killed, or another thread ended its process, samples
 * that were delivered but not recorded become the loss MSR_LOSS_IN_FLIGHT. False if memory is
 * short.
 */
bool ledger_of_thread(const struct load_file *f, const struct load_thread *t,
		      struct model_ledger *l);
/* Fills *l with the process's own part: losses outside its threads, and the state of the file. */
void ledger_of_process(const struct load_file *f, struct model_ledger *l);
/* True if delivered == in_tree + losses that count samples, and recorded == in_tree. */
bool ledger_closes(const struct model_ledger *l);
/* True if a number reached 2^64 - 1 and is no longer an exact sum. */
bool ledger_is_at_bound(const struct model_ledger *l);
/* The lost samples of `l`: the sum over the causes that count samples. */
uint64_t ledger_samples_lost(const struct model_ledger *l);
void ledger_add(struct model_ledger *to, const struct model_ledger *from);

#endif
