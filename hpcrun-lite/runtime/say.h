/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints messages for the user on the standard error that the process was started with, or not at
 * all: the program may have closed descriptor 2 and opened its own file there. We keep no duplicate
 * of the descriptor, because a parent that reads a pipe to its end would wait for us. Test:
 * tests/cli/sacred/sacred_report.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_SAY_H
#define HPCRUN_LITE_RUNTIME_SAY_H

#include "common/safe/text.h"

/* Remembers which file descriptor 2 is. Call once, before the program can change it. */
void say_start(void);

/*
 * Writes the text unless descriptor 2 is another file now. Does not wait: text that does not fit
 * into a full pipe is lost. Keeps errno.
 */
void say(const struct text *t);

#endif
