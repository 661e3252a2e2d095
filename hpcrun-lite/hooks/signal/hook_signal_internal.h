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

/*
 * Our signals that this thread has blocked, as the program sees it; and those that are pending
 * until the thread unblocks them.
 */
uint64_t hook_signal_hidden_bits(void);
uint64_t hook_signal_hidden_pending(void);
void hook_signal_set_hidden(uint64_t bits);

/*
 * Returns false in a child of vfork. The child shares our memory, but its signal state is its own.
 */
static inline bool hook_signal_may_change(void)
{
	return !runtime_config() || runtime_is_owner();
}

void hook_mask_start(void);

/* ---- hook_altstack.c: small alternate stacks ---- */

void hook_altstack_start(void);
/* The program's handlers in which our signals are blocked at first. */
extern _Atomic uint64_t hook_altstack_held;
/* The program installs a handler. Returns what to add to its mask. */
uint64_t hook_altstack_mask(int sig, int flags);
/* At the beginning of a handler in hook_altstack_held. */
void hook_altstack_enter(void);
/* The caller runs on a small alternate stack. */
bool hook_altstack_is_here(void);

/* ---- SIGBUS ---- */

/*
 * Installs our handler for SIGBUS if the program has none. Call once, when the measurement file
 * exists.
 */
void hook_signal_bus_start(void);
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
