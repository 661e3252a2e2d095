/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions of the archive. Readers want strings before the definitions that use them, so all
 * functions here run twice: first only to collect the strings (d->out is NULL), then to write.
 * otf2_gpu_defs.c has the definitions for GPUs, otf2_define.c what both files need. Tests:
 * tests/unit/sink/test_sink_otf2.c, tests/cli/sink/sink_otf2.sh.
 */
#include "common/base/map.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- properties: {name, text or number} of whatever `write` defines one for ---- */

static void group_text(struct otf2_defs *d, uint32_t process, const char *name, const char *text)
{
	OTF2_StringRef key = otf2_string(d, name);
	OTF2_AttributeValue value = {.stringRef = otf2_string(d, text)};
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
					  d->out, process, key, OTF2_TYPE_STRING, value));
}

static void group_number(struct otf2_defs *d, uint32_t process, const char *name, int64_t number)
{
	OTF2_StringRef key = otf2_string(d, name);
	OTF2_AttributeValue value = {.int64 = number};
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
					  d->out, process, key, OTF2_TYPE_INT64, value));
}

static void context_number(struct otf2_defs *d, uint32_t node, const char *name, uint64_t number)
{
	OTF2_StringRef key = otf2_string(d, name);
	OTF2_AttributeValue value = {.uint64 = number};
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteCallingContextProperty(
					  d->out, node, key, OTF2_TYPE_UINT64, value));
}

static void context_text(struct otf2_defs *d, uint32_t node, const char *name, const char *text)
{
	OTF2_StringRef key = otf2_string(d, name);
	OTF2_AttributeValue value = {.stringRef = otf2_string(d, text)};
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteCallingContextProperty(
					  d->out, node, key, OTF2_TYPE_STRING, value));
}

/* ---- the system ---- */

static void clock_properties(struct otf2_defs *d)
{
	const struct model *m = d->w->m;
	uint64_t first_ns = m->start_ns, last_ns = m->end_ns;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		first_ns = m->profiles[i].start_ns < first_ns ? m->profiles[i].start_ns : first_ns;
		last_ns = m->profiles[i].end_ns > last_ns ? m->profiles[i].end_ns : last_ns;
	}
	otf2_nvtx_clock(m, &first_ns, &last_ns);
	otf2_energy_clock(m, &first_ns, &last_ns);
	if (!d->out)
		return;
#if OTF2_VERSION_MAJOR >= 3
	otf2_check_def(d, OTF2_GlobalDefWriter_WriteClockProperties(
				  d->out, 1000000000, first_ns, last_ns - first_ns + 1, first_ns));
#else
	otf2_check_def(d, OTF2_GlobalDefWriter_WriteClockProperties(d->out, 1000000000, first_ns,
								    last_ns - first_ns + 1));
#endif
}

static void process(struct otf2_defs *d, uint32_t i, uint32_t node)
{
	const struct model_process *p = &d->w->m->processes[i];
	char name[64];
	otf2_process_name(p, name, sizeof name);
	OTF2_StringRef name_ref = otf2_string(d, name);
	if (d->out)
#if OTF2_VERSION_MAJOR >= 3
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocationGroup(
					  d->out, i, name_ref, OTF2_LOCATION_GROUP_TYPE_PROCESS,
					  node, OTF2_UNDEFINED_LOCATION_GROUP));
#else
		otf2_check_def(
			d, OTF2_GlobalDefWriter_WriteLocationGroup(
				   d->out, i, name_ref, OTF2_LOCATION_GROUP_TYPE_PROCESS, node));
#endif
	group_number(d, i, "pid", p->pid);
	if (p->rank >= 0)
		group_number(d, i, "rank", p->rank);
	group_text(d, i, "executable", p->executable);
	group_text(d, i, "command", p->command);
	char end[128];
	group_text(d, i, "end",
		   p->is_live ? "still running"
			      : ends_text(p->exit_kind, p->exit_code, end, sizeof end));
	group_number(d, i, "exit code", p->exit_code);
	group_text(d, i, "measurement", p->path);
	for (uint32_t k = 0; k < p->n_gpu; k++) {
		char key[64];
		snprintf(key, sizeof key, "GPU back end %s", p->gpu[k].backend);
		group_text(d, i, key, p->gpu[k].entrance);
	}
}

static void location(struct otf2_defs *d, uint32_t i)
{
	const struct model_profile *p = &d->w->m->profiles[i];
	char name[96];
	snprintf(name, sizeof name,
		 p->name && p->name[0] ? "Thread %" PRIu32 " (%s)" : "Thread %" PRIu32, p->thread,
		 p->name);
	OTF2_StringRef name_ref = otf2_string(d, name);
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocation(
					  d->out, i, name_ref, OTF2_LOCATION_TYPE_CPU_THREAD,
					  d->w->n_events[i], p->process));
	otf2_location_number(d, i, "tid", p->tid);
	if (p->cpu_ns)
		otf2_location_number(d, i, "cpu time (ns)", p->cpu_ns);
}

