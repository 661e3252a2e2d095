/* SPDX-License-Identifier: BSD-3-Clause */
/* Between hook_signal.c, hook_mask.c and hook_signal_raw.c. All signal-safe. Test: tests/cli/sacred_signal.sh. */
#ifndef HPCRUN_LITE_RUNTIME_HOOK_SIGNAL_INTERNAL_H
#define HPCRUN_LITE_RUNTIME_HOOK_SIGNAL_INTERNAL_H

#include "hpcrun-lite/runtime/hook_signal.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <stdint.h>
#include <ucontext.h>

/* Signals 1 to 64 of a set as bits 0 to 63: the kernel's form. */
uint64_t hook_signal_bits(const sigset_t *set);
void hook_signal_set_bits(sigset_t *set, uint64_t bits);
static inline uint64_t hook_signal_bit(int sig)
{
	return sig >= 1 && sig <= 64 ? UINT64_C(1) << (sig - 1) : 0;
}

/* The signals of ours. */
uint64_t hook_signal_protected(void);

/* Those that this thread has blocked, as it sees it, and those that wait for it to unblock them. */
uint64_t hook_signal_hidden_bits(void);
uint64_t hook_signal_hidden_pending(void);
void hook_signal_set_hidden(uint64_t bits);

/* False in a child of vfork, which shares what we keep, but not what it is about. */
static inline bool hook_signal_may_change(void)
{
	return !runtime_config() || runtime_is_owner();
}

void hook_mask_start(void);

/* ---- SIGBUS ------------------------------------------------------------------------------------------------------- */

/* Takes SIGBUS where nobody handles it. Once, when there is a file. */
void hook_signal_bus_start(void);
/* The kernel has put SIGBUS back to its default (SA_RESETHAND): we take it again, with the flags that the program gave. */
void hook_signal_bus_again(unsigned long flags);
/* Stands for the default action of SIGBUS. */
void hook_signal_on_bus(int sig, siginfo_t *info, void *context);
/* True: this SIGBUS was about our file and is dealt with, or comes again later. */
bool hook_signal_mends(siginfo_t *info, ucontext_t *context);
/*
 * Around code of ours that writes to the file: unblocks SIGBUS where the program has blocked it.
 * One that was sent to the program meanwhile is pending afterwards. False: there is nothing to
 * close.
 */
bool hook_signal_bus_open(void);
void hook_signal_bus_close(bool opened);

/* ---- the kernel's table, past libc --------------------------------------------------------------------------------- */

/* Gives `sig` its default action. */
void hook_signal_raw_default(int sig);
/* Ends the process by the default action of `sig`. Returns only when that is no end. */
void hook_signal_raw_die(int sig);
/* Makes `handler` that of `sig`, with these flags of sigaction, and the signals of `mask` blocked in it. False: the kernel refuses. */
bool hook_signal_raw_install(int sig, void (*handler)(int, siginfo_t *, void *), unsigned long flags, uint64_t mask);
bool hook_signal_raw_is_default(int sig);
void hook_signal_raw_default(int sig);
/* Replaces our handler of the sampling signal by SIG_IGN, and back. */
void hook_signal_raw_ignore(void);
void hook_signal_raw_restore(void);
/* SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK; returns the mask before. */
uint64_t hook_signal_raw_mask(int how, uint64_t bits);

#endif
