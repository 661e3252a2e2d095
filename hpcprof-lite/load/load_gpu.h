/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU part of a measurement file, as validated views. Records stay in the mapped file, so 30
 * million operations use no memory here. Definitions are found by id. A record that names a missing
 * id is valid; the look-up returns NULL. Damage is skipped and counted in load_file.bytes_damaged.
 * Tests: tests/unit/prof_gpu/test_load_gpu.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_GPU_H
#define HPCPROF_LITE_LOAD_LOAD_GPU_H

#include "common/base/status.h"
#include "common/base/vec.h"
#include "common/format/measurement_gpu.h"

struct load_file;

enum { LOAD_GPU_BACKENDS = 4 }; /* two bits of an id hold the back end */

/* Records of one extent: n records, `stride` bytes apart, 8-byte aligned. */
struct load_gpu_part {
	const uint8_t *content;
	/* first: launches: the upper bits of the ids; aggregates: the back end */
	uint64_t n, first;
	uint32_t stride;
	/* launches: number of the thread; UINT32_MAX: threads that are not measured */
	uint32_t thread;
	uint32_t sequence;
};

/* A definition and its strings, which are borrowed from the file. */
struct load_gpu_code {
	/* NULL: no such id; the same holds for all definitions below */
	const struct msr_gpu_def_code *record;
	const char *name, *options;
};
struct load_gpu_function {
	const struct msr_gpu_def_function *record;
	const char *name, *source_name;        /* source_name: "" if equal to name */
};
struct load_gpu_device {
	const struct msr_gpu_def_device *record;
	const char *name, *driver;
};
struct load_gpu_limits {
	const struct msr_gpu_def_device_limits *record;
};
struct load_gpu_rates {
	const struct msr_gpu_def_device_rates *record;
};
struct load_gpu_context {
	const struct msr_gpu_def_context *record;
	const char *name;
};
struct load_gpu_queue {
	const struct msr_gpu_def_queue *record;
	const char *name;
};
struct load_gpu_stall {
	const struct msr_gpu_def_stall *record;
	const char *name, *description;
};
struct load_gpu_counter {
	const struct msr_gpu_def_counter *record;
	const char *name, *description;
};

struct load_gpu {
	bool is_present; /* the file has GPU data, even if only a back end that saw nothing */
	VEC(struct load_gpu_device) devices;   /* all by id; look up with load_gpu_find() */
	VEC(struct load_gpu_limits) limits;    /* by id of the device */
	VEC(struct load_gpu_rates) rates;      /* the same */
	VEC(struct load_gpu_context) contexts;
	VEC(struct load_gpu_queue) queues;
	VEC(struct load_gpu_code) codes;
	VEC(struct load_gpu_function) functions;
	VEC(struct load_gpu_stall) stalls;
	VEC(struct load_gpu_counter) counters;
	VEC(const struct msr_gpu_shape *) shapes;
	/* by clock, then device_ns; our time never decreases within a clock */
	VEC(struct msr_gpu_clock) pairs;
	VEC(struct load_gpu_part) launches;    /* by thread, then sequence */
	/* in the order of the file */
	VEC(struct load_gpu_part) ops, aggregates, graph_nodes, pcs, ranges, values, energies;
	/* copies with terminated text; NULL: none */
	struct msr_gpu_tally *tallies[LOAD_GPU_BACKENDS];
};

/* The item of a definition vector with this id, or NULL. */
#define load_gpu_find(v, id) ((id) < (v)->n && (v)->at[id].record ? &(v)->at[id] : NULL)

static inline const struct msr_gpu_shape *load_gpu_shape(const struct load_gpu *g, uint32_t id)
{
	return id < g->shapes.n ? g->shapes.at[id] : NULL;
}

/* Record i < p->n. */
static inline const void *load_gpu_at(const struct load_gpu_part *p, uint64_t i)
{
	return p->content + i * p->stride;
}

static inline uint64_t load_gpu_launch_id(const struct load_gpu_part *p,
	const struct msr_gpu_launch *l)
{
	return ((p->first & ~(uint64_t)UINT32_MAX) | l->id_low) & MSR_GPU_ID_MAX;
}

static inline unsigned load_gpu_backend(uint64_t id)
{
	return (unsigned)(id >> MSR_GPU_BACKEND_SHIFT) & (LOAD_GPU_BACKENDS - 1);
}

/* Skip records that fail this test. They were counted as damage when the file was read. */
static inline bool load_gpu_kind_is_sound(unsigned kind)
{
	return kind > MSR_GPU_NO_KIND && kind < MSR_N_GPU_KINDS;
}

/* False: skip the record; it was counted as damage. */
bool load_gpu_energy_is_sound(const struct load_file *f, const struct msr_gpu_energy *e);

/* True if the kind is a kind of GPU extent. */
bool load_gpu_is_kind(unsigned extent_kind);
struct msr_view;
/* Reads one GPU extent. Fails only with STATUS_NO_MEMORY. */
enum status load_gpu_extent(struct load_file *f, const struct msr_view *v);
/* Call it after the last extent: sorts, and counts damaged records. */
void load_gpu_finish(struct load_file *f);
void load_gpu_free(struct load_gpu *g);

#endif
