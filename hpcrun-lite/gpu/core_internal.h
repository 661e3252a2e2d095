/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the GPU core, shared by its parts: host.c (the table), core.c (start and end),
 * launch.c, op.c, aggregate.c, pending.c, registry.c (definitions), device_record.c (samples,
 * counters), writer.c (streams of records), tally.c (ledgers), extent_take.c (space).
 * Internal to this folder. Data of the process itself is in anonymous memory; everything that is
 * written is in extents. Test: tests/unit/gpu/test_gpu_core.c.
 */
#ifndef HPCRUN_LITE_GPU_CORE_INTERNAL_H
#define HPCRUN_LITE_GPU_CORE_INTERNAL_H

#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/gpu/index.h"
#include "hpcrun-lite/gpu/pending.h"
#include "hpcrun-lite/gpu/writer.h"

struct gpu_backend {
	const char *name, *options;       /* name NULL: never opened */
	char entrance[sizeof ((struct msr_gpu_tally *)0)->entrance];
	/*
	 * Parts of the ledger, in the file. If the file had no space, part 0 is `spare`, and every
	 * other part is part 0.
	 */
	_Atomic(struct msr_gpu_tally *) tally[GPU_N_TALLIES];
	struct msr_gpu_tally spare;
	_Atomic uint64_t next_id;         /* for launches whose id the core chooses */
	struct stream launches;           /* of unmeasured threads */
	struct stream short_ops, long_ops;
	struct stream aggregates;
	struct index aggregate_index;
	struct stream launch_pcs;    /* samples whose launch is known */
	/* samples summed up by launching place, after the limit on records */
	struct stream place_pcs;
	struct index place_pc_index; /* index of place_pcs; locked by its only writer */
	struct pending pending;
};

struct gpu_core {
	const struct gpu_runtime *runtime; /* NULL: the user asked for no GPU */
	_Atomic uint32_t generation;
	_Atomic bool closed;              /* nothing more is written */
	_Atomic uint64_t record_bytes;    /* of extents of launches and ops */
	_Atomic bool aggregating;
	/* CLOCK_MONOTONIC: the file could not grow; do not ask for space before this time. */
	_Atomic uint64_t full_until_ns;
	_Atomic uint32_t sequence[MSR_GPU_ENERGY - MSR_GPU_DEFINITION + 1];
	_Atomic uint32_t noted;           /* NOTED_*: messages already given */
	struct gpu_backend backend[GPU_MAX_BACKENDS];
	trylock tally_lock;
	/* registry.c. The lock of a stream's only writer also protects its index. */
	struct stream definitions, shapes;
	struct index interned, interned_shapes;
	_Atomic uint32_t n_defined[MSR_GPU_DEF_COUNTER + 1];
	_Atomic uint32_t n_shapes, n_clocks;
	/* device_record.c */
	struct stream clocks, pcs, pc_ranges, values, graph_nodes, energies;
	/* of samples whose launch is unknown; locked by the only writer of `pcs` */
	struct index pc_index;
};
extern struct gpu_core gpu_core;

static inline bool gpu_is_closed(void)
{
	return atomic_load_explicit(&gpu_core.closed, memory_order_seq_cst);
}

/* This process is measured and owns its store. Otherwise do not touch a tally or an extent. */
static inline bool gpu_is_alive(void)
{
	return gpu_core.runtime && gpu_core.runtime->is_alive();
}

/* Definitions and operations are accepted. */
static inline bool gpu_is_open(void)
{
	return gpu_is_alive() && !gpu_is_closed();
}

/* Launches are not measured now. */
static inline bool gpu_is_off(void)
{
	return atomic_load_explicit(gpu_core.runtime->is_off, memory_order_relaxed);
}

/* ---- extent_take.c ---- */

/*
 * Gets an extent, if necessary after a short wait for another thread that grows the file. Returns
 * NULL and sets *cause on failure.
 */
struct msr_extent *extent_take(const struct store_request *request, enum msr_gpu_loss *cause);

/* ---- tally.c ---- */

/*
 * Counts the growth of extents of launches, ops and samples of launches. When the limit is reached,
 * operations are summed up from then on.
 */
void gpu_count_record_bytes(struct gpu_backend *b, uint64_t n_bytes);

