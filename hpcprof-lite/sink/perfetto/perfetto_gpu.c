/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU operations as slices on the track of their queue, launches as instants on the track of their
 * thread, and a flow from each launch to its operations. Test: tests/cli/sink/sink_perfetto.sh.
 */
#include "hpcprof-lite/sink/perfetto/perfetto.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"
#include "hpcprof-lite/view/view_launch.h"

#include <stdlib.h>

enum { CHUNK_OPS = 2048 };

/* ---- arguments ---- */

static void put_number(struct perfetto_writer *w, enum perfetto_annotation a, uint64_t value)
{
	uint64_t name = perfetto_annotation(w, a);
	protobuf_clear(&w->sub);
	protobuf_put(&w->sub, ANNOTATION_NAME, name);
	protobuf_put(&w->sub, ANNOTATION_UINT, value);
	protobuf_put_message(&w->body, EVENT_ANNOTATIONS, &w->sub);
}

/* An unknown value is 0 and gets no argument. */
static void put_known(struct perfetto_writer *w, enum perfetto_annotation a, uint64_t value)
{
	if (value)
		put_number(w, a, value);
}

static void put_dimensions(struct perfetto_writer *w, enum perfetto_annotation a,
	const uint64_t dimensions[3])
{
	uint64_t name = perfetto_annotation(w, a);
	if (!dimensions[0])
		return;
	protobuf_clear(&w->ids);
	protobuf_put(&w->ids, ANNOTATION_NAME, name);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t axis = perfetto_annotation(w, PERFETTO_X + i);
		protobuf_clear(&w->sub);
		protobuf_put(&w->sub, ANNOTATION_NAME, axis);
		protobuf_put(&w->sub, ANNOTATION_UINT, dimensions[i]);
		protobuf_put_message(&w->ids, ANNOTATION_ENTRIES, &w->sub);
	}
	protobuf_put_message(&w->body, EVENT_ANNOTATIONS, &w->ids);
}

static void put_shape(struct perfetto_writer *w, uint32_t shape)
{
	const struct msr_gpu_shape *s = &w->m->gpu_shapes[shape];
	put_dimensions(w, PERFETTO_GRID, (uint64_t[]){s->grid[0], s->grid[1], s->grid[2]});
	put_dimensions(w, PERFETTO_BLOCK, (uint64_t[]){s->block[0], s->block[1], s->block[2]});
	put_dimensions(w, PERFETTO_CLUSTER,
		       (uint64_t[]){s->cluster[0], s->cluster[1], s->cluster[2]});
	put_dimensions(w, PERFETTO_GLOBAL, (uint64_t[]){s->global[0], s->global[1], s->global[2]});
	put_known(w, PERFETTO_REGISTERS, s->registers);
	put_known(w, PERFETTO_STATIC_SHARED, s->static_shared_bytes);
	put_known(w, PERFETTO_DYNAMIC_SHARED, s->dynamic_shared_bytes);
	put_known(w, PERFETTO_LOCAL, s->local_bytes);
	if (w->m->gpu_occupancies) {
		put_known(w, PERFETTO_WARPS, w->m->gpu_occupancies[shape].warps);
		put_known(w, PERFETTO_WARPS_MOST, w->m->gpu_occupancies[shape].warps_most);
	}
}

static void put_arguments(struct perfetto_writer *w, const struct model_gpu_op *op)
{
	if (op->shape < w->m->n_gpu_shapes)
		put_shape(w, op->shape);
	if (op->kind == MSR_GPU_KERNEL)
		put_known(w, PERFETTO_GRAPH_NODE, op->graph_node);
	else
		put_number(w, PERFETTO_BYTES, op->bytes);
	put_known(w, PERFETTO_CORRELATION_ID, op->id);
	put_known(w, PERFETTO_ENQUEUED, op->enter_ns);
	put_known(w, PERFETTO_QUEUED, op->queued_ns);
	put_known(w, PERFETTO_SUBMITTED, op->submitted_ns);
}

