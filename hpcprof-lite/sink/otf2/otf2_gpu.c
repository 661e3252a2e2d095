/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of GPUs: each operation of a queue is entered and left, with what is known about it as
 * attributes. Tests: tests/unit/sink/test_sink_otf2.c, tests/cli/sink/sink_otf2.sh.
 *
 * The calling context of an operation is below the context of the CPU that asked for it. By the
 * definition of the unwind distance, the first operation enters its whole path. Later ones enter
 * the part that differs from the parent of the operation before, because that parent is the calling
 * context after a leave.
 */
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <stdlib.h>

enum { CHUNK_OPS = 2048 };

static void add_u32(struct otf2_line *l, OTF2_AttributeList *list, OTF2_AttributeRef attribute,
		    uint32_t value)
{
	if (value)
		otf2_check(l->w, OTF2_AttributeList_AddUint32(list, attribute, value), "attribute");
}

static void add_u64(struct otf2_line *l, OTF2_AttributeList *list, OTF2_AttributeRef attribute,
		    uint64_t value)
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

/* Adds no attribute for what is not known. */
static void add_attributes(struct otf2_line *l, OTF2_AttributeList *list,
			   const struct model_gpu_op *op)
{
	const struct model *m = l->w->m;
	if (op->shape < m->n_gpu_shapes)
		add_shape(l, list, &m->gpu_shapes[op->shape]);
	if (op->kind == MSR_GPU_KERNEL)
		add_u64(l, list, OTF2_ATTRIBUTE_GRAPH_NODE, op->graph_node);
	else
		otf2_check(l->w,
			   OTF2_AttributeList_AddUint64(list, OTF2_ATTRIBUTE_BYTES, op->bytes),
			   "attribute");
	if (op->kind == MSR_GPU_COPY && op->detail < MSR_N_GPU_DIRECTIONS)
		otf2_check(l->w,
			   OTF2_AttributeList_AddStringRef(list, OTF2_ATTRIBUTE_DIRECTION,
							   OTF2_STRING_DIRECTION + op->detail),
			   "attribute");
	add_u64(l, list, OTF2_ATTRIBUTE_ID, op->id);
	add_u64(l, list, OTF2_ATTRIBUTE_ENQUEUED, op->enter_ns);
	add_u64(l, list, OTF2_ATTRIBUTE_QUEUED, op->queued_ns);
	add_u64(l, list, OTF2_ATTRIBUTE_SUBMITTED, op->submitted_ns);
	if (op->launcher < m->n_profiles)
		otf2_check(l->w,
			   OTF2_AttributeList_AddLocationRef(list, OTF2_ATTRIBUTE_LAUNCHER,
							     op->launcher),
			   "attribute");
}

/* An operation enters at least one region, even if its context is the same as before. */
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
		otf2_check(l->w, OTF2_ERROR_INTEGRITY_FAULT,
			   "an operation without calling context");
		return;
	}
	uint64_t start_ns = op->start_ns > l->time_ns ? op->start_ns : l->time_ns,
		 end_ns = op->end_ns > start_ns ? op->end_ns : start_ns;
	uint32_t region = t->nodes.at[node].region;
	add_attributes(l, list, op);
	if (l->w->enter_leave) {
		(void)(otf2_check(l->w, OTF2_EvtWriter_Enter(l->out, list, start_ns, region),
				  "enter") && /* empties the list */
		       otf2_check(l->w, OTF2_EvtWriter_Leave(l->out, NULL, end_ns, region),
				  "leave"));
	} else {
		(void)(otf2_check(l->w,
				  OTF2_EvtWriter_CallingContextEnter(l->out, list, start_ns, node,
								     enter_distance(l, node)),
				  "enter") &&
		       otf2_check(l->w,
				  OTF2_EvtWriter_CallingContextLeave(l->out, NULL, end_ns, node),
				  "leave"));
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
	for (size_t n; list && m->profiles[profile].n_trace_records &&
		       !otf2_has_failed(l->w) &&
		       (n = model_gpu_read(m, profile, &cursor, ops, CHUNK_OPS));) {
		for (size_t i = 0; i < n && !otf2_has_failed(l->w); i++)
			put_op(l, list, &ops[i]);
		progress_add(&l->w->progress, n, l->worker);
	}
	uint64_t end_ns = m->profiles[profile].end_ns;
	l->time_ns = end_ns > l->time_ns ? end_ns : l->time_ns;
	if (list)
		OTF2_AttributeList_Delete(list);
	free(ops);
}
