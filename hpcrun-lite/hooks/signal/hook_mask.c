/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signal masks. Our signals stay unblocked whatever the program blocks, and the program sees the
 * masks that it set. Waiting for signals is in hook_wait_signal.c. Signal-safe. Test:
 * tests/cli/sacred/sacred_signal.sh.
 */
#include "common/safe/load.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"

#include <errno.h>
#include <sys/signalfd.h>

HOOK_NEXT(sigprocmask);
HOOK_NEXT(pthread_sigmask);
HOOK_NEXT(sigpending);
HOOK_NEXT(signalfd);

/* sigblock and sigsetmask represent signals 1 to 32 as an int. */
#define OLD_SIGNALS UINT64_C(0xffffffff)

typedef int mask_fn(int, const sigset_t *, sigset_t *);

/*
 * On a small alternate stack our signals stay blocked. A handler that jumped off that stack may
 * have left them blocked, so SIG_UNBLOCK also unblocks them elsewhere.
 */
static const sigset_t *with_held(int how, const sigset_t *set, sigset_t *copy)
{
	const uint64_t ours = hook_signal_guarded();
	const bool blocks = how == SIG_UNBLOCK ? !hook_altstack_is_here() : hook_altstack_is_here();
	*copy = *set;
	hook_signal_set_bits(copy, (hook_signal_bits(set) & ~ours) | (blocks ? ours : 0));
	return copy;
}

static int change(mask_fn *next, int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;
	uint64_t ours = hook_signal_guarded(), was = hook_signal_hidden_bits();
	/* Read before `old` is written: both may be the same object. */
	uint64_t asked = set ? hook_signal_bits(set) & ours : 0;
	const bool is_held = set && atomic_load_explicit(&hook_altstack_held, memory_order_relaxed);
	int result = next(how,
			  is_held ? with_held(how, set, &copy)
			  : how == SIG_UNBLOCK ? set
					       : hook_signal_strip(set, &copy),
			  old);
	if (result != 0)
		return result;
	if (old && (was || atomic_load_explicit(&hook_altstack_held, memory_order_relaxed)))
		hook_signal_set_bits(old, (hook_signal_bits(old) & ~ours) | was);
	if (set)
		hook_signal_set_hidden(how == SIG_BLOCK     ? was | asked
				       : how == SIG_UNBLOCK ? was & ~asked
							    : asked);
	return 0;
}

HOOK int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return change(NEXT(sigprocmask), how, set, old);
}

HOOK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change(NEXT(pthread_sigmask), how, set, old);
}

static int change_by_number(int how, const sigset_t *set, sigset_t *old)
{
	const long result = sys_call4(SYS_rt_sigprocmask, how, (long)set, (long)old,
				      sizeof(uint64_t));
	if (result == 0)
		return 0;
	errno = (int)-result;
	return -1;
}

int hook_mask_by_number(int how, const uint64_t *set, uint64_t *old)
{
	sigset_t asked = {0}, was = {0};
	uint64_t bits = 0, before;
	if ((set && load_guarded(&bits, (uintptr_t)set, sizeof bits) != sizeof bits) ||
	    (old && load_guarded(&before, (uintptr_t)old, sizeof before) != sizeof before)) {
		errno = EFAULT;
		return -1;
	}
	hook_signal_set_bits(&asked, bits);
	if (change(change_by_number, how, set ? &asked : NULL, old ? &was : NULL) != 0)
		return -1;
	if (old)
		*old = hook_signal_bits(&was);
	return 0;
}

static int change_old_form(int how, unsigned bits)
{
	sigset_t set = {0}, old = {0};
	hook_signal_set_bits(&set, bits & OLD_SIGNALS);
	if (change(NEXT(sigprocmask), how, &set, &old) != 0)
		return -1;
	return (int)(hook_signal_bits(&old) & OLD_SIGNALS);
}

HOOK int sigblock(int mask)
{
	return change_old_form(SIG_BLOCK, (unsigned)mask);
}

/* dash blocks all signals with sigprocmask, and clears the mask of each child with this. */
HOOK int sigsetmask(int mask)
{
	return change_old_form(SIG_SETMASK, (unsigned)mask);
}

HOOK int sigpending(sigset_t *set)
{
	int result = NEXT(sigpending)(set);
	if (result == 0)
		hook_signal_set_bits(set, hook_signal_show_pending(hook_signal_bits(set)));
	return result;
}

HOOK int signalfd(int fd, const sigset_t *mask, int flags)
{
	sigset_t copy;
	int result = NEXT(signalfd)(fd, hook_signal_strip(mask, &copy), flags);
	if (result >= 0 && runtime_config())
		hook_own_descriptor(result, hook_signal_bits(mask));
	return result;
}

void hook_mask_start(void)
{
	struct hook_next *const all[] = {&next_sigprocmask, &next_pthread_sigmask, &next_sigpending,
		&next_signalfd};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
