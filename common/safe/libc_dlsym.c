/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlsym, like the functions in libc.c. It is a library of its own, because the library in front of
 * CUPTI has another dlsym, for the program. Test: tests/lint/symbols.sh.
 */
#include "common/safe/libc.h"

#include <dlfcn.h>
#include <string.h>

typedef void *dlsym_fn(void *, const char *);

void *dlsym(void *restrict handle, const char *restrict name)
{
	dlsym_fn *next;
	memcpy(&next, &(void *){libc_dlsym()}, sizeof next);
	void *symbol = next ? next(handle, name) : NULL;
	/* RTLD_NEXT does not find a libpthread that we loaded: it comes after no library. */
	if (!symbol && handle == RTLD_NEXT) {
		void *threads = libc_threads();
		symbol = threads ? next(threads, name) : NULL;
	}
	return symbol;
}
