/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known shares between threads: main and four threads which use 1 : 2 : 3 : 4 parts of the CPU time
 * given, side by side and all named. The truth is each thread's own CPU clock as its last act. See
 * shares.h.
 */
#include "shares.h"

#include <pthread.h>

static volatile uint64_t sink;
static double unit_s, used_s[5];

NOINLINE static void burn(double end_s)
{
	uint64_t x = 1;

	/* The clock is a system call, and samples in the kernel are not an ordinary user's to have:
	 * ask it rarely. */
	while (shares_thread_cpu_s() < end_s) {
		for (int i = 0; i < 20000; i++)
			UNIT(x);
	}
	sink = x;
}

static void *work(void *arg)
{
	const int number = (int)(intptr_t)arg;
	char name[16];

	snprintf(name, sizeof name, "part%d", number);
	pthread_setname_np(pthread_self(), name);
	burn(number * unit_s);
	used_s[number] = shares_thread_cpu_s();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[5];

	unit_s = shares_seconds(argc, argv) / 10;
	for (int i = 1; i <= 4; i++) {
		if (pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i) != 0) {
			perror("pthread_create");
			return 1;
		}
	}
	for (int i = 1; i <= 4; i++)
		pthread_join(thread[i], NULL);
	for (int i = 1; i <= 4; i++) {
		char name[16];

		snprintf(name, sizeof name, "part%d", i);
		shares_truth(name, used_s[i]);
	}
	return 0;
}
