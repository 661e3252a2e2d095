/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether the process of a measurement file still runs. Reads /proc only. Test:
 * tests/unit/prof/test_load_running.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_RUNNING_H
#define HPCPROF_LITE_LOAD_LOAD_RUNNING_H

#include "common/format/measurement.h"

enum load_running {
	LOAD_ENDED, /* it wrote its end, or it is gone from this host */
	LOAD_RUNS,
	LOAD_UNKNOWN /* it did not write its end, and is of another host or pid namespace */
};

/*
 * A process with this pid is another one if it began after the measurement did, or if it began long
 * before and maps no measurement file. The latter is known only if we may look at its mappings. A
 * container with the host name of this host but pids of its own makes LOAD_ENDED wrong; one with a
 * name of its own is LOAD_UNKNOWN.
 */
enum load_running load_is_running(const struct msr_header *h);

#endif
