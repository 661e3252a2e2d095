/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU part of the pipeline, step by step in the order of these functions: join the operations of each file, name the code objects, hang what was done below the
 * contexts that asked for it, and describe devices, queues and ledgers in the model. False: memory is short. Tests: tests/unit/test_gpu_model.c, tests/cli/prof_gpu.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_ATTRIBUTE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_ATTRIBUTE_H

#include "hpcprof-lite/attribute/expand.h"
#include "hpcprof-lite/attribute/gpu/gpu_metrics.h"
#include "hpcprof-lite/attribute/merge_modules.h"
#include "hpcprof-lite/load/load_job.h"

/* What one file brings. */
struct gpu_file {
	struct gpu_join join;
	uint32_t *module_of;          /* by code id of the file: module, MODEL_NONE */
	uint32_t *context_of;         /* by cell, of struct expand */
	struct model_gpu_cell *cells; /* by cell; the model's */
	gpu_extras extras;
	size_t *first_extra;          /* by thread: of its extras; one more */
	struct model_gpu_sampling sampling;
	struct model_gpu_yardstick *yardsticks; /* of sampling; the model's once it is described */
	uint32_t first_profile;       /* of the process; its queues follow its threads */
	uint32_t first_queue, first_context, n_profiles;
};

struct gpu_part {
	struct load_job *job;
	struct gpu_file *files;       /* as in the job; NULL: no file has anything of GPUs */
	bool is_present;
	struct gpu_metrics metrics;
	uint32_t n_cpu_modules;
};

/* Zeroes nothing: *g is zero. */
bool gpu_join_all(struct gpu_part *g, struct load_job *job, unsigned n_workers);
/* Appends the code objects to the modules; their records and paths belong to the model. */
bool gpu_add_modules(struct gpu_part *g, struct merge_modules *modules, struct model *m);
/* Marks the modules whose functions ran. */
void gpu_need_modules(const struct gpu_part *g, bool *needed);
/*
 * Contexts and values. node_context: the context (of struct expand) at a node of a thread of a file.
 */
bool gpu_expand(struct gpu_part *g, struct expand *e, const struct expand_module *modules, uint32_t n_modules,
	uint32_t (*node_context)(const void *arg, uint32_t file, uint32_t thread, uint32_t node), const void *arg);
/* After order_contexts() and describe_metrics(): metrics join the model's, values and cells get final contexts. */
bool gpu_settle(struct gpu_part *g, struct model *m, const uint32_t *final_of);
/* How many profiles the queues of a file have; `first` is the one of the process's first thread. */
uint32_t gpu_n_profiles(const struct gpu_part *g, uint32_t file);
void gpu_set_first_profile(struct gpu_part *g, uint32_t file, uint32_t first);
/* Latest moment that the GPU records of a file know, CLOCK_MONOTONIC; 0: none. */
uint64_t gpu_last_moment(const struct gpu_part *g, uint32_t file);
/* The values of a thread. */
const struct sum_extra *gpu_extras_of(const struct gpu_part *g, uint32_t file, uint32_t thread, size_t *n);
/* Devices, contexts, queues, shapes, the profiles of queues, ledgers. Processes and the profiles of threads are there. */
bool gpu_describe(struct gpu_part *g, struct model *m);
void gpu_free(struct gpu_part *g);

#endif
