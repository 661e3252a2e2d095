/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcrun-lite replay for tests. It also plays the threads in another order, and makes things go
 * wrong that go wrong in real life. Both act on a replay from outside: one makes the plan, the
 * other stands between the player and the back end. Tests: tests/cli/gpu/replay.sh,
 * tests/cli/gpu/replay_fault.sh.
 */
#ifndef TESTS_REPLAY_ALTER_H
#define TESTS_REPLAY_ALTER_H

/*
 * Takes the options --shuffle-streams SEED and --inject KIND[:N] and passes the other arguments to
 * replay_main. argv[0] is "replay". Returns the exit status; 2: wrong usage.
 */
int alter_main(int argc, char **argv);

#endif
