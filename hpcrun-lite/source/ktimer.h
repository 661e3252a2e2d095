/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel timers that signal the calling thread, without libc's bookkeeping. Signal-safe. Test:
 * tests/cli/run/run_threads.sh.
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

static inline struct timespec ktimer_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u)};
}

/* Sets the first expiry and the period of an existing timer. */
static inline bool ktimer_set(struct ktimer *t, uint64_t first_ns, uint64_t period_ns)
{
	struct itimerspec when = {.it_interval = ktimer_timespec(period_ns),
				  .it_value = ktimer_timespec(first_ns)};
	return sys_call4(SYS_timer_settime, t->id, 0, (long)&when, 0) == 0;
}

/*
 * Makes a timer on `clock` that first expires after first_ns (> 0) and then every period_ns. It
 * sends `sig` to the calling thread with `cookie` as its value.
 */
static inline bool ktimer_start(struct ktimer *t, int clock, int sig, void *cookie,
				uint64_t first_ns, uint64_t period_ns)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = sig,
				 .sigev_value.sival_ptr = cookie};
	event._sigev_un._tid = sys_gettid();
	if (sys_call3(SYS_timer_create, clock, (long)&event, (long)&t->id) != 0)
		return false;
	if (!ktimer_set(t, first_ns, period_ns)) {
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

/* Returns true if `info` is an expiry of a timer with this cookie. */
static inline bool ktimer_is(const siginfo_t *info, const void *cookie)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == cookie;
}

#endif
