/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into a cmocka program: only the cases that match the pattern in CASE are run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void choose(void)
{
	if (getenv("CASE"))
		cmocka_set_test_filter(getenv("CASE"));
}
