/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describes devices, contexts, queues, shapes and GPU ledgers in the model. Declared in
 * gpu_attribute.h. Test: tests/unit/prof_gpu/test_gpu_model.c.
 */
#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"

#include "common/base/capped.h"
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"
#include "hpcprof-lite/attribute/gpu/gpu_ledger.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_sampling.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct describing {
	struct gpu_part *g;
	struct model *m;
	VEC(struct model_gpu_device) devices;
	VEC(struct model_gpu_context) contexts;
	VEC(struct model_gpu_queue) queues;
	VEC(struct model_gpu_line) lines;
	VEC(struct msr_gpu_shape) shapes;
	VEC(struct model_gpu_occupancy) occupancies; /* by shape */
	bool has_occupancy;
	struct map shape_index;
	gpu_energy_readings energies;
	VEC(struct model_gpu_memory) memory;
	/* for the current file */
	uint32_t file;
	uint32_t *device_of,
		*context_of; /* by the file's id; [0]: the stand-in, MODEL_NONE while not needed */
};

static const struct load_gpu *in_of(const struct describing *d)
{
	return &d->g->job->files.at[d->file].gpu;
}

/* ---- devices and contexts ---- */

static uint32_t find_device(const struct describing *d, const struct msr_gpu_def_device *def)
{
	static const uint8_t unknown[16];
	if (memcmp(def->uuid, unknown, sizeof unknown) == 0)
		return MODEL_NONE;
	for (size_t i = 0; i < d->devices.n; i++) {
		const struct model_gpu_device *old = &d->devices.at[i];
		uint32_t process = old->process == MODEL_NONE ? old->first_process : old->process;
		if (memcmp(old->definition->uuid, def->uuid, sizeof def->uuid) == 0 &&
		    d->m->processes[process].host_id == d->m->processes[d->file].host_id)
			return (uint32_t)i;
	}
	return MODEL_NONE;
}

static bool add_device(struct describing *d, uint32_t id, const struct load_gpu_device *from)
{
	uint32_t index = find_device(d, from->record);
	if (index != MODEL_NONE) {
		if (d->devices.at[index].process != d->file)
			d->devices.at[index].process = MODEL_NONE;
	} else {
		struct model_gpu_device *new = vec_push(&d->devices);
		if (!new)
			return false;
		*new = (struct model_gpu_device){.name = from->name,
						 .driver = from->driver,
						 .definition = from->record,
						 .process = d->file,
						 .first_process = d->file,
						 .ordinal = from->record->ordinal,
						 .limits = id && id < in_of(d)->limits.n
								   ? in_of(d)->limits.at[id].record
								   : NULL,
						 .rates = id && id < in_of(d)->rates.n
								  ? in_of(d)->rates.at[id].record
								  : NULL};
		index = (uint32_t)d->devices.n - 1;
	}
	d->device_of[id] = index;
	return true;
}

static bool add_devices(struct describing *d)
{
	const struct load_gpu *in = in_of(d);
	d->device_of = malloc((in->devices.n + 1) * sizeof *d->device_of);
	if (!d->device_of)
		return false;
	d->device_of[0] = MODEL_NONE;
	for (uint32_t i = 0; i < in->devices.n; i++) {
		d->device_of[i] = MODEL_NONE;
		if (in->devices.at[i].record && !add_device(d, i, &in->devices.at[i]))
			return false;
	}
	return true;
}

/*
 * The device with this id, or a stand-in if the file does not define it. MODEL_NONE: memory is
 * short.
 */
static uint32_t device_of(struct describing *d, uint32_t id)
{
	static const struct msr_gpu_def_device nothing;
	static const struct load_gpu_device unknown = {&nothing, "unknown device", ""};
	if (id < in_of(d)->devices.n && d->device_of[id] != MODEL_NONE)
		return d->device_of[id];
	return d->device_of[0] == MODEL_NONE && !add_device(d, 0, &unknown) ? MODEL_NONE
									    : d->device_of[0];
}

