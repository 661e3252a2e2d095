/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose change between two builds is known: solve calls relax, which takes PERCENT of the
 * time of smooth. tests/cli/compare/compare_programs.sh builds it with other values of the macros.
 * Usage: compare_work ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef PERCENT
#define PERCENT 100
#endif
#ifndef RELAX
#define RELAX relax
#endif
#ifdef INLINED
#define RELAX_IS static inline __attribute__((always_inline))
#else
#define RELAX_IS __attribute__((noinline))
#endif

/* A round is no multiple of the tests' period of 4 ms. */
enum { STEPS = 310000 };

RELAX_IS double RELAX(double x, long n);
double smooth(double x, long n);
double solve(double x);

RELAX_IS double RELAX(double x, long n)
{
	for (long i = 0; i < n; i++)
		x = x * 0.999999 + 1e-7;
	return x;
}

__attribute__((noinline)) double smooth(double x, long n)
{
	for (long i = 0; i < n; i++)
		x = x * 0.999998 + 1e-7;
	return x;
}

__attribute__((noinline)) double solve(double x)
{
	x = RELAX(x, STEPS * (long)PERCENT / 100);
	return smooth(x, STEPS) + x;
}

int main(int argc, char **argv)
{
	double x = 1;
	for (int i = argc > 1 ? atoi(argv[1]) : 100; i > 0; i--)
		x = solve(x) / 2;
	printf("%g\n", x);
	return 0;
}
