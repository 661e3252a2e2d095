/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's table of signal handlers and the signal mask of the calling thread, through system
 * calls. The functions of libc are hooked, and other libraries may replace them too. Signal-safe.
 * Test: tests/cli/sacred/sacred_signal.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_SIGNAL_TABLE_H
#define HPCRUN_LITE_RUNTIME_SIGNAL_TABLE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Signals 1 to 64 as bits 0 to 63: the kernel's form of a set. */
static inline uint64_t signal_bit(int sig)
{
	return sig >= 1 && sig <= 64 ? UINT64_C(1) << (sig - 1) : 0;
}

/*
 * Installs `handler` for `sig` with these flags of sigaction(2). The signals in `mask` are blocked
 * while it runs. Returns false if the kernel refuses.
 */
bool signal_table_install(int sig, void (*handler)(int, siginfo_t *, void *), unsigned long flags,
			  uint64_t mask);

/*
 * If the handler of `sig` has SA_ONSTACK: also blocks the signals in `mask` while it runs, and
 * removes `flags` from its flags.
 */
void signal_table_change(int sig, uint64_t mask, unsigned long flags);
/* The handler of `sig` if it runs on alternate stacks (SA_ONSTACK), else NULL. */
void *signal_table_on_stack(int sig);

/* Restores the default action of `sig`. */
void signal_table_default(int sig);
bool signal_table_is_default(int sig);
/* Returns true if the kernel calls `handler` for `sig`, or cannot be asked. */
bool signal_table_calls(int sig, void (*handler)(int, siginfo_t *, void *));

/* Ends the process by the default action of `sig`. Returns if that does not end it. */
void signal_table_die(int sig);

/* Replace our handler of the sampling signal by SIG_IGN, and install it again. */
void signal_table_ignore(void);
void signal_table_restore(void);

/* `how` is SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK. Returns the old mask. */
uint64_t signal_table_mask(int how, uint64_t bits);
/* Blocks RUNTIME_SIGNAL in this thread. Returns the old mask. */
uint64_t signal_table_block_own(void);

#endif
