/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the GPU operations of one measurement file with their launches by id. The results are cells
 * (how much of each operation happened in each place), the time line of each queue, and the ledger.
 * Memory: the cells, 5 bytes for each launch, and 40 bytes for each operation on a time line. Large
 * numbers of operations go to a temporary file. Files are independent, so several can be joined at
 * the same time. Tests: tests/unit/prof_gpu/test_gpu_join.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_JOIN_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_JOIN_H

#include "common/base/map.h"
#include "common/base/space.h"
#include "hpcprof-lite/attribute/gpu/join/gpu_graph.h"
#include "hpcprof-lite/attribute/gpu/join/gpu_launches.h"
#include "hpcprof-lite/attribute/gpu/join/gpu_memory.h"
#include "hpcprof-lite/attribute/gpu/join/gpu_ranges.h"
#include "hpcprof-lite/load/load_file.h"
#include "hpcprof-lite/model/private.h"

enum gpu_place { /* the parent of a cell */
	GPU_ON_PATH,   /* below node `node` of thread `thread` */
	GPU_NO_PATH,   /* the launch has no call path, or its thread is not measured */
	GPU_NO_LAUNCH  /* the launch is unknown */
};

/*
 * Operations of one kind with the same launching place and shape. Kernels of graphs also have the
 * same place that made the node. `thread` is an index into load_file.threads; the cell counts in
 * the profile of this thread.
 */
#define GPU_CELL_REFUSED 15u /* a kind: the driver refused them; `site` is the error */
struct gpu_cell {
	uint32_t thread, node;
	uint32_t shape;          /* KERNEL: id in the file, 0 if unknown; others: 0 */
	/*
	 * KERNEL: the place that made its graph node, in gpu_join.graph. 0: unknown, or not from a
	 * graph.
	 */
	uint32_t site;
	uint8_t kind, detail, place;
	/* `thread` launched the operations; otherwise its profile only counts them */
	bool is_measured;
	uint64_t n_ops, busy_ns, bytes;
	/* KERNEL: the part of its time with PC sampling, for operations with a record */
	struct gpu_cover cover;
};

/* The time line of one queue of the file. */
struct gpu_line {
	uint32_t queue;          /* id in the file */
	struct model_gpu_item *items;
	uint64_t n;
	uint64_t *lane_n;        /* n_lanes: operations in each lane */
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
	VEC(struct gpu_line) lines;        /* the queues with operations, by queue id */
	struct space space;                /* memory of the items of `lines` */
	/* Waits for GPUs, as in struct model_gpu_times; launcher: index of the thread. */
	struct model_gpu_wait *waits;
	uint64_t n_waits;
	struct space wait_space;           /* memory of `waits` */
	uint64_t n_untimed;                /* operations that are on no time line */
	uint64_t summed_wait_ns;           /* waits that were summed up during the run */
	struct gpu_memory memory;          /* allocations whose end would be known */
	/* launches that samples or values refer to: id -> cell of their first operation */
	struct map wanted;
	/* launches that values refer to: id -> time of their first operation */
	struct map wanted_ns;
	struct model_gpu_ledger ledgers[LOAD_GPU_BACKENDS];
	uint32_t n_ledgers;
	struct {
		uint64_t ops, orphans, no_path, bad_order;
		uint64_t graph_losses[MSR_GPU_LOSS_ROOM]; /* lost operations of graphs */
	} counts[LOAD_GPU_BACKENDS];
	uint32_t last_thread_number, last_thread; /* the result of the last look-up */
	uint64_t last_ns;                  /* CLOCK_MONOTONIC: the latest time in the GPU records */
};

/* *j must be zero. In all cases call gpu_join_free(). False if memory is short. */
bool gpu_join_run(struct gpu_join *j, struct load_file *f);
/* Returns the cell with this key; makes it if it is new. UINT32_MAX if memory is short. */
uint32_t gpu_join_cell(struct gpu_join *j, const struct gpu_cell *key);
/*
 * Sets thread, node and place of `key` for work that thread `number` of the file launched at
 * `node`.
 */
void gpu_join_place(struct gpu_join *j, uint32_t number, uint32_t node, struct gpu_cell *key);
/* The function id of the kernel in the file; 0: unknown. */
uint32_t gpu_join_function(const struct load_gpu *g, uint32_t shape);
/* Groups (blocks) of a launch; 0: unknown. */
uint64_t gpu_join_groups(const struct load_gpu *g, uint32_t shape);
void gpu_join_free(struct gpu_join *j);

#endif
