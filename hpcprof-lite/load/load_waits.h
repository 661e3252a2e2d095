/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what a file says about waits: WAIT_OBJECT records, and time off the processor after the
 * last sample of a thread. Test: tests/unit/prof/test_load_waits.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_WAITS_H
#define HPCPROF_LITE_LOAD_LOAD_WAITS_H

#include "hpcprof-lite/load/load_file.h"

/* Reads one WAIT_OBJECT record, for load_lengthed(). */
enum status load_wait_object(struct load_file *f, const uint8_t *record, uint32_t bytes);

/*
 * Adds a cell without samples for the OFFCPU time that no sample of the thread covers. It is at the
 * node that the run time named. Call it when the nodes of the thread are checked.
 */
enum status load_unsampled_wait(struct load_file *f, struct load_thread *t);

#endif
