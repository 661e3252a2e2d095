/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel timers that signal the calling thread, without libc's bookkeeping. Signal-safe. Test: tests/unit/test_source.c.
 */
#ifndef HPCRUN_LITE_SOURCE_KTIMER_H
#define HPCRUN_LITE_SOURCE_KTIMER_H

#include "common/safe/sys.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct ktimer {
	int id;
	bool armed;
};

/* A timer on `clock` that expires every period_ns and sends `sig` to the calling thread with `cookie` as its value. */
static inline bool ktimer_start(struct ktimer *t, int clock, int sig, void *cookie, uint64_t period_ns)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig, .sigev_value.sival_ptr = cookie};
	event._sigev_un._tid = sys_gettid();
	struct timespec period = {.tv_sec = (time_t)(period_ns / 1000000000u), .tv_nsec = (long)(period_ns % 1000000000u)};
	struct itimerspec when = {period, period};
	if (sys_call3(SYS_timer_create, clock, (long)&event, (long)&t->id) != 0)
		return false;
	if (sys_call4(SYS_timer_settime, t->id, 0, (long)&when, 0) != 0) {
		sys_call3(SYS_timer_delete, t->id, 0, 0);
		return false;
	}
	t->armed = true;
	return true;
}

static inline void ktimer_stop(struct ktimer *t)
{
	if (t->armed)
		sys_call3(SYS_timer_delete, t->id, 0, 0);
	t->armed = false;
}

/* True when `info` is an expiry of a timer with this cookie. */
static inline bool ktimer_is(const siginfo_t *info, const void *cookie)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == cookie;
}

#endif
