/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of GPUs: the operations of a queue as what was entered and left, with what is known of each as attributes, and the ledgers of the back ends.
 * Tests: tests/unit/test_sink_otf2.c, tests/cli/sink_otf2.sh.
 *
 * The calling context of an operation is below the context of the CPU that asked for it. By the definition of the unwind distance all of its path is newly entered at the
 * first operation; from then on it is what differs from the parent of the operation before, since that is the previous calling context after a leave.
 */
#include "common/base/log.h"
#include "hpcprof-lite/sink/otf2.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_OPS = 2048 };

static void add_u32(struct otf2_line *l, OTF2_AttributeList *list, OTF2_AttributeRef attribute, uint32_t value)
{
	if (value)
		otf2_check(l->w, OTF2_AttributeList_AddUint32(list, attribute, value), "attribute");
}

static void add_u64(struct otf2_line *l, OTF2_AttributeList *list, OTF2_AttributeRef attribute, uint64_t value)
{
	if (value)
		otf2_check(l->w, OTF2_AttributeList_AddUint64(list, attribute, value), "attribute");
}

static void add_shape(struct otf2_line *l, OTF2_AttributeList *list, const struct msr_gpu_shape *s)
{
	for (unsigned i = 0; i < 3; i++) {
		add_u32(l, list, OTF2_ATTRIBUTE_GRID_X + i, s->grid[i]);
		add_u32(l, list, OTF2_ATTRIBUTE_BLOCK_X + i, s->block[i]);
		add_u32(l, list, OTF2_ATTRIBUTE_CLUSTER_X + i, s->cluster[i]);
		add_u64(l, list, OTF2_ATTRIBUTE_GLOBAL_X + i, s->global[i]);
	}
	add_u32(l, list, OTF2_ATTRIBUTE_REGISTERS, s->registers);
	add_u32(l, list, OTF2_ATTRIBUTE_STATIC_SHARED, s->static_shared_bytes);
	add_u32(l, list, OTF2_ATTRIBUTE_DYNAMIC_SHARED, s->dynamic_shared_bytes);
	add_u32(l, list, OTF2_ATTRIBUTE_LOCAL, s->local_bytes);
}

/* What is not known has no attribute. */
static void add_attributes(struct otf2_line *l, OTF2_AttributeList *list, const struct model_gpu_op *op)
{
	const struct model *m = l->w->m;
	if (op->shape < m->n_gpu_shapes)
		add_shape(l, list, &m->gpu_shapes[op->shape]);
	if (op->kind == MSR_GPU_KERNEL)
		add_u64(l, list, OTF2_ATTRIBUTE_GRAPH_NODE, op->amount);
	else
		otf2_check(l->w, OTF2_AttributeList_AddUint64(list, OTF2_ATTRIBUTE_BYTES, op->amount), "attribute");
	if (op->kind == MSR_GPU_COPY && op->detail < MSR_N_GPU_DIRECTIONS)
		otf2_check(l->w, OTF2_AttributeList_AddStringRef(list, OTF2_ATTRIBUTE_DIRECTION, OTF2_STRING_DIRECTION + op->detail), "attribute");
	add_u64(l, list, OTF2_ATTRIBUTE_ID, op->id);
	add_u64(l, list, OTF2_ATTRIBUTE_ENQUEUED, op->enter_ns);
	add_u64(l, list, OTF2_ATTRIBUTE_QUEUED, op->queued_ns);
	add_u64(l, list, OTF2_ATTRIBUTE_SUBMITTED, op->submitted_ns);
	if (op->launcher < m->n_profiles)
		otf2_check(l->w, OTF2_AttributeList_AddLocationRef(list, OTF2_ATTRIBUTE_LAUNCHER, op->launcher), "attribute");
}

/* An operation enters one region at least, also where its context is the one before: the same once more. */
static uint32_t enter_distance(const struct otf2_line *l, uint32_t node)
{
	uint32_t distance = otf2_tree_step(&l->w->tree, l->node, node).distance;
	return distance < 2 ? 2 : distance;
}

static void put_op(struct otf2_line *l, OTF2_AttributeList *list, const struct model_gpu_op *op)
{
	const struct otf2_tree *t = &l->w->tree;
	uint32_t node = t->node_of[op->context];
	if (node == MODEL_NONE) { /* the root has none */
		otf2_check(l->w, OTF2_ERROR_INTEGRITY_FAULT, "an operation without calling context");
		return;
	}
	uint64_t start_ns = op->start_ns > l->time_ns ? op->start_ns : l->time_ns, end_ns = op->end_ns > start_ns ? op->end_ns : start_ns;
	uint32_t region = t->nodes.at[node].region;
	add_attributes(l, list, op);
	if (l->w->enter_leave) {
		otf2_check(l->w, OTF2_EvtWriter_Enter(l->out, list, start_ns, region), "enter"); /* empties the list */
		otf2_check(l->w, OTF2_EvtWriter_Leave(l->out, NULL, end_ns, region), "leave");
	} else {
		otf2_check(l->w, OTF2_EvtWriter_CallingContextEnter(l->out, list, start_ns, node, enter_distance(l, node)), "enter");
		otf2_check(l->w, OTF2_EvtWriter_CallingContextLeave(l->out, NULL, end_ns, node), "leave");
	}
	l->node = t->nodes.at[node].parent;
	l->time_ns = end_ns;
}

