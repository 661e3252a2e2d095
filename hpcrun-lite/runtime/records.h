/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes records that belong to the process (INFO, METRIC, MODULE) to the measurement file. Under try-locks: signal-safe.
 * Tests: tests/cli/run_processes.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_RECORDS_H
#define HPCRUN_LITE_RUNTIME_RECORDS_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>

/* Starts anew: at the start of a process and in a forked child, after store_open. */
void records_start(void);

/*
 * Room for a record of n_bytes (a multiple of 8) of a kind, zeroed; NULL when there is no space or another thread is writing this
 * kind, with the loss. records_end publishes it (NULL is allowed: then it only unlocks nothing).
 */
void *records_begin(enum msr_kind kind, size_t n_bytes, enum msr_loss *cause);
void records_end(enum msr_kind kind, size_t n_bytes);

/* At the end: unused space goes back to the store. Later records take new space. */
void records_trim(void);

/* An INFO record; a value may hold NUL bytes. False: no room. */
bool records_info(const char *key, const char *value, size_t value_bytes);
bool records_info_text(const char *key, const char *value);

/* A METRIC record. */
bool records_metric(const struct msr_metric *metric);

#endif
