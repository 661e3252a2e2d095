/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The account of PC samples of GPUs: its fields, records, numbers and facts; see record.h and
 * sampling_facts.h. Test: tests/unit/sink/test_sink_otf2.c, tests/cli/prof/prof_gpu_pc.sh.
 */
#include "hpcprof-lite/record/record_ledger.h"
#include "hpcprof-lite/record/sampling_facts.h"

#include <string.h>

/* ---- fields ---- */

#define SAMPLING(group_, count_, member, name_, title_, meaning_)                                  \
	{.name = (name_), .meaning = (meaning_), .kind = FIELD_COUNT, .group = (group_),           \
	 .count = (count_), .title = (title_), FIELD_AT(model_gpu_sampling, member)}
#define KNOWN(unit_, member, name_, title_, meaning_)                                              \
	{.name = (name_), .meaning = (meaning_), .kind = FIELD_COUNT, .group = "sampler",          \
	 .title = (title_), .unit = (unit_), .is_sparse = true,                                    \
	 FIELD_AT(model_gpu_sampling, member)}
#define ESTIMATE(member, title_, meaning_)                                                         \
	{.name = #member, .meaning = (meaning_), .kind = FIELD_REAL, .group = "sampler",           \
	 .title = (title_), .is_sparse = true, FIELD_AT(model_gpu_sampling, member)}

static const struct field sampling_fields[] = {
	RECORD_OF,
	SAMPLING("ranges", "all", n_ranges, "ranges", "GPU PC sampling ranges",
		 "Each with the account taken = recorded + dropped + not attributed"),
	SAMPLING("pc_samples", NULL, total, "taken", "GPU PC samples taken",
		 "As the vendor's interface counts them: recorded, dropped and not attributed"),
	SAMPLING("pc_samples", NULL, recorded, "recorded", "GPU PC samples recorded",
		 "At instructions"),
	SAMPLING("pc_samples", NULL, dropped, "dropped", "GPU PC samples dropped",
		 "By the hardware, or for want of room in a buffer"),
	SAMPLING("pc_samples", NULL, outside, "outside_code", "GPU PC samples not attributed",
		 "To any code by the vendor's interface"),
	SAMPLING("recorded_pc_samples", NULL, in_tree_exact, "exact", "GPU PC samples exact",
		 "In the tree, in the context that launched their kernel"),
	SAMPLING("recorded_pc_samples", NULL, in_tree_apportioned, "apportioned",
		 "GPU PC samples apportioned",
		 "In the tree, shared out over the contexts that launched their kernel, or over "
		 "calls inside of it"),
	SAMPLING("not_issued_pc_samples", "all", in_tree_not_issued, "not_issued",
		 "GPU PC samples not issued",
		 "Counted a second time while the scheduler issued nothing; in no sum"),
	SAMPLING("range_time", NULL, sampled_ns, "sampled_ns", "GPU PC sampling time",
		 "Length of the ranges"),
	SAMPLING("range_time", NULL, gap_ns, "gap_ns", "GPU PC sampling gap time",
		 "Length of the gaps"),
	SAMPLING("ranges", NULL, n_buffer_full, "buffer_full", "GPU PC sampling buffer full",
		 "Times that the hardware's buffer was full"),
	FLAG(model_gpu_sampling, closes, "The account of each range, and of the tree"),
	SAMPLING("recorded_pc_samples", NULL, in_tree_unattributed, "unattributed",
		 "GPU PC samples unattributed",
		 "In the tree, of functions that nothing known launched"),
	SAMPLING("recorded_pc_samples", NULL, not_written, "not_written",
		 "GPU PC samples not written", "The run time could not write them"),
	SAMPLING("recorded_pc_samples", NULL, cut_off, "cut_off", "GPU PC samples cut off",
		 "Without an account, as the process ended before it was written"),
	SAMPLING("ranges", "open", n_open_ranges, "open_ranges", "GPU PC sampling ranges open",
		 "Whose account does not hold"),
	SAMPLING("gaps", "all", n_gaps, "gaps", "GPU PC sampling gaps",
		 "In which nothing was sampled"),
	SAMPLING("range_time", NULL, longest_gap_ns, "longest_gap_ns",
		 "GPU PC sampling longest gap", "Length of one gap"),
	SAMPLING("ranges", "serialized", n_serialized, "serialized_ranges",
		 "GPU PC sampling serialized ranges",
		 "In which kernels ran one at a time and samples know their launch"),
	SAMPLING("range_time", NULL, serialized_ns, "serialized_ns",
		 "GPU PC sampling serialized time", "Length of those"),
	KNOWN("cycles", period_least, "period_least", "GPU PC sampling shortest period",
	      "Between two samples of a sampler; the shortest"),
	KNOWN("cycles", period_most, "period_most", "GPU PC sampling period",
	      "Between two samples of a sampler; the longest"),
	KNOWN(NULL, samplers, "samplers", "GPU PC samplers", "SMs of the device"),
	KNOWN("MHz", clock_mhz, "clock_mhz", "GPU clock",
	      "That expected numbers are computed with"),
	SAMPLING("apportioned_pc_samples", "by_calls", apportioned_by_calls, "apportioned_by_calls",
		 "GPU PC samples apportioned by calls",
		 "Part of the apportioned: the launch is exact, the way to a device function is "
		 "not"),
	SAMPLING("apportioned_pc_samples", "by_launches", apportioned_by_launches,
		 "apportioned_by_launches", "GPU PC samples apportioned by launches",
		 "Part of the apportioned: by the number of launches, as times of the kernels are "
		 "not known"),
	ESTIMATE(promised, "GPU PC samples promised",
		 "By period, clock and as many SMs as kernels had blocks"),
	ESTIMATE(expected, "GPU PC samples expected",
		 "Had all SMs been busy whenever a kernel ran"),
	SAMPLING("gaps", NULL, n_cut, "cut_ends", "GPU PC sampling cut ends",
		 "Gaps at the end of a context of which the vendor kept samples, in no count"),
};
const struct record_kind record_gpu_sampling =
	RECORD_LINE("gpu-sampling", "PC samples of GPUs", sampling_fields);

