/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the archive: the samples of each thread in time order, then its totals by calling
 * context and its ledger; the operations of each queue (otf2_gpu.c). Several locations are written
 * at a time. Each has one open writer, whose buffer is flushed as it fills, so memory does not grow
 * with samples. Tests: tests/unit/sink/test_sink_otf2.c, tests/cli/sink/sink_otf2.sh.
 */
#include "common/base/pool.h"
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <stdlib.h>

enum { CHUNK_SAMPLES = 8192 };

/* A sample at the root means only that measurement was off from there to the next sample. */
static void put_on_off(struct otf2_line *l, bool off)
{
	if (off != l->off && !otf2_has_failed(l->w))
		otf2_check(l->w,
			   OTF2_EvtWriter_MeasurementOnOff(l->out, NULL, l->time_ns,
							   off ? OTF2_MEASUREMENT_OFF
							       : OTF2_MEASUREMENT_ON),
			   "on or off");
	l->off = off;
}

static void put_sample(struct otf2_line *l, const struct model_sample *s)
{
	uint32_t node = l->w->tree.node_of[s->shown];
	put_on_off(l, node == MODEL_NONE);
	if (node == MODEL_NONE || otf2_has_failed(l->w))
		return;
	struct otf2_step step = otf2_tree_step(&l->w->tree, l->node, node);
	otf2_check(l->w,
		   OTF2_EvtWriter_CallingContextSample(l->out, NULL, l->time_ns, node,
						       step.distance, s->metric),
		   "sample");
	l->node = node;
}

/* Enters the last `n` regions on the path to `node`, outermost first. */
static void enter(struct otf2_line *l, uint32_t node, uint32_t n)
{
	const struct otf2_node *nodes = l->w->tree.nodes.at;
	uint32_t small[64], *path = n <= 64 ? small : malloc(n * sizeof *path);
	if (!path) {
		otf2_check(l->w, OTF2_ERROR_MEM_ALLOC_FAILED, "enter");
		return;
	}
	for (uint32_t i = n; i-- > 0; node = nodes[node].parent)
		path[i] = nodes[node].region;
	for (uint32_t i = 0; i < n && !otf2_has_failed(l->w); i++)
		otf2_check(l->w, OTF2_EvtWriter_Enter(l->out, NULL, l->time_ns, path[i]), "enter");
	if (path != small)
		free(path);
}

static void leave(struct otf2_line *l, uint32_t n)
{
	for (uint32_t node = l->node; n > 0 && !otf2_has_failed(l->w);
	     n--, node = l->w->tree.nodes.at[node].parent)
		otf2_check(l->w,
			   OTF2_EvtWriter_Leave(l->out, NULL, l->time_ns,
						l->w->tree.nodes.at[node].region),
			   "leave");
}

static void leave_all(struct otf2_line *l)
{
	if (l->node != MODEL_NONE)
		leave(l, l->w->tree.nodes.at[l->node].depth);
	l->node = MODEL_NONE;
}

/* Assumes that what is on the stack of two samples in a row was there all the time between. */
static void put_enter_leave(struct otf2_line *l, const struct model_sample *s)
{
	uint32_t node = l->w->tree.node_of[s->shown];
	if (node == MODEL_NONE) {
		leave_all(l);
		put_on_off(l, true);
		return;
	}
	put_on_off(l, false);
	struct otf2_step step = otf2_tree_step(&l->w->tree, l->node, node);
	leave(l, step.n_left);
	enter(l, node, step.n_entered);
	l->node = node;
}

static void put_time_line(struct otf2_line *l, uint32_t profile, struct model_sample *samples)
{
	const struct model *m = l->w->m;
	struct model_trace_cursor cursor = {0};
	void (*put)(struct otf2_line *, const struct model_sample *) =
		l->w->enter_leave ? put_enter_leave : put_sample;
	for (size_t n; !otf2_has_failed(l->w) &&
		       (n = model_trace_read(m, profile, &cursor, samples, CHUNK_SAMPLES));) {
		for (size_t i = 0; i < n; i++) {
			l->time_ns =
				samples[i].time_ns > l->time_ns ? samples[i].time_ns : l->time_ns;
			put(l, &samples[i]);
		}
		progress_add(&l->w->progress, n, l->worker);
	}
	uint64_t end_ns = m->profiles[profile].end_ns;
	l->time_ns = end_ns > l->time_ns ? end_ns : l->time_ns;
	if (l->w->enter_leave)
		leave_all(l);
}

