/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describes the process and its events in the measurement file: METRIC and INFO records. All
 * functions are signal-safe. Test: tests/cli/run/run_processes.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_LIFE_PROCESS_RECORD_H
#define HPCRUN_LITE_RUNTIME_LIFE_PROCESS_RECORD_H

#include <stdbool.h>

/*
 * Notes the working directory and the processors of the process. Returns true if they equal those
 * of the process whose file this one uses. Call process_record_has_file when the process has its
 * own file.
 */
bool process_record_find_place(void);
void process_record_has_file(void);

/* Writes the records. */
void process_record_write(void);

#endif
