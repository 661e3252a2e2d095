/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink otf2: the tree of calling contexts and the steps between them against a second
 * computation from whole paths; the archive, read with the library's own reader, holds exactly the
 * model's values and samples; failures leave nothing. otf2-print's view is tested by
 * tests/cli/sink/sink_otf2.sh.
 */
#include "config.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/otf2/otf2_tree.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/otf2/otf2_sink.h"
#include "tests/unit/sink/model_fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef HAVE_OTF2
#include "hpcprof-lite/sink/otf2/otf2.h"
#endif

#include <cmocka.h>

/*
 * OTF2 forgets the writer of events whose file cannot be written, as in failures_leave_nothing, and
 * such an archive is not closed. Asked for by LeakSanitizer, where there is one.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:otf2_evt_writer_new\nleak:otf2_archive_open";
}

static struct model *make(bool loops, uint32_t n_gpu_ops)
{
	return fixture_make(&(struct fixture_options){.n_gpu_ops = n_gpu_ops,
						      .n_processes = 2,
						      .n_threads = 2,
						      .n_metrics = 3,
						      .n_samples = 300,
						      .recursion = 5,
						      .ranks = true,
						      .traces = true,
						      .loops = loops});
}

static void the_tree_is_dense_and_whole(void **state)
{
	(void)state;
	for (int variant = 0; variant < 3; variant++) {
		struct model *m = make(variant, variant == 2 ? 20 : 0);
		struct otf2_tree t;
		if (variant == 2)
			m->n_totals = 0; /* nothing counts anywhere */
		assert_int_equal(otf2_tree_make(m, &t), STATUS_OK);
		for (uint32_t i = 0; i < t.nodes.n; i++) {
			const struct otf2_node *n = &t.nodes.at[i];
			assert_int_equal(t.node_of[n->context], i);
			assert_in_range(n->region, 0, t.regions.n - 1);
			assert_true(n->place == MODEL_NONE || n->place < t.places.n);
			assert_true(n->parent == MODEL_NONE
					    ? n->depth == 1
					    : n->parent < i &&
						      n->depth == t.nodes.at[n->parent].depth + 1);
			assert_true(n->depth == 1
					    ? m->contexts[n->context].kind == MODEL_CONTEXT_ENTRY
					    : m->contexts[n->context].kind != MODEL_CONTEXT_ENTRY);
		}
		for (uint32_t i = 0; i < m->n_profiles;
		     i++) { /* what a GPU did is a calling context, also where nothing counts at it
			     */
			struct model_gpu_cursor cursor = {0};
			for (struct model_gpu_op op; m->profiles[i].kind == MODEL_PROFILE_QUEUE &&
						     model_gpu_read(m, i, &cursor, &op, 1);)
				assert_int_equal(t.nodes.at[t.node_of[op.context]].context,
						 op.context);
		}
		for (uint32_t c = 1; c < m->n_contexts;
		     c++) { /* lines have a node with their place, in their function or loop */
			const struct otf2_node *n = &t.nodes.at[t.node_of[c]];
			if (m->contexts[c].kind != MODEL_CONTEXT_LINE)
				continue;
			assert_int_equal(n->context, c);
			assert_int_equal(t.places.at[n->place].line, m->contexts[c].line);
			const struct otf2_region *r = &t.regions.at[n->region];
			assert_int_equal(r->function, m->contexts[c].function);
			assert_int_equal(r->kind, m->contexts[m->contexts[c].parent].kind ==
								  MODEL_CONTEXT_LOOP
							  ? OTF2_REGION_LOOP
							  : OTF2_REGION_FUNCTION);
		}
		otf2_tree_free(&t);
		fixture_free(m);
	}
}