static bool add_context(struct describing *d, uint32_t id, uint32_t device, uint32_t ordinal)
{
	struct model_gpu_context *new = device == MODEL_NONE ? NULL : vec_push(&d->contexts);
	if (!new)
		return false;
	*new = (struct model_gpu_context){d->file, device, ordinal};
	d->context_of[id] = (uint32_t)d->contexts.n - 1;
	return true;
}

static bool add_contexts(struct describing *d)
{
	const struct load_gpu *in = in_of(d);
	d->context_of = malloc((in->contexts.n + 1) * sizeof *d->context_of);
	if (!d->context_of)
		return false;
	d->context_of[0] = MODEL_NONE;
	for (uint32_t i = 0; i < in->contexts.n; i++) {
		const struct msr_gpu_def_context *c = in->contexts.at[i].record;
		d->context_of[i] = MODEL_NONE;
		if (c && !add_context(d, i, device_of(d, c->device), c->ordinal))
			return false;
	}
	return true;
}

static uint32_t context_of(struct describing *d, uint32_t id, uint32_t device)
{
	if (id < in_of(d)->contexts.n && d->context_of[id] != MODEL_NONE)
		return d->context_of[id];
	return d->context_of[0] == MODEL_NONE && !add_context(d, 0, device, 0) ? MODEL_NONE
									       : d->context_of[0];
}

/* ---- queues ---- */

struct queue_key {
	uint32_t device, context, context_ordinal, ordinal, id;
	const struct gpu_line *line; /* NULL: nothing ran on it */
};

static int compare_queues(const void *pa, const void *pb)
{
	const struct queue_key *a = pa, *b = pb;
	const uint32_t ka[] = {a->device, a->context_ordinal, a->context, a->ordinal, a->id},
		       kb[] = {b->device, b->context_ordinal, b->context, b->ordinal, b->id};
	for (size_t i = 0; i < sizeof ka / sizeof *ka; i++)
		if (ka[i] != kb[i])
			return ka[i] < kb[i] ? -1 : 1;
	return 0;
}

enum name_length { NAME_SHORT, NAME_WITH_CONTEXT, NAME_WITH_DEVICE, N_NAME_LENGTHS };

static char *queue_name(const struct describing *d, const struct queue_key *k,
			enum name_length length)
{
	const struct model_gpu_device *device = &d->devices.at[k->device];
	const struct load_gpu_queue *q = &in_of(d)->queues.at[k->id];
	static const char *const kinds[] = {[MSR_GPU_DEVICE_OTHER] = "GPU",
					    [MSR_GPU_DEVICE_GPU] = "GPU",
					    [MSR_GPU_DEVICE_CPU] = "CPU device",
					    [MSR_GPU_DEVICE_ACCELERATOR] = "accelerator"};
	const char *kind = device->definition->type < sizeof kinds / sizeof *kinds
				   ? kinds[device->definition->type]
				   : "GPU";
	char own[32] = "", context[32] = "", *name;
	if (!q->name[0])
		snprintf(own, sizeof own, "queue %u", k->ordinal);
	if (length >= NAME_WITH_CONTEXT)
		snprintf(context, sizeof context, "context %u ", k->context_ordinal);
	return asprintf(&name, "%s %u %s%s%s%s", kind, device->ordinal, context,
			q->name[0] ? q->name : own, length >= NAME_WITH_DEVICE ? " of " : "",
			length >= NAME_WITH_DEVICE ? device->name : "") < 0
		       ? NULL
		       : name;
}

/* Marks names that occur more than once. False if memory is short. */
static bool find_equal_names(char *const *names, size_t n, bool *is_equal)
{
	struct map first = {0};
	bool ok = true;
	for (size_t i = 0; i < n && ok; i++) {
		uint64_t other =
			map_put(&first, hash_bytes(names[i], strlen(names[i])), 0,
				i); /* if hashes collide, a name becomes longer than necessary */
		ok = other != MAP_NONE;
		is_equal[i] = false;
		if (ok && other != i)
			is_equal[i] = is_equal[other] = true;
	}
	map_free(&first);
	return ok;
}

