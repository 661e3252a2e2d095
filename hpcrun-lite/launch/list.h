/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer to -L. Test: tests/cli/launch/launch_events.sh. */
#ifndef HPCRUN_LITE_LAUNCH_LIST_H
#define HPCRUN_LITE_LAUNCH_LIST_H

/*
 * Prints to standard output what can be measured here in short, what cannot, with the cause and the
 * cure, and then the events with their default periods.
 */
void list_events(const char *library_directory);

#endif
