/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the workloads of known shares have in common: a unit of work whose cost does not depend on
 * where it stands, random lengths so that no period of the program meets the period of the
 * sampling, and the truth, printed at the end as lines "truth NAME NUMBER" on the standard output.
 * Used by tests/cli/e2e/shares.sh.
 */
#ifndef SHARES_H
#define SHARES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A function that stays itself, though its body equals another's. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone, no_icf))
#endif
#define INLINE static inline __attribute__((always_inline))

/* One unit: a chain of 64 dependent multiplications, bound by their latency, so that alignment and
 * neighbours do not matter, and long, so that an interrupt that is taken one instruction late
 * changes little. A macro, because the line it stands on is the line that must be found. */
#define UNIT(x) ({ __asm__ volatile(".rept 64\n\timul %0, %0\n\t.endr" : "+r"(x)); })

/* A number from 500 to 1499, from a generator that is the same in every run. */
static inline uint64_t shares_length(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return 500 + (*seed >> 33) % 1000;
}

static inline double shares_thread_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The first argument: CPU seconds to run for. */
static inline double shares_seconds(int argc, char **argv)
{
	const double s = argc > 1 ? atof(argv[1]) : 3;

	if (!(s > 0 && s < 1000)) {
		fprintf(stderr, "usage: %s [SECONDS]\n", argv[0]);
		exit(2);
	}
	return s;
}

static inline void shares_truth(const char *name, double value)
{
	printf("truth %s %.17g\n", name, value);
}

#endif