static void steps_follow_the_definition(void **state)
{
	(void)state;
	struct model *m = make(true, 0);
	struct otf2_tree t;
	uint32_t a[64], b[64];
	unsigned n_progress = 0;
	assert_int_equal(otf2_tree_make(m, &t), STATUS_OK);
	for (uint32_t from = 0; from <= t.nodes.n; from++)
		for (uint32_t to = 0; to < t.nodes.n; to++) {
			uint32_t f = from == t.nodes.n ? MODEL_NONE : from,
				 n_a = f == MODEL_NONE ? 0 : t.nodes.at[f].depth,
				 n_b = t.nodes.at[to].depth, common = 0;
			for (uint32_t i = n_a, n = f; i-- > 0; n = t.nodes.at[n].parent)
				a[i] = n;
			for (uint32_t i = n_b, n = to; i-- > 0; n = t.nodes.at[n].parent)
				b[i] = n;
			while (common < n_a && common < n_b && a[common] == b[common])
				common++;
			if (common < n_a && common < n_b &&
			    t.nodes.at[a[common]].frame == t.nodes.at[b[common]].frame) {
				common++; /* the same frame at another place: progress */
				n_progress++;
			}
			struct otf2_step step = otf2_tree_step(&t, f, to);
			assert_int_equal(step.n_left, n_a - common);
			assert_int_equal(step.n_entered, n_b - common);
			assert_int_equal(step.distance, n_b - common + 1);
		}
	assert_true(n_progress > 100);
	otf2_tree_free(&t);
	fixture_free(m);
}

/* By hand: main:12 -> work:21, main:13 -> work:21, main:13 itself. */
static void steps_by_hand(void **state)
{
	(void)state;
	struct model *m = make(false, 0);
	struct otf2_tree t;
	uint32_t work12 = MODEL_NONE, work12b = MODEL_NONE, work13 = MODEL_NONE,
		 main13 = MODEL_NONE;
	assert_int_equal(otf2_tree_make(m, &t), STATUS_OK);
	for (uint32_t i = 0; i < t.nodes.n; i++) {
		const struct otf2_node *n = &t.nodes.at[i], *up = n->parent == MODEL_NONE
									  ? NULL
									  : &t.nodes.at[n->parent];
		uint32_t line = m->contexts[n->context].line,
			 above = up ? m->contexts[up->context].line : 0;
		if (line == 21 && above == 12)
			work12 = i;
		if (line == 23 && above == 12)
			work12b = i;
		if (line == 21 && above == 13)
			work13 = i;
		if (line == 13 && n->depth == 2)
			main13 = i;
	}
	assert_int_equal(t.nodes.at[work12].depth, 3);
	assert_int_equal(otf2_tree_step(&t, MODEL_NONE, work12).distance,
			 4);                                              /* everything is new */
	assert_int_equal(otf2_tree_step(&t, work12, work12).distance, 1); /* work made progress */
	assert_int_equal(otf2_tree_step(&t, work12, work12b).distance,
			 1); /* work made progress: another line of the same call */
	assert_int_equal(otf2_tree_step(&t, work12, work13).distance,
			 2); /* main made progress and called work again */
	assert_int_equal(otf2_tree_step(&t, work13, main13).distance, 1);      /* back in main */
	assert_int_equal(otf2_tree_step(&t, main13, work13).distance, 2);      /* called work */
	assert_int_equal(otf2_tree_step(&t, work12, main13).distance, 1);
	otf2_tree_free(&t);
	fixture_free(m);
}

#ifdef HAVE_OTF2

enum { MOST = 10 };

struct seen {
	const struct model *m;
	const struct otf2_tree *tree;
	uint64_t n_samples[MOST], n_ledgers, n_gpu_ledgers;
	size_t next[MOST];                   /* value of the profile that comes next */
	struct model_trace_cursor at[MOST];
	struct model_gpu_cursor gpu_at[MOST];
	struct model_gpu_op op[MOST];      /* the last one entered */
	uint64_t n_left[MOST];
};

