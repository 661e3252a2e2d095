/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of this folder. All signal-safe. Test: tests/cli/sacred_signal.sh. */
#ifndef HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_INTERNAL_H
#define HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_INTERNAL_H

#include "hpcrun-lite/hooks/signal/hook_signal.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/runtime.h"
#include "hpcrun-lite/runtime/signal_table.h"

#include <stdint.h>
#include <ucontext.h>

/* Signals 1 to 64 of a set as bits 0 to 63: the kernel's form. */
uint64_t hook_signal_bits(const sigset_t *set);
void hook_signal_set_bits(sigset_t *set, uint64_t bits);

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

#endif
