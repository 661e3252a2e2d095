/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said to the user: on the standard error that the process was started with, or not at all. A program may close descriptor 2 and open a file of its own
 * there. No duplicate is held, since a parent that reads a pipe to its end would wait for it. Tests: tests/cli/sacred_report.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_REPORT_SAY_H
#define HPCRUN_LITE_RUNTIME_REPORT_SAY_H

#include "common/safe/text.h"

/* Remembers what descriptor 2 is. Once, before the program can change it. */
void say_start(void);

/* Writes the text unless descriptor 2 is another file now. Does not wait: what a full pipe does not take is cut off. Keeps errno. */
void say(const struct text *t);

#endif