/* Machine, nodes by host, processes, threads; GPUs below their hosts and their queues. */
static void machine(struct otf2_defs *d)
{
	const struct model *m = d->w->m;
	struct map nodes = {0};
	uint32_t n_nodes = 0, *host_of = calloc((size_t)m->n_processes + 1, sizeof *host_of);
	otf2_tree_node(d, 0, "machine", "machine", OTF2_UNDEFINED_SYSTEM_TREE_NODE,
		       OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
	for (uint32_t i = 0; i < m->n_processes && host_of; i++) {
		uint64_t node =
			map_put(&nodes, m->processes[i].host_id,
				hash_bytes(m->processes[i].host, strlen(m->processes[i].host)),
				n_nodes + 1);
		if (node == MAP_NONE)
			d->no_memory = true;
		else if (node == n_nodes + 1)
			otf2_tree_node(d, ++n_nodes, m->processes[i].host, "node", 0,
				       OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
		host_of[i] = (uint32_t)node;
		process(d, i, (uint32_t)node);
	}
	if (host_of)
		otf2_gpu_system(d, host_of, n_nodes + 1);
	else
		d->no_memory = true;
	free(host_of);
	map_free(&nodes);
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_QUEUE)
			otf2_gpu_location(d, i);
		else
			location(d, i);
	otf2_nvtx_locations(d);
	otf2_energy_locations(d);
}

/* ---- the tree ---- */

static const char *file_path(const struct model *m, uint32_t file)
{
	return file < m->n_files ? m->files[file].path : "";
}

static void region(struct otf2_defs *d, uint32_t i)
{
	const struct model *m = d->w->m;
	const struct otf2_region *r = &d->w->tree.regions.at[i];
	char loop[32];
	const char *name = names_function(m, r->function), *description = "";
	OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
	if (r->kind == OTF2_REGION_ENTRY) {
		name = names_entry(&m->contexts[r->context]);
		role = OTF2_REGION_ROLE_ARTIFICIAL;
	} else if (r->kind == OTF2_REGION_LOOP) {
		description = name;
		if (r->file != MODEL_NONE)
			snprintf(loop, sizeof loop, "loop at line %" PRIu32, r->line);
		else
			snprintf(loop, sizeof loop, "loop at %#" PRIx64,
				 m->contexts[r->context].link_addr);
		name = loop;
		role = OTF2_REGION_ROLE_LOOP;
	} else if (r->function < m->n_functions &&
		   m->functions[r->function].gpu_kind != MSR_GPU_NO_KIND) {
		role = otf2_gpu_role((enum msr_gpu_kind)m->functions[r->function].gpu_kind);
	} else if (r->function < m->n_functions && m->functions[r->function].wait) {
		role = OTF2_REGION_ROLE_ARTIFICIAL;
	} else if (r->function < m->n_functions) {
		description = names_module(m, m->functions[r->function].module);
	}
	OTF2_StringRef name_ref = otf2_string(d, name),
		       description_ref = otf2_string(d, description),
		       file_ref = otf2_string(d, file_path(m, r->file));
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteRegion(
					  d->out, i, name_ref, name_ref, description_ref, role,
					  OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE, file_ref,
					  r->line, 0));
}

static void calling_context(struct otf2_defs *d, uint32_t i)
{
	const struct model *m = d->w->m;
	const struct otf2_node *n = &d->w->tree.nodes.at[i];
	const struct model_context *c = &m->contexts[n->context], *frame = &m->contexts[n->frame];
	if (d->out)
		otf2_check_def(d,
			       OTF2_GlobalDefWriter_WriteCallingContext(
				       d->out, i, n->region,
				       n->place == MODEL_NONE ? OTF2_UNDEFINED_SOURCE_CODE_LOCATION
							      : n->place,
				       n->parent == MODEL_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT
							       : n->parent));
	if (c->kind == MODEL_CONTEXT_INSTRUCTION) {
		context_number(d, i, "address", c->link_addr);
		context_text(d, i, "module", names_module(m, c->module));
	}
	if (frame->relation == MODEL_INLINED)
		context_number(d, i, "inlined", 1);
	if (c->marked)
		context_number(d, i, "found by a heuristic", 1);
	else if (n->on_guess)
		context_number(d, i, "below a guessed frame", 1);
}

