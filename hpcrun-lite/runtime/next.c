/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the definition behind a hook; see next.h. Test: tests/cli/run/run_processes.sh. */
#include "hpcrun-lite/runtime/next.h"

#include "common/safe/library_symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

void *hook_next_find(struct hook_next *next)
{
	/*
	 * Before glibc 2.34 dlsym allocates, and the program's allocator may call a hook. Volatile:
	 * dlsym is declared as a function that calls nobody here.
	 */
	static __thread volatile bool is_looking;
	if (is_looking)
		return library_of_libc(next->name);
	int saved = errno;
	is_looking = true;
	void *function = dlsym(RTLD_NEXT, next->name);
	is_looking = false;
	atomic_store_explicit(&next->function, function, memory_order_relaxed);
	errno = saved;
	return function;
}

int hook_next_missing(void)
{
	errno = ENOSYS;
	return -1;
}
