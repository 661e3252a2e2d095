// SPDX-License-Identifier: BSD-3-Clause
// Exceptions that are thrown and caught inside a parallel region, from a depth of calls. Prints how
// many were caught. Usage: omp_throw [ROUNDS [THREADS]]. Used by tests/cli/openmp/omp_same.sh.
#include "../e2e/shares.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <omp.h>

NOINLINE static int deeper(int depth)
{
	volatile char room[64];

	room[0] = static_cast<char>(depth);
	if (!depth)
		throw std::runtime_error("deep");
	return deeper(depth - 1) + room[0];
}

NOINLINE static long catching(int n)
{
	long n_caught = 0;

	for (int i = 0; i < n; i++) {
		try {
			deeper(i % 20);
		} catch (const std::runtime_error &) {
			n_caught++;
		}
	}
	return n_caught;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 50;
	const int n_threads = argc > 2 ? atoi(argv[2]) : 2;
	long n_caught = 0;

	for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(n_threads) reduction(+ : n_caught)
		n_caught += catching(500);
	}
	std::printf("caught %ld\n", n_caught);
	return 0;
}
