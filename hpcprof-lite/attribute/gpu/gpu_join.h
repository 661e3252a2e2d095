/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the GPU operations of one measurement file with their launches by id. What comes out: cells (how much of which operation was done where), the time line
 * of each queue, and the ledger. Costs memory for cells, 5 bytes for each launch, and 40 bytes for each operation with a time line, which live in a temporary file
 * when they are many. Files are independent of each other: one may be joined beside another. Tests: tests/unit/test_gpu_join.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_JOIN_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_JOIN_H

#include "common/base/map.h"
#include "common/base/space.h"
#include "hpcprof-lite/attribute/gpu/gpu_graph.h"
#include "hpcprof-lite/attribute/gpu/gpu_launches.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_ranges.h"
#include "hpcprof-lite/load/load_file.h"
#include "hpcprof-lite/model/private.h"

enum gpu_place { /* where a cell hangs */
	GPU_ON_PATH,   /* below node `node` of thread `thread` */
	GPU_NO_PATH,   /* the launch has no call path, or its thread is not measured */
	GPU_NO_LAUNCH  /* the launch is not known */
};

/* Operations of one kind, launched in one place, with one shape (and kernels of graphs: made in one place). `thread` is an index into load_file.threads: in whose profile it counts. */
struct gpu_cell {
	uint32_t thread, node;
	uint32_t shape;          /* KERNEL: id in the file, 0: unknown; else 0 */
	uint32_t site;           /* KERNEL: place where its graph node was made, in gpu_join.graph; 0: not known, or of no graph */
	uint8_t kind, detail, place;
	bool is_measured;        /* the launching thread is `thread`; else that only keeps the account */
	uint64_t n_ops, busy_ns, amount;
	struct gpu_cover cover;  /* KERNEL: what of its time was PC-sampled, of operations with a record */
};

/* The time line of one queue of the file. */
struct gpu_line {
	uint32_t queue;          /* id in the file */
	struct model_gpu_item *items;
	uint64_t n;
	uint64_t *lane_n;        /* n_lanes: operations of each */
	uint32_t n_lanes;
	uint64_t busy_ns, n_clipped;
	uint64_t first_ns, last_ns; /* CLOCK_REALTIME */
};

struct gpu_join {
	struct load_file *file;
	struct gpu_launches launches;
	struct gpu_graph graph;
	struct gpu_ranges ranges;
	VEC(struct gpu_cell) cells;
	VEC(struct gpu_line) lines;        /* by queue id: those with operations */
	struct space space;                /* of their items */
	struct map wanted;                 /* of launches that samples or values name: id -> cell of their first operation */
	struct model_gpu_ledger ledgers[LOAD_GPU_BACKENDS];
	uint32_t n_ledgers;
	struct {
		uint64_t ops, orphans, no_path, bad_order;
		uint64_t graph_losses[MSR_GPU_LOSS_ROOM]; /* operations of graphs that were lost */
	} counts[LOAD_GPU_BACKENDS];
	uint32_t last_thread_number, last_thread; /* that was looked for */
	uint64_t last_ns;                  /* CLOCK_MONOTONIC: the last moment that the GPU records speak of */
};

/* *j is zero but for nothing; gpu_join_free() in any case. False when memory is short. */
bool gpu_join_run(struct gpu_join *j, struct load_file *f);
/* The cell of this key, made when new; UINT32_MAX when memory is short. */
uint32_t gpu_join_cell(struct gpu_join *j, const struct gpu_cell *key);
/* Thread, node and place of what thread `number` of the file launched at `node`. */
void gpu_join_place(struct gpu_join *j, uint32_t number, uint32_t node, struct gpu_cell *key);
/* The kernel's function id in the file, 0: unknown. */
uint32_t gpu_join_function(const struct load_gpu *g, uint32_t shape);
/* Groups (blocks) of a launch; 0: not known. */
uint64_t gpu_join_groups(const struct load_gpu *g, uint32_t shape);
void gpu_join_free(struct gpu_join *j);

#endif
