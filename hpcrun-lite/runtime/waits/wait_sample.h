/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is special about samples of waits: their frames, their node if the thread is elsewhere by
 * now, and their start and end on the time line. Called in the handler only. All functions are
 * signal-safe. Tests: tests/cli/offcpu/offcpu_clock.sh, tests/cli/offcpu/offcpu_lines.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_WAITS_WAIT_SAMPLE_H
#define HPCRUN_LITE_RUNTIME_WAITS_WAIT_SAMPLE_H

#include "common/format/measurement.h"
#include "hpcrun-lite/source/source.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* True if it only shows something on the time line. */
bool wait_sample_is_mark(const struct source_expiry *e);

/*
 * The node of a sample that does not belong to the current place; 0: it does, or the node is not
 * known.
 */
uint32_t wait_sample_last_node(const struct thread *t, const struct source_expiry *e);

/*
 * *node is where the wait was found. Sets it to the wait's own node below that, and makes that node
 * if necessary. Returns false and sets *cause on failure.
 */
bool wait_sample_enter(struct thread *t, const struct source_expiry *e, uint32_t *node,
		       enum msr_loss *cause);

/*
 * Writes the records of any sample to the time line. A wait has one record at its start and one at
 * its end.
 */
void wait_sample_trace(struct thread *t, uint32_t node, const struct source_expiry *e,
		       uint64_t now_ns);

/*
 * True if `e` can be added to `held`: it continues the same wait, has the same cause, or neither is
 * a wait.
 */
bool wait_sample_is_more_of(const struct source_expiry *held, const struct source_expiry *e);

#endif
