/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What would make GPU work faster: for each kernel and each device, advice with the factor that it
 * may give, the evidence, and what it assumes. Ranked by what it would save. Without evidence there
 * is no advice; doc/advice.md has the models and thresholds. The savings do not add up, because one
 * change may save what another would. Test: tests/unit/prof_gpu/test_advice.c.
 */
#ifndef HPCPROF_VIEW_ADVICE_VIEW_ADVICE_H
#define HPCPROF_VIEW_ADVICE_VIEW_ADVICE_H

#include "hpcprof-lite/view/advice/advice_estimate.h"
#include "hpcprof-lite/view/advice/advice_facts.h"
#include "hpcprof-lite/view/view_evidence.h"

enum view_advice_kind {
	/* of kernels */
	VIEW_ADVICE_SCATTERED,
	VIEW_ADVICE_IN_FLIGHT,
	VIEW_ADVICE_QUEUE,
	VIEW_ADVICE_NARROW,
	VIEW_ADVICE_ATOMICS,
	VIEW_ADVICE_VOLATILE,
	VIEW_ADVICE_LOCAL,
	VIEW_ADVICE_BANKS,
	VIEW_ADVICE_SPECIAL,
	VIEW_ADVICE_CONVERSIONS,
	VIEW_ADVICE_DIVISION,
	VIEW_ADVICE_PIPE,
	VIEW_ADVICE_BARRIER,
	VIEW_ADVICE_FETCH,
	VIEW_ADVICE_CONSTANT,
	VIEW_ADVICE_BRANCH,
	VIEW_ADVICE_DIVERGENCE,
	VIEW_ADVICE_DEPENDENT,
	VIEW_ADVICE_OCCUPANCY,
	VIEW_ADVICE_GRID,
	VIEW_ADVICE_WAVE,
	VIEW_ADVICE_TAIL,
	/* of devices */
	VIEW_ADVICE_LAUNCHES,
	VIEW_ADVICE_COPIES,
	VIEW_ADVICE_WAITS,
	VIEW_ADVICE_HOST,
	VIEW_ADVICE_ALLOCATIONS,
	VIEW_ADVICE_OVERLAP,
	VIEW_ADVICE_PINNED,
	VIEW_N_ADVICE_KINDS
};

struct view_advice {
	enum view_advice_kind kind;
	uint32_t function;             /* the kernel; MODEL_NONE: the device */
	uint32_t device;               /* MODEL_NONE: a kernel, on any device */
	double seconds;                /* of the kernel; of the device, from first to last use */
	double whole;                  /* of all devices from first to last use */
	struct advice_interval factor; /* of `seconds` */
	struct view_fact facts[VIEW_FACTS];
	unsigned n_facts;
	struct view_place places[VIEW_PLACES]; /* by falling share */
	unsigned n_places;
};

struct view_advices {
	VEC(struct view_advice) rows; /* by falling view_advice_saved() */
	double whole;                 /* seconds of all devices from first to last use */
};

/* A title of a few words, one word for programs, what to do, and what the advice assumes. */
const char *view_advice_title(enum view_advice_kind k);
const char *view_advice_key(enum view_advice_kind k);
const char *view_advice_cure(enum view_advice_kind k);
const char *view_advice_assumption(enum view_advice_kind k);

/* The seconds that are saved if the factor is the likely one. */
double view_advice_saved(const struct view_advice *a);

/* `g` is of the same model. False if memory is short; then there is nothing to free. */
bool view_advice_make(const struct model *m, const struct view_gpu *g, struct view_advices *a);
void view_advice_free(struct view_advices *a);

/*
 * The rules alone. They append the advice that the facts support, in no order. False if memory is
 * short.
 */
bool view_advice_kernel(const struct advice_kernel *k, struct view_advices *a);
bool view_advice_device(const struct advice_device *d, struct view_advices *a);

#endif
