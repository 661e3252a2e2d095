/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A terminal with a screen that changes: the alternate screen, no echo, signals. Plain ANSI
 * sequences, so no library. Test: tests/cli/live/live_terminal.sh.
 */
#ifndef HPCPROF_LITE_LIVE_LIVE_TERMINAL_H
#define HPCPROF_LITE_LIVE_LIVE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Catches the signals that end the program. Takes over standard output if it is a terminal that
 * understands the sequences; then returns true. One at a time.
 */
bool live_terminal_begin(void);
/* Gives the terminal back as it was. */
void live_terminal_end(void);
/* Ends the program as the signal does that asked for it, if there was one. */
void live_terminal_obey(void);

/* The present size. */
void live_terminal_size(size_t *width, size_t *n_rows);
/* Shows the text in place of what was there. */
void live_terminal_show(const char *text, size_t n_bytes);
/* Waits until `until_ns` of CLOCK_MONOTONIC, q, a signal, or another size. True: end. */
bool live_terminal_wait(uint64_t until_ns);

#endif
