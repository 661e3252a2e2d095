/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLVM's and Intel's run time of OpenMP look for a tool when they start, by the name
 * ompt_start_tool. We are that tool, unless the program has one of its own: a run time takes one
 * only. Must not allocate. Test: tests/cli/openmp/omp_tools.sh.
 */
#include "hpcrun-lite/openmp/ompt.h"

#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

HOOK ompt_start_tool_t ompt_start_tool;
HOOK_NEXT(ompt_start_tool);

static int initialize(ompt_function_lookup_t *lookup, int device, ompt_data_t *data)
{
	(void)device;
	(void)data;
	return ompt_region_start(lookup);
}

static void finalize(ompt_data_t *data)
{
	(void)data;
}

/*
 * What is behind us is another tool, or the run time itself, which then looks further. A second run
 * time in the process goes without us: which of them reports is not known in a callback.
 */
ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t ours = {initialize, finalize, {0}};
	static atomic_flag is_taken = ATOMIC_FLAG_INIT;
	runtime_start();
	ompt_start_tool_t *next = NEXT_AS(ompt_start_tool_t, ompt_start_tool);
	ompt_start_tool_result_t *theirs = next ? next(omp_version, runtime_version) : NULL;
	const char *libraries = getenv("OMP_TOOL_LIBRARIES");
	if (theirs || (libraries && *libraries)) {
		runtime_note("The program has an OpenMP tool of its own. Call paths of OpenMP "
			     "workers start at the thread, not at the region.");
		return theirs;
	}
	const struct config *config = runtime_config();
	return config && config->openmp && !atomic_flag_test_and_set(&is_taken) ? &ours : NULL;
}
