/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses and starts the sources of samples for the events that the user asked for, and writes the
 * records that describe the process. Tests: tests/cli/run/run_rate.sh,
 * tests/cli/run/run_processes.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_LIFE_SOURCES_H
#define HPCRUN_LITE_RUNTIME_LIFE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * At the start: chooses the sources and starts them. Returns false and sets `cause` on failure.
 */
bool process_choose_sources(char *cause, size_t cause_bytes);
bool process_restart_sources(void);
/*
 * Notes the working directory and the processors of the process. Returns true if both are those of
 * the process whose file this one uses. With `has_file`, that is this process from now on.
 */
bool process_find_place(void);
void process_has_file(void);
void process_write_records(void);

#endif
