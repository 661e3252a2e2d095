/* SPDX-License-Identifier: BSD-3-Clause */
/* A library whose segments lie 64 KiB apart, with holes between them. Loaded by
 * tests/unit/unwind/test_unwind.c. */

int function_before_a_hole(void);
int hole_data = 1;

int function_before_a_hole(void)
{
	return hole_data;
}
