/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with an OpenMP tool of its own, which counts parallel regions, as profilers that are
 * linked to programs do. With -DTOOL_LIBRARY only the tool, for OMP_TOOL_LIBRARIES. Usage: omp_tool
 * [ROUNDS]. Used by tests/cli/openmp/omp_tools.sh.
 */
#include "omp_truth.h"

#include <omp.h>

/* Of OpenMP 5.2, chapter 19, what is needed here. */
enum { PARALLEL_BEGIN = 3 };
typedef void *lookup_fn(const char *name);
struct tool {
	int (*initialize)(lookup_fn *lookup, int device, uint64_t *data);
	void (*finalize)(uint64_t *data);
	uint64_t data;
};

static int n_regions;

static void parallel_begin(void)
{
	n_regions++;
}

static int initialize(lookup_fn *lookup, int device, uint64_t *data)
{
	int (*set_callback)(int, void (*)(void)) =
		(int (*)(int, void (*)(void)))lookup("ompt_set_callback");

	(void)device;
	(void)data;
	set_callback(PARALLEL_BEGIN, parallel_begin);
	return 1;
}

static void finalize(uint64_t *data)
{
	(void)data;
#ifdef TOOL_LIBRARY
	printf("the tool in a library saw %d regions\n", n_regions);
#endif
}

struct tool *ompt_start_tool(unsigned version, const char *name);
struct tool *ompt_start_tool(unsigned version, const char *name)
{
	static struct tool tool = {initialize, finalize, 0};

	(void)version;
	(void)name;
	return &tool;
}

#ifndef TOOL_LIBRARY

NOINLINE static void tool_work(int row)
{
	truth_burn(row, 1);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 50;

	truth_start();
	for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(2)
		{
			tool_work(omp_get_thread_num());
			STAY();
		}
	}
	printf("the tool saw %d regions\n", n_regions);
	return 0;
}

#endif
