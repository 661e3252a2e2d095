/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes N small objects, of which 4096 live at a time, with WORK steps of a random generator before
 * each: bench_allocations N WORK. See bench_memory.sh.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

static void *kept[4096];

int main(int argc, char **argv)
{
	const long n = argc > 1 ? std::atol(argv[1]) : 0, work = argc > 2 ? std::atol(argv[2]) : 0;
	std::uint64_t x = 1;
	for (long i = 0; i < n; i++) {
		for (long k = 0; k <= work; k++)
			x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		void *&slot = kept[x >> 52];
		operator delete(slot);
		slot = operator new(16 + (x >> 40 & 127));
	}
	std::printf("%llu\n", static_cast<unsigned long long>(x));
}
