/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions that GPUs add to the archive: devices in the system tree, contexts as accelerator
 * location groups created by their process, queues as streams, attributes of operations, ledgers of
 * back ends. Nothing at all without GPUs. Tests: tests/unit/sink/test_sink_otf2.c,
 * tests/cli/sink/sink_otf2.sh.
 */
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void otf2_gpu_strings(struct otf2_defs *d)
{
	for (unsigned i = 0; d->w->m->has_gpu && i < MSR_N_GPU_DIRECTIONS; i++)
		otf2_string(d, msr_gpu_direction_name((enum msr_gpu_direction)i));
}

void otf2_gpu_attributes(struct otf2_defs *d)
{
	static const struct {
		const char *name, *description;
		OTF2_Type type;
	} attributes[OTF2_N_ATTRIBUTES] = {
		[OTF2_ATTRIBUTE_GRID_X] = {"grid x", "Groups (blocks) of the kernel",
					   OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_GRID_Y] = {"grid y", "Groups (blocks) of the kernel",
					   OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_GRID_Z] = {"grid z", "Groups (blocks) of the kernel",
					   OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_BLOCK_X] = {"block x", "Work-items (threads) of a group",
					    OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_BLOCK_Y] = {"block y", "Work-items (threads) of a group",
					    OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_BLOCK_Z] = {"block z", "Work-items (threads) of a group",
					    OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_CLUSTER_X] = {"cluster x", "Groups of a cluster", OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_CLUSTER_Y] = {"cluster y", "Groups of a cluster", OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_CLUSTER_Z] = {"cluster z", "Groups of a cluster", OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_GLOBAL_X] = {"global x", "Work-items of the kernel",
					     OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_GLOBAL_Y] = {"global y", "Work-items of the kernel",
					     OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_GLOBAL_Z] = {"global z", "Work-items of the kernel",
					     OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_REGISTERS] = {"registers", "Registers of a thread",
					      OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_STATIC_SHARED] = {"static shared memory", "Bytes of a group",
						  OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_DYNAMIC_SHARED] = {"dynamic shared memory", "Bytes of a group",
						   OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_LOCAL] = {"local memory", "Bytes of a thread", OTF2_TYPE_UINT32},
		[OTF2_ATTRIBUTE_BYTES] = {"bytes", "Bytes copied or set", OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_DIRECTION] = {"direction", "Of a copy", OTF2_TYPE_STRING},
		[OTF2_ATTRIBUTE_ID] =
			{"correlation id",
			 "The same for all that one call asked for; unique in a process",
			 OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_GRAPH_NODE] = {"graph node",
					       "Node of the graph that the kernel belongs to",
					       OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_ENQUEUED] =
			{"enqueued", "When the call that asked for it was entered, as time stamp",
			 OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_QUEUED] = {"queued", "When it came into the queue, as time stamp",
					   OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_SUBMITTED] = {"submitted",
					      "When it was handed to the device, as time stamp",
					      OTF2_TYPE_UINT64},
		[OTF2_ATTRIBUTE_LAUNCHER] = {"launcher", "The thread that asked for it",
					     OTF2_TYPE_LOCATION},
	};
	for (uint32_t i = OTF2_ATTRIBUTE_CONTEXT + 1; d->w->m->has_gpu && i < OTF2_N_ATTRIBUTES;
	     i++) {
		OTF2_StringRef name = otf2_string(d, attributes[i].name),
			       description = otf2_string(d, attributes[i].description);
		if (d->out)
			otf2_check_def(d, OTF2_GlobalDefWriter_WriteAttribute(d->out, i, name,
									      description,
									      attributes[i].type));
	}
}

/* ---- the system ---- */

/* A group must have a stream, so contexts with idle queues are left out. */
bool otf2_gpu_number_groups(struct otf2_writer *w)
{
	const struct model *m = w->m;
	uint32_t next = m->n_processes;
	w->gpu_groups = malloc(((size_t)m->n_gpu_contexts + 1) * sizeof *w->gpu_groups);
	if (!w->gpu_groups)
		return false;
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++)
		w->gpu_groups[i] = MODEL_NONE;
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_QUEUE)
			w->gpu_groups[m->gpu_queues[m->profiles[i].queue].context] = 0;
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++)
		if (w->gpu_groups[i] == 0)
			w->gpu_groups[i] = next++;
	return true;
}

