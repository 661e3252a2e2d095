/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of parts; see parts.h. Tests: tests/cli/run/run_*.sh. */
#include "hpcrun-lite/runtime/life/parts.h"

#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/memory/memory_glue.h"
#include "hpcrun-lite/openmp/openmp_glue.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/runtime/children.h"
#include "hpcrun-lite/runtime/code/jit_code.h"
#include "hpcrun-lite/runtime/code/keep.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/code/unload.h"
#include "hpcrun-lite/runtime/control/control.h"
#include "hpcrun-lite/runtime/control/phase.h"
#include "hpcrun-lite/runtime/glue/gpu_glue.h"
#include "hpcrun-lite/runtime/glue/mpi_glue.h"
#include "hpcrun-lite/runtime/glue/python_glue.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_glue.h"
#include "hpcrun-lite/runtime/sample/call_path.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/sample/sample_entry.h"
#include "hpcrun-lite/runtime/waits/blame.h"
#include "hpcrun-lite/runtime/waits/wait_object.h"
#include "hpcrun-lite/runtime/watch.h"
#include "hpcrun-lite/torch/torch_glue.h"

const struct runtime_part runtime_parts[RUNTIME_N_PARTS] = {
	/* measurement off and on */
	{.start = control_start, .forked = control_forked},
	/* phases that the program marks */
	{.start = phase_start, .forked = phase_start},
	/* samples: what is held back or could not be taken */
	{.thread_reset = sample_reset_record,
	 .thread_ends = sample_drop_held,
	 .write = sample_entry_report},
	/* remembered paths of calls */
	{.thread_reset = call_path_forget,
	 .thread_ends = call_path_forget,
	 .write = call_path_report},
	/* the watch for threads without samples */
	{.thread_reset = watch_reset_record},
	/* waits: their objects, and blame */
	{.forked = wait_object_forked},
	{.thread_reset = blame_reset_record, .thread_ends = blame_end},
	/* child processes */
	{.measured = children_start, .forked = children_forked, .write = children_finish},
	/* GPUs */
	{.measured = gpu_glue_start,
	 .forked = gpu_glue_forked,
	 .thread_reset = gpu_glue_thread_reset,
	 .thread_ends = gpu_glue_thread_ends,
	 .before_end = gpu_glue_before_end,
	 .finish = gpu_glue_finish,
	 .trim = gpu_glue_trim,
	 .exec_failed = gpu_reopen},
	/* OpenMP */
	{.start = openmp_glue_start,
	 .thread_reset = openmp_glue_thread_reset,
	 .thread_begins = openmp_glue_thread_begins,
	 .thread_ends = openmp_glue_thread_ends,
	 .write = openmp_glue_write},
	/* MPI */
	{.forked = mpi_glue_forked,
	 .thread_reset = mpi_glue_thread_reset,
	 .thread_ends = mpi_glue_thread_ends,
	 .trim = mpi_glue_trim},
	/* memory of the program */
	{.forked = memory_glue_forked,
	 .thread_reset = memory_glue_thread_reset,
	 .thread_ends = memory_glue_thread_ends,
	 .trim = memory_glue_trim},
	/* NVTX */
	{.forked = nvtx_glue_forked,
	 .thread_reset = nvtx_glue_thread_reset,
	 .thread_ends = nvtx_glue_thread_ends,
	 .trim = nvtx_glue_trim},
	/* PyTorch */
	{.forked = torch_glue_forked},
	/* Python; before the modules, one of which may be an interpreter */
	{.start = python_glue_start, .forked = python_forked},
	/* code: copies of binaries; before the modules, whose files may be new */
	{.start = keep_start, .copy = keep_at_end},
	/* load modules */
	{.start = module_start, .forked = module_forked, .copy = module_read_contents},
	/* code that a dlclose unloads; after the modules, which are loaded by then */
	{.start = unload_start, .thread_begins = unload_thread_begins},
	/* code that the program generates */
	{.start = jit_start, .forked = jit_forked, .copy = jit_keep},
};
