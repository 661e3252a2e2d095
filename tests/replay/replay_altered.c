/* SPDX-License-Identifier: BSD-3-Clause */
/* The program: replay_altered [--shuffle-streams SEED] [--inject KIND[:N]]... RECORDING -o DIR. */
#include "tests/replay/alter.h"

int main(int argc, char **argv)
{
	static char name[] = "replay";
	argv[0] = name;
	return alter_main(argc, argv);
}