static void tree(struct otf2_defs *d)
{
	const struct otf2_tree *t = &d->w->tree;
	for (uint32_t i = 0; i < t->regions.n; i++)
		region(d, i);
	otf2_nvtx_regions(d);
	for (uint32_t i = 0; i < t->places.n; i++) {
		OTF2_StringRef file = otf2_string(d, file_path(d->w->m, t->places.at[i].file));
		if (d->out)
			otf2_check_def(d, OTF2_GlobalDefWriter_WriteSourceCodeLocation(
						  d->out, i, file, t->places.at[i].line));
	}
	for (uint32_t i = 0; i < t->nodes.n; i++)
		calling_context(d, i);
}

/* ---- metrics ---- */

static bool is_time(const struct model_metric *metric)
{
	return metric->unit == MODEL_SECONDS;
}

static void interrupt_generator(struct otf2_defs *d, uint32_t i, const struct model_metric *metric)
{
	OTF2_StringRef event = otf2_string(d, metric->event);
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteInterruptGenerator(
					  d->out, i, event,
					  is_time(metric) ? OTF2_INTERRUPT_GENERATOR_MODE_TIME
							  : OTF2_INTERRUPT_GENERATOR_MODE_COUNT,
					  OTF2_BASE_DECIMAL, is_time(metric) ? -9 : 0,
					  metric->period));
}

static void metrics(struct otf2_defs *d)
{
	const struct model *m = d->w->m;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *metric = &m->metrics[i];
		char *name = names_metric(metric);
		d->no_memory |= !name;
		if (metric->kind == MODEL_METRIC_SAMPLED)
			interrupt_generator(d, i, metric);
		otf2_member(d, i, name, metric->description,
			    metric->source == MSR_SOURCE_PAPI ? OTF2_METRIC_TYPE_PAPI
							      : OTF2_METRIC_TYPE_OTHER,
			    OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
			    is_time(metric) ? "seconds" : model_unit_name(metric->unit));
		if (d->out)
			otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricClass(
						  d->out, i, 1, &i, OTF2_METRIC_ASYNCHRONOUS,
						  OTF2_RECORDER_KIND_CPU));
		free(name);
	}
}

static void ledgers(struct otf2_defs *d)
{
	const struct model *m = d->w->m;
	struct otf2_ledger_member members[OTF2_LEDGER_MEMBERS];
	OTF2_MetricMemberRef refs[OTF2_LEDGER_MEMBERS];
	otf2_ledger_members(&m->ledger, members);
	for (uint32_t i = 0; i < OTF2_LEDGER_MEMBERS; i++) {
		refs[i] = m->n_metrics + i;
		otf2_member(d, refs[i], members[i].name, members[i].description,
			    OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
			    "number");
	}
	if (!d->out)
		return;
	otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricClass(
				  d->out, otf2_class_thread_ledger(m), OTF2_LEDGER_MEMBERS, refs,
				  OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
	otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricClass(
				  d->out, otf2_class_process_ledger(m), OTF2_LEDGER_MEMBERS, refs,
				  OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
	for (uint32_t i = 0, next = 0; m->n_profiles && i < m->n_processes; i++)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricInstance(
					  d->out, otf2_instance_process_ledger(m, i),
					  otf2_class_process_ledger(m), otf2_recorder(m, i, &next),
					  OTF2_SCOPE_LOCATION_GROUP, i));
}

static void attributes(struct otf2_defs *d)
{
	OTF2_StringRef name = otf2_string(d, "calling context"),
		       description = otf2_string(d, "Where the value of this metric event belongs");
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteAttribute(
					  d->out, OTF2_ATTRIBUTE_CONTEXT, name, description,
					  OTF2_TYPE_CALLING_CONTEXT));
}

static void everything(struct otf2_defs *d)
{
	clock_properties(d);
	attributes(d);
	otf2_gpu_attributes(d);
	machine(d);
	tree(d);
	metrics(d);
	ledgers(d);
	otf2_gpu_ledgers(d);
	otf2_energy_metrics(d);
}

void otf2_write_definitions(struct otf2_writer *w)
{
	struct otf2_defs d = {.w = w};
	otf2_string(&d, "");
	otf2_gpu_strings(&d);
	everything(&d);
	if (d.no_memory)
		otf2_check(w, OTF2_ERROR_MEM_ALLOC_FAILED, "definitions");
	else if (!(d.out = OTF2_Archive_GetGlobalDefWriter(w->archive)))
		otf2_check(w, OTF2_ERROR_FILE_CAN_NOT_OPEN, "definitions");
	else {
		for (uint32_t i = 0; i < d.strings.starts.n; i++)
			otf2_check_def(&d, OTF2_GlobalDefWriter_WriteString(
						   d.out, i, strtab_get(&d.strings, i)));
		everything(&d);
		otf2_check_def(&d, OTF2_Archive_CloseGlobalDefWriter(w->archive, d.out));
	}
	strtab_free(&d.strings);
}
