/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcrun-lite replay: plays what --record-gpu recorded to the same back end, without a GPU or a
 * driver, and writes the resulting measurement. A recording is a measurement directory with
 * .hpctape files beside the .hpcrun files. A separate process plays each file (doc/replay.md).
 * Test: tests/cli/gpu/replay.sh.
 */
#ifndef HPCRUN_LITE_REPLAY_REPLAY_H
#define HPCRUN_LITE_REPLAY_REPLAY_H

/* argv[0] is "replay". Returns the exit status: 0, 1, 2 for wrong usage. */
int replay_main(int argc, char **argv);

#endif