/* Makes the shortest names that are unique among the n queues of the process. */
static bool name_queues(struct describing *d, const struct queue_key *keys, size_t n)
{
	char **names = calloc(n + 1, sizeof *names);
	bool *is_equal = malloc(n + 1), ok = names && is_equal;
	for (enum name_length length = NAME_SHORT; ok && length < N_NAME_LENGTHS; length++) {
		for (size_t i = 0; i < n && ok; i++) {
			if (length != NAME_SHORT && !is_equal[i])
				continue;
			free(names[i]);
			ok = (names[i] = queue_name(d, &keys[i], length)) != NULL;
		}
		ok = ok && find_equal_names(names, n, is_equal);
	}
	for (size_t i = 0; names && i < n; i++) {
		bool kept = ok && model_own(d->m, names[i]);
		if (kept)
			d->queues.at[d->g->files[d->file].first_queue + i].name = names[i];
		else if (!ok)
			free(names[i]);
		ok = ok && kept;
	}
	free(names);
	free(is_equal);
	return ok;
}

static bool add_queue(struct describing *d, const struct queue_key *k, const uint32_t *shape_of)
{
	const struct load_file *f = &d->g->job->files.at[d->file];
	struct model_gpu_queue *q = vec_push(&d->queues);
	struct model_gpu_line *line = q ? vec_push(&d->lines) : NULL;
	if (!line)
		return false;
	*q = (struct model_gpu_queue){.name = "",
				      .context = k->context,
				      .device = k->device,
				      .ordinal = k->ordinal,
				      .flags = f->gpu.queues.at[k->id].record->flags};
	if (!k->line)
		return true;
	q->n_lanes = k->line->n_lanes;
	q->busy_ns = k->line->busy_ns;
	*line = (struct model_gpu_line){.items = k->line->items,
					.n = k->line->n,
					.cells = d->g->files[d->file].cells,
					.shape_of = shape_of,
					.n_shapes = (uint32_t)f->gpu.shapes.n,
					.mapped = f->path && !f->map.is_copy ? f->map.bytes : NULL,
					.mapped_bytes = f->map.n_bytes};
	return true;
}

static void add_profiles(struct describing *d, const struct queue_key *keys, size_t n)
{
	struct gpu_file *f = &d->g->files[d->file];
	const struct model_process *process = &d->m->processes[d->file];
	const size_t first = f->first_profile + d->g->job->files.at[d->file].threads.n;
	struct model_profile *p = &d->m->private_->profiles[first];
	struct model_ledger *ledger = &d->m->private_->ledgers[first];
	for (size_t i = 0; i < n; i++)
		for (uint32_t lane = 0; keys[i].line && lane < keys[i].line->n_lanes;
		     lane++, p++, ledger++) {
			const struct gpu_line *line = keys[i].line;
			*p = (struct model_profile){
				.kind = MODEL_PROFILE_QUEUE,
				.queue = f->first_queue + (uint32_t)i,
				.lane = lane,
				.process = d->file,
				.thread = MODEL_NONE,
				.name = d->queues.at[f->first_queue + i].name,
				.start_ns = line->first_ns < process->start_ns ? line->first_ns
									       : process->start_ns,
				.end_ns = line->last_ns > process->end_ns ? line->last_ns
									  : process->end_ns,
				.ledger = ledger,
				.n_trace_records = line->lane_n[lane]};
			ledger->n_trace_records = p->n_trace_records;
		}
}

static const struct gpu_line *line_of(const struct gpu_file *f, uint32_t queue)
{
	for (size_t i = 0; i < f->join.lines.n; i++)
		if (f->join.lines.at[i].queue == queue)
			return &f->join.lines.at[i];
	return NULL;
}

