/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of constant work at the bottom of a recursion of a given depth, for the benchmarks:
 * what a sample costs must show as time.
 *
 *     deep MILLISECONDS DEPTH     (milliseconds on a nominal machine: the work is a fixed number of
 * steps)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t work(uint64_t steps)
{
	uint64_t x = 88172645463325252u;
	for (uint64_t i = 0; i < steps; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

__attribute__((noinline)) static uint64_t descend(unsigned depth, uint64_t steps)
{
	uint64_t r = depth > 1 ? descend(depth - 1, steps) : work(steps);
	sink = r; /* keeps the call from becoming a jump */
	return r + depth;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: deep MILLISECONDS DEPTH\n");
		return 2;
	}
	uint64_t steps = strtoull(argv[1], NULL, 10) * 500000;
	printf("%llu\n", (unsigned long long)descend((unsigned)strtoul(argv[2], NULL, 10), steps));
	return 0;
}