/* An average over kernels, weighted by the samples that they represent. */
#define SHARE(function, member, weight_)                                                           \
	static struct value function(const struct record *r)                                       \
	{                                                                                          \
		const struct model_gpu_sampling *s = r->at;                                        \
		struct value v = {.is_known = s->yardstick.weight_ > 0};                           \
		if (v.is_known)                                                                    \
			v.real = s->yardstick.member / s->yardstick.weight_;                       \
		return v;                                                                          \
	}
SHARE(wrong_context, wrong_context, weight)
SHARE(chance_context, chance_context, weight)
SHARE(wrong_place, wrong_place, place_weight)
SHARE(chance_place, chance_place, place_weight)

static const struct field yardstick_fields[] = {
	RECORD_OF,
	COUNT(model_gpu_sampling, yardstick.n_kernels, "kernels", NULL),
	COUNT(model_gpu_sampling, yardstick.n_samples, "samples", "With a known launch"),
	REAL(model_gpu_sampling, yardstick.weight, "weight", "Samples that these represent"),
	GET(FIELD_REAL, "wrong_context", wrong_context, "Share that apportioning puts elsewhere"),
	GET(FIELD_REAL, "chance_context", chance_context, "... by chance"),
	GET(FIELD_REAL, "wrong_place", wrong_place, "Context and instruction"),
	GET(FIELD_REAL, "chance_place", chance_place, "... by chance"),
};
const struct record_kind record_gpu_yardstick =
	RECORD_LINE("gpu-yardstick", "How well apportioning agrees with known launches",
		    yardstick_fields);

enum { N_FIELDS = sizeof sampling_fields / sizeof *sampling_fields };

void record_put_sampling(struct record_visitor *v, const struct record *owner,
			 const struct model_gpu_sampling *s)
{
	if (sampling_is_there(s))
		record_visit(v, owner, &record_gpu_sampling, s, 0);
	if (s->n_serialized)
		record_visit(v, owner, &record_gpu_yardstick, s, 0);
}

size_t record_count_sampling(const struct model_gpu_sampling *s, struct words_count *to)
{
	struct record_list l = {to, 0};
	if (sampling_is_there(s))
		record_add_fields(&l, sampling_fields, N_FIELDS, s);
	return record_sort_groups(&l);
}

/* ---- facts ---- */

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
	unsigned n = 0;
	for (size_t i = 0; i < N_FIELDS && n < SAMPLING_FACTS - SAMPLING_AGREEMENTS; i++)
		if (sampling_fields[i].title)
			facts[n++] = fact_of(&sampling_fields[i], s);
	add_agreement(s, facts + n);
	return n + SAMPLING_AGREEMENTS;
}