static OTF2_CallbackCode on_sample(OTF2_LocationRef location, OTF2_TimeStamp time, void *arg,
				   OTF2_AttributeList *attributes, OTF2_CallingContextRef context,
				   uint32_t distance, OTF2_InterruptGeneratorRef generator)
{
	struct seen *s = arg;
	struct model_sample expected;
	(void)attributes;
	(void)distance;
	assert_int_equal(model_trace_read(s->m, (uint32_t)location, &s->at[location], &expected, 1),
			 1);
	assert_int_equal(time, expected.time_ns);
	assert_int_equal(context, s->tree->node_of[expected.context]);
	assert_int_equal(generator, expected.metric);
	s->n_samples[location]++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric(OTF2_LocationRef location, OTF2_TimeStamp time, void *arg,
				   OTF2_AttributeList *attributes, OTF2_MetricRef metric, uint8_t n,
				   const OTF2_Type *types, const OTF2_MetricValue *values)
{
	struct seen *s = arg;
	const struct model_profile *p = &s->m->profiles[location];
	OTF2_CallingContextRef context;
	assert_int_equal(time, p->end_ns);
	if (metric > otf2_class_gpu_ledger(s->m)) {
		const struct model_gpu_ledger *l = &s->m->processes[p->process].gpu[0];
		assert_int_equal(metric, otf2_class_gpu_ledger(s->m) + 1 + p->process);
		assert_int_equal(n, OTF2_GPU_LEDGER_MEMBERS);
		assert_int_equal(values[0].unsigned_int, l->n_ops);
		assert_int_equal(values[11].unsigned_int, l->launched[MSR_GPU_KERNEL]);
		assert_int_equal(
			values[n - MSR_N_GPU_LOSSES + MSR_GPU_LOSS_NEVER_DONE].unsigned_int,
			l->losses[MSR_GPU_LOSS_NEVER_DONE]);
		assert_int_equal(values[6].unsigned_int, l->graph_losses[MSR_GPU_LOSS_NEVER_DONE]);
		s->n_gpu_ledgers++;
		return OTF2_CALLBACK_SUCCESS;
	}
	if (n > 1) {
		assert_int_equal(values[2].unsigned_int,
				 metric == s->m->n_metrics ? p->ledger->in_tree : 0);
		s->n_ledgers++;
		return OTF2_CALLBACK_SUCCESS;
	}
	while (p->values[s->next[location]].at[MODEL_POINT] == 0)
		s->next[location]++;
	const struct model_value *v = &p->values[s->next[location]++];
	assert_int_equal(OTF2_AttributeList_GetCallingContextRef(attributes, 0, &context),
			 OTF2_SUCCESS);
	assert_int_equal(context, s->tree->node_of[v->context]);
	assert_int_equal(metric, v->metric);
	assert_int_equal(types[0], OTF2_TYPE_DOUBLE);
	assert_true(values[0].floating_point == v->at[MODEL_POINT]);
	return OTF2_CALLBACK_SUCCESS;
}

/* 0 where there is no such attribute: so is written what is not known. */
static uint32_t get_u32(OTF2_AttributeList *attributes, OTF2_AttributeRef attribute)
{
	uint32_t value = 0;
	if (OTF2_AttributeList_TestAttributeByID(attributes, attribute))
		assert_int_equal(OTF2_AttributeList_GetUint32(attributes, attribute, &value),
				 OTF2_SUCCESS);
	return value;
}

static uint64_t get_u64(OTF2_AttributeList *attributes, OTF2_AttributeRef attribute)
{
	uint64_t value = 0;
	if (OTF2_AttributeList_TestAttributeByID(attributes, attribute))
		assert_int_equal(OTF2_AttributeList_GetUint64(attributes, attribute, &value),
				 OTF2_SUCCESS);
	return value;
}

static void check_attributes(const struct model *m, const struct model_gpu_op *op,
			     OTF2_AttributeList *attributes)
{
	OTF2_StringRef direction;
	OTF2_LocationRef launcher;
	assert_int_equal(get_u64(attributes, OTF2_ATTRIBUTE_ID), op->id);
	assert_int_equal(get_u64(attributes, OTF2_ATTRIBUTE_QUEUED), op->queued_ns);
	assert_int_equal(get_u64(attributes, OTF2_ATTRIBUTE_SUBMITTED), op->submitted_ns);
	assert_int_equal(get_u64(attributes, OTF2_ATTRIBUTE_ENQUEUED), op->enter_ns);
	assert_int_equal(get_u64(attributes, OTF2_ATTRIBUTE_BYTES), op->bytes);
	assert_int_equal(OTF2_AttributeList_TestAttributeByID(attributes, OTF2_ATTRIBUTE_LAUNCHER),
			 op->launcher != MODEL_NONE);
	if (op->launcher != MODEL_NONE) {
		assert_int_equal(OTF2_AttributeList_GetLocationRef(
					 attributes, OTF2_ATTRIBUTE_LAUNCHER, &launcher),
				 OTF2_SUCCESS);
		assert_int_equal(launcher, op->launcher);
	}
	if (op->kind == MSR_GPU_COPY) {
		assert_int_equal(OTF2_AttributeList_GetStringRef(
					 attributes, OTF2_ATTRIBUTE_DIRECTION, &direction),
				 OTF2_SUCCESS);
		assert_int_equal(direction, OTF2_STRING_DIRECTION + op->detail);
		return;
	}
	const struct msr_gpu_shape *s = &m->gpu_shapes[op->shape];
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(get_u32(attributes, OTF2_ATTRIBUTE_GRID_X + i), s->grid[i]);
		assert_int_equal(get_u32(attributes, OTF2_ATTRIBUTE_BLOCK_X + i), s->block[i]);
	}
	assert_int_equal(get_u32(attributes, OTF2_ATTRIBUTE_REGISTERS), s->registers);
	assert_int_equal(get_u32(attributes, OTF2_ATTRIBUTE_DYNAMIC_SHARED),
			 s->dynamic_shared_bytes);
}

