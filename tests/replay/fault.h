/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of real life in a replay: records that are dropped, missing, out of order or have wrong
 * times, ids that wrap around, calls that fail. A layer between the player and the back end makes
 * them: it stands in front of the player's functions and of the back end's callbacks.
 * Test: tests/cli/gpu/replay_fault.sh.
 */
#ifndef TESTS_REPLAY_FAULT_H
#define TESTS_REPLAY_FAULT_H

#include "hpcrun-lite/gpu/cupti/nv.h"

/* Switches on "KIND[:NUMBER]". False: there is no such kind, or the number makes no sense. */
bool fault_parse(const char *text);
/* All kinds, one on each line. */
const char *fault_help(void);
/* For replay_seam.library. */
void fault_library(struct nv_library *l);

#endif
