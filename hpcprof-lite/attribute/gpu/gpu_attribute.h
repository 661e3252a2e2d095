/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU steps of attribution, in the order of these functions: join the operations of each file
 * with their launches, name the code objects, put the work below the contexts that launched it, and
 * describe devices, queues and ledgers in the model. False: memory is short. If parts share the
 * files of a job, each part joins the operations of its own files, and the parts exchange contexts
 * and sums. Tests: tests/unit/prof_gpu/test_gpu_model.c, tests/cli/prof/prof_gpu.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_ATTRIBUTE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_ATTRIBUTE_H

#include "hpcprof-lite/attribute/expand/expand.h"
#include "hpcprof-lite/attribute/gpu/gpu_memory_rows.h"
#include "hpcprof-lite/attribute/gpu/metrics/gpu_metrics.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_blame.h"
#include "hpcprof-lite/attribute/merge/merge_modules.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"

/* The GPU data of one file. */
struct gpu_file {
	struct gpu_join join;
	uint32_t *module_of;          /* by code id of the file: module, or MODEL_NONE */
	uint32_t *context_of;         /* by cell: context of struct expand */
	struct model_gpu_cell *cells; /* by cell; owned by the model */
	gpu_extras extras;
	/* by thread: index of the first of its extras; one more entry at the end */
	size_t *first_extra;
	struct model_gpu_sampling sampling;
	/* the yardsticks of `sampling`; the model owns them after gpu_describe() */
	struct model_gpu_yardstick *yardsticks;
	struct gpu_blames blames;
	uint32_t first_profile; /* first profile of the process; its queues follow its threads */
	uint32_t first_queue, first_context, n_profiles;
};

struct gpu_part {
	struct load_job *job;
	struct gpu_file *files;       /* as in the job; NULL: no file has GPU data */
	bool is_present;
	struct gpu_metrics metrics;
	uint32_t n_cpu_modules;
	gpu_memory_rows memory;
};

/* *g must be zero before the call. */
bool gpu_join_all(struct gpu_part *g, struct load_job *job, unsigned n_workers);
/* Appends the code objects to the modules. The model owns their records and paths. */
bool gpu_add_modules(struct gpu_part *g, struct merge_modules *modules, struct model *m);
/* Marks the modules of GPU functions that ran. n: all modules. */
bool gpu_need_modules(const struct gpu_part *g, bool *needed, size_t n);
/*
 * Makes contexts and values. node_context() returns the context (in struct expand) for a node of
 * one thread of one file.
 */
bool gpu_expand(struct gpu_part *g, struct expand *e, const struct expand_module *modules,
	uint32_t n_modules,
	uint32_t (*node_context)(const void *arg, uint32_t file, uint32_t thread, uint32_t node),
		const void *arg);
/*
 * Call it after order_contexts() and describe_metrics(). Adds metrics to the model, and gives
 * values and cells their final contexts.
 */
bool gpu_settle(struct gpu_part *g, struct model *m, const struct expand *e);
/*
 * The number of profiles of a file's queues. `first` is the profile of the process's first thread.
 */
uint32_t gpu_n_profiles(const struct gpu_part *g, uint32_t file);
void gpu_set_first_profile(struct gpu_part *g, uint32_t file, uint32_t first);
/* The latest time in the GPU records of a file, CLOCK_MONOTONIC; 0: none. */
uint64_t gpu_last_moment(const struct gpu_part *g, uint32_t file);
/* The values of a thread. */
const struct sum_extra *gpu_extras_of(const struct gpu_part *g, uint32_t file, uint32_t thread,
	size_t *n);
/*
 * Describes devices, contexts, queues, shapes, the profiles of queues, and ledgers. Processes and
 * the profiles of threads must exist.
 */
bool gpu_describe(struct gpu_part *g, struct model *m);
void gpu_free(struct gpu_part *g);

/* In gpu_topic.c. */
extern const struct topic_ops topic_gpu;

#endif
