/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of model_fixture share: model_fixture.c (objects, processes, values),
 * model_fixture_tree.c (contexts), model_fixture_gpu.c (operations, devices, PC samples). */
#ifndef TESTS_UNIT_MODEL_FIXTURE_PRIVATE_H
#define TESTS_UNIT_MODEL_FIXTURE_PRIVATE_H

#include "tests/unit/sink/model_fixture.h"

#include "common/base/vec.h"

enum { PERIOD_NS = 1000000 };
enum { N_LANES = 3, N_QUEUES = 2, N_PC_LINES = 3 }; /* of each process with a GPU */

enum { EXE, LIBC, GPU_CODE, N_MODULES };
enum { MAIN_C, WORK_H, MISSING_C, UMLAUT_C, KERNEL_CL, N_FILES };
enum {
	F_MAIN,
	F_WORK,
	F_INLINED,
	F_RECURSE,
	F_QSORT,
	F_COMPARE,
	F_TEMPLATE,
	F_UMLAUT,
	F_THREAD,
	F_EVIL,
	F_ENQUEUE,
	F_KERNEL,
	F_DEVICE,
	F_OTHER_KERNEL,
	F_GPU_KERNEL,
	F_GPU_COPYIN,
	F_GPU_COPYOUT,
	F_GPU_SYNC,
	F_NAMED
};

/* Metrics of the GPU, behind those that are sampled on CPUs. */
enum {
	G_OP,
	G_KERNEL,
	G_COPY,
	G_SYNC,
	G_KERNELS,
	G_BLOCKS,
	G_BYTES_IN,
	G_BYTES_OUT,
	G_COPIES,
	G_INS,
	G_STALL,
	N_GPU_METRICS
};

/* The contexts that GPU operations and samples count at. */
struct gpu_tree {
	uint32_t kernels[2], copyin, copyout, sync, orphan;
	uint32_t lines[2][N_PC_LINES]; /* below the kernels */
};

struct model_private {
	VEC(struct model_context) contexts;
	VEC(uint32_t) leaves;  /* contexts that take samples */
	VEC(char *) strings;
	struct model_metric *metrics;
	uint32_t n_sampled;    /* metrics of CPUs: the first ones */
	struct gpu_tree gpu;
	uint32_t n_gpu_ops, n_threads, stride; /* stride: profiles of a process */
};

_Noreturn void fixture_no_memory(void);

/* Returns p, which is not NULL: ends the program when memory is short. */
static inline void *fixture_must(void *p)
{
	if (!p)
		fixture_no_memory();
	return p;
}

/* Fills x->contexts, x->leaves and x->gpu. */
void fixture_build_tree(struct model_private *x, const struct fixture_options *o);

/* One device with one context and two queues for each process; two launch shapes; a ledger that
 * closes with a few losses. Processes are there already. */
void fixture_make_gpu(struct model *m, const struct fixture_options *o);

/* Point values of one GPU metric (G_...) in one profile. */
void fixture_add_gpu_points(const struct model *m, uint32_t profile, unsigned metric,
			    double (*at)[MODEL_N_SCOPES], struct model_total *totals);

#endif