/* Gives a message once per generation. */
#define NOTED_DEFINITION 1u
#define NOTED_CONTENT 2u
#define NOTED_AGGREGATING 4u
void gpu_note_once(uint32_t bit, const char *text);

static inline void gpu_count(_Atomic uint64_t *word, uint64_t n)
{
	atomic_fetch_add_explicit(word, n, memory_order_relaxed);
}

/* Returns part 0 of the back end's ledger, made when a generation first needs it. Never NULL. */
struct msr_gpu_tally *gpu_tally_of(struct gpu_backend *b);
/*
 * The part of the ledger that counts launches of this thread (its number in the file; UINT32_MAX:
 * not in the file). Threads that launch at the same time rarely write to the same part.
 */
struct msr_gpu_tally *gpu_tally_of_thread(struct gpu_backend *b, uint32_t thread);
static inline unsigned gpu_number_of(const struct gpu_backend *b)
{
	return (unsigned)(b - gpu_core.backend);
}
/* Adds the number of the back end to an id of the vendor or of the core's counter. */
static inline uint64_t gpu_full_id(const struct gpu_backend *b, uint64_t id)
{
	return (uint64_t)gpu_number_of(b) << MSR_GPU_BACKEND_SHIFT |
	       (id & ((UINT64_C(1) << MSR_GPU_BACKEND_SHIFT) - 1));
}

/* ---- registry.c: see gpu.h ---- */

uint32_t registry_device(struct gpu_backend *b, const struct gpu_device *d);
uint32_t registry_context(struct gpu_backend *b, const struct gpu_context *c);
uint32_t registry_queue(struct gpu_backend *b, const struct gpu_queue *q);
uint32_t registry_code(struct gpu_backend *b, const struct gpu_code *c, uint64_t hash[2]);
uint32_t registry_function(struct gpu_backend *b, const struct gpu_function *f);
uint32_t registry_shape(struct gpu_backend *b, const struct gpu_shape *s);
void registry_stall(struct gpu_backend *b, unsigned index, const char *name,
		    const char *description, uint32_t device, uint32_t flags);
uint32_t registry_counter(struct gpu_backend *b, const char *name, const char *description,
			  uint32_t unit);

/* ---- launch.c, op.c ---- */

bool launch_record(struct gpu_backend *b, const struct gpu_launch *l, struct gpu_ticket *t);
void launch_graph_node(struct gpu_backend *b, uint64_t node, uint64_t original);
/* See last_place in gpu.h. */
enum gpu_placed launch_last_place(uint32_t *thread, uint32_t *node);
/* In a forked child. */
void launch_forget(void);
void op_record(struct gpu_backend *b, const struct gpu_ticket *t, const struct gpu_op *op);
void op_lost(struct gpu_backend *b, const struct gpu_ticket *t, enum msr_gpu_loss cause);
void op_record_by_id(struct gpu_backend *b, uint64_t id, const struct gpu_op *op);
void op_refused_by_id(struct gpu_backend *b, uint64_t id, const struct gpu_refusal *why);
void op_lost_by_id(struct gpu_backend *b, uint64_t id, enum msr_gpu_kind kind,
		   enum msr_gpu_loss cause);

/* ---- aggregate.c ---- */

struct aggregate_key {
	uint32_t thread, node, queue, shape;
	uint16_t kind, detail;
};
/* Finds the row of a key, or makes it. Returns NULL and sets *cause on failure. */
struct msr_gpu_aggregate *aggregate_find(struct gpu_backend *b, const struct aggregate_key *key,
					 enum msr_gpu_loss *cause);

/* ---- device_record.c ---- */

void device_clock_pair(struct gpu_backend *b, const struct msr_gpu_clock *pair);
void device_pc_samples(struct gpu_backend *b, const struct gpu_pc_sample *s, size_t n);
void device_pc_range(struct gpu_backend *b, const struct msr_gpu_pc_range *r);
void device_graph_node(struct gpu_backend *b, const struct msr_gpu_graph_node *n);
void device_value(struct gpu_backend *b, const struct msr_gpu_value *v);
void device_energy(struct gpu_backend *b, const struct msr_gpu_energy *e);

#endif
