/* SPDX-License-Identifier: BSD-3-Clause */
/* See words.h. Test: tests/cli/sink/sink_json.sh. */
#include "hpcprof-lite/record/words.h"

#include "common/format/structure.h"
#include "hpcprof-lite/view/parallel/view_processors.h"

#define WORD(words, i) ((size_t)(i) < sizeof(words) / sizeof *(words) ? (words)[i] : "unknown")

const char *words_structure(unsigned s)
{
	static const char *const words[] = {"none", "changed", "symbols", "lines"};
	return WORD(words, s);
}

const char *words_role(unsigned r)
{
	static const char *const words[] = {"program", "interpreter", "launch", "start"};
	return WORD(words, r);
}

const char *words_context(unsigned k)
{
	static const char *const words[] = {"root", "entry", "function",
					    "loop", "line",  "instruction"};
	return WORD(words, k);
}

const char *words_relation(unsigned r)
{
	static const char *const words[] = {"lexical", "call", "inlined"};
	return WORD(words, r);
}

const char *words_entry(unsigned e)
{
	static const char *const words[] = {"main",        "thread",        "partial",
					    "gpu-no-path", "gpu-no-launch", "omp-idle"};
	return WORD(words, e);
}

const char *words_metric(unsigned k)
{
	static const char *const words[] = {"sampled",  "gpu-time",    "gpu-count",
					    "gpu-mean", "gpu-samples", "guessed",
					    "activity", "mpi-time",    "mpi-count",
					    "gpu-energy", "memory"};
	return WORD(words, k);
}

const char *words_activity(unsigned a)
{
	static const char *const words[] = {
		[MODEL_WORK] = "work",
		[MODEL_OMP_BARRIER] = "omp-barrier",
		[MODEL_OMP_LOCK] = "omp-lock",
		[MODEL_OMP_ORDERED] = "omp-ordered",
		[MODEL_OMP_TASKWAIT] = "omp-taskwait",
		[MODEL_OMP_OVERHEAD] = "omp-overhead",
		[MODEL_OMP_IDLE] = "omp-idle",
		[MODEL_MPI_P2P] = "mpi-p2p",
		[MODEL_MPI_COLLECTIVE] = "mpi-collective",
		[MODEL_MPI_ONE_SIDED] = "mpi-one-sided",
		[MODEL_MPI_IO] = "mpi-io",
		[MODEL_MPI_OTHER] = "mpi-other",
		[MODEL_TORCH_COLLECTIVE] = "torch-collective",
		[MODEL_GPU_WAIT] = "gpu-wait",
		[MODEL_BLOCKED_LOCK] = "blocked-lock",
		[MODEL_BLOCKED_THREAD] = "blocked-thread",
		[MODEL_BLOCKED_IO] = "blocked-io",
		[MODEL_BLOCKED_POLL] = "blocked-poll",
		[MODEL_BLOCKED_SLEEP] = "blocked-sleep",
		[MODEL_BLOCKED_OTHER] = "blocked-other",
		[MODEL_NO_CPU] = "no-processor",
	};
	return WORD(words, a);
}

const char *words_use(unsigned use)
{
	static const char *const others[] = {"unknown", "off", "no-thread"};
	return use < MODEL_N_ACTIVITIES ? words_activity(use)
	       : use < VIEW_N_USES      ? others[use - MODEL_N_ACTIVITIES]
					: NULL;
}

const char *words_metric_role(unsigned r)
{
	static const char *const words[] = {
		NULL,        "gpu-time", "kernel-time", "copy-time",   "set-time",
		"sync-time", "kernels",  "copies",      "copy-bytes",  "sets",
		"set-bytes", "syncs",    "samples",     "apportioned", "measured",
		"expected",  "issued",   "stall",       "stall-idle",  "mpi-time",
		"mpi-wait",  "mpi-calls", "mpi-sent",   "mpi-received",
		"gpu-idle-cause", "cpu-idle-cause", "blamed", "blamed-for", "unblamed",
		"energy",    "energy-shared", "energy-time", "counter", "counted", "counted-time",
		"refused",   "memory-time", "memory-calls", "live-peak", "live-end",
	};
	return WORD(words, r);
}

const char *words_source(unsigned s)
{
	static const char *const words[] = {"none",          "perf event", "CPU timer",
					    "elapsed timer", "PAPI",       "test",
					    "calls of malloc"};
	return WORD(words, s);
}

const char *words_nvtx(unsigned kind)
{
	return kind == MSR_NVTX_PUSHED ? "pushed" : kind == MSR_NVTX_STARTED ? "started" : "mark";
}

const char *words_op(unsigned kind)
{
	return msr_gpu_kind_name((enum msr_gpu_kind)kind);
}

const char *words_wait_kind(unsigned kind)
{
	static const char *const words[STRUCTURE_N_WAIT_KINDS] = {
		[STRUCTURE_WAIT_RESULT] = "result",
		[STRUCTURE_WAIT_OPERANDS] = "operands",
		[STRUCTURE_WAIT_FIXED] = "fixed",
		[STRUCTURE_WAIT_WARPS] = "warps",
		[STRUCTURE_WAIT_PATHS] = "paths"};
	return kind < STRUCTURE_N_WAIT_KINDS ? words[kind] : NULL;
}

const char *words_operation(unsigned operation)
{
	return operation < STRUCTURE_N_OPERATIONS
		       ? structure_operation_name((enum structure_operation)operation)
		       : "unknown";
}

const char *words_op_detail(const struct model_gpu_op *o)
{
	switch (o->kind) {
	case MSR_GPU_COPY: return msr_gpu_direction_name((enum msr_gpu_direction)o->detail);
	case MSR_GPU_ALLOC:
	case MSR_GPU_FREE: return msr_gpu_memory_name((enum msr_gpu_memory)o->detail);
	case MSR_GPU_SYNC: return msr_gpu_sync_name((enum msr_gpu_sync)o->detail);
	default: return NULL;
	}
}
