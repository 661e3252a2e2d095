/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that was made while the program ran gets its names: before the merge, frames outside every
 * module whose address a perf map or jitdump knows become frames of one logical module, whose
 * addresses are numbers of places. Where several functions had an address one after the other,
 * samples are told apart by their time. Tests: tests/unit/test_jit.c, tests/cli/jit_names.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_JIT_NAMES_H
#define HPCPROF_LITE_ATTRIBUTE_JIT_NAMES_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/load/load_job.h"
#include "hpcprof-lite/load/load_jit.h"
#include "hpcprof-lite/model/model.h"

/* In msr_module.flags of the record that was made up for this module. No file holds this flag. */
#define JIT_MODULE 0x2000u
#define JIT_MODULE_NAME "[JIT code]"

/*
 * Where a frame is: a line of a function, or where no line is known the function alone. Offsets of
 * instructions would be of no use: nobody has the code any more.
 */
struct jit_place {
	uint32_t name;   /* of the function, in the model's strings */
	uint32_t file;   /* in the model's strings; JIT_NO_FILE: no line is known */
	uint32_t line;   /* 0: not known */
};

/* Zero-initialise. A place's number is its index, and the link address in the logical module. */
struct jit_part {
	VEC(struct jit_place) places;
	struct map by_identity;
};

/* Names the code of all files of the job. False when memory is short. */
bool jit_name_all(struct jit_part *p, struct load_job *job, struct model *m);
void jit_free(struct jit_part *p);

/* ---- between jit_names.c and jit_split.c ---- */

/* Several functions had the address: which, and since when. */
struct jit_choice {
	uint64_t time_ns; /* CLOCK_MONOTONIC, rising */
	uint32_t place;
};

#define JIT_NO_PLACE UINT32_MAX

/* What is known of an address. */
struct jit_address {
	uint32_t place;   /* JIT_NO_PLACE: nothing */
	/* 0: `place` is right at all times, or the times are not known */
	uint32_t first_choice, n_choices;
};

struct jit_addresses {
	struct map ids;   /* run-time address -> index in `list` */
	VEC(struct jit_address) list;
	VEC(struct jit_choice) choices;
	uint16_t module;  /* the logical module's id in the file */
};

/*
 * Gives each node of the thread whose address is known its place, and makes several of a node, and
 * of all below it, where samples of different times mean different functions. Cells are shared out
 * by the time line: counts are exact as long as it holds every sample, and in any case all sums
 * stay what they were; what it does not hold stays with a node that names all functions. False when
 * memory is short.
 */
bool jit_rename_nodes(struct load_file *f, struct load_thread *t, const struct jit_addresses *a);

#endif