static bool list_queues(struct describing *d, struct queue_key *keys, size_t *n)
{
	const struct load_gpu *in = in_of(d);
	for (uint32_t i = 0; i < in->queues.n; i++) {
		const struct msr_gpu_def_queue *q = in->queues.at[i].record;
		if (!q)
			continue;
		const struct load_gpu_context *c = load_gpu_find(&in->contexts, q->context);
		uint32_t device = device_of(d, q->device ? q->device
					       : c       ? c->record->device
							 : 0),
			 context = context_of(d, q->context, device);
		if (device == MODEL_NONE || context == MODEL_NONE)
			return false;
		keys[(*n)++] =
			(struct queue_key){device,     context, d->contexts.at[context].ordinal,
					   q->ordinal, i,       line_of(&d->g->files[d->file], i)};
	}
	if (*n)
		qsort(keys, *n, sizeof *keys, compare_queues);
	return true;
}

static bool add_queues(struct describing *d, const uint32_t *shape_of)
{
	size_t n = 0;
	struct queue_key *keys = calloc(in_of(d)->queues.n + 1, sizeof *keys);
	d->g->files[d->file].first_queue = (uint32_t)d->queues.n;
	bool ok = keys && list_queues(d, keys, &n);
	for (size_t i = 0; ok && i < n; i++)
		ok = add_queue(d, &keys[i], shape_of);
	ok = ok && name_queues(d, keys, n);
	if (ok)
		add_profiles(d, keys, n);
	free(keys);
	return ok;
}

/* ---- shapes ---- */

static bool add_occupancy(struct describing *d, const struct msr_gpu_shape *s)
{
	struct model_gpu_occupancy *new = vec_push(&d->occupancies);
	struct gpu_occupancy o, more;
	if (!new || !gpu_metrics_occupancy(in_of(d), s, &o))
		return new != NULL;
	*new = (struct model_gpu_occupancy){
		.warps = o.warps, .warps_most = o.warps_most, .limit = o.limit};
	if (gpu_metrics_ease(in_of(d), s, &o, &new->eased, &more))
		new->eased_warps = more.warps;
	d->has_occupancy = true;
	return true;
}

/*
 * The index of the shape. Equal launch characteristics share one shape. MODEL_NONE: memory is
 * short.
 */
static uint32_t add_shape(struct describing *d, const struct msr_gpu_shape *from)
{
	struct msr_gpu_shape s = *from;
	s.id = s.function = s.offset_flags = 0;
	uint64_t hash = hash_bytes(&s, sizeof s);
	for (uint64_t probe = 0;; probe++) {
		uint64_t index = map_put(&d->shape_index, hash, probe, d->shapes.n);
		if (index == MAP_NONE)
			return MODEL_NONE;
		if (index < d->shapes.n && memcmp(&d->shapes.at[index], &s, sizeof s) != 0)
			continue;
		if (index == d->shapes.n) {
			struct msr_gpu_shape *new = vec_push(&d->shapes);
			if (!new || !add_occupancy(d, from))
				return MODEL_NONE;
			*new = s;
		}
		return (uint32_t)index;
	}
}

static uint32_t *add_shapes(struct describing *d)
{
	const struct load_gpu *in = in_of(d);
	uint32_t *shape_of = malloc((in->shapes.n + 1) * sizeof *shape_of);
	if (!model_own(d->m, shape_of))
		return NULL;
	for (uint32_t i = 0; i < in->shapes.n; i++) {
		shape_of[i] = MODEL_NONE;
		if (in->shapes.at[i] &&
		    (shape_of[i] = add_shape(d, in->shapes.at[i])) == MODEL_NONE)
			return NULL;
	}
	return shape_of;
}

/* ---- the whole ---- */