static void node_text(struct otf2_defs *d, uint32_t node, const char *name, const char *text)
{
	OTF2_StringRef key = otf2_string(d, name);
	OTF2_AttributeValue value = {.stringRef = otf2_string(d, text)};
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
					  d->out, node, key, OTF2_TYPE_STRING, value));
}

static void node_number(struct otf2_defs *d, uint32_t node, const char *name, uint64_t number)
{
	OTF2_StringRef key = otf2_string(d, name);
	OTF2_AttributeValue value = {.uint64 = number};
	if (d->out && number)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
					  d->out, node, key, OTF2_TYPE_UINT64, value));
}

/* The process whose host has the device: the device's own process, or that of a context on it. */
static uint32_t process_of(const struct model *m, uint32_t device)
{
	if (m->gpu_devices[device].process != MODEL_NONE)
		return m->gpu_devices[device].process;
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++)
		if (m->gpu_contexts[i].device == device)
			return m->gpu_contexts[i].process;
	return 0;
}

#if OTF2_VERSION_MAJOR >= 3
enum { DEVICE_DOMAIN = OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE };
#else
enum { DEVICE_DOMAIN = OTF2_SYSTEM_TREE_DOMAIN_SOCKET };
#endif

static void device(struct otf2_defs *d, uint32_t i, uint32_t node, uint32_t host)
{
	const struct model_gpu_device *g = &d->w->m->gpu_devices[i];
	const struct msr_gpu_def_device *def = g->definition;
	char name[256];
	snprintf(name, sizeof name, "%s %" PRIu32 ": %s", names_device_type(g), g->ordinal,
		 g->name);
	otf2_tree_node(d, node, name, "accelerator", host, (OTF2_SystemTreeDomain)DEVICE_DOMAIN);
	node_text(d, node, "driver", g->driver);
	if (!def)
		return;
	node_number(d, node, "compute units", def->n_units);
	node_number(d, node, "clock (MHz)", def->clock_mhz);
	node_number(d, node, "memory (bytes)", def->memory_bytes);
	node_number(d, node, "lanes", def->lanes);
}

static void group(struct otf2_defs *d, uint32_t i, uint32_t node)
{
	const struct model *m = d->w->m;
	const struct model_gpu_context *c = &m->gpu_contexts[i];
	char of[64], name[160];
	otf2_process_name(&m->processes[c->process], of, sizeof of);
	snprintf(name, sizeof name, "%s %" PRIu32 " context %" PRIu32 " of %s",
		 names_device_type(&m->gpu_devices[c->device]), m->gpu_devices[c->device].ordinal,
		 c->ordinal, of);
	OTF2_StringRef name_ref = otf2_string(d, name);
	if (d->out)
#if OTF2_VERSION_MAJOR >= 3
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocationGroup(
					  d->out, d->w->gpu_groups[i], name_ref,
					  OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, node, c->process));
#else
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocationGroup(
					  d->out, d->w->gpu_groups[i], name_ref,
					  OTF2_LOCATION_GROUP_TYPE_PROCESS, node));
#endif
}

void otf2_gpu_system(struct otf2_defs *d, const uint32_t *host_of, uint32_t first)
{
	const struct model *m = d->w->m;
	for (uint32_t i = 0; i < m->n_gpu_devices; i++)
		device(d, i, first + i, host_of[process_of(m, i)]);
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++)
		if (d->w->gpu_groups[i] != MODEL_NONE)
			group(d, i, first + m->gpu_contexts[i].device);
}

#if OTF2_VERSION_MAJOR >= 3
enum { STREAM_TYPE = OTF2_LOCATION_TYPE_ACCELERATOR_STREAM };
#else
enum { STREAM_TYPE = OTF2_LOCATION_TYPE_GPU };
#endif

