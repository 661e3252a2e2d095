/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile: the modules, functions, contexts, metrics, values and time lines of all merged
 * processes and threads.
 *
 * load and attribute build the model, and attribute_run() returns it constant. Each sink is a
 * function over a `const struct model *`. Sinks may run at the same time in different threads. One
 * struct model owns everything. All pointers returned are borrowed and stay valid as long as the
 * model. Tests: tests/unit/prof/test_model.c.
 *
 * The parts of the model are in model_activity.h, model_code.h, model_metric.h, model_process.h,
 * model_gpu.h, model_gpu_memory.h, model_energy.h, model_omp.h, model_phase.h, model_memory.h,
 * model_mpi.h, model_nccl.h, model_nvtx.h and model_share.h, which this file includes.
 *
 * Ids are dense indices into the arrays of struct model. Contexts are in depth-first preorder.
 * Siblings are sorted by kind, then name, file, line and address, so the order of the input does
 * not change the output. A parent's id is smaller than its children's. The descendants of a context
 * have the ids [id + 1, id + subtree_n).
 */
#ifndef HPCPROF_MODEL_MODEL_H
#define HPCPROF_MODEL_MODEL_H

#include "common/format/ends.h"
#include "common/format/measurement_gpu.h"
#include "hpcprof-lite/model/model_activity.h"
#include "hpcprof-lite/model/model_code.h"
#include "hpcprof-lite/model/model_energy.h"
#include "hpcprof-lite/model/model_gpu.h"
#include "hpcprof-lite/model/model_gpu_memory.h"
#include "hpcprof-lite/model/model_memory.h"
#include "hpcprof-lite/model/model_metric.h"
#include "hpcprof-lite/model/model_mpi.h"
#include "hpcprof-lite/model/model_nccl.h"
#include "hpcprof-lite/model/model_nvtx.h"
#include "hpcprof-lite/model/model_omp.h"
#include "hpcprof-lite/model/model_phase.h"
#include "hpcprof-lite/model/model_process.h"
#include "hpcprof-lite/model/model_share.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- the whole model ---- */


struct model {
	const struct model_module *modules;
	uint32_t n_modules;
	const struct model_file *files;
	uint32_t n_files;
	const struct model_function *functions;
	uint32_t n_functions;
	const struct model_context *contexts;
	uint32_t n_contexts;
	const struct model_metric *metrics;
	uint32_t n_metrics;
	const struct model_process *processes;
	uint32_t n_processes;
	const struct model_omp_region *omp_regions; /* by process, then falling elapsed_ns */
	uint32_t n_omp_regions;
	const struct model_phase *phases; /* by first range; those of NVTX by falling length */
	uint32_t n_phases;
	const struct model_range *ranges; /* by phase, then process, then enter_ns */
	size_t n_ranges;
	const struct model_unmeasured *unmeasured; /* by falling CPU time, then path */
	uint32_t n_unmeasured;
	const struct model_gpu_device *gpu_devices;
	uint32_t n_gpu_devices;
	const struct model_gpu_context *gpu_contexts;
	uint32_t n_gpu_contexts;
	const struct model_gpu_queue *gpu_queues;
	uint32_t n_gpu_queues;
	const struct msr_gpu_shape *gpu_shapes; /* launch characteristics; their ids are not used */
	uint32_t n_gpu_shapes;
	const struct model_gpu_occupancy *gpu_occupancies; /* by shape; NULL: none is known */
	const struct model_gpu_idle *gpu_idle; /* by device; NULL: known for no device */
	struct model_gpu_waits gpu_waits;
	/* by process, device, memory; none if the model is a part of processes */
	const struct model_gpu_memory *gpu_memory;
	uint32_t n_gpu_memory;
	const struct model_meter *meters; /* by device, those of hosts last; then by name, host */
	uint32_t n_meters;
	/* by profile, waiting context, cause, metric; 0: no structure knows causes */
	const struct model_gpu_blame *gpu_blames;
	size_t n_gpu_blames;
	struct model_gpu_ledger gpu_ledger;   /* sum over all processes */
	struct model_gpu_sampling gpu_sampling;
	const struct model_mpi *mpi; /* NULL: nobody called MPI, or it was not measured */
	const struct model_memory *memory; /* by process; those with sampled allocations alone */
	uint32_t n_memory;
	const struct model_nccl *nccl; /* NULL: no kernel of NCCL ran */
	const struct model_nvtx *nvtx; /* NULL: nobody used NVTX, or it was not measured */
	/* by module, address, metric; 0: none, not asked for, or the model is a part of the run */
	const struct model_instruction *instructions;
	size_t n_instructions;
	bool has_gpu; /* the run had a GPU back end, even if it saw nothing */
	/*
	 * Sorted by rank, host, pid, exec_seq. Within a process: threads by number, then queues by
	 * device, context, ordinal and lane.
	 */
	const struct model_profile *profiles;
	uint32_t n_profiles;
	const struct model_total *totals;     /* sorted by context, then metric */
	size_t n_totals;
	struct model_ledger ledger;           /* sum over all */
	/* A sum of values exceeded 64 bits and stays at the maximum. This counts as damage. */
	bool sums_overflow;
	bool ledger_closes; /* delivered == in_tree + losses that count samples, for every thread */
	bool has_traces;
	uint64_t start_ns, end_ns;            /* over all processes, CLOCK_REALTIME */
	uint64_t elapsed_ns;                  /* without the time between runs */
	/*
	 * Largest error of times on different hosts. 0: one host. UINT64_MAX: nothing checked it.
	 */
	uint64_t clock_error_ns;
	/* Stretches of time with measurement, a second apart or begun by another launch. */
	uint32_t n_runs;
	const char *title; /* name by which the first program was called; "": unknown */
	/*
	 * If a filter was applied: the part that it kept, such as "rank 0,4-7; below solve". The
	 * ledgers are those of the whole run even then. NULL: the model is the whole run.
	 */
	const char *part;
	const char *const *part_notes;        /* for people: what the filter had to leave out */
	uint32_t n_part_notes;
	/*
	 * A part by time or function: its threads in the whole run, and how many of them matter at
	 * one time there, so that the accounts of adjoining parts add up. 0: another part.
	 */
	uint32_t part_all_threads, part_most_threads;
	bool part_has_gaps; /* samples outside of the functions of the part have context 0 */
	const struct model_share *share; /* NULL: all values are in this process */
	struct model_private *private_;       /* private data of load and attribute */
};

