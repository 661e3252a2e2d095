/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of this folder. Everything is signal-safe.
 * Test: tests/cli/sacred/sacred_signal.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_INTERNAL_H
#define HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_INTERNAL_H

#include "hpcrun-lite/hooks/signal/hook_signal.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/runtime.h"
#include "hpcrun-lite/runtime/signal_table.h"

#include <stdatomic.h>
#include <stdint.h>
#include <ucontext.h>

/* Converts between a set and the kernel's form: signals 1 to 64 are bits 0 to 63. */
uint64_t hook_signal_bits(const sigset_t *set);
void hook_signal_set_bits(sigset_t *set, uint64_t bits);

/* Returns our signals. */
uint64_t hook_signal_protected(void);

/* The same if this thread has them unblocked; 0 in one that was there before and has not joined. */
uint64_t hook_signal_guarded(void);

/*
 * The signals of ours that the program has blocked in this thread. Setting them may run a handler
 * of the program.
 */
uint64_t hook_signal_hidden_bits(void);
void hook_signal_set_hidden(uint64_t bits);
/* Converts the kernel's pending signals to what the program sees. */
uint64_t hook_signal_show_pending(uint64_t pending);

#define N_SIGNALS 65
typedef void hook_signal_handler(int, siginfo_t *, void *);

static inline bool hook_signal_is_function(const void *handler)
{
	return handler != (void *)SIG_DFL && handler != (void *)SIG_IGN &&
	       handler != (void *)SIG_ERR && handler != (void *)SIG_HOLD;
}

/* ---- the program's use of our signals: hook_own.c ---- */

/* `inherited`: what the program finds as the action for RUNTIME_SIGNAL. Not signal-safe. */
void hook_own_start(const struct sigaction *inherited);
/* The same in a process that was running already; see hook_signal.h. */
void hook_own_attach(const struct sigaction *now);
void hook_own_join(bool has_blocked);
void hook_own_leave(uint64_t *mask);
void hook_own_detach(void);
/* Implements sigaction for one of our signals, without calling the kernel. Returns 0. */
int hook_own_keep(int sig, const struct sigaction *act, struct sigaction *old);
/* In our handler: passes on what another thread found, or restarts the wait. */
void hook_own_restart_wait(ucontext_t *context);
/*
 * Call it before the thread waits for a signal of `set`. If one of our signals in `set` is pending,
 * returns it and fills *info, which may be NULL; else returns 0. Call it again after EINTR, and
 * call await_end at the end.
 */
int hook_own_await(const sigset_t *set, siginfo_t *info);
void hook_own_await_end(void);
/* `fd` is a signalfd of the program with this mask. */
void hook_own_descriptor(int fd, uint64_t mask);
/*
 * Resumes sampling if the program has read our signal from its signalfd. `takes`: also resumes if
 * it has not, and then keeps the signal in memory again.
 */
void hook_own_resume(bool takes);

/*
 * Returns false in a child of vfork. The child shares our memory, but its signal state is its own.
 */
static inline bool hook_signal_may_change(void)
{
	return !runtime_config() || runtime_is_owner();
}

void hook_jump_start(void);
void hook_mask_start(void);
/* Implements the system call rt_sigprocmask for the program. Returns -1 with errno on failure. */
int hook_mask_by_number(int how, const uint64_t *set, uint64_t *old);

/* ---- hook_altstack.c: small alternate stacks ---- */

void hook_altstack_start(void);
/* The signals of the program whose handlers start with our signals blocked. */
extern _Atomic uint64_t hook_altstack_held;
/* Call it when the program installs a handler. Returns the signals to add to the handler's mask. */
uint64_t hook_altstack_mask(int sig, int flags);
/* Call it at the beginning of a handler of a signal in hook_altstack_held. */
void hook_altstack_enter(void);
/* Returns true if the caller runs on a small alternate stack. */
bool hook_altstack_is_here(void);

/* ---- SIGBUS ---- */

/*
 * Installs our handler for SIGBUS if the program has none. Call once, when the measurement file
 * exists.
 */
void hook_signal_bus_start(void);
/* Restores the default action if our handler is still there. */
void hook_signal_bus_end(void);
/*
 * Installs our handler again after the kernel reset SIGBUS to its default (SA_RESETHAND). Uses the
 * flags that the program gave.
 */
void hook_signal_bus_again(unsigned long flags);
/* Our handler for SIGBUS, which replaces the default action. */
void hook_signal_on_bus(int sig, siginfo_t *info, void *context);
/* Returns true if this SIGBUS concerned our file and is handled, or if it will come again. */
bool hook_signal_mends(siginfo_t *info, ucontext_t *context);

#endif