/* ---- launches ---- */

static bool has_launch(const struct perfetto_writer *w, const struct model_gpu_op *op)
{
	return op->enter_ns && op->launcher < w->m->n_profiles;
}

/* An instant with the call path, and one flow for each of `n` operations. */
static void write_launch(struct perfetto_writer *w, const struct model_gpu_op *op, size_t n)
{
	uint32_t caller = view_launch_caller(w->m, op->context);
	perfetto_begin(w, PERFETTO_EVENTS);
	perfetto_put_event(w, EVENT_INSTANT, op->launcher);
	protobuf_put(&w->body, EVENT_NAME,
		     caller == MODEL_NONE
			     ? perfetto_launch_event(w)
			     : perfetto_function_event(w, w->m->contexts[caller].function));
	protobuf_put(&w->body, EVENT_CATEGORIES, perfetto_category(w, PERFETTO_LAUNCH));
	if (caller != MODEL_NONE)
		protobuf_put(&w->body, EVENT_CALLSTACK,
			     perfetto_callstack(w, w->calls.node_of[caller]));
	put_known(w, PERFETTO_CORRELATION_ID, op->id);
	for (size_t i = 1; i <= n; i++)
		protobuf_put_fixed64(&w->body, EVENT_FLOW_IDS, w->n_flows + i);
	perfetto_end(w, PACKET_TRACK_EVENT, op->enter_ns);
}

/* The number of successive operations that one launch asked for, as a graph does. */
static size_t count_same_launch(const struct model_gpu_op *ops, size_t n)
{
	size_t same = 1;
	while (same < n && ops[same].id == ops[0].id && ops[same].launcher == ops[0].launcher &&
	       ops[same].enter_ns == ops[0].enter_ns)
		same++;
	return same;
}

/* ---- operations ---- */

static void write_operation(struct perfetto_writer *w, uint32_t profile,
	const struct model_gpu_op *op)
{
	bool is_kernel = op->kind == MSR_GPU_KERNEL;
	perfetto_begin(w, PERFETTO_EVENTS);
	perfetto_put_event(w, EVENT_BEGIN, profile);
	protobuf_put(&w->body, EVENT_NAME,
		     is_kernel ? perfetto_function_event(w, w->m->contexts[op->context].function)
			       : perfetto_kind_event(w, op->kind, op->detail));
	protobuf_put(&w->body, EVENT_CATEGORIES, perfetto_category(w, op->kind));
	put_arguments(w, op);
	if (has_launch(w, op))
		protobuf_put_fixed64(&w->body, EVENT_TERMINATING_FLOW_IDS, ++w->n_flows);
	perfetto_end(w, PACKET_TRACK_EVENT, op->start_ns);
	perfetto_begin(w, PERFETTO_EVENTS);
	perfetto_put_event(w, EVENT_END, profile);
	perfetto_end(w, PACKET_TRACK_EVENT, op->end_ns);
}

void perfetto_write_operations(struct perfetto_writer *w, uint32_t profile)
{
	const struct model *m = w->m;
	struct model_gpu_cursor cursor = {0};
	struct model_gpu_op *ops = malloc(CHUNK_OPS * sizeof *ops);
	if (!ops)
		perfetto_out_no_memory(&w->out);
	for (size_t n; m->profiles[profile].n_trace_records && w->out.status == STATUS_OK &&
		       (n = model_gpu_read(m, profile, &cursor, ops, CHUNK_OPS));) {
		for (size_t i = 0, same; i < n; i += same) {
			same = count_same_launch(&ops[i], n - i);
			if (has_launch(w, &ops[i]))
				write_launch(w, &ops[i], same);
			for (size_t k = 0; k < same; k++)
				write_operation(w, profile, &ops[i + k]);
		}
		progress_add(&w->progress, n, 0);
	}
	free(ops);
}
