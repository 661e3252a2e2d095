/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the libraries that it is given, each for itself (RTLD_LOCAL), runs the regions of all of
 * them in turn, and closes and opens them again, without their run times. With "global:" before its
 * name a library is loaded for all; with "late:" it runs only when the next one has been loaded.
 * Has no OpenMP itself. Used by tests/cli/openmp/gomp_two.sh.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 20, MOST = 8 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The run time stays: its threads do. */
static void run(void *handle, const char *name)
{
	int (*run_regions)(int);
	const char *(*run_time)(void);
	*(void **)&run_regions = dlsym(handle, "plugin_run");
	*(void **)&run_time = dlsym(handle, "plugin_run_time");
	dlopen(run_time(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	printf("%s %s: %d of %d\n", name, base_name(run_time()), run_regions(ROUNDS), 6 * ROUNDS);
}

int main(int argc, char **argv)
{
	void *handle[MOST] = {0};
	for (int round = 0; round < 3; round++) {
		for (int i = 1; i < argc && i < MOST; i++) {
			const int is_global = !strncmp(argv[i], "global:", 7),
				  is_late = !strncmp(argv[i], "late:", 5);
			const char *path = argv[i] + (is_global ? 7 : is_late ? 5 : 0);
			handle[i] = dlopen(path, RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
			if (!handle[i]) {
				printf("%s\n", dlerror());
				return 1;
			}
			for (int k = 1; k <= i - is_late; k++)
				run(handle[k], k == i ? base_name(path) : "again");
		}
		for (int i = 1; i < argc && i < MOST; i++)
			dlclose(handle[i]);
	}
	return 0;
}
