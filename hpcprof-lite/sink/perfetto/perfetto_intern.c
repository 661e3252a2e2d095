/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interned data of a sequence: call stacks with their frames and mappings, names of events,
 * categories and annotations. Test: tests/cli/sink/sink_perfetto.sh.
 *
 * A frame is a function. Readers identify a frame by mapping, address and name, so lines of a
 * function cannot be different frames without the addresses, which the tree has summed up.
 */
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/perfetto/perfetto.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_ENTRIES = MODEL_N_ENTRIES * MSR_N_PATH_ENDS, N_KIND_NAMES = 16 * 16 };

/* Ids of event names: functions, then ours, kinds with their details, and ranges of NVTX. */
enum { NAME_OFF = 1, NAME_LAUNCH, N_OWN_NAMES };

/* Bits of `written`: one range for each kind of interned data. */
static size_t bit_of_frame(const struct perfetto_writer *w, uint64_t id)
{
	return w->calls.nodes.n + id;
}
static size_t bit_of_file(const struct perfetto_writer *w, uint64_t id)
{
	return bit_of_frame(w, (uint64_t)w->m->n_functions + N_ENTRIES + 1) + id;
}
static size_t bit_of_mapping(const struct perfetto_writer *w, uint64_t id)
{
	return bit_of_file(w, (uint64_t)w->m->n_files + 1) + id;
}
static size_t bit_of_event(const struct perfetto_writer *w, uint64_t id)
{
	return bit_of_mapping(w, (uint64_t)w->m->n_modules + 2) + id;
}
static size_t bit_of_category(const struct perfetto_writer *w, uint64_t id)
{
	const uint64_t n_nvtx = w->m->nvtx ? w->m->nvtx->n_ranges : 0;
	return bit_of_event(w, (uint64_t)w->m->n_functions + N_OWN_NAMES + N_KIND_NAMES + n_nvtx) +
	       id;
}
static size_t bit_of_annotation(const struct perfetto_writer *w, uint64_t id)
{
	return bit_of_category(w, PERFETTO_N_CATEGORIES + 1) + id;
}
size_t perfetto_n_interned(const struct perfetto_writer *w)
{
	return bit_of_annotation(w, PERFETTO_N_ANNOTATIONS + 1);
}

/* True the first time in this sequence. */
static bool is_new(struct perfetto_writer *w, size_t bit)
{
	uint8_t *at = w->sequence->written ? &w->sequence->written[bit / 8] : NULL;
	uint8_t mask = (uint8_t)(1u << bit % 8);
	if (!at || *at & mask)
		return false;
	*at |= mask;
	return true;
}

static void put_string(struct perfetto_writer *w, unsigned field, uint64_t id, const char *s)
{
	protobuf_clear(&w->entry);
	protobuf_put(&w->entry, INTERNED_ID, id);
	protobuf_put_text(&w->entry, INTERNED_STRING, s);
	protobuf_put_message(&w->interned, field, &w->entry);
}

/* ---- call stacks ---- */

static void put_build_id(struct perfetto_writer *w, uint64_t id, const struct model_module *module)
{
	protobuf_clear(&w->entry);
	protobuf_put(&w->entry, INTERNED_ID, id);
	protobuf_put_bytes(&w->entry, INTERNED_STRING, module->build_id, module->build_id_bytes);
	protobuf_put_message(&w->interned, INTERNED_BUILD_IDS, &w->entry);
}

/* The mapping of code without a module has no name. */
static uint64_t mapping_of(struct perfetto_writer *w, uint32_t module)
{
	const struct model *m = w->m;
	const struct model_module *x = module < m->n_modules ? &m->modules[module] : NULL;
	uint64_t id = (x ? (uint64_t)module : m->n_modules) + 1;
	if (!is_new(w, bit_of_mapping(w, id)))
		return id;
	put_string(w, INTERNED_MAPPING_PATHS, id, x ? x->path : "");
	if (x && x->build_id_bytes)
		put_build_id(w, id, x);
	protobuf_clear(&w->entry);
	protobuf_put(&w->entry, INTERNED_ID, id);
	if (x && x->build_id_bytes)
		protobuf_put(&w->entry, MAPPING_BUILD_ID, id);
	protobuf_put(&w->entry, MAPPING_PATHS, id);
	protobuf_put_message(&w->interned, INTERNED_MAPPINGS, &w->entry);
	return id;
}

