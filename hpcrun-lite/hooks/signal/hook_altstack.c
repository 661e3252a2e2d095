/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alternate signal stacks. A small one has no room for a sample on top of the program's handler.
 * Once a thread has one, handlers with SA_ONSTACK start with our signals blocked, and
 * hook_signal_handle() unblocks them if the handler runs on another stack. See
 * hook_signal_internal.h. Test: tests/cli/sacred/sacred_state.sh.
 */
#include "common/safe/load.h"
#include "hpcrun-lite/hooks/signal/hook_fatal.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/runtime/next.h"

#include <errno.h>
#include <stdatomic.h>

HOOK_NEXT(sigaltstack);

_Atomic uint64_t hook_altstack_held;
static _Atomic bool has_small;

/* The thread's small stack; n_bytes is 0 if it has none. */
static _Thread_local struct {
	uintptr_t lo;
	size_t n_bytes;
} mine;

bool hook_altstack_is_here(void)
{
	return (uintptr_t)__builtin_frame_address(0) - mine.lo < mine.n_bytes;
}

void hook_altstack_enter(void)
{
	if (hook_altstack_is_here())
		runtime_handler_unsampled();
	else
		signal_table_mask(SIG_UNBLOCK, hook_signal_protected());
}

uint64_t hook_altstack_mask(int sig, int flags)
{
	if (!atomic_load_explicit(&has_small, memory_order_relaxed) || !hook_signal_may_change())
		return 0;
	if (!(flags & SA_ONSTACK)) {
		atomic_fetch_and_explicit(&hook_altstack_held, ~signal_bit(sig),
					  memory_order_relaxed);
		return 0;
	}
	atomic_fetch_or_explicit(&hook_altstack_held, signal_bit(sig), memory_order_relaxed);
	return hook_signal_protected();
}

/* `is_tiny`: not even our handlers for the program's default actions fit. */
static void prepare(bool is_tiny)
{
	const bool is_first = !atomic_exchange_explicit(&has_small, true, memory_order_relaxed);
	for (int sig = 1; sig <= 64 && (is_first || is_tiny); sig++) {
		void *handler = signal_table_on_stack(sig);
		if (!handler || hook_signal_protected() & signal_bit(sig))
			continue;
		if (hook_fatal_unwrap((__sighandler_t)handler) != SIG_DFL)
			signal_table_change(sig, hook_altstack_mask(sig, SA_ONSTACK), 0);
		else if (is_tiny)
			signal_table_change(sig, 0, SA_ONSTACK);
	}
	if (is_tiny)
		runtime_avoid_alternate_stacks();
}

HOOK int sigaltstack(const stack_t *set, stack_t *old)
{
	stack_t asked;
	const bool sets = set && load_guarded(&asked, (uintptr_t)set, sizeof asked) == sizeof asked,
		   is_measured = runtime_config() && hook_signal_may_change();
	const uintptr_t lo = mine.lo;
	const size_t n_bytes = mine.n_bytes;
	if (sets && is_measured) {
		const bool is_small = !(asked.ss_flags & SS_DISABLE) &&
				      asked.ss_size < runtime_small_stack();
		mine.lo = (uintptr_t)asked.ss_sp;
		mine.n_bytes = is_small ? asked.ss_size : 0;
		if (is_small)
			prepare(asked.ss_size < runtime_tiny_stack());
	}
	const int result = NEXT(sigaltstack)(set, old);
	if (result != 0) {
		mine.lo = lo;
		mine.n_bytes = n_bytes;
	} else if (old && runtime_lent_stack(old->ss_sp)) {
		*old = (stack_t){.ss_flags = SS_DISABLE};
	}
	return result;
}

void hook_altstack_start(void)
{
	hook_next_find(&next_sigaltstack);
}
