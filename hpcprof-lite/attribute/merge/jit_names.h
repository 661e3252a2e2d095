/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names code that was generated at run time. Before the merge, frames outside all modules become
 * frames of one logical module if a perf map or jitdump has their address. Link addresses in this
 * module are numbers of places. If several functions had an address at different times, the time of
 * a sample decides. Tests: tests/unit/prof/test_jit.c, tests/cli/jit/jit_names.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_MERGE_JIT_NAMES_H
#define HPCPROF_LITE_ATTRIBUTE_MERGE_JIT_NAMES_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/jit/load_jit.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/model.h"

/*
 * A bit in msr_module.flags of the record that we made for this module. No file contains this bit.
 */
#define JIT_MODULE 0x2000u
#define JIT_MODULE_NAME "[JIT code]"

/*
 * The place of a frame: a line of a function, or only the function if the line is unknown. Offsets
 * of instructions would be useless, because the code no longer exists.
 */
struct jit_place {
	uint32_t name;   /* of the function, in the model's strings */
	uint32_t file;   /* in the model's strings; JIT_NO_FILE: the line is unknown */
	uint32_t line;   /* 0: unknown */
};

/* Names the code of all files. */
extern const struct topic_ops topic_jit;

/* ---- between jit_names.c and jit_split.c ---- */

/* One of several functions at the same address, and when it was put there. */
struct jit_choice {
	uint64_t time_ns; /* CLOCK_MONOTONIC, ascending */
	uint32_t place;
};

#define JIT_NO_PLACE UINT32_MAX

/* The possible functions at an address. */
struct jit_address {
	uint32_t place;   /* JIT_NO_PLACE: unknown */
	/* 0: `place` holds at all times, or the times are unknown */
	uint32_t first_choice, n_choices;
};

struct jit_addresses {
	struct map ids;   /* run-time address -> index in `list` */
	VEC(struct jit_address) list;
	VEC(struct jit_choice) choices;
	uint16_t module;  /* id of the logical module in the file */
};

/*
 * Gives each node of the thread its place, if its address is known. If samples at different times
 * mean different functions, splits the node and all nodes below it. The time line decides how cells
 * are divided. Counts are exact if the time line holds every sample; sums never change. Samples
 * that are not in the time line stay at a node that names all functions. False if memory is short.
 */
bool jit_rename_nodes(struct load_file *f, struct load_thread *t, const struct jit_addresses *a);

#endif
