/* SPDX-License-Identifier: BSD-3-Clause */
/* What the dlopen storm opens and closes: code that works, throws and catches. Run by
 * tests/cli/sacred/sacred_storm.sh. */
#include <stdexcept>

extern "C" long sacred_work(long n)
{
	volatile double x = 1;
	for (int i = 0; i < 20000; i++)
		x = x * 1.0000001;
	try {
		if (n % 3 == 0)
			throw std::runtime_error("work");
	} catch (const std::exception &) {
		return 2;
	}
	return 1;
}
