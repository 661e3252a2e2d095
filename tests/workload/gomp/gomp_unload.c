/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a library with regions, runs some, and closes it with its run time, whose workers sleep in
 * it for ever. Their code goes away and comes again. Used by tests/cli/openmp/gomp_two.sh.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

static void pause_ms(int ms)
{
	const struct timespec t = {0, ms * 1000000};
	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	for (int round = 0; argc > 1 && round < 5; round++) {
		void *handle = dlopen(argv[1], RTLD_NOW);
		int (*run_regions)(int);
		if (!handle) {
			printf("%s\n", dlerror());
			return 1;
		}
		*(void **)&run_regions = dlsym(handle, "plugin_run");
		printf("%d\n", run_regions(4));
		pause_ms(20); /* or the program alone crashes now and then */
		dlclose(handle);
		pause_ms(20);
	}
	return 0;
}
