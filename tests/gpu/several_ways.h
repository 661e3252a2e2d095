/* SPDX-License-Identifier: BSD-3-Clause */
/* What cuda_several.c and several_gpus.cu share: how their ways are chosen, by their arguments (see
 * several_gpus.cu). C and CUDA C++. */
#ifndef TESTS_GPU_SEVERAL_WAYS_H
#define TESTS_GPU_SEVERAL_WAYS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct several_ways {
	void (*open_gpu)(int gpu); /* before the way; NULL: nothing to do */
	void (*one)(int n);
	void (*threads)(int n);
	void (*peers)(int n);
	void (*loops)(int n);
	/* A kernel of 1 ms on a GPU; and the end of all of them. */
	void (*spin_1ms)(int gpu);
	void (*sync)(int gpu);
	uint64_t (*n_kernels)(int gpu);
};

/* For ms milliseconds, and until there is a file of this name. */
static inline void several_own(const struct several_ways *w, int gpu, int ms, const char *until)
{
	for (int i = 0; i < ms || (until && access(until, F_OK) != 0); i++) {
		if (i >= ms)
			usleep(1000);
		w->spin_1ms(gpu);
	}
	w->sync(gpu);
}

/* The program's status: 77 where there are not as many GPUs as the way needs. */
static inline int several_run(const struct several_ways *w, int n_gpus, int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 10, is_own = !strcmp(way, "own");
	if (is_own ? n >= n_gpus : n_gpus < 2) {
		printf("only %d GPU here\n", n_gpus);
		return 77;
	}
	for (int d = 0; w->open_gpu && d < n_gpus; d++)
		if (!is_own || d == n)
			w->open_gpu(d);
	void (*run)(int) = !strcmp(way, "one")       ? w->one
			   : !strcmp(way, "threads") ? w->threads
			   : !strcmp(way, "peers")   ? w->peers
			   : !strcmp(way, "loops")   ? w->loops
						     : NULL;
	if (is_own)
		several_own(w, n, argc > 3 ? atoi(argv[3]) : 500, argc > 4 ? argv[4] : NULL);
	else if (run)
		run(n);
	else
		return 2;
	for (int d = 0; d < n_gpus; d++)
		printf("gpu %d kernels %llu\n", d, (unsigned long long)w->n_kernels(d));
	return 0;
}

#endif
