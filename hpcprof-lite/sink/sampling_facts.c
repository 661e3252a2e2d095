/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampling_facts.h. Test: tests/unit/sink/test_sink_otf2.c, tests/cli/prof/prof_gpu_pc.sh. */
#include "hpcprof-lite/sink/sampling_facts.h"

#include <string.h>

double sampling_agreement(const struct model_gpu_sampling *s)
{
	return s->yardstick.weight > 0 ? 1 - s->yardstick.wrong_context / s->yardstick.weight : -1;
}

/* What a damaged file promises is cut. */
static uint64_t rounded(double n)
{
	return n < 1e18 ? (uint64_t)(n + 0.5) : UINT64_C(1000000000000000000);
}

static uint64_t ppm(double wrong, double weight)
{
	return weight > 0 ? (uint64_t)((1 - wrong / weight) * 1e6 + 0.5) : 0;
}

void sampling_facts(const struct model_gpu_sampling *s, struct sampling_fact facts[SAMPLING_FACTS])
{
	bool measured = s->yardstick.weight > 0, places = s->yardstick.place_weight > 0;
	const struct sampling_fact all[SAMPLING_FACTS] = {
		{"GPU PC samples taken",
		 "As the vendor's interface counts them: recorded, dropped and not attributed",
		 "number", s->total, true},
		{"GPU PC samples recorded", "At instructions", "number", s->recorded, true},
		{"GPU PC samples dropped", "By the hardware, or for want of room in a buffer",
		 "number", s->dropped, true},
		{"GPU PC samples not attributed", "To any code by the vendor's interface", "number",
		 s->outside, true},
		{"GPU PC samples exact", "In the tree, in the context that launched their kernel",
		 "number", s->in_tree_exact, true},
		{"GPU PC samples apportioned",
		 "In the tree, shared out over the contexts that launched their kernel, or over "
		 "calls inside of it",
		 "number", s->in_tree_apportioned, true},
		{"GPU PC samples apportioned by calls",
		 "Part of those: the launch is exact, the way to a device function is not",
		 "number", s->apportioned_by_calls, true},
		{"GPU PC samples apportioned by launches",
		 "Part of those: by the number of launches, as times of the kernels are not known",
		 "number", s->apportioned_by_launches, true},
		{"GPU PC samples unattributed",
		 "In the tree, of functions that nothing known launched", "number",
		 s->in_tree_unattributed, true},
		{"GPU PC samples not written", "The run time could not write them", "number",
		 s->not_written, true},
		{"GPU PC samples cut off",
		 "Without an account, as the process ended before it was written", "number",
		 s->cut_off, true},
		{"GPU PC sampling ranges",
		 "Each with the account taken = recorded + dropped + not attributed", "number",
		 s->n_ranges, true},
		{"GPU PC sampling ranges open", "Whose account does not hold", "number",
		 s->n_open_ranges, true},
		{"GPU PC sampling time", "Length of the ranges", "ns", s->sampled_ns, true},
		{"GPU PC sampling gaps", "In which nothing was sampled", "number", s->n_gaps, true},
		{"GPU PC sampling gap time", "Length of the gaps", "ns", s->gap_ns, true},
		{"GPU PC sampling longest gap", "Length of one gap", "ns", s->longest_gap_ns, true},
		{"GPU PC sampling buffer full", "Times that the hardware's buffer was full",
		 "number", s->n_buffer_full, true},
		{"GPU PC sampling serialized ranges",
		 "In which kernels ran one at a time and samples know their launch", "number",
		 s->n_serialized, true},
		{"GPU PC sampling serialized time", "Length of those", "ns", s->serialized_ns,
		 true},
		{"GPU PC sampling period", "Between two samples of a sampler; the longest",
		 "cycles", s->period_most, s->period_most != 0},
		{"GPU PC samplers", "SMs of the device", "number", s->samplers, s->samplers != 0},
		{"GPU clock", "That expected numbers are computed with", "MHz", s->clock_mhz,
		 s->clock_mhz != 0},
		{"GPU PC samples promised",
		 "By period, clock and as many SMs as kernels had blocks", "number",
		 rounded(s->promised), s->promised > 0},
		{"GPU PC samples expected", "Had all SMs been busy whenever a kernel ran", "number",
		 rounded(s->expected), s->expected > 0},
		{"GPU yardstick samples",
		 "With known launch, of kernels that several contexts launched in serialized "
		 "ranges",
		 "number", s->yardstick.n_samples, s->n_serialized != 0},
		{"GPU apportioning agrees, contexts",
		 "Share of those that apportioning by GPU time puts into the right context; 0: not "
		 "measured",
		 "ppm", ppm(s->yardstick.wrong_context, s->yardstick.weight), measured},
		{"GPU apportioning agrees, by chance",
		 "The same with right shares at this number of samples; 0: not measured", "ppm",
		 ppm(s->yardstick.chance_context, s->yardstick.weight), measured},
		{"GPU apportioning agrees, instructions",
		 "Into the right context and instruction; 0: not measured", "ppm",
		 ppm(s->yardstick.wrong_place, s->yardstick.place_weight), places},
		{"GPU PC sampling cut ends",
		 "Gaps at the end of a context of which the vendor kept samples, in no count",
		 "number", s->n_cut, true},
	};
	memcpy(facts, all, sizeof all);
}
