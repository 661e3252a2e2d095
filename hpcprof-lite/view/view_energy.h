/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The energy that GPUs used, by kernel or kind of operation: the rows that reports show. Test:
 * tests/unit/prof_gpu/test_gpu_energy.c.
 */
#ifndef HPCPROF_VIEW_VIEW_ENERGY_H
#define HPCPROF_VIEW_VIEW_ENERGY_H

#include "hpcprof-lite/model/model.h"

/* All launches of one function or kind of operation. */
struct view_energy_row {
	uint32_t function;            /* of the model */
	double joules, shared_joules; /* shared: while other operations ran, too */
	double seconds;               /* of its operations */
	double read_seconds;          /* the part of `seconds` in which energy was read */
};

struct view_energy_rows {
	struct view_energy_row *at; /* by falling energy, then function */
	size_t n;
	double joules; /* of all */
};

/* False if memory is short; then there is nothing to free. */
bool view_energy_rows_make(const struct model *m, struct view_energy_rows *r);
void view_energy_rows_free(struct view_energy_rows *r);

#endif
