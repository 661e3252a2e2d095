/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs share that stop and start their measurement (control.c, tests/gpu/cuda_stop.c):
 * functions that keep their names in paths, and signals whose handlers stop and start. */
#ifndef TESTS_WORKLOAD_CONTROL_H
#define TESTS_WORKLOAD_CONTROL_H

#include "hpcrun-lite/api/hpctoolkit.h"

#include <signal.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

static inline void control_on_signal(int sig)
{
	if (sig == SIGUSR1)
		hpctoolkit_sampling_stop();
	else
		hpctoolkit_sampling_start();
}

/* From here on SIGUSR1 stops it, and SIGUSR2 starts it. */
static inline void control_by_signals(void)
{
	signal(SIGUSR1, control_on_signal);
	signal(SIGUSR2, control_on_signal);
}

#endif
