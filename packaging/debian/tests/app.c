/* SPDX-License-Identifier: BSD-3-Clause */
/* What measure runs: a program that stops and starts its measurement. */
#include <hpctoolkit.h>
#include <time.h>

static volatile unsigned long sum;

static void burn(double seconds)
{
	while (clock() < seconds * CLOCKS_PER_SEC)
		for (int i = 0; i < 1000; i++)
			sum += i;
}
static void __attribute__((noinline)) hidden_part(void)
{
	burn(0.5);
	sum++;
}
static void __attribute__((noinline)) measured_part(void)
{
	burn(1.0);
	sum++;
}
int main(void)
{
	hpctoolkit_sampling_stop();
	hidden_part();
	hpctoolkit_sampling_start();
	measured_part();
	return hpctoolkit_sampling_is_active() ? 7 : 8;
}
