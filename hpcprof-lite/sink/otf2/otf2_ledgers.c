/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ledgers in the archive: the names and values of the members of their metric classes, and the
 * events that hold them. Tests: tests/unit/sink/test_sink_otf2.c, tests/cli/sink/sink_otf2.sh.
 */
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <stdio.h>

void otf2_ledger_members(const struct model_ledger *l,
			 struct otf2_ledger_member members[OTF2_LEDGER_MEMBERS])
{
	const struct otf2_ledger_member fixed[] = {
		{"samples delivered", "Signals taken for a sample", l->delivered},
		{"samples recorded", "Samples the run time says it put in its tree", l->recorded},
		{"samples in the tree", "Samples found in the tree by counting", l->in_tree},
		{"samples with a complete path",
		 "Call paths to the root of their thread without a guessed frame", l->n_complete},
		{"samples with a guessed path",
		 "Call paths to the root of their thread with a frame that a heuristic guessed",
		 l->n_guessed},
		{"stacks with a guessed frame",
		 "Walks with a frame that a heuristic guessed, as the run time counted",
		 l->n_marked},
		{"trace records", "Records of the time line", l->n_trace_records},
		{"bytes damaged", "Bytes of the measurement that were skipped", l->bytes_damaged},
		{"CPU time by the clock", "Nanoseconds, of the process", l->cpu_clock_ns},
		{"CPU time sampled", "Nanoseconds in samples of CPUTIME", l->cpu_sampled_ns},
		{"CPU time without samples", "Nanoseconds that passed although samples were due",
		 l->cpu_unseen_ns},
		{"CPU time of threads not seen", "Nanoseconds in threads not seen to start",
		 l->cpu_strange_ns},
	};
	size_t n = 0;
	for (; n < sizeof fixed / sizeof fixed[0]; n++)
		members[n] = fixed[n];
	for (unsigned i = 0; i < MSR_N_LOSSES; i++, n++) {
		snprintf(members[n].name, sizeof members[n].name, "loss: %s",
			 msr_loss_name((enum msr_loss)i));
		snprintf(members[n].description, sizeof members[n].description, "%s",
			 msr_loss_description((enum msr_loss)i));
		members[n].value = l->losses[i];
	}
	for (unsigned i = 1; i < MSR_N_PATH_ENDS; i++, n++) {
		snprintf(members[n].name, sizeof members[n].name, "partial: %s",
			 msr_path_end_name((enum msr_path_end)i));
		snprintf(members[n].description, sizeof members[n].description,
			 "Samples whose call path could not be followed to its root");
		members[n].value = l->n_cut[i];
	}
}

static uint64_t graph_losses(const struct model_gpu_ledger *l)
{
	uint64_t n = 0;
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		n += l->graph_losses[i];
	return n;
}

void otf2_gpu_ledger_members(const struct model_gpu_ledger *l,
			     struct otf2_ledger_member members[OTF2_GPU_LEDGER_MEMBERS])
{
	const struct otf2_ledger_member fixed[] = {
		{"GPU operations in the tree",
		 "Operations found, those summed up in the run included", l->n_ops},
		{"GPU operations without launch",
		 "Their launch is not known; under an entry of their own", l->n_orphans},
		{"GPU operations without path", "Launched by threads that are not measured",
		 l->n_no_path},
		{"GPU operations out of order",
		 "Times are not enqueue <= start <= end within the error of the clocks",
		 l->n_bad_order},
		{"GPU operations clipped",
		 "Shortened on the time line, where more overlap than there are lanes",
		 l->n_clipped},
		{"GPU calls unknown", "Calls of the API that the back end does not know",
		 l->n_unknown_calls},
		{"GPU operations of graphs lost",
		 "A graph's launch has several, and is joined when one is there", graph_losses(l)},
		{"GPU launches not explained", "Neither joined nor summed up nor lost",
		 l->unexplained},
		{"GPU definitions unwritten", "Names, queues and shapes that could not be written",
		 l->n_lost_definitions},
		{"GPU code objects unwritten", "Whose content could not be kept",
		 l->n_lost_contents},
		{"GPU values unwritten",
		 "Values of counters, ranges of PC sampling, clock pairs and nodes of graphs",
		 l->n_lost_values},
	};
	static const char *const what[] = {"launched", "joined", "summed up"},
				 *const descriptions[] = {
					 "Calls that asked for operations",
					 "... with at least one operation in the tree",
					 "... counted in sums by the run time"};
	size_t n = 0;
	for (; n < sizeof fixed / sizeof fixed[0]; n++)
		members[n] = fixed[n];
	for (unsigned k = 1; k < MSR_N_GPU_KINDS; k++) {
		const uint64_t values[] = {l->launched[k], l->joined[k], l->aggregated[k]};
		for (unsigned i = 0; i < 3; i++, n++) {
			snprintf(members[n].name, sizeof members[n].name, "GPU %s: %s", what[i],
				 msr_gpu_kind_name((enum msr_gpu_kind)k));
			snprintf(members[n].description, sizeof members[n].description, "%s",
				 descriptions[i]);
			members[n].value = values[i];
		}
	}
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++, n++) {
		snprintf(members[n].name, sizeof members[n].name, "GPU loss: %s",
			 msr_gpu_loss_name((enum msr_gpu_loss)i));
		snprintf(members[n].description, sizeof members[n].description, "%s",
			 msr_gpu_loss_description((enum msr_gpu_loss)i));
		members[n].value = l->losses[i];
	}
}

void otf2_gpu_sampling_members(const struct model_gpu_sampling *s,
			       struct otf2_ledger_member members[SAMPLING_FACTS])
{
	struct sampling_fact facts[SAMPLING_FACTS];
	sampling_facts(s, facts);
	for (unsigned i = 0; i < SAMPLING_FACTS; i++) {
		snprintf(members[i].name, sizeof members[i].name, "%s", facts[i].name);
		snprintf(members[i].description, sizeof members[i].description, "%s",
			 facts[i].description);
		members[i].value = facts[i].value;
	}
}

void otf2_put_ledger(struct otf2_line *l, OTF2_MetricRef metric,
		     const struct otf2_ledger_member *members, uint8_t n)
{
	OTF2_Type types[UINT8_MAX];
	OTF2_MetricValue values[UINT8_MAX];
	for (unsigned i = 0; i < n; i++) {
		types[i] = OTF2_TYPE_UINT64;
		values[i].unsigned_int = members[i].value;
	}
	if (!otf2_has_failed(l->w))
		otf2_check(l->w,
			   OTF2_EvtWriter_Metric(l->out, NULL, l->time_ns, metric, n, types,
						 values),
			   "ledger");
}

void otf2_put_gpu_ledgers(struct otf2_line *l, uint32_t process)
{
	const struct model *m = l->w->m;
	OTF2_MetricRef instance = otf2_instance_gpu_ledger(m, process);
	for (uint32_t i = 0; i < m->processes[process].n_gpu; i++) {
		struct otf2_ledger_member members[OTF2_GPU_LEDGER_MEMBERS];
		otf2_gpu_ledger_members(&m->processes[process].gpu[i], members);
		otf2_put_ledger(l, instance + i, members, OTF2_GPU_LEDGER_MEMBERS);
	}
	if (sampling_is_there(&m->processes[process].gpu_sampling)) {
		struct otf2_ledger_member members[SAMPLING_FACTS];
		otf2_gpu_sampling_members(&m->processes[process].gpu_sampling, members);
		otf2_put_ledger(l, otf2_instance_gpu_sampling(m, process), members, SAMPLING_FACTS);
	}
}
