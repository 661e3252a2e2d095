/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process ended, for people. Not signal-safe. Test: tests/unit/test_children.c. */
#ifndef COMMON_FORMAT_ENDS_H
#define COMMON_FORMAT_ENDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * enum msr_exit_kind and its code in words: "exit status 3", "signal SIGSEGV", "another program in
 * its place", or "no word (...)" where nobody knows. Any numbers. 128 bytes hold all of them.
 * Returns `text`.
 */
const char *ends_text(uint32_t kind, int32_t code, char *text, size_t n_bytes);

#endif
