/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints its environment; linked statically by the tests, which want to see that it is left alone.
 * Run by tests/cli/sacred/sacred_exec.sh. */
#include <stdio.h>

int main(int argc, char **argv, char **environment)
{
	(void)argv;
	for (; argc > 1 && *environment; environment++)
		puts(*environment);
	return 17;
}