static bool describe_ledgers(struct describing *d)
{
	struct gpu_file *f = &d->g->files[d->file];
	struct model_process *process = &d->m->private_->processes[d->file];
	struct model_gpu_ledger *ledgers = malloc(sizeof f->join.ledgers);
	if (!model_own(d->m, ledgers))
		return false;
	memcpy(ledgers, f->join.ledgers, sizeof f->join.ledgers);
	process->gpu = ledgers;
	process->n_gpu = f->join.n_ledgers;
	process->gpu_sampling = f->sampling;
	if (f->yardsticks && !model_own(d->m, f->yardsticks)) {
		f->yardsticks = NULL;
		return false;
	}
	f->yardsticks = NULL;
	for (uint32_t i = 0; i < process->n_gpu; i++)
		gpu_ledger_add(&d->m->gpu_ledger, &ledgers[i]);
	gpu_sampling_add(&d->m->gpu_sampling, &f->sampling);
	return true;
}

/* Moves the space to the model, because time lines are read from it. */
static bool take_space(struct model *m, struct space *from)
{
	struct space *to = from->at ? vec_push(&m->private_->spaces) : NULL;
	if (to) {
		*to = *from;
		*from = (struct space){0};
	}
	return to || !from->at;
}

/* The earliest time at which a back end began to sum up operations; 0: none did. */
static uint64_t summed_from(const struct load_file *f)
{
	uint64_t first = 0;
	for (unsigned i = 0; i < LOAD_GPU_BACKENDS; i++) {
		const struct msr_gpu_tally *t = f->gpu.tallies[i];
		uint64_t at = t ? atomic_load(&t->aggregate_from_ns) : 0;
		if (at && (!first || at < first))
			first = at;
	}
	return first ? first + (f->header.start_real_ns - f->header.start_mono_ns) : 0;
}

/* The number of launches whose records went to a profiler of the program. */
static uint64_t n_yielded(const struct load_file *f)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < LOAD_GPU_BACKENDS; i++) {
		const struct msr_gpu_tally *t = f->gpu.tallies[i];
		capped_grow(&n, t ? atomic_load(&t->launch_losses[MSR_GPU_LOSS_YIELDED]) : 0);
	}
	return n;
}

static bool describe_waits(struct describing *d)
{
	struct gpu_file *f = &d->g->files[d->file];
	struct gpu_join *j = &f->join;
	const struct load_file *from = &d->g->job->files.at[d->file];
	if (!take_space(d->m, &j->wait_space))
		return false;
	for (uint64_t i = 0; i < j->n_waits; i++)
		if (j->waits[i].launcher != MODEL_NONE)
			j->waits[i].launcher += f->first_profile;
	d->m->private_->gpu_times[d->file] =
		(struct model_gpu_times){.waits = j->waits,
					 .n_waits = j->n_waits,
					 .cells = f->cells,
					 .n_untimed = capped_add(j->n_untimed,
								 n_yielded(from)),
					 .summed_wait_ns = j->summed_wait_ns,
					 .until_ns = summed_from(from)};
	return true;
}

/* ---- memory ---- */

static int compare_memory(const void *pa, const void *pb)
{
	const struct model_gpu_memory *a = pa, *b = pb;
	const uint32_t ka[] = {a->process, a->device, a->memory},
		       kb[] = {b->process, b->device, b->memory};
	for (size_t i = 0; i < sizeof ka / sizeof *ka; i++)
		if (ka[i] != kb[i])
			return ka[i] < kb[i] ? -1 : 1;
	return 0;
}

static bool describe_memory(struct describing *d)
{
	const struct load_file *f = &d->g->job->files.at[d->file];
	const uint64_t to_real = f->header.start_real_ns - f->header.start_mono_ns;
	for (size_t i = 0; i < d->g->memory.n; i++) {
		const struct gpu_memory_row *row = &d->g->memory.at[i];
		const struct gpu_memory_account *a = &row->account;
		struct model_gpu_memory *to = row->file == d->file ? vec_push(&d->memory) : NULL;
		if (!to && row->file == d->file)
			return false;
		if (to)
			*to = (struct model_gpu_memory){
				.process = d->file,
				.device = row->device ? device_of(d, row->device) : MODEL_NONE,
				.memory = (uint8_t)row->memory,
				.peak = a->peak,
				.peak_ns = a->peak_ns ? a->peak_ns + to_real : 0,
				.end = a->end,
				.bytes = a->bytes,
				.n_allocations = a->n,
				.n_freed = a->n_freed,
				.n_refused = row->n_refused,
				.refused_most = row->refused_most};
	}
	return true;
}

