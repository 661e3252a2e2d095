/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes in words how a process ended. Not signal-safe.
 * Test: tests/unit/prof/test_children.c. */
#ifndef COMMON_FORMAT_ENDS_H
#define COMMON_FORMAT_ENDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Turns an enum msr_exit_kind and its code into text: "exit status 3", "signal SIGSEGV", "another
 * program in its place", or "no word (...)" if we do not know. Accepts any numbers. A buffer of 128
 * bytes is enough. Returns `text`.
 */
const char *ends_text(uint32_t kind, int32_t code, char *text, size_t n_bytes);

#endif
