/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose change between two builds is known: solve calls relax, which takes PERCENT of the
 * time of smooth. With FAULTS, it makes PERCENT of the page faults of smooth, which is exact where
 * time is not. tests/cli/compare/compare_programs.sh builds it with other values of the macros.
 * Usage: compare_work ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

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

#ifdef FAULTS
enum {
	PAGE = 4096,
	STEPS = 100,
	AREA_BYTES = STEPS * (PERCENT > 100 ? PERCENT : 100) / 100 * PAGE
};
static volatile char *area;
#define STEP(factor) (area[i * PAGE] = 1)
#else
enum { STEPS = 310000 }; /* a round is no multiple of the tests' period of 4 ms */
#define STEP(factor) (x = x * (factor) + 1e-7)
#endif

RELAX_IS double RELAX(double x, long n);
double smooth(double x, long n);
double solve(double x);

RELAX_IS double RELAX(double x, long n)
{
	for (long i = 0; i < n; i++)
		STEP(0.999999);
	return x;
}

__attribute__((noinline)) double smooth(double x, long n)
{
	for (long i = 0; i < n; i++)
		STEP(0.999998);
	return x;
}

/* Takes the pages away. */
static void renew(void)
{
#ifdef FAULTS
	madvise((void *)area, AREA_BYTES, MADV_DONTNEED);
#endif
}

__attribute__((noinline)) double solve(double x)
{
	renew();
	x = RELAX(x, STEPS * (long)PERCENT / 100);
	renew();
	return smooth(x, STEPS) + x;
}

int main(int argc, char **argv)
{
	double x = 1;
#ifdef FAULTS
	area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || madvise((void *)area, AREA_BYTES, MADV_NOHUGEPAGE) != 0)
		return 1;
#endif
	for (int i = argc > 1 ? atoi(argv[1]) : 100; i > 0; i--)
		x = solve(x) / 2;
	printf("%g\n", x);
	return 0;
}
