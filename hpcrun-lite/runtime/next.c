/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the definition behind a hook; see next.h. Test: tests/cli/run/run_processes.sh. */
#include "hpcrun-lite/runtime/next.h"

#include <dlfcn.h>
#include <errno.h>

void *hook_next_find(struct hook_next *next)
{
	int saved = errno;
	void *function = dlsym(RTLD_NEXT, next->name);
	atomic_store_explicit(&next->function, function, memory_order_relaxed);
	errno = saved;
	return function;
}

int hook_next_missing(void)
{
	errno = ENOSYS;
	return -1;
}
