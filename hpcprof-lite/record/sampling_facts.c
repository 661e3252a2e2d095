/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampling_facts.h. Test: tests/unit/sink/test_sink_otf2.c, tests/cli/prof/prof_gpu_pc.sh. */
#include "hpcprof-lite/record/sampling_facts.h"

#include "hpcprof-lite/record/record_ledger.h"

#include <string.h>

double sampling_agreement(const struct model_gpu_sampling *s)
{
	return s->yardstick.weight > 0 ? 1 - s->yardstick.wrong_context / s->yardstick.weight : -1;
}

static uint64_t ppm(double wrong, double weight)
{
	return weight > 0 ? (uint64_t)((1 - wrong / weight) * 1e6 + 0.5) : 0;
}

static struct sampling_fact fact_of(const struct field *f, const struct model_gpu_sampling *s)
{
	const struct value v = field_value(f, &(struct record){.at = s}, 0);
	const uint64_t n = f->kind == FIELD_REAL ? record_rounded(v.real) : v.n;
	const char *unit = field_unit(f);
	return (struct sampling_fact){f->title, f->meaning, unit ? unit : "number", n,
				      f->kind == FIELD_REAL ? v.real > 0 : n || !f->is_sparse};
}

/* How apportioning agrees with samples whose launch is known. */
static void add_agreement(const struct model_gpu_sampling *s, struct sampling_fact *to)
{
	const bool is_measured = s->yardstick.weight > 0;
	const bool has_places = s->yardstick.place_weight > 0;
	const struct sampling_fact facts[SAMPLING_AGREEMENTS] = {
		{"GPU yardstick samples",
		 "With known launch, of kernels that several contexts launched in serialized "
		 "ranges",
		 "number", s->yardstick.n_samples, s->n_serialized != 0},
		{"GPU apportioning agrees, contexts",
		 "Share of those that apportioning by GPU time puts into the right context; 0: not "
		 "measured",
		 "ppm", ppm(s->yardstick.wrong_context, s->yardstick.weight), is_measured},
		{"GPU apportioning agrees, by chance",
		 "The same with right shares at this number of samples; 0: not measured", "ppm",
		 ppm(s->yardstick.chance_context, s->yardstick.weight), is_measured},
		{"GPU apportioning agrees, instructions",
		 "Into the right context and instruction; 0: not measured", "ppm",
		 ppm(s->yardstick.wrong_place, s->yardstick.place_weight), has_places},
	};
	memcpy(to, facts, sizeof facts);
}

unsigned sampling_facts(const struct model_gpu_sampling *s,
			struct sampling_fact facts[SAMPLING_FACTS])
{
	unsigned n_fields, n = 0;
	const struct field *fields = record_sampling_fields(&n_fields);
	for (unsigned i = 0; i < n_fields && n < SAMPLING_FACTS - SAMPLING_AGREEMENTS; i++)
		if (fields[i].title)
			facts[n++] = fact_of(&fields[i], s);
	add_agreement(s, facts + n);
	return n + SAMPLING_AGREEMENTS;
}
