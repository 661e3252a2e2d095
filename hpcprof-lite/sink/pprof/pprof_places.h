/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locations of a pprof profile. A location is a place in a frame: a line of a function, and if
 * the function was inlined, the lines of its callers in the same frame. Equal places of different
 * contexts are one location. Test: tests/cli/sink/sink_pprof.sh.
 */
#ifndef HPCPROF_LITE_SINK_PPROF_PPROF_PLACES_H
#define HPCPROF_LITE_SINK_PPROF_PPROF_PLACES_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

struct pprof_place {
	/* the place that this one was inlined at; 0: not inlined. Ids are indices + 1. */
	uint32_t inlined_at;
	uint32_t line; /* 0: unknown */
	/* index; an entry: n_functions + pprof_entry_index() */
	uint32_t function;
	uint32_t module; /* MODEL_NONE: unknown */
	uint64_t address;
};

struct pprof_places {
	VEC(struct pprof_place) at;
	uint32_t *id;     /* by context: its place */
	uint32_t *caller; /* by context: the context that called its frame; MODEL_NONE: none */
	struct map functions, lines; /* private */
};

/* A number for each name of an entry. */
enum { PPROF_N_ENTRIES = MODEL_N_ENTRIES * MSR_N_PATH_ENDS };
static inline uint32_t pprof_entry_index(const struct model_context *c)
{
	return c->entry * MSR_N_PATH_ENDS + (c->end < MSR_N_PATH_ENDS ? c->end : 0);
}

/* False if memory is short. In all cases call pprof_places_close(). */
bool pprof_places_open(const struct model *m, struct pprof_places *p);
void pprof_places_close(struct pprof_places *p);

#endif