static uint64_t file_of(struct perfetto_writer *w, uint32_t file)
{
	uint64_t id = (uint64_t)file + 1;
	if (is_new(w, bit_of_file(w, id)))
		put_string(w, INTERNED_SOURCE_PATHS, id, w->m->files[file].path);
	return id;
}

/* The frame of a function has the place of its definition. */
static void put_function(struct perfetto_writer *w, uint64_t id, const struct model_function *f)
{
	const struct model *m = w->m;
	uint64_t mapping = mapping_of(w, f->module);
	uint64_t file = f->file < m->n_files ? file_of(w, f->file) : 0;
	protobuf_clear(&w->entry);
	protobuf_put(&w->entry, INTERNED_ID, id);
	protobuf_put(&w->entry, FRAME_FUNCTION_NAME, id);
	protobuf_put(&w->entry, FRAME_MAPPING, mapping);
	protobuf_put(&w->entry, FRAME_REL_PC, f->link_addr);
	if (file)
		protobuf_put(&w->entry, FRAME_SOURCE_PATH, file);
	if (file && f->line)
		protobuf_put(&w->entry, FRAME_LINE, f->line);
	if (f->module < m->n_modules && m->modules[f->module].is_python)
		protobuf_put(&w->entry, FRAME_KIND, FRAME_INTERPRETED);
	protobuf_put_message(&w->interned, INTERNED_FRAMES, &w->entry);
}

static void put_entry(struct perfetto_writer *w, uint64_t id)
{
	uint64_t mapping = mapping_of(w, MODEL_NONE);
	protobuf_clear(&w->entry);
	protobuf_put(&w->entry, INTERNED_ID, id);
	protobuf_put(&w->entry, FRAME_FUNCTION_NAME, id);
	protobuf_put(&w->entry, FRAME_MAPPING, mapping);
	protobuf_put_message(&w->interned, INTERNED_FRAMES, &w->entry);
}

static uint64_t frame_of(struct perfetto_writer *w, const struct model_context *c)
{
	const struct model *m = w->m;
	bool is_function = c->kind == MODEL_CONTEXT_FUNCTION;
	uint64_t id = is_function ? (uint64_t)c->function + 1
				  : (uint64_t)m->n_functions + 1 + c->entry * MSR_N_PATH_ENDS +
					    (c->end < MSR_N_PATH_ENDS ? c->end : 0);
	if (!is_new(w, bit_of_frame(w, id)))
		return id;
	put_string(w, INTERNED_FUNCTION_NAMES, id,
		   is_function ? names_function(m, c->function) : names_entry(c));
	if (is_function)
		put_function(w, id, &m->functions[c->function]);
	else
		put_entry(w, id);
	return id;
}

/* The outermost frame comes first. */
uint64_t perfetto_callstack(struct perfetto_writer *w, uint32_t node)
{
	const struct view_call *nodes = w->calls.nodes.at;
	uint64_t id = (uint64_t)node;
	if (!is_new(w, node))
		return id;
	uint32_t *path = malloc(nodes[node].depth * sizeof *path);
	uint32_t n = path ? nodes[node].depth : 0;
	for (uint32_t i = n, at = node; i-- > 0; at = nodes[at].parent)
		path[i] = nodes[at].context;
	protobuf_clear(&w->ids);
	protobuf_put(&w->ids, INTERNED_ID, id);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t frame = frame_of(w, &w->m->contexts[path[i]]);
		protobuf_put(&w->ids, CALLSTACK_FRAMES, frame);
	}
	w->ids.failed |= !path;
	protobuf_put_message(&w->interned, INTERNED_CALLSTACKS, &w->ids);
	free(path);
	return id;
}

