/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies a measurement file, whose process may still run, into the target file in the measurement
 * directory. It writes in an order that keeps the target readable at any moment: during a copy,
 * after an interrupted copy, and when the file server has received only some of the writes.
 *
 * Headers determine what the target shows: the part in its first page (local_data.h), and the
 * headers of extents that can be reached from there, up to local_part_end(). A pass writes
 * everything else first. Then it writes the headers in the state that they had before it read the
 * rest. Not for the measured process. Test: tests/unit/run/test_follow.c.
 */
#ifndef HPCRUN_LITE_LAUNCH_COPY_FOLLOW_PART_H
#define HPCRUN_LITE_LAUNCH_COPY_FOLLOW_PART_H

#include "common/format/local_data.h"
#include "hpcrun-lite/launch/copy/follow_chain.h"

#define FOLLOW_BLOCK_BYTES 65536u

struct follow_part {
	bool is_open;
	char text[LOCAL_PART_OFFSET]; /* the target's text, without the time */
	struct follow_chain shown;    /* the headers that the target shows */
	VEC(uint64_t) sums;           /* one for each block, without headers; 0: unknown */
	uint64_t n_bytes;             /* written so far */
};

enum follow_result {
	FOLLOW_DONE,
	/* The part is closed: */
	FOLLOW_ENDED, /* the process has ended meanwhile, and the target belongs to its last copy */
	FOLLOW_FAILED /* errno says why */
};

/*
 * Reads what the target shows. The caller has checked that the target is for these data. Returns
 * false, and sets errno, if the target cannot be read or its text is too long.
 */
bool follow_part_open(struct follow_part *p, int target);
void follow_part_close(struct follow_part *p);

/*
 * Copies what has changed since the last pass. `is_final`: the process has ended, and the caller
 * will write the header page of the file in place of the part. The caller holds the lock of
 * `local`, by flock(). Unless `is_final`, the pass releases the lock while it waits for the server.
 * The target is complete by then, so another process that gets the lock may write a final copy. On
 * FOLLOW_DONE the caller holds the lock again.
 */
enum follow_result follow_part_pass(struct follow_part *p, int local, int target, bool is_final);

#endif
