/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of PC sampling of GPUs as named numbers, the same in all outputs that have room for numbers alone. Test: tests/unit/test_sink_otf2.c, tests/cli/prof_gpu_pc.sh. */
#ifndef HPCPROF_SINK_SAMPLING_FACTS_H
#define HPCPROF_SINK_SAMPLING_FACTS_H

#include "hpcprof-lite/model/model.h"

struct sampling_fact {
	const char *name, *description, *unit; /* unit: "number", "ns", "cycles", "MHz", "ppm" (of agreement) */
	uint64_t value;
	bool is_known;                         /* else value is 0 and says nothing */
};

enum { SAMPLING_FACTS = 30 };
void sampling_facts(const struct model_gpu_sampling *s, struct sampling_fact facts[SAMPLING_FACTS]);
/* There was PC sampling. */
static inline bool sampling_is_there(const struct model_gpu_sampling *s)
{
	return s->n_ranges || s->n_gaps;
}
/* Share of the samples that apportioning puts where serialized windows found them, in 0 .. 1; negative: not measured. */
double sampling_agreement(const struct model_gpu_sampling *s);

#endif