void otf2_write_operations(struct otf2_line *l, uint32_t profile)
{
	const struct model *m = l->w->m;
	struct model_gpu_cursor cursor = {0};
	struct model_gpu_op *ops = malloc(CHUNK_OPS * sizeof *ops);
	OTF2_AttributeList *list = ops ? OTF2_AttributeList_New() : NULL;
	if (!list)
		otf2_check(l->w, OTF2_ERROR_MEM_ALLOC_FAILED, "operations");
	for (size_t n; list && m->profiles[profile].n_trace_records && !atomic_load_explicit(&l->w->failed, memory_order_relaxed) && (n = model_gpu_read(m, profile, &cursor, ops, CHUNK_OPS));) {
		for (size_t i = 0; i < n; i++)
			put_op(l, list, &ops[i]);
		progress_add(&l->w->progress, n, l->worker);
	}
	uint64_t end_ns = m->profiles[profile].end_ns;
	l->time_ns = end_ns > l->time_ns ? end_ns : l->time_ns;
	if (list)
		OTF2_AttributeList_Delete(list);
	free(ops);
}

/* ---- ledgers ---------------------------------------------------------------------------------------------- */

static uint64_t graph_losses(const struct model_gpu_ledger *l)
{
	uint64_t n = 0;
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		n += l->graph_losses[i];
	return n;
}

void otf2_gpu_ledger_members(const struct model_gpu_ledger *l, struct otf2_ledger_member members[OTF2_GPU_LEDGER_MEMBERS])
{
	const struct otf2_ledger_member fixed[] = {
		{"GPU operations in the tree", "Operations found, those summed up in the run included", l->n_ops},
		{"GPU operations without launch", "Their launch is not known; under an entry of their own", l->n_orphans},
		{"GPU operations without path", "Launched by threads that are not measured", l->n_no_path},
		{"GPU operations out of order", "Times are not enqueue <= start <= end within the error of the clocks", l->n_bad_order},
		{"GPU operations clipped", "Shortened on the time line, where more overlap than there are lanes", l->n_clipped},
		{"GPU calls unknown", "Calls of the API that the back end does not know", l->n_unknown_calls},
		{"GPU operations of graphs lost", "A graph's launch has several, and is joined when one is there", graph_losses(l)},
		{"GPU launches not explained", "Neither joined nor summed up nor lost", l->unexplained},
		{"GPU definitions unwritten", "Names, queues and shapes that could not be written", l->n_lost_definitions},
		{"GPU code objects unwritten", "Whose content could not be kept", l->n_lost_contents},
		{"GPU values unwritten", "Values of counters, ranges of PC sampling, clock pairs and nodes of graphs", l->n_lost_values},
	};
	static const char *const what[] = {"launched", "joined", "summed up"}, *const descriptions[] = {"Calls that asked for operations", "... with at least one operation in the tree",
		"... counted in sums by the run time"};
	size_t n = 0;
	for (; n < sizeof fixed / sizeof fixed[0]; n++)
		members[n] = fixed[n];
	for (unsigned k = 1; k < MSR_N_GPU_KINDS; k++) {
		const uint64_t values[] = {l->launched[k], l->joined[k], l->aggregated[k]};
		for (unsigned i = 0; i < 3; i++, n++) {
			snprintf(members[n].name, sizeof members[n].name, "GPU %s: %s", what[i], msr_gpu_kind_name((enum msr_gpu_kind)k));
			snprintf(members[n].description, sizeof members[n].description, "%s", descriptions[i]);
			members[n].value = values[i];
		}
	}
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++, n++) {
		snprintf(members[n].name, sizeof members[n].name, "GPU loss: %s", msr_gpu_loss_name((enum msr_gpu_loss)i));
		snprintf(members[n].description, sizeof members[n].description, "%s", msr_gpu_loss_description((enum msr_gpu_loss)i));
		members[n].value = l->losses[i];
	}
}

void otf2_gpu_sampling_members(const struct model_gpu_sampling *s, struct otf2_ledger_member members[SAMPLING_FACTS])
{
	struct sampling_fact facts[SAMPLING_FACTS];
	sampling_facts(s, facts);
	for (unsigned i = 0; i < SAMPLING_FACTS; i++) {
		snprintf(members[i].name, sizeof members[i].name, "%s", facts[i].name);
		snprintf(members[i].description, sizeof members[i].description, "%s", facts[i].description);
		members[i].value = facts[i].value;
	}
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
