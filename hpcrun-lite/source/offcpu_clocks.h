/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What OFFCPU knows about the calling thread: two clocks, and how often it lost its processor.
 * Signal-safe. Test: tests/cli/offcpu/offcpu_halts.sh.
 */
#ifndef HPCRUN_LITE_SOURCE_OFFCPU_CLOCKS_H
#define HPCRUN_LITE_SOURCE_OFFCPU_CLOCKS_H

#include <stdint.h>

/* Each wait that the thread really began is a voluntary switch. Others took the processor away. */
struct offcpu_switches {
	uint64_t n_waits, n_taken;
	uint64_t n_faults, n_read; /* page faults without and with a read from a disk */
};

/* CLOCK_MONOTONIC and the CPU clock of the thread */
struct offcpu_clocks {
	uint64_t first_ns; /* CLOCK_MONOTONIC before anything at which the thread may be held up */
	uint64_t wall_ns, cpu_ns;
	struct offcpu_switches switches;
};

/* All 0 if the system call is not permitted. */
struct offcpu_switches offcpu_count_switches(void);

/* Reads all of them as of one moment. */
struct offcpu_clocks offcpu_clocks_read(void);

#endif
