/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured while it is attacked: calls, callbacks and threads; prints a sum that is always
 * the same. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_THREADS = 3, N_NUMBERS = 3000 };

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

__attribute__((noinline)) static unsigned dig(unsigned depth, unsigned sum)
{
	for (volatile int i = 0; i < 40; i++)
		sum = sum * 1664525 + 1013904223;
	return depth ? dig(depth - 1, sum) + 1 : sum; /* no tail call */
}

static void *work(void *arg)
{
	unsigned *sum = arg;
	static __thread int numbers[N_NUMBERS];
	for (unsigned round = 0; round < 25; round++) {
		for (int i = 0; i < N_NUMBERS; i++)
			numbers[i] = (int)((unsigned)i * 2654435761u >> 8);
		qsort(numbers, N_NUMBERS, sizeof *numbers, compare);
		*sum = dig(round % 60, *sum + (unsigned)numbers[round]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];
	unsigned sums[N_THREADS + 1] = {0}, total = 0;
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < N_THREADS; i++)
			if (pthread_create(&threads[i], NULL, work, &sums[i]) != 0)
				return 1;
		work(&sums[N_THREADS]);
		for (int i = 0; i < N_THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i <= N_THREADS; i++)
		total = total * 31 + sums[i];
	printf("%u\n", total);
	return argv[0] == NULL;
}
