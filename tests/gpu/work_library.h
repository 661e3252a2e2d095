/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries of the toolkit, found at run time, so that the workloads start without them. */
#ifndef TESTS_GPU_WORK_LIBRARY_H
#define TESTS_GPU_WORK_LIBRARY_H

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

/* The library, or the end of the program with 77. */
inline void *work_library(const char *name)
{
	void *l = dlopen(name, RTLD_NOW);
	if (l)
		return l;
	printf("no %s here: %s\n", name, dlerror());
	exit(77);
}

template <class F> F work_symbol(void *l, const char *name)
{
	void *s = dlsym(l, name);
	if (!s)
		printf("%s is missing\n", name), exit(77);
	return (F)s;
}

#endif
