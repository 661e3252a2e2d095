/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU part of a measurement file as validated views. Records stay in the mapped file: 30 million operations cost nothing here. Definitions are found by
 * id; a record that names one which is not there is sound and finds NULL. Damage is counted in load_file.bytes_damaged and skipped.
 * Tests: tests/unit/test_load_gpu.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_GPU_H
#define HPCPROF_LITE_LOAD_LOAD_GPU_H

#include "common/base/status.h"
#include "common/base/vec.h"
#include "common/format/measurement_gpu.h"

struct load_file;

enum { LOAD_GPU_BACKENDS = 4 }; /* as many as two bits of an id name */

/* Records of one extent; n of them, `stride` bytes apart, 8-byte aligned. */
struct load_gpu_part {
	const uint8_t *content;
	uint64_t n, first;     /* first: of the extent: launches, the id's upper bits; aggregates, the back end */
	uint32_t stride;
	uint32_t thread;       /* launches: number, UINT32_MAX: of threads that are not measured */
	uint32_t sequence;
};

/* A definition with its strings, which are borrowed from the file. */
struct load_gpu_code {
	const struct msr_gpu_def_code *record; /* NULL: no such id, as in all of these */
	const char *name, *options;
};
struct load_gpu_function {
	const struct msr_gpu_def_function *record;
	const char *name, *source_name;        /* source_name "" where it is the same */
};
struct load_gpu_device {
	const struct msr_gpu_def_device *record;
	const char *name, *driver;
};
struct load_gpu_limits {
	const struct msr_gpu_def_device_limits *record;
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
	bool is_present;                       /* the file has something of GPUs, if only a back end that saw nothing */
	VEC(struct load_gpu_device) devices;   /* all by id; look up with load_gpu_find() */
	VEC(struct load_gpu_limits) limits;    /* by the device's id */
	VEC(struct load_gpu_context) contexts;
	VEC(struct load_gpu_queue) queues;
	VEC(struct load_gpu_code) codes;
	VEC(struct load_gpu_function) functions;
	VEC(struct load_gpu_stall) stalls;
	VEC(struct load_gpu_counter) counters;
	VEC(const struct msr_gpu_shape *) shapes;
	VEC(struct msr_gpu_clock) pairs;       /* by clock, then device_ns; ours never falls within a clock */
	VEC(struct load_gpu_part) launches;    /* by thread, then sequence */
	VEC(struct load_gpu_part) ops, aggregates, graph_nodes, pcs, ranges, values; /* in the order of the file */
	struct msr_gpu_tally *tallies[LOAD_GPU_BACKENDS]; /* copies, text terminated; NULL: there is none */
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

static inline uint64_t load_gpu_launch_id(const struct load_gpu_part *p, const struct msr_gpu_launch *l)
{
	return ((p->first & ~(uint64_t)UINT32_MAX) | l->id_low) & MSR_GPU_ID_MAX;
}

static inline unsigned load_gpu_backend(uint64_t id)
{
	return (unsigned)(id >> MSR_GPU_BACKEND_SHIFT) & (LOAD_GPU_BACKENDS - 1);
}

/* Unsound records were counted as damage and are to be passed over by the same test. */
static inline bool load_gpu_kind_is_sound(unsigned kind)
{
	return kind > MSR_GPU_NO_KIND && kind < MSR_N_GPU_KINDS;
}

/* Whether the kind is one of GPU extents. */
bool load_gpu_is_kind(unsigned extent_kind);
struct msr_view;
/* Takes one such extent. STATUS_NO_MEMORY alone is a failure. */
enum status load_gpu_extent(struct load_file *f, const struct msr_view *v);
/* After the last extent: sorts, and counts unsound records. */
void load_gpu_finish(struct load_file *f);
void load_gpu_free(struct load_gpu *g);

#endif