/* The operation that comes next on this location was entered at this time. */
static const struct model_gpu_op *enter_next(struct seen *s, OTF2_LocationRef location,
					     OTF2_TimeStamp time, OTF2_AttributeList *attributes)
{
	struct model_gpu_op *op = &s->op[location];
	assert_int_equal(s->m->profiles[location].kind, MODEL_PROFILE_QUEUE);
	assert_int_equal(model_gpu_read(s->m, (uint32_t)location, &s->gpu_at[location], op, 1), 1);
	assert_int_equal(time, op->start_ns);
	check_attributes(s->m, op, attributes);
	return op;
}

static OTF2_CallbackCode on_context_enter(OTF2_LocationRef location, OTF2_TimeStamp time, void *arg,
					  OTF2_AttributeList *attributes,
					  OTF2_CallingContextRef context, uint32_t distance)
{
	struct seen *s = arg;
	assert_int_equal(context,
			 s->tree->node_of[enter_next(s, location, time, attributes)->context]);
	assert_true(distance >= 2);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_context_leave(OTF2_LocationRef location, OTF2_TimeStamp time, void *arg,
					  OTF2_AttributeList *attributes,
					  OTF2_CallingContextRef context)
{
	struct seen *s = arg;
	(void)attributes;
	assert_int_equal(context, s->tree->node_of[s->op[location].context]);
	assert_int_equal(time, s->op[location].end_ns);
	s->n_left[location]++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, void *arg,
				  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct seen *s = arg;
	if (s->m->profiles[location].kind == MODEL_PROFILE_QUEUE)
		assert_int_equal(
			region,
			s->tree->nodes
				.at[s->tree->node_of[enter_next(s, location, time, attributes)
							     ->context]]
				.region);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, void *arg,
				  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct seen *s = arg;
	(void)attributes;
	if (s->m->profiles[location].kind != MODEL_PROFILE_QUEUE)
		return OTF2_CALLBACK_SUCCESS;
	assert_int_equal(region,
			 s->tree->nodes.at[s->tree->node_of[s->op[location].context]].region);
	assert_int_equal(time, s->op[location].end_ns);
	s->n_left[location]++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *arg, OTF2_LocationRef self, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t n_events,
				     OTF2_LocationGroupRef group)
{
	(void)name;
	(void)n_events;
	if (type == OTF2_LOCATION_TYPE_CPU_THREAD)
		assert_in_range(group, 0, 1);
	else
		assert_in_range(group, 2, 3); /* the GPU contexts are behind the processes */
	return OTF2_Reader_SelectLocation(arg, self) == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS
								     : OTF2_CALLBACK_ERROR;
}

static void read_archive(const char *path, struct seen *seen, bool enter_leave)
{
	OTF2_Reader *reader = OTF2_Reader_Open(path);
	uint64_t n;
	assert_non_null(reader);
	assert_int_equal(OTF2_Reader_SetSerialCollectiveCallbacks(reader), OTF2_SUCCESS);
	OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(reader);
	OTF2_GlobalDefReaderCallbacks *def_callbacks = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(def_callbacks, on_location);
	OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, def_callbacks, reader);
	OTF2_GlobalDefReaderCallbacks_Delete(def_callbacks);
	assert_int_equal(OTF2_Reader_ReadAllGlobalDefinitions(reader, defs, &n), OTF2_SUCCESS);
	assert_int_equal(OTF2_Reader_OpenEvtFiles(reader), OTF2_SUCCESS);
	for (OTF2_LocationRef i = 0; i < seen->m->n_profiles; i++)
		assert_non_null(OTF2_Reader_GetEvtReader(reader, i));
	OTF2_GlobalEvtReader *events = OTF2_Reader_GetGlobalEvtReader(reader);
	OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
	OTF2_GlobalEvtReaderCallbacks_SetCallingContextSampleCallback(callbacks, on_sample);
	if (enter_leave) { /* with these set, calling contexts would come as enter and leave */
		OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
		OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
	} else {
		OTF2_GlobalEvtReaderCallbacks_SetCallingContextEnterCallback(callbacks,
									     on_context_enter);
		OTF2_GlobalEvtReaderCallbacks_SetCallingContextLeaveCallback(callbacks,
									     on_context_leave);
	}
	OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(callbacks, on_metric);
	OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, seen);
	OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
	assert_int_equal(OTF2_Reader_ReadAllGlobalEvents(reader, events, &n), OTF2_SUCCESS);
	OTF2_Reader_CloseGlobalEvtReader(reader, events);
	OTF2_Reader_CloseEvtFiles(reader);
	assert_int_equal(OTF2_Reader_Close(reader), OTF2_SUCCESS);
}

