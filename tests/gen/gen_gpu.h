/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU part of gen.h: writes what back ends deliver, sound or not, and keeps a tally as the run
 * time would. All calls come between gen_open() and gen_close(). Checked by
 * tests/unit/prof_gpu/test_load_gpu.c and by every test that reads what it writes.
 */
#ifndef TESTS_GEN_GEN_GPU_H
#define TESTS_GEN_GEN_GPU_H

#include "common/format/measurement_gpu.h"
#include "tests/gen/gen.h"

/* Definitions return their id. The fixed fields behind `head` are taken from the record. */
uint32_t gen_gpu_device(struct gen *g, const char *name, const char *driver,
			struct msr_gpu_def_device d);
void gen_gpu_limits(struct gen *g, uint32_t device, struct msr_gpu_def_device_limits l);
void gen_gpu_rates(struct gen *g, uint32_t device, struct msr_gpu_def_device_rates r);
uint32_t gen_gpu_context(struct gen *g, uint32_t device, uint32_t ordinal);
uint32_t gen_gpu_queue(struct gen *g, const char *name, struct msr_gpu_def_queue q);
/* `file`: name in gpubins/, "" when it was not kept. */
uint32_t gen_gpu_code(struct gen *g, const char *file, const char *options, const uint64_t hash[2],
		      enum msr_gpu_code_kind kind);
uint32_t gen_gpu_function(struct gen *g, uint32_t code, const char *name, const char *source_name);
/* The stall reason with this id (index + 1). */
void gen_gpu_stall(struct gen *g, uint32_t id, const char *name, const char *description,
		   uint32_t flags);
uint32_t gen_gpu_counter(struct gen *g, const char *name, const char *description,
			 enum msr_unit unit);
/* s.id is set. */
uint32_t gen_gpu_shape(struct gen *g, struct msr_gpu_shape s);
void gen_gpu_pair(struct gen *g, uint32_t clock, uint64_t device_ns, uint64_t mono_ns,
		  uint64_t error_ns);

/* The ledger of a back end, made at the first call; to be changed at will until gen_close(). */
/* Writes each tally as two parts: one launch is counted in the second, all else in the first. */
void gen_gpu_split_tallies(struct gen *g);
struct msr_gpu_tally *gen_gpu_tally(struct gen *g, unsigned backend, const char *name,
				    const char *entrance);

static inline uint64_t gen_gpu_id(unsigned backend, uint64_t id)
{
	return (uint64_t)backend << 46 | id;
}
/* A launch record, counted in the tally of its back end where that has one. Thread UINT32_MAX: not
 * measured. */
void gen_gpu_launch(struct gen *g, uint32_t thread, uint32_t node, uint64_t id,
		    enum msr_gpu_kind kind, uint64_t enter_ns);
/* A launch that left no record. */
void gen_gpu_launch_lost(struct gen *g, unsigned backend, enum msr_gpu_kind kind,
			 enum msr_gpu_loss cause);

struct gen_gpu_op {
	uint64_t id;
	enum msr_gpu_kind kind;
	unsigned detail;
	uint64_t start_ns, end_ns, amount; /* by the queue's clock */
	uint32_t queue, shape;
	bool has_waits;
	uint32_t queued_before_ns, submitted_before_ns;
};
void gen_gpu_op(struct gen *g, const struct gen_gpu_op *op);
void gen_gpu_lost(struct gen *g, uint64_t id, enum msr_gpu_kind kind, enum msr_gpu_loss cause);
void gen_gpu_refused(struct gen *g, uint64_t id, enum msr_gpu_kind kind, uint32_t error);
void gen_gpu_aggregate(struct gen *g, unsigned backend, const struct msr_gpu_aggregate *a);
/* Where a graph's node was made, or which node it is a copy of. */
void gen_gpu_graph_node(struct gen *g, const struct msr_gpu_graph_node *n);
void gen_gpu_pc(struct gen *g, const struct msr_gpu_pc *s);
/* Summed up by the place of their launches. */
void gen_gpu_pc_at(struct gen *g, const struct msr_gpu_pc_at *s);
void gen_gpu_range(struct gen *g, const struct msr_gpu_pc_range *r);
void gen_gpu_value(struct gen *g, const struct msr_gpu_value *v);
void gen_gpu_energy(struct gen *g, const struct msr_gpu_energy *e);

/*
 * Operations for a thread of gen_job(): `n_ops` of kernels (some from graphs), copies, sets, waits,
 * allocations and markers, launched at the nodes given, on an in-order queue and an out-of-order
 * one of a device with a clock of its own; PC samples exact and not; counters; a few losses of each
 * kind when `losses`.
 */
struct gen_gpu_work {
	uint32_t thread, n_nodes, n_ops;
	const uint32_t *nodes;
	uint64_t start_ns, *random;   /* CLOCK_MONOTONIC; state of the random numbers */
	bool losses, first;           /* first: of its process, makes the definitions */
	uint8_t gpu;                  /* first: which of the host's */
	bool killed;                  /* the last launches have no operations */
};
/* The state between threads of a process: zero for the first. */
struct gen_gpu_job {
	uint32_t device, context, queues[2], code, functions[4], shapes[6], counter;
	uint64_t next_id, n_sampled;
};
void gen_gpu_work(struct gen *g, struct gen_gpu_job *job, const struct gen_gpu_work *w);
/* The structure file of the job's code object, in directory/structs. */
void gen_gpu_structure(const char *directory);

/* For gen.c. */
struct gen_gpu;
struct gen_gpu *gen_gpu_of(struct gen *g);
void gen_gpu_write(struct gen *g, struct gen_gpu *gpu);
void gen_gpu_free(struct gen_gpu *gpu);

#endif
