/* SPDX-License-Identifier: BSD-3-Clause */
/* See offcpu_clocks.h. Must not wait, lock or allocate. */
#include "hpcrun-lite/source/offcpu_clocks.h"

#include "common/safe/clock.h"
#include "common/safe/sys.h"

#include <sys/resource.h>

#define READ_NS 20000u /* reading the clocks once takes no longer, */
#define READ_MOST 3u   /* ... at least one of these times */

struct offcpu_switches offcpu_count_switches(void)
{
	struct rusage r;
	if (sys_call3(SYS_getrusage, RUSAGE_THREAD, (long)&r, 0) != 0)
		return (struct offcpu_switches){0};
	return (struct offcpu_switches){(uint64_t)r.ru_nvcsw, (uint64_t)r.ru_nivcsw,
					(uint64_t)r.ru_minflt, (uint64_t)r.ru_majflt};
}

/*
 * If the thread does not run between these calls, a switch would belong to this interval and its
 * time to the next one. Then we read them again.
 */
struct offcpu_clocks offcpu_clocks_read(void)
{
	struct offcpu_clocks c = {.first_ns = clock_mono_ns()};
	unsigned n_left = READ_MOST;
	do {
		c.wall_ns = clock_mono_ns();
		c.cpu_ns = clock_thread_cpu_ns();
		c.switches = offcpu_count_switches();
	} while (--n_left && clock_mono_ns() - c.wall_ns > READ_NS);
	return c;
}
