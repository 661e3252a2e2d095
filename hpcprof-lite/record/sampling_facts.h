/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The account of GPU PC sampling as named numbers, for outputs that can store only numbers. They
 * are the same in all of these outputs. Test: tests/unit/sink/test_sink_otf2.c,
 * tests/cli/prof/prof_gpu_pc.sh.
 */
#ifndef HPCPROF_RECORD_SAMPLING_FACTS_H
#define HPCPROF_RECORD_SAMPLING_FACTS_H

#include "hpcprof-lite/model/model.h"

struct sampling_fact {
	/* unit: "number", "ns", "cycles", "MHz", "ppm" (of agreement) */
	const char *name, *description, *unit;
	uint64_t value;
	bool is_known;                         /* if false, value is 0 and means nothing */
};

/* The fields of PC sampling with a title, and the results of the yardstick. */
enum { SAMPLING_AGREEMENTS = 4, SAMPLING_FACTS = 28 + SAMPLING_AGREEMENTS };
/* Returns SAMPLING_FACTS. */
unsigned sampling_facts(const struct model_gpu_sampling *s,
			struct sampling_fact facts[SAMPLING_FACTS]);
/* True if there was PC sampling. */
static inline bool sampling_is_there(const struct model_gpu_sampling *s)
{
	return s->n_ranges || s->n_gaps;
}
/*
 * The share of samples that apportioning puts where serialized windows found them, 0 .. 1.
 * Negative: not measured.
 */
double sampling_agreement(const struct model_gpu_sampling *s);

#endif
