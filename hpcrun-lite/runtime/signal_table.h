/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's table of signal handlers and the calling thread's mask, by system calls. libc's
 * functions for them are hooked, and other libraries stand in front of them too.
 * Signal-safe. Test: tests/cli/sacred_signal.sh.
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
 * Makes `handler` that of `sig`, with these flags of sigaction(2), and the signals of `mask` blocked
 * in it. False: the kernel refuses.
 */
bool signal_table_install(int sig, void (*handler)(int, siginfo_t *, void *), unsigned long flags, uint64_t mask);

/* Gives `sig` its default action. */
void signal_table_default(int sig);
bool signal_table_is_default(int sig);

/* Ends the process by the default action of `sig`. Returns if that action does not end it. */
void signal_table_die(int sig);

/* Replaces our handler of the sampling signal by SIG_IGN, and back. */
void signal_table_ignore(void);
void signal_table_restore(void);

/* SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK; returns the mask before. */
uint64_t signal_table_mask(int how, uint64_t bits);

#endif
