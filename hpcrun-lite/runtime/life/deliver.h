/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies the measurement file from the node to the measurement directory when the process ends.
 * Another process, hpcrun-lite, makes the copy, so a file server that does not answer delays the
 * program only for a limited time. The program does not see that process, because it is not a child
 * of it. If the copy outlives us (after DELIVERY_LATE or deliver_after_end), the nearest ancestor
 * that adopts orphans inherits it. Signal-safe. Tests: tests/cli/storage/storage_local.sh,
 * tests/cli/storage/storage_proof.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_LIFE_DELIVER_H
#define HPCRUN_LITE_RUNTIME_LIFE_DELIVER_H

#include <stdbool.h>

enum delivery {
	/* the file is not on the node, or the process that made it will have it copied */
	DELIVERY_NONE,
	DELIVERY_DONE,
	DELIVERY_LATE,     /* the copy takes longer than we wait, and continues */
	DELIVERY_FAILED    /* the data stay on the node */
};

/*
 * Call once at the end of the process, after the store has ended and the header says so. Waits
 * until the file is copied, but not longer than DELIVER_WAIT_MS.
 */
enum delivery deliver(void);

/*
 * The same outside of handlers; also tells the user where the data are if they were not copied.
 * Returns false if it takes too long: the file server may not answer.
 */
bool deliver_and_say(void);

/*
 * Does not wait: the file is copied when the process is gone or has executed another program. For a
 * fatal signal, because other threads must not continue, and for an exec after which no process
 * would have the file copied. Prints nothing. deliver_stay(): the exec has failed.
 */
void deliver_after_end(void);
void deliver_stay(void);

#define DELIVER_WAIT_MS 10000

#endif
