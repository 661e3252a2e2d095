/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What threads wait on, by name: files, sockets and locks in static data. Each is one WAIT_OBJECT
 * record in the measurement file, whose id is a frame of call paths. All functions but
 * wait_object_forked are signal-safe. Tests: tests/cli/offcpu/offcpu_clock.sh,
 * tests/unit/run/test_waits.c.
 */
#ifndef HPCRUN_LITE_RUNTIME_WAITS_WAIT_OBJECT_H
#define HPCRUN_LITE_RUNTIME_WAITS_WAIT_OBJECT_H

#include "common/format/measurement.h"
#include "common/safe/text.h"
#include "hpcrun-lite/source/source.h"

#include <stdbool.h>
#include <stdint.h>

/* In a forked child, after records_start: there are none yet. */
void wait_object_forked(void);

/*
 * Returns the id of what the thread waits on. 0: it has no name, or there are too many, or another
 * thread is adding one. The last two cases are counted as MSR_LOSS_WAIT_OBJECT.
 */
uint32_t wait_object_of(enum source_object object, uint64_t object_id);

/* ---- wait_object_name.c ---- */

/*
 * Names a descriptor: "file /data/x", "socket 10.0.0.2:80". Returns false if it has no name that
 * would be the same in another run.
 */
bool wait_object_name(int fd, struct text *name);

#endif