/* Frees everything and unmaps the measurement files. NULL is allowed. */
void model_free(struct model *m);

/*
 * True for Python source of the installation, not of the user: below lib/python3.12, site-packages
 * or dist-packages, or not a file ("<frozen runpy>", "[torch.nn]").
 */
bool model_is_python_library(const char *path);
/*
 * True for the name of a function that a compiler made of a parallel region or task of OpenMP:
 * "solve._omp_fn.0" (GCC), ".omp_outlined." (clang), "solve_..omp_par" (flang).
 */
static inline bool model_is_outlined(const char *name)
{
	return strstr(name, "._omp_fn.") || strstr(name, ".omp_outlined") ||
	       strstr(name, ".omp_par");
}
/*
 * The Python line that led to a place: the innermost LINE context at or above `context` in the
 * user's own files, or if there is none, in any Python file. MODEL_NONE: the path has no Python
 * line.
 */
uint32_t model_find_python_line(const struct model *m, uint32_t context);

/* The number of profiles that are threads. */
static inline uint32_t model_count_threads(const struct model *m)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++)
		n += m->profiles[i].kind == MODEL_PROFILE_THREAD;
	return n;
}

/* The total of (context, metric); NULL if there is none. O(log n). */
const struct model_total *model_find_total(const struct model *m, uint32_t context,
	uint32_t metric);
/* The value of (profile, context, metric); NULL if there is none. O(log n). */
const struct model_value *model_find_value(const struct model *m, uint32_t profile,
	uint32_t context, uint32_t metric);

/*
 * A reader of the values of many profiles calls this when it is done with `n` values. If the values
 * are in files, their pages go back to the page cache now and then. Thread-safe; other threads may
 * go on reading.
 */
void model_values_done(const struct model *m, size_t n);

/*
 * The values of a profile, in the contexts for which this process has the values of all profiles.
 */
static inline struct model_column model_column(const struct model *m, uint32_t profile)
{
	if (m->share)
		return m->share->columns[profile];
	return (struct model_column){.values = m->profiles[profile].values,
				     .n = m->profiles[profile].n_values};
}

/* ---- time lines ---- */

struct model_sample {
	uint64_t time_ns; /* CLOCK_REALTIME since the epoch; never decreases within a profile */
	uint32_t context; /* 0: measurement was off from here on, or see part_has_gaps */
	uint32_t metric;
	/*
	 * The context that was on the thread's stack. The sample counts at `context`, which differs
	 * only in backward passes of PyTorch: they count below the forward line.
	 */
	uint32_t shown;
};

static inline bool model_is_offcpu(const struct model *m, const struct model_sample *s)
{
	return m->metrics[s->metric].measures == MODEL_EVENT_OFFCPU;
}

/*
 * True if the sample shows a wait of OFFCPU. A wait has one sample at its start and one at its end.
 * If the second is missing, the wait ends at the next sample of OFFCPU, or where measurement is
 * off. Samples of other events can fall into a wait, but do not end it.
 */
static inline bool model_is_wait(const struct model *m, const struct model_sample *s)
{
	const uint32_t function = m->contexts[s->context].function;
	return function != MODEL_NONE && m->functions[function].wait && model_is_offcpu(m, s);
}

static inline bool model_ends_wait(const struct model *m, const struct model_sample *s)
{
	return !s->context || model_is_offcpu(m, s);
}

/*
 * Reads the time line of one profile directly from the measurement file, so memory does not grow
 * with the number of samples. Stores up to `n` samples in `out` and returns the number; 0 at the
 * end. Start with a zeroed cursor. Cursors are independent, even on the same profile and in several
 * threads.
 */
struct model_trace_cursor {
	uint64_t extent, offset, time_ns, n_unreleased; /* private */
};
size_t model_trace_read(const struct model *m, uint32_t profile, struct model_trace_cursor *c,
	struct model_sample *out, size_t n);

/* ---- GPU operations ---- */

/*
 * Reads the operations of one QUEUE profile in order of time. The contract is that of
 * model_trace_read(). QUEUE profiles have no samples.
 */
struct model_gpu_cursor {
	uint64_t next, n_unreleased;   /* private */
};
size_t model_gpu_read(const struct model *m, uint32_t profile, struct model_gpu_cursor *c,
	struct model_gpu_op *out, size_t n);

/* A call in which a thread waited for a GPU. Times are CLOCK_REALTIME, as those of samples. */
struct model_gpu_stay {
	uint64_t start_ns, end_ns;
	uint32_t context; /* the placeholder <gpu sync> of the call */
};
/*
 * Reads the waits of one THREAD profile for GPUs in order of their start. The contract is that of
 * model_trace_read(). A part of a run has none.
 */
size_t model_gpu_read_waits(const struct model *m, uint32_t profile, struct model_gpu_cursor *c,
			    struct model_gpu_stay *out, size_t n);

#endif
