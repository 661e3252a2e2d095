/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Built with -fsplit-stack: each segment of the stack has little more room than its frames need.
 * Recursion in the main thread and in another one; says whether either has an alternate stack.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void leaf(long n)
{
	for (long i = 0; i < n; i++)
		sink = sink + (uint64_t)i;
}

__attribute__((noinline)) static int descend(int depth)
{
	volatile char filler[200];
	filler[0] = (char)depth;
	filler[199] = 1;
	if (depth % 20 == 0)
		leaf(300000);
	return (depth > 0 ? descend(depth - 1) : 0) + filler[199];
}

static void *work(void *unused)
{
	stack_t stack;
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += descend(400);
	sigaltstack(NULL, &stack);
	printf("%d %s\n", sum, stack.ss_flags & SS_DISABLE ? "no alternate stack" : "a stack");
	return unused;
}

int main(void)
{
	pthread_t thread;
	work(NULL);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 3;
}
