/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NVTX part of a measurement file: names, sums of ranges and marks, and single ranges and
 * marks. Records that cannot be right are skipped and counted as damage. Test:
 * tests/cli/nvtx/nvtx_ranges.sh, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_NVTX_H
#define HPCPROF_LITE_LOAD_LOAD_NVTX_H

#include "common/base/status.h"
#include "common/base/vec.h"
#include "common/format/measurement_nvtx.h"

#include <stdbool.h>

struct load_file;
struct load_thread;
struct msr_view;

/* A name by id. */
struct load_nvtx_name {
	const struct msr_nvtx_name *record; /* NULL: no name has this id */
	const char *text, *source; /* source "": not known */
};

/* Sums of ranges or marks, as in struct msr_nvtx_range. */
struct load_nvtx_range {
	uint32_t node, name, kind; /* kind 0: no range has this number */
	uint32_t row;              /* of the model, once attribute has set it */
	/* the thread was in no range when this one began; also set by attribute */
	bool is_outermost;
	uint64_t n_begun, n, n_events, ns, least_ns, most_ns;
	uint64_t n_values;
	double value_sum, value_least, value_most;
};

struct load_nvtx {
	VEC(struct load_nvtx_name) names;    /* by id */
	VEC(const struct msr_nvtx_name *) threads; /* names of threads */
};

/* Reads an NVTX_NAME record, for load_lengthed(). */
enum status load_nvtx_name(struct load_file *f, const uint8_t *record, uint32_t bytes);
/* Reads an NVTX_RANGE extent. */
enum status load_nvtx_ranges(struct load_file *f, const struct msr_view *v);
/*
 * False: the event names no range, or holds impossible times. Skip it; it was counted as damage
 * when the file was opened.
 */
bool load_nvtx_event_is_sound(const struct load_thread *t, const struct msr_nvtx_event *e);
/*
 * Call it when the nodes of all threads are checked. Gives threads their names, and counts events
 * that are not sound.
 */
void load_nvtx_finish(struct load_file *f);
void load_nvtx_free(struct load_nvtx *n);

#endif
