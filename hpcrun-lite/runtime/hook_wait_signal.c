/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for signals and for semaphores; see hook_wait.h. Calls that cannot be given a mask go on in slices of time, so that a
 * signal of the program's that comes just before a slice is noticed at its end. Test: tests/cli/sacred_wait.sh.
 */
#include "common/safe/clock.h"
#include "hpcrun-lite/runtime/hook_next.h"
#include "hpcrun-lite/runtime/hook_signal_internal.h"
#include "hpcrun-lite/runtime/hook_wait.h"

#include <errno.h>
#include <semaphore.h>
#include <sys/sem.h>
#include <unistd.h>

#define SLICE_NS 20000000u

HOOK_NEXT(pause);
HOOK_NEXT(sigsuspend);
HOOK_NEXT(sigwait);
HOOK_NEXT(sigwaitinfo);
HOOK_NEXT(sigtimedwait);
HOOK_NEXT(semop);
HOOK_NEXT(semtimedop);
HOOK_NEXT(sem_timedwait);
HOOK_NEXT(sem_clockwait);

/* ---- until a handler has run -------------------------------------------------------------------------------------- */

static int suspend_on(const struct wait_mark *mark, const sigset_t *waiting)
{
	do {
		sigset_t open;
		if (!wait_block(mark, &open))
			return -1;
		NEXT(sigsuspend)(waiting ? waiting : &open);
		wait_unblock(&open);
	} while (wait_was_ours(mark));
	return -1;
}

HOOK int pause(void)
{
	struct wait_mark mark = wait_mark();
	int result = NEXT(pause)();
	return wait_was_ours(&mark) ? suspend_on(&mark, NULL) : result;
}

HOOK int sigsuspend(const sigset_t *waiting)
{
	struct wait_mark mark = wait_mark();
	sigset_t copy;
	waiting = hook_signal_strip(waiting, &copy);
	int result = NEXT(sigsuspend)(waiting);
	return wait_was_ours(&mark) ? suspend_on(&mark, waiting) : result;
}

/* Both forms of sigpause wait with the mask as it is, less one signal or replaced by an old-style mask. */
int __xpg_sigpause(int sig);
int __sigpause(int sig_or_mask, int is_sig);

HOOK int __xpg_sigpause(int sig)
{
	sigset_t set;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	if (sigdelset(&set, sig) != 0)
		return -1;
	return sigsuspend(&set);
}

HOOK int __sigpause(int sig_or_mask, int is_sig)
{
	sigset_t set;
	if (is_sig)
		return __xpg_sigpause(sig_or_mask);
	sigemptyset(&set);
	hook_signal_set_bits(&set, (unsigned)sig_or_mask);
	return sigsuspend(&set);
}

/* <signal.h> gives the name sigpause to the other form. */
int sigpause_of_mask(int mask) __asm__("sigpause");
HOOK int sigpause_of_mask(int mask)
{
	return __sigpause(mask, 0);
}

/* ---- until a signal is pending ------------------------------------------------------------------------------------ */

/* The time of the next slice; false when the deadline has passed. */
static bool slice(uint64_t deadline, struct timespec *length)
{
	if (wait_left(deadline, length) && length->tv_sec == 0 && length->tv_nsec == 0)
		return false;
	if (deadline == WAIT_FOREVER || length->tv_sec > 0 || length->tv_nsec > (long)SLICE_NS)
		*length = (struct timespec){0, SLICE_NS};
	return true;
}

/* After a slice that failed. False: the wait ends with errno, EINTR where a handler of the program's ran. */
static bool goes_on(const struct wait_mark *mark)
{
	if (errno != EAGAIN && !wait_was_ours(mark))
		return false;
	bool is_ours = mark->handlers == hook_signal_n_handlers();
	if (!is_ours)
		errno = EINTR;
	return is_ours;
}

static int sigwait_on(const struct wait_mark *mark, const sigset_t *set, siginfo_t *info, uint64_t deadline)
{
	struct timespec length;
	while (slice(deadline, &length)) {
		int result = NEXT(sigtimedwait)(set, info, &length);
		if (result >= 0 || !goes_on(mark))
			return result;
	}
	errno = EAGAIN;
	return -1;
}

HOOK int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct wait_mark mark = wait_mark();
	sigset_t copy;
	set = hook_signal_strip(set, &copy);
	uint64_t deadline = wait_deadline(timeout);
	int result = NEXT(sigtimedwait)(set, info, timeout);
	return result < 0 && wait_was_ours(&mark) ? sigwait_on(&mark, set, info, deadline) : result;
}

HOOK int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	struct wait_mark mark = wait_mark();
	sigset_t copy;
	set = hook_signal_strip(set, &copy);
	int result = NEXT(sigwaitinfo)(set, info);
	return result < 0 && wait_was_ours(&mark) ? sigwait_on(&mark, set, info, WAIT_FOREVER) : result;
}

/* Never ends with EINTR. */
HOOK int sigwait(const sigset_t *set, int *sig)
{
	sigset_t copy;
	return NEXT(sigwait)(hook_signal_strip(set, &copy), sig);
}

/* ---- semaphores ------------------------------------------------------------------------------------------------------- */

static int semop_on(const struct wait_mark *mark, int id, struct sembuf *operations, size_t n, uint64_t deadline)
{
	struct timespec length;
	while (slice(deadline, &length)) {
		int result = NEXT(semtimedop)(id, operations, n, &length);
		if (result == 0 || !goes_on(mark))
			return result;
	}
	errno = EAGAIN;
	return -1;
}

/* An operation with IPC_NOWAIT never waits, so it is never interrupted and never repeated. */
HOOK int semop(int id, struct sembuf *operations, size_t n)
{
	struct wait_mark mark = wait_mark();
	int result = NEXT(semop)(id, operations, n);
	return result < 0 && wait_was_ours(&mark) ? semop_on(&mark, id, operations, n, WAIT_FOREVER) : result;
}

HOOK int semtimedop(int id, struct sembuf *operations, size_t n, const struct timespec *timeout)
{
	struct wait_mark mark = wait_mark();
	uint64_t deadline = wait_deadline(timeout);
	int result = NEXT(semtimedop)(id, operations, n, timeout);
	return result < 0 && wait_was_ours(&mark) ? semop_on(&mark, id, operations, n, deadline) : result;
}

/* The time is absolute; what came between two calls is seen before the second. */
HOOK int sem_timedwait(sem_t *semaphore, const struct timespec *when)
{
	struct wait_mark mark = wait_mark();
	int result;
	do
		result = NEXT(sem_timedwait)(semaphore, when);
	while (result < 0 && wait_was_ours(&mark));
	return result;
}

HOOK int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *when)
{
	struct wait_mark mark = wait_mark();
	int result;
	do
		result = NEXT(sem_clockwait)(semaphore, clock, when);
	while (result < 0 && wait_was_ours(&mark));
	return result;
}

void hook_wait_signal_start(void)
{
	struct hook_next *const all[] = {&next_pause, &next_sigsuspend, &next_sigwait, &next_sigwaitinfo, &next_sigtimedwait,
	                                 &next_semop, &next_semtimedop, &next_sem_timedwait, &next_sem_clockwait};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
