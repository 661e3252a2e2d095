/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses and starts the sources of samples for the events that the user asked for. Tests:
 * tests/cli/run/run_rate.sh, tests/cli/run/run_processes.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_LIFE_SOURCES_H
#define HPCRUN_LITE_RUNTIME_LIFE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * At the start of a process, and in a forked child. Sources that cannot be started are left out,
 * with a note. Returns false if nothing can be measured; `cause` then says why, or is "".
 */
bool sources_choose(char *cause, size_t cause_bytes);
bool sources_restart(void);

#endif