/* ---- names ---- */

static uint64_t event_of(struct perfetto_writer *w, uint64_t id, const char *name)
{
	if (is_new(w, bit_of_event(w, id)))
		put_string(w, INTERNED_EVENT_NAMES, id, name);
	return id;
}

uint64_t perfetto_function_event(struct perfetto_writer *w, uint32_t function)
{
	return event_of(w, (uint64_t)function + 1, names_function(w->m, function));
}

uint64_t perfetto_off_event(struct perfetto_writer *w)
{
	return event_of(w, (uint64_t)w->m->n_functions + NAME_OFF,
			w->m->part_has_gaps ? "not in the part" : "measurement off");
}

uint64_t perfetto_launch_event(struct perfetto_writer *w)
{
	return event_of(w, (uint64_t)w->m->n_functions + NAME_LAUNCH, "launch");
}

uint64_t perfetto_kind_event(struct perfetto_writer *w, unsigned kind, unsigned detail)
{
	bool is_copy = kind == MSR_GPU_COPY && detail < MSR_N_GPU_DIRECTIONS;
	uint64_t id = (uint64_t)w->m->n_functions + N_OWN_NAMES + kind % 16 * 16 +
		      (is_copy ? detail : 0);
	char name[64];
	snprintf(name, sizeof name, is_copy ? "%s %s" : "%s",
		 msr_gpu_kind_name((enum msr_gpu_kind)kind),
		 msr_gpu_direction_name((enum msr_gpu_direction)detail));
	return event_of(w, id, name);
}

uint64_t perfetto_nvtx_event(struct perfetto_writer *w, uint32_t range)
{
	return event_of(w, (uint64_t)w->m->n_functions + N_OWN_NAMES + N_KIND_NAMES + range,
			w->m->nvtx->ranges[range].label);
}

uint64_t perfetto_category(struct perfetto_writer *w, unsigned kind)
{
	uint64_t id = (uint64_t)kind % PERFETTO_N_CATEGORIES + 1;
	if (is_new(w, bit_of_category(w, id)))
		put_string(w, INTERNED_CATEGORIES, id,
			   kind == PERFETTO_LAUNCH ? "launch"
			   : kind == PERFETTO_OFF  ? "measurement"
			   : kind == PERFETTO_WAIT ? "wait"
			   : kind == PERFETTO_NVTX ? "nvtx"
						   : msr_gpu_kind_name((enum msr_gpu_kind)kind));
	return id;
}

uint64_t perfetto_annotation(struct perfetto_writer *w, enum perfetto_annotation a)
{
	static const char *const names[PERFETTO_N_ANNOTATIONS] = {
		[PERFETTO_GRID] = "grid",
		[PERFETTO_BLOCK] = "block",
		[PERFETTO_CLUSTER] = "cluster",
		[PERFETTO_GLOBAL] = "global",
		[PERFETTO_X] = "x",
		[PERFETTO_Y] = "y",
		[PERFETTO_Z] = "z",
		[PERFETTO_REGISTERS] = "registers",
		[PERFETTO_STATIC_SHARED] = "static_shared_bytes",
		[PERFETTO_DYNAMIC_SHARED] = "dynamic_shared_bytes",
		[PERFETTO_LOCAL] = "local_bytes",
		[PERFETTO_WARPS] = "warps_per_sm",
		[PERFETTO_WARPS_MOST] = "warps_per_sm_most",
		[PERFETTO_GRAPH_NODE] = "graph_node",
		[PERFETTO_BYTES] = "bytes",
		[PERFETTO_CORRELATION_ID] = "correlation_id",
		[PERFETTO_ENQUEUED] = "enqueued_ns",
		[PERFETTO_QUEUED] = "queued_ns",
		[PERFETTO_SUBMITTED] = "submitted_ns",
	};
	uint64_t id = (uint64_t)a + 1;
	if (is_new(w, bit_of_annotation(w, id)))
		put_string(w, INTERNED_ANNOTATION_NAMES, id, names[a]);
	return id;
}
