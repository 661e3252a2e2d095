/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Becomes itself again and again while its other threads compute, now from the main thread, now
 * from another: a sampling signal left over from one image would kill the next. Argument: how
 * often. Run by tests/cli/sacred/sacred_exec.sh.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char **arguments;
static long left;

static void *compute(void *arg)
{
	volatile double x = 1;
	for (;;)
		x = x * 1.0000001 + 1e-9;
	return arg;
}

static void *become(void *arg)
{
	char number[24];
	char *argv[] = {arguments[0], number, NULL};
	volatile double x = 1;
	for (int i = 0; i < 1000000; i++)
		x = x * 1.0000001 + 1e-9;
	snprintf(number, sizeof number, "%ld", left - 1);
	execl("/nonexistent", "x", (char *)NULL);
	execv(arguments[0], argv);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;
	arguments = argv;
	left = argc > 1 ? atol(argv[1]) : 0;
	if (left == 0) {
		puts("the end of the chain");
		return 8;
	}
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, compute, NULL);
	if (left % 2)
		become(NULL);
	pthread_create(&t, NULL, become, NULL);
	pthread_join(t, NULL);
	return 9;
}
