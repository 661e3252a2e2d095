/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes records that belong to the process (INFO, METRIC, MODULE) to the measurement file. Uses
 * try-locks: signal-safe. Test: tests/cli/run/run_processes.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_RECORDS_H
#define HPCRUN_LITE_RUNTIME_RECORDS_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>

/* Starts with no records: at the start of a process and in a forked child, after store_open. */
void records_start(void);

/*
 * Returns zeroed room for a record of n_bytes, a multiple of 8. Returns NULL and sets *cause if
 * there is no space or another thread is writing this kind. records_end publishes the record; call
 * it only after success.
 */
void *records_begin(enum msr_kind kind, size_t n_bytes, enum msr_loss *cause);
void records_end(enum msr_kind kind, size_t n_bytes);

/* At the end: returns unused space to the store. Later records take new space. */
void records_trim(void);

/* Writes an INFO record. The value may contain NUL bytes. Returns false if there is no space. */
bool records_info(const char *key, const char *value, size_t value_bytes);
bool records_info_text(const char *key, const char *value);

/* Writes a METRIC record. */
bool records_metric(const struct msr_metric *metric);

#endif
