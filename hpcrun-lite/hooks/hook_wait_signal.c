/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for signals and for semaphores; see hook_poll.h. Sampling continues while the program
 * waits for signals, and the program does not receive our signals. Test:
 * tests/cli/sacred/sacred_wait.sh.
 */
#include "hpcrun-lite/hooks/hook_poll.h"

#include "common/safe/newer.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/next.h"

#include <sys/sem.h>
#include <unistd.h>

HOOK_NEXT(pause);
HOOK_NEXT(sigsuspend);
HOOK_NEXT(sigwait);
HOOK_NEXT(sigtimedwait);
HOOK_NEXT(semop);
HOOK_NEXT(semtimedop);
HOOK_NEXT(sem_timedwait);
HOOK_NEXT(sem_clockwait);

/* ---- waits for a handler ---- */

HOOK int pause(void)
{
	wait_begin(SYS_pause, false, 0);
	int result = NEXT(pause)();
	wait_end();
	return result;
}

HOOK int sigsuspend(const sigset_t *waiting)
{
	struct signal_wait w;
	if (!hook_signal_wait_begin(&w, waiting))
		return -1;
	wait_begin(SYS_rt_sigsuspend, false, (long)w.set);
	int result = NEXT(sigsuspend)(w.set);
	wait_end();
	hook_signal_wait_end(&w);
	return result;
}

/*
 * The two forms of sigpause: one removes a signal from the current mask, the other has an old-style
 * mask.
 */
int __xpg_sigpause(int sig);
int __sigpause(int sig_or_mask, int is_sig);

HOOK int __xpg_sigpause(int sig)
{
	sigset_t set = {0};
	if (!signal_bit(sig)) {
		errno = EINVAL;
		return -1;
	}
	hook_signal_set_bits(&set, signal_table_mask(SIG_BLOCK, 0) & ~signal_bit(sig));
	return sigsuspend(&set);
}

HOOK int __sigpause(int sig_or_mask, int is_sig)
{
	sigset_t set = {0};
	if (is_sig)
		return __xpg_sigpause(sig_or_mask);
	hook_signal_set_bits(&set, (unsigned)sig_or_mask);
	return sigsuspend(&set);
}

/* <signal.h> maps the name sigpause to the other form. */
int sigpause_of_mask(int mask) __asm__("sigpause");
HOOK int sigpause_of_mask(int mask)
{
	return __sigpause(mask, 0);
}

/* ---- waits for a pending signal ---- */

typedef int timed_wait_fn(const sigset_t *, siginfo_t *, const struct timespec *);

/* Our signals go to our handler, which ends the wait with EINTR. */
static int wait_for(timed_wait_fn *next, const sigset_t *set, siginfo_t *info,
		    const struct timespec *timeout)
{
	sigset_t copy;
	const sigset_t *others = hook_signal_strip(set, &copy);
	int result = others != set ? hook_own_await(set, info) : 0;
	if (result == 0) {
		wait_begin(SYS_rt_sigtimedwait, timeout != NULL, (long)others);
		result = next(others, info, timeout);
		wait_end();
	}
	if (others == set)
		return result;
	const int saved = errno;
	const int ours = result < 0 && saved == EINTR ? hook_own_await(set, info) : 0;
	hook_own_await_end();
	errno = saved;
	return ours ? ours : result;
}

HOOK int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return wait_for(NEXT(sigtimedwait), set, info, timeout);
}

HOOK int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return wait_for(NEXT(sigtimedwait), set, info, NULL);
}

/* Never ends with EINTR. */
HOOK int sigwait(const sigset_t *set, int *sig)
{
	sigset_t copy;
	int result, saved = errno;
	if (hook_signal_strip(set, &copy) == set)
		return NEXT(sigwait)(set, sig);
	do
		result = wait_for(NEXT(sigtimedwait), set, NULL, NULL);
	while (result < 0 && errno == EINTR);
	const int error = errno;
	errno = saved;
	if (result < 0)
		return error;
	*sig = result;
	return 0;
}

/* ---- semaphores ---- */

/* libc may call semtimedop. */
HOOK int semop(int id, struct sembuf *operations, size_t n)
{
	wait_begin(SYS_semtimedop, false, id);
	int result = NEXT(semop)(id, operations, n);
	wait_end();
	return result;
}

HOOK int semtimedop(int id, struct sembuf *operations, size_t n, const struct timespec *timeout)
{
	wait_begin(SYS_semtimedop, timeout != NULL, id);
	int result = NEXT(semtimedop)(id, operations, n, timeout);
	wait_end();
	return result;
}

HOOK int sem_timedwait(sem_t *semaphore, const struct timespec *when)
{
	wait_begin(SYS_futex, false, (long)semaphore);
	int result = NEXT(sem_timedwait)(semaphore, when);
	wait_end();
	return result;
}

HOOK int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *when)
{
	wait_begin(SYS_futex, false, (long)semaphore);
	int result = NEXT(sem_clockwait)(semaphore, clock, when);
	wait_end();
	return result;
}

void hook_wait_signal_start(void)
{
	struct hook_next *const all[] = {
		&next_pause,       &next_sigsuspend,    &next_sigwait,
		&next_sigtimedwait, &next_semop,
		&next_semtimedop,  &next_sem_timedwait, &next_sem_clockwait};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
