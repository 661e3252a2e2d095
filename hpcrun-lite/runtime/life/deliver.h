/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has the measurement file copied from the node to the measurement directory when the process ends.
 * Another process does that, hpcrun-lite, so a file server that does not answer cannot hold up the
 * program for longer than a bound. The program does not see it, because it is no child of the
 * process. The next process above that adopts orphans inherits it if it outlives us: after
 * DELIVERY_LATE, and after deliver_after_end. Signal-safe. Tests:
 * tests/cli/storage/storage_local.sh, tests/cli/storage/storage_proof.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_LIFE_DELIVER_H
#define HPCRUN_LITE_RUNTIME_LIFE_DELIVER_H

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
 * false if that takes too long: the file server may not answer.
 */
bool deliver_and_say(void);

/*
 * Does not wait for the copy: the file is copied when the process is gone, or executes another
 * program. For a fatal signal, because other threads must not run on, and for an exec after which
 * no process would have the file copied. Says nothing. deliver_stay(): the exec has failed.
 */
void deliver_after_end(void);
void deliver_stay(void);

#define DELIVER_WAIT_MS 10000

#endif