void otf2_gpu_location(struct otf2_defs *d, uint32_t i)
{
	const struct model *m = d->w->m;
	const struct model_profile *p = &m->profiles[i];
	const struct model_gpu_queue *q = &m->gpu_queues[p->queue];
	char name[256];
	snprintf(name, sizeof name, p->lane ? "%s lane %" PRIu32 : "%s", q->name, p->lane);
	OTF2_StringRef name_ref = otf2_string(d, name);
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocation(
					  d->out, i, name_ref, (OTF2_LocationType)STREAM_TYPE,
					  d->w->n_events[i], d->w->gpu_groups[q->context]));
	otf2_location_number(d, i, "queue", q->ordinal);
	otf2_location_number(d, i, "lane", p->lane);
	otf2_location_text(d, i, "order",
			   q->flags & MSR_GPU_QUEUE_OUT_OF_ORDER ? "out of order" : "in order");
}

OTF2_RegionRole otf2_gpu_role(enum msr_gpu_kind kind)
{
	switch (kind) {
	case MSR_GPU_COPY:
	case MSR_GPU_SET:
		return OTF2_REGION_ROLE_DATA_TRANSFER;
	case MSR_GPU_ALLOC:
		return OTF2_REGION_ROLE_ALLOCATE;
	case MSR_GPU_FREE:
		return OTF2_REGION_ROLE_DEALLOCATE;
	case MSR_GPU_SYNC:
		return OTF2_REGION_ROLE_TASK_WAIT;
	default:
		return OTF2_REGION_ROLE_ARTIFICIAL;
	}
}

/* ---- ledgers ---- */

static void sampling(struct otf2_defs *d)
{
	const struct model *m = d->w->m;
	struct sampling_fact facts[SAMPLING_FACTS];
	struct otf2_ledger_member members[SAMPLING_FACTS];
	OTF2_MetricMemberRef refs[SAMPLING_FACTS];
	if (!sampling_is_there(&m->gpu_sampling))
		return;
	sampling_facts(&m->gpu_sampling, facts);
	otf2_gpu_sampling_members(&m->gpu_sampling, members);
	for (uint32_t i = 0; i < SAMPLING_FACTS; i++) {
		refs[i] = m->n_metrics + OTF2_LEDGER_MEMBERS + OTF2_GPU_LEDGER_MEMBERS + i;
		otf2_member(d, refs[i], members[i].name, members[i].description,
			    OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
			    facts[i].unit);
	}
	if (!d->out)
		return;
	otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricClass(
				  d->out, otf2_class_gpu_sampling(m), SAMPLING_FACTS, refs,
				  OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
	for (uint32_t i = 0, next = 0; m->n_profiles && i < m->n_processes;
	     i++) /* for all processes, because references are dense */
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricInstance(
					  d->out, otf2_instance_gpu_sampling(m, i),
					  otf2_class_gpu_sampling(m), otf2_recorder(m, i, &next),
					  OTF2_SCOPE_LOCATION_GROUP, i));
}

static void backends(struct otf2_defs *d)
{
	const struct model *m = d->w->m;
	const OTF2_MetricRef class = otf2_class_gpu_ledger(m);
	struct otf2_ledger_member members[OTF2_GPU_LEDGER_MEMBERS];
	OTF2_MetricMemberRef refs[OTF2_GPU_LEDGER_MEMBERS];
	otf2_gpu_ledger_members(&m->gpu_ledger, members);
	for (uint32_t i = 0; i < OTF2_GPU_LEDGER_MEMBERS; i++) {
		refs[i] = m->n_metrics + OTF2_LEDGER_MEMBERS + i;
		otf2_member(d, refs[i], members[i].name, members[i].description,
			    OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
			    "number");
	}
	if (!d->out)
		return;
	otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricClass(
				  d->out, class, OTF2_GPU_LEDGER_MEMBERS, refs,
				  OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
	OTF2_MetricRef instance = class + 1;
	for (uint32_t i = 0, next = 0; m->n_profiles && i < m->n_processes; i++)
		for (uint32_t k = 0; k < m->processes[i].n_gpu; k++, instance++)
			otf2_check_def(d,
				       OTF2_GlobalDefWriter_WriteMetricInstance(
					       d->out, instance, class, otf2_recorder(m, i, &next),
					       OTF2_SCOPE_LOCATION_GROUP, i));
}

void otf2_gpu_ledgers(struct otf2_defs *d)
{
	if (!d->w->m->has_gpu)
		return;
	backends(d);
	sampling(d);
}
