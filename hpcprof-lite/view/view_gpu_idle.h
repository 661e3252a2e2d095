/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why GPUs were idle, and what threads waited for: the rows that reports show. The numbers come
 * from model.gpu_idle and from the metrics GPU_IDLE_CAUSE and CPU_IDLE_CAUSE. Test:
 * tests/unit/prof_gpu/test_gpu_idle.c.
 */
#ifndef HPCPROF_VIEW_VIEW_GPU_IDLE_H
#define HPCPROF_VIEW_VIEW_GPU_IDLE_H

#include "hpcprof-lite/model/model.h"

/* The parts into which the time of a device is divided. */
enum view_gpu_part {
	VIEW_GPU_KERNELS,
	VIEW_GPU_COPIES,           /* without a kernel */
	VIEW_GPU_IDLE,             /* the first of enum model_gpu_idle_cause */
	VIEW_GPU_PARTS = VIEW_GPU_IDLE + MODEL_N_GPU_IDLE_CAUSES
};

/* A few words, and one word for programs: "nothing launched", "nothing". */
const char *view_gpu_part_words(enum view_gpu_part p);
const char *view_gpu_part_key(enum view_gpu_part p);
uint64_t view_gpu_part_ns(const struct model_gpu_idle *i, enum view_gpu_part p);
/* The sum of idle_ns. */
uint64_t view_gpu_idle_ns(const struct model_gpu_idle *i);
/*
 * The context of the innermost line of the program around this one; in Python programs, of the
 * user's Python code. MODEL_NONE: there is none.
 */
uint32_t view_program_line(const struct model *m, uint32_t context);
/* NULL if nothing is known of the device. */
const struct model_gpu_idle *view_gpu_idle_of(const struct model *m, uint32_t device);

/*
 * One line of the program and all that it called, or one function if no line is known, or a kernel
 * or kind of operation.
 */
struct view_idle_row {
	/*
	 * Contexts. line: the innermost line of the program; MODEL_NONE: none, or an operation.
	 * function: the innermost function or entry; if there is a line, one of those there.
	 */
	uint32_t function, line;
	double seconds;
};

struct view_idle_rows {
	struct view_idle_row *at; /* by falling time, then first context */
	size_t n;
};

/*
 * Rows of MODEL_ROLE_GPU_IDLE_CAUSE by place, or of MODEL_ROLE_CPU_IDLE_CAUSE by kernel or kind of
 * operation. False if memory is short; then there is nothing to free.
 */
bool view_idle_rows_make(const struct model *m, enum model_metric_role role,
			 struct view_idle_rows *r);
void view_idle_rows_free(struct view_idle_rows *r);

#endif
