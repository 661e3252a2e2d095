/* SPDX-License-Identifier: BSD-3-Clause */
/* Inlined into the condition of a loop of loops.c. */

static inline __attribute__((always_inline)) int at_end(const int *a, int i)
{
	return a[i] < 0 || cond(i);
}
