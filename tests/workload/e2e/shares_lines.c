/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known shares between lines of one function, 1 : 2 : 4, and between inlined bodies: one inline
 * function at two call sites, 1 : 3, which holds a second inline function that does 2 of its 3
 * units. The truth is the number of units done, by the word in the comment at the end of the line.
 * See shares.h.
 */
#include "shares.h"

static volatile uint64_t sink;

NOINLINE static void by_line(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x = a | 1;

	for (uint64_t i = 0; i < a; i++)
		UNIT(x); /* line_a */
	for (uint64_t i = 0; i < b; i++)
		UNIT(x); /* line_b */
	for (uint64_t i = 0; i < c; i++)
		UNIT(x); /* line_c */
	sink = x;
}

INLINE uint64_t inner_body(uint64_t x)
{
	UNIT(x); /* inner */
	UNIT(x); /* inner */
	return x;
}

INLINE uint64_t outer_body(uint64_t x)
{
	UNIT(x); /* outer */
	return inner_body(x);
}

NOINLINE static void by_inline(uint64_t a, uint64_t b)
{
	uint64_t x = a | 1;

	for (uint64_t i = 0; i < a; i++)
		x = outer_body(x); /* site_a */
	for (uint64_t i = 0; i < b; i++)
		x = outer_body(x); /* site_b */
	sink = x;
}

int main(int argc, char **argv)
{
	const double end_s = shares_seconds(argc, argv);
	uint64_t seed = 2, n_a = 0, n_b = 0, n_c = 0, n_site_a = 0, n_site_b = 0;

	while (shares_thread_cpu_s() < end_s) {
		for (int i = 0; i < 20; i++) {
			uint64_t a = shares_length(&seed), b = 2 * shares_length(&seed),
				 c = 4 * shares_length(&seed);

			by_line(a, b, c);
			n_a += a, n_b += b, n_c += c;
			a = shares_length(&seed), b = 3 * shares_length(&seed);
			by_inline(a, b);
			n_site_a += 3 * a, n_site_b += 3 * b;
		}
	}
	shares_truth("cpu", shares_thread_cpu_s());
	shares_truth("line_a", (double)n_a);
	shares_truth("line_b", (double)n_b);
	shares_truth("line_c", (double)n_c);
	shares_truth("site_a", (double)n_site_a);
	shares_truth("site_b", (double)n_site_b);
	shares_truth("outer", (double)(n_site_a + n_site_b) / 3);
	shares_truth("inner", (double)(n_site_a + n_site_b) / 3 * 2);
	return 0;
}