static void check_archive(uint32_t n_gpu_ops, bool enter_leave)
{
	char dir[] = "/tmp/test_sink_otf2.XXXXXX";
	struct model *m = make(true, n_gpu_ops);
	struct otf2_tree t;
	struct seen seen = {.m = m, .tree = &t};
	assert_non_null(mkdtemp(dir));
	assert_true(m->n_profiles <= MOST);
	assert_int_equal(otf2_tree_make(m, &t), STATUS_OK);
	assert_int_equal(
		sink_otf2.write(m, &(struct sink_options){.directory = dir,
							  .n_workers = 3,
							  .settings =
								  &(struct sink_otf2_options){
									  enter_leave ? "enterleave"
										      : NULL}}),
		STATUS_OK);
	char *path = outfile_path(dir, "otf2/traces.otf2");
	read_archive(path, &seen, enter_leave);
	for (unsigned i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		bool is_queue = p->kind == MODEL_PROFILE_QUEUE;
		assert_int_equal(is_queue      ? seen.n_left[i]
				 : enter_leave ? p->n_trace_records
					       : seen.n_samples[i],
				 p->n_trace_records);
		while (seen.next[i] < p->n_values && p->values[seen.next[i]].at[MODEL_POINT] == 0)
			seen.next[i]++;
		assert_int_equal(seen.next[i], p->n_values);
	}
	assert_int_equal(seen.n_ledgers, 4 + 2);
	assert_int_equal(seen.n_gpu_ledgers, n_gpu_ops ? 2 : 0);
	free(path);
	otf2_tree_free(&t);
	fixture_free(m);
	outdir_remove(dir);
}

static void the_archive_holds_the_model(void **state)
{
	(void)state;
	check_archive(0, false);
}

static void streams_hold_the_operations(void **state)
{
	(void)state;
	check_archive(50, false);
	check_archive(50, true);
}

static void failures_leave_nothing(void **state)
{
	char dir[] = "/tmp/test_sink_otf2.XXXXXX";
	struct model *m = fixture_make(&(struct fixture_options){.n_processes = 1,
								 .n_threads = 2,
								 .n_metrics = 2,
								 .n_samples = 20000,
								 .traces = true});
	struct rlimit old, limit;
	unsigned n_failures = 0;
	(void)state;
	assert_non_null(mkdtemp(dir));
	signal(SIGXFSZ, SIG_IGN);
	char *path = outfile_path(dir, "otf2");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (rlim_t size = 0;; size += 16384) {
		limit = (struct rlimit){size, old.rlim_max};
		uint64_t before = log_n_errors();
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		enum status status = sink_otf2.write(
			m, &(struct sink_options){.directory = dir, .n_workers = 2});
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		if (status == STATUS_OK)
			break;
		n_failures++;
		assert_int_equal(status, STATUS_IO);
		assert_int_equal(log_n_errors(), before + 1);
		assert_int_not_equal(access(path, F_OK), 0);
		assert_true(size < 100 << 20);
	}
	assert_true(n_failures > 5);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(sink_otf2.write(m, &(struct sink_options){.directory = dir}),
			 STATUS_IO); /* exists: refused, and left as it was */
	assert_int_equal(access(path, F_OK), 0);
	free(path);
	fixture_free(m);
	outdir_remove(dir);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_is_dense_and_whole),
		cmocka_unit_test(steps_follow_the_definition),
		cmocka_unit_test(steps_by_hand),
#ifdef HAVE_OTF2
		cmocka_unit_test(the_archive_holds_the_model),
		cmocka_unit_test(streams_hold_the_operations),
		cmocka_unit_test(failures_leave_nothing),
#endif
	};
	log_set_program("test_sink_otf2");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
