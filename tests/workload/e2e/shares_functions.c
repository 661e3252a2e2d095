/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known shares between functions and between call paths: three functions of 1 : 2 : 5 units, and
 * one function that two callers call for 1 : 3 units, once through a recursion of depth ten. The
 * truth is the number of units done. See shares.h.
 */
#include "shares.h"

static volatile uint64_t sink;

NOINLINE static void one(uint64_t n)
{
	uint64_t x = n | 1;

	for (uint64_t i = 0; i < n; i++)
		UNIT(x);
	sink = x;
}

NOINLINE static void two(uint64_t n)
{
	uint64_t x = n | 1;

	for (uint64_t i = 0; i < n; i++)
		UNIT(x);
	sink = x;
}

NOINLINE static void five(uint64_t n)
{
	uint64_t x = n | 1;

	for (uint64_t i = 0; i < n; i++)
		UNIT(x);
	sink = x;
}

NOINLINE static void shared(uint64_t n)
{
	uint64_t x = n | 1;

	for (uint64_t i = 0; i < n; i++)
		UNIT(x);
	sink = x;
}

NOINLINE static void straight_caller(uint64_t n)
{
	shared(n);
	sink++;
}

NOINLINE static void deep_caller(uint64_t n, int depth)
{
	if (depth > 1)
		deep_caller(n, depth - 1);
	else
		shared(n);
	sink++;
}

int main(int argc, char **argv)
{
	const double end_s = shares_seconds(argc, argv);
	uint64_t seed = 1, n_one = 0, n_two = 0, n_five = 0, n_straight = 0, n_deep = 0;

	while (shares_thread_cpu_s() < end_s) {
		for (int i = 0; i < 20; i++) {
			uint64_t n = shares_length(&seed);

			one(n), n_one += n;
			n = 2 * shares_length(&seed);
			two(n), n_two += n;
			n = 5 * shares_length(&seed);
			five(n), n_five += n;
			n = shares_length(&seed);
			straight_caller(n), n_straight += n;
			n = 3 * shares_length(&seed);
			deep_caller(n, 10), n_deep += n;
		}
	}
	shares_truth("cpu", shares_thread_cpu_s());
	shares_truth("one", (double)n_one);
	shares_truth("two", (double)n_two);
	shares_truth("five", (double)n_five);
	shares_truth("shared", (double)(n_straight + n_deep));
	shares_truth("straight_caller", (double)n_straight);
	shares_truth("deep_caller", (double)n_deep);
	return 0;
}
