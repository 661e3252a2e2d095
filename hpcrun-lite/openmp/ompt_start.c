/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLVM's and Intel's OpenMP run times look for a tool when they start, by the name ompt_start_tool.
 * We are that tool, unless the program has its own, because a run time takes only one. Must not
 * allocate. Test: tests/cli/openmp/omp_tools.sh.
 */
#include "common/safe/find_object.h"
#include "hpcrun-lite/openmp/ompt.h"

#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

HOOK ompt_start_tool_t ompt_start_tool;
HOOK_NEXT(ompt_start_tool);

static int initialize(ompt_function_lookup_t *lookup, int device, ompt_data_t *data)
{
	(void)device;
	(void)data;
	const bool is_good = ompt_region_start(lookup);
	if (!is_good)
		runtime_note(
			"The program's OpenMP does not report its regions to tools. Call paths of "
			"OpenMP workers start at the thread, not at the region.");
	return is_good;
}

static void finalize(ompt_data_t *data)
{
	(void)data;
}

static void note_other_tool(void)
{
	runtime_note(
		"The program has an OpenMP tool of its own. Call paths of OpenMP workers start "
		"at the thread, not at the region.");
}

static bool same_object(const void *a, const void *b)
{
	struct dl_find_object in_a, in_b;
	return find_object_surely((void *)(uintptr_t)a, &in_a) == 0 &&
	       find_object_surely((void *)(uintptr_t)b, &in_b) == 0 &&
	       in_a.dlfo_link_map == in_b.dlfo_link_map;
}

/*
 * A run time that is linked to the program also defines this name, and searches further.
 * RTLD_DEFAULT would search this library first, because it is linked with -Bsymbolic.
 */
void ompt_start(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	const void *first = program ? dlsym(program, "ompt_start_tool") : NULL,
		   *run_time = program ? dlsym(program, "__kmpc_fork_call") : NULL;
	if (first && !same_object(first, (const void *)ompt_start) &&
	    !(run_time && same_object(first, run_time)))
		note_other_tool();
}

/*
 * The next definition after ours is another tool, or the run time itself, which then searches
 * further. We do not measure a second run time in the process, because a callback does not say
 * which of the two reports.
 */
ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t ours = {initialize, finalize, {0}};
	static atomic_flag is_taken = ATOMIC_FLAG_INIT;
	runtime_start();
	ompt_start_tool_t *next = NEXT_AS(ompt_start_tool_t, ompt_start_tool);
	ompt_start_tool_result_t *theirs = next ? next(omp_version, runtime_version) : NULL;
	const char *libraries = getenv("OMP_TOOL_LIBRARIES");
	const struct config *config = runtime_config();
	if (!config || !config->openmp)
		return theirs;
	if (theirs || (libraries && *libraries)) {
		note_other_tool();
		return theirs;
	}
	return atomic_flag_test_and_set(&is_taken) ? NULL : &ours;
}
