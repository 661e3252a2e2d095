/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and stops the measurement of the whole process (hpctoolkit.h). process.off is the current
 * state; each thread follows it by itself. Tests: tests/cli/run/control.sh,
 * tests/cli/gpu/control_gpu.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CONTROL_CONTROL_H
#define HPCRUN_LITE_RUNTIME_CONTROL_CONTROL_H

#include <stdbool.h>

/*
 * Call control_start at the start of a measured process, before it has any of our threads. Call
 * control_forked in a forked child, which keeps the state of its parent, after store_open.
 */
void control_start(void);
void control_forked(void);

/* Stops measurement for good because the file is damaged. Signal-safe. */
void control_give_up(void);

/* The process did not end after all: does what was requested in the meantime. Signal-safe. */
void control_go_on(void);

/*
 * Stops (`off`) or starts measurement. When it stops, no thread records a sample from then on; the
 * sources of other threads stop when those threads have received a signal. Does nothing if that is
 * already the state, or if the process is not measured. If several threads call it at once, the
 * last call counts. Signal-safe; keeps errno.
 */
void control_set(bool off);

#endif
