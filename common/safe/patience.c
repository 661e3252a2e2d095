/* SPDX-License-Identifier: BSD-3-Clause */
/* See patience.h. */
#include "common/safe/patience.h"

#include "common/safe/clock.h"
#include "common/safe/sys.h"

#include <sys/syscall.h>
#include <time.h>

enum { SPINS = 100, YIELDS = 100, PAUSE_NS = 100000, MOST_NS = 1000000000 };

bool patience_wait(struct patience *p)
{
	const uint32_t n = p->n_waits++;
	if (n < SPINS) {
		machine_pause();
		return true;
	}
	const uint64_t now_ns = clock_mono_ns();
	if (n == SPINS)
		p->start_ns = now_ns;
	if (now_ns - p->start_ns >= MOST_NS)
		return false;
	if (n < SPINS + YIELDS)
		sys_call3(SYS_sched_yield, 0, 0, 0);
	else
		sys_pause(PAUSE_NS);
	return true;
}
