/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has the measurement file copied from the node to the measurement directory when the process ends.
 * Another program does that, hpcrun-lite --collect, so a file server that does not answer cannot
 * hold up the program for longer than a bound. The program cannot see it: it is no child of the
 * process. Signal-safe. Test: tests/cli/storage/storage_local.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_DELIVER_DELIVER_H
#define HPCRUN_LITE_RUNTIME_DELIVER_DELIVER_H

#include <stdbool.h>

enum delivery {
	DELIVERY_NONE,     /* the file is not on the node, or its maker will have it copied */
	DELIVERY_DONE,
	DELIVERY_LATE,     /* it takes longer than we wait, and goes on */
	DELIVERY_FAILED    /* the data stay on the node */
};

/*
 * Call once at the end of the process, after the store has ended and the header says so. Waits
 * until the file is copied, but not longer than DELIVER_WAIT_MS.
 */
enum delivery deliver(void);

/*
 * The same outside of handlers; tells the user where the data are if they were not copied. Returns
 * false in that case: the file server may not answer.
 */
bool deliver_and_say(void);

#define DELIVER_WAIT_MS 10000

#endif
