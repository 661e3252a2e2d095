/* SPDX-License-Identifier: BSD-3-Clause */
/* What a seccomp filter will do to system calls, told by its code alone (seccomp(2), linux/bpf_common.h). Pure and signal-safe. Test: tests/unit/test_seccomp_filter.c. */
#ifndef HPCRUN_LITE_HOOKS_SECCOMP_FILTER_H
#define HPCRUN_LITE_HOOKS_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/* Of one instruction: what is known when it is reached. */
struct seccomp_state {
	unsigned accumulator;
	bool is_reached, is_known;
};

/*
 * True when the call of that number is let through, or fails with an error, whatever its arguments are. False: it may be killed, trapped or handed to another process, or
 * the code is not understood. `states`: room for n of them.
 */
bool seccomp_filter_spares(const struct sock_filter *code, size_t n, int call, struct seccomp_state *states);

#endif