static bool describe_file(struct describing *d)
{
	struct gpu_file *f = &d->g->files[d->file];
	if (!take_space(d->m, &f->join.space) || !describe_waits(d))
		return false;
	uint32_t *shape_of = add_shapes(d);
	bool ok = shape_of && add_devices(d) && add_contexts(d) && add_queues(d, shape_of) &&
		  describe_ledgers(d) && describe_memory(d) &&
		  (!load_is_found(d->g->job, d->file) ||
		   gpu_energy_read(&d->g->job->files.at[d->file], d->file, d->device_of,
				   &d->energies));
	free(d->device_of);
	free(d->context_of);
	d->device_of = d->context_of = NULL;
	return ok;
}

/* Collects the blames of all files. */
static bool describe_blames(struct gpu_part *g, struct model *m)
{
	VEC(struct model_gpu_blame) all = {0};
	size_t n = 0;
	bool ok = true;
	for (size_t i = 0; i < g->job->files.n; i++)
		n += g->files[i].blames.list.n;
	if (!n)
		return true;
	ok = vec_reserve(&all, n);
	for (size_t i = 0; ok && i < g->job->files.n; i++) {
		const struct gpu_file *f = &g->files[i];
		for (size_t k = 0; k < f->blames.list.n; k++) {
			struct model_gpu_blame *b = vec_push(&all);
			*b = f->blames.list.at[k];
			b->profile += f->first_profile;
		}
		gpu_blame_free(&g->files[i].blames);
	}
	gpu_blame_sort(all.at, all.n);
	m->gpu_blames = all.at;
	m->n_gpu_blames = all.n;
	return ok && model_own(m, all.at);
}

bool gpu_describe(struct gpu_part *g, struct model *m)
{
	struct describing d = {.g = g, .m = m};
	bool ok = true;
	if (g->is_present) {
		m->private_->gpu_times =
			calloc((size_t)m->n_processes + 1, sizeof *m->private_->gpu_times);
		ok = m->private_->gpu_times != NULL;
	}
	m->gpu_ledger.backend = m->gpu_ledger.entrance = "";
	m->gpu_ledger.closes = m->gpu_sampling.closes = true;
	m->has_gpu = g->is_present;
	for (; ok && g->is_present && d.file < g->job->files.n; d.file++)
		if (g->job->files.at[d.file].gpu.is_present)
			ok = describe_file(&d);
	ok = ok && (!g->is_present || describe_blames(g, m));
	m->gpu_devices = d.devices.at;
	m->n_gpu_devices = (uint32_t)d.devices.n;
	m->gpu_contexts = d.contexts.at;
	m->n_gpu_contexts = (uint32_t)d.contexts.n;
	m->gpu_queues = d.queues.at;
	m->n_gpu_queues = (uint32_t)d.queues.n;
	m->gpu_shapes = d.shapes.at;
	m->n_gpu_shapes = (uint32_t)d.shapes.n;
	m->gpu_occupancies = d.has_occupancy ? d.occupancies.at : NULL;
	m->private_->gpu_lines = d.lines.at;
	map_free(&d.shape_index);
	ok = ok && gpu_energy_make_meters(m, &d.energies);
	vec_free(&d.energies);
	if (d.memory.n)
		qsort(d.memory.at, d.memory.n, sizeof *d.memory.at, compare_memory);
	m->gpu_memory = d.memory.at;
	m->n_gpu_memory = (uint32_t)d.memory.n;
	void *const arrays[] = {d.devices.at, d.contexts.at,    d.queues.at,
				d.shapes.at,  d.occupancies.at, d.memory.at};
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		if (arrays[i] && !model_own(m, arrays[i]))
			ok = false;
	return ok;
}
