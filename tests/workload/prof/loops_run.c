/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose time lies in nested loops, one of them in an inlined call: loops_run SECONDS.
 * Built with -O2; tests/cli/prof/prof_loops.sh finds the lines of the loops by their marks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 200 };

static double a[N][N], b[N][N], c[N][N];

static inline __attribute__((always_inline)) double dot(int i, int j)
{
	double s = 0;
	for (int k = 0; k < N; k++) /* mark: dot */
		s += a[i][k] * b[k][j];
	return s;
}

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double end = cpu_s() + (argc > 1 ? atof(argv[1]) : 1), sum = 0;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = b[j][i] = i - j;
	while (cpu_s() < end) { /* mark: rounds */
		for (int i = 0; i < N; i++) /* mark: rows */
			for (int j = 0; j < N; j++) /* mark: columns */
				c[i][j] += dot(i, j);
		sum += c[3][4];
		a[5][6] = sum * 1e-9;
	}
	printf("%g\n", sum);
	return 0;
}