/* The values of the thread at each calling context, which have no time line of their own. */
static void put_totals(struct otf2_line *l, const struct model_profile *p)
{
	static const OTF2_Type type = OTF2_TYPE_DOUBLE;
	OTF2_AttributeList *attributes = OTF2_AttributeList_New();
	for (size_t i = 0; attributes && i < p->n_values && !otf2_has_failed(l->w); i++) {
		const struct model_value *v = &p->values[i];
		uint32_t node = l->w->tree.node_of[v->context];
		OTF2_MetricValue value = {.floating_point = v->at[MODEL_POINT]};
		if (v->at[MODEL_POINT] == 0)
			continue;
		otf2_check(l->w,
			   OTF2_AttributeList_AddCallingContextRef(
				   attributes, OTF2_ATTRIBUTE_CONTEXT,
				   node == MODEL_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT : node),
			   "attribute");
		otf2_check(l->w,
			   OTF2_EvtWriter_Metric(l->out, attributes, l->time_ns, v->metric, 1,
						 &type, &value),
			   "total"); /* empties the list */
	}
	if (attributes)
		OTF2_AttributeList_Delete(attributes);
	else
		otf2_check(l->w, OTF2_ERROR_MEM_ALLOC_FAILED, "attributes");
}

static void put_ledger(struct otf2_line *l, OTF2_MetricRef metric,
		       const struct model_ledger *ledger)
{
	struct otf2_ledger_member members[OTF2_LEDGER_MEMBERS];
	otf2_ledger_members(ledger, members);
	otf2_put_ledger(l, metric, members, OTF2_LEDGER_MEMBERS);
}

static void put_process(struct otf2_line *l, uint32_t process)
{
	put_ledger(l, otf2_instance_process_ledger(l->w->m, process),
		   &l->w->m->processes[process].ledger);
	otf2_put_gpu_ledgers(l, process);
}

static void put_profile(struct otf2_line *l, uint32_t profile, struct model_sample *samples)
{
	const struct model *m = l->w->m;
	const struct model_profile *p = &m->profiles[profile];
	if (p->kind == MODEL_PROFILE_QUEUE) {
		otf2_write_operations(l, profile);
	} else {
		put_time_line(l, profile, samples);
		put_totals(l, p);
		put_ledger(l, otf2_class_thread_ledger(m), p->ledger);
	}
	if (profile == 0 || m->profiles[profile - 1].process != p->process)
		put_process(l, p->process);
	for (uint32_t i = 0, next = 0; profile == 0 && i < m->n_processes;
	     i++) /* processes without a location */
		if (i != p->process && otf2_recorder(m, i, &next) == 0)
			put_process(l, i);
}

static void put_location(struct otf2_line *l, uint32_t location, struct model_sample *samples)
{
	const struct model *m = l->w->m;
	if (location >= otf2_n_locations(m) - m->n_meters) {
		otf2_write_energy(l, location + m->n_meters - otf2_n_locations(m));
		return;
	}
	if (location >= m->n_profiles) {
		otf2_write_nvtx(l, location - m->n_profiles);
		return;
	}
	l->time_ns = m->profiles[location].start_ns;
	put_profile(l, location, samples);
}

static void write_location(void *arg, size_t i, unsigned worker)
{
	struct otf2_writer *w = arg;
	const uint32_t location = (uint32_t)i;
	struct otf2_line l = {.w = w, .node = MODEL_NONE, .worker = worker};
	if (atomic_load(&w->failed))
		return;
	struct model_sample *samples = malloc(CHUNK_SAMPLES * sizeof *samples);
	l.out = OTF2_Archive_GetEvtWriter(w->archive, location);
	if (!samples || !l.out)
		otf2_check(w, samples ? OTF2_ERROR_FILE_CAN_NOT_OPEN : OTF2_ERROR_MEM_ALLOC_FAILED,
			   "events");
	if (samples && l.out) {
		put_location(&l, location, samples);
		otf2_check(w, OTF2_EvtWriter_GetNumberOfEvents(l.out, &w->n_events[location]),
			   "events");
	}
	if (l.out && !atomic_load(&w->is_unwritable))
		otf2_check(w, OTF2_Archive_CloseEvtWriter(w->archive, l.out), "events");
	free(samples);
}

/* Our definitions are all global, but readers ask for a local file of each location and complain
 * when there is none. */
static void write_local_definitions(struct otf2_writer *w)
{
	if (!otf2_check(w, OTF2_Archive_OpenDefFiles(w->archive), "local definitions"))
		return;
	for (uint32_t i = 0; i < otf2_n_locations(w->m) && !atomic_load(&w->failed); i++) {
		OTF2_DefWriter *out = OTF2_Archive_GetDefWriter(w->archive, i);
		otf2_check(w,
			   out ? OTF2_Archive_CloseDefWriter(w->archive, out)
			       : OTF2_ERROR_FILE_CAN_NOT_OPEN,
			   "local definitions");
	}
	otf2_check(w, OTF2_Archive_CloseDefFiles(w->archive), "local definitions");
}

void otf2_write_events(struct otf2_writer *w)
{
	if (!otf2_check(w, OTF2_Archive_OpenEvtFiles(w->archive), "event files"))
		return;
	w->progress = progress_of_traces(w->m, w->o, "otf2");
	pool_run(otf2_n_locations(w->m), w->o->n_workers, write_location, w);
	progress_end(&w->progress);
	if (atomic_load(&w->is_unwritable))
		return;
	otf2_check(w, OTF2_Archive_CloseEvtFiles(w->archive), "event files");
	if (!atomic_load(&w->failed))
		write_local_definitions(w);
}
