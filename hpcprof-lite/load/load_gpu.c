/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_gpu.h. Test: tests/unit/prof_gpu/test_load_gpu.c, tests/fuzz/fuzz_measurement.c. */
#include "hpcprof-lite/load/load_gpu.h"

#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>
#include <string.h>

/* ---- definitions ---- */

struct definition {
	const struct msr_gpu_definition *head;
	uint32_t bytes;
	const char *name, *more;
};

/* Reads the strings after the fixed part. False if they do not fit or do not end. */
static bool find_strings(struct definition *d, uint32_t fixed_bytes)
{
	if (d->bytes < fixed_bytes)
		return false;
	uint32_t room = d->bytes - fixed_bytes, n = d->head->name_bytes, m = d->head->more_bytes;
	if (n > room || m > room - n)
		return false;
	const char *at = (const char *)d->head + fixed_bytes;
	if ((n && at[n - 1]) || (m && at[n + m - 1]))
		return false;
	d->name = n ? at : "";
	d->more = m ? at + n : "";
	return true;
}

/*
 * Ids are consecutive, so a file cannot have more of them than it has room for. This bounds our
 * memory for damaged files.
 */
static bool id_is_sound(const struct load_file *f, uint32_t id)
{
	return id > 0 && id <= f->map.n_bytes / sizeof(struct msr_gpu_definition);
}

/*
 * Puts `item` at [id] of a definition vector; each id may be defined once. Evaluates to a status.
 */
#define PUT(vector, id_, item) \
	({ \
		enum status put_ = STATUS_OK; \
		if ((vector)->n <= (id_) && !vec_extend((vector), (id_) + 1 - (vector)->n)) \
			put_ = STATUS_NO_MEMORY; \
		else if ((vector)->at[id_].record) \
			put_ = STATUS_BAD_INPUT; \
		else \
			(vector)->at[id_] = item; \
		put_; \
	})

static uint32_t fixed_bytes(unsigned type)
{
	static const uint32_t bytes[] = {
		[MSR_GPU_DEF_DEVICE] = sizeof(struct msr_gpu_def_device),
		[MSR_GPU_DEF_CONTEXT] = sizeof(struct msr_gpu_def_context),
		[MSR_GPU_DEF_QUEUE] = sizeof(struct msr_gpu_def_queue),
		[MSR_GPU_DEF_CODE] = sizeof(struct msr_gpu_def_code),
		[MSR_GPU_DEF_FUNCTION] = sizeof(struct msr_gpu_def_function),
		[MSR_GPU_DEF_STALL] = sizeof(struct msr_gpu_def_stall),
		[MSR_GPU_DEF_COUNTER] = sizeof(struct msr_gpu_def_counter),
		[MSR_GPU_DEF_DEVICE_LIMITS] = sizeof(struct msr_gpu_def_device_limits),
		[MSR_GPU_DEF_DEVICE_RATES] = sizeof(struct msr_gpu_def_device_rates),
	};
	return type < sizeof bytes / sizeof *bytes ? bytes[type] : 0;
}

static enum status read_definition(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	struct load_gpu *g = &f->gpu;
	struct definition d = {.head = (const void *)record, .bytes = bytes};
	uint32_t fixed = bytes < sizeof *d.head ? 0 : fixed_bytes(d.head->type),
		 id = fixed ? d.head->id : 0;
	if (!fixed)
		return bytes < sizeof *d.head ? STATUS_BAD_INPUT
					      : STATUS_OK; /* a type of a later version */
	if (!id_is_sound(f, id) || !find_strings(&d, fixed))
		return STATUS_BAD_INPUT;
	switch (d.head->type) {
	case MSR_GPU_DEF_DEVICE:
		return PUT(&g->devices, id,
			   ((struct load_gpu_device){(const void *)record, d.name, d.more}));
	case MSR_GPU_DEF_CONTEXT:
		return PUT(&g->contexts, id,
			   ((struct load_gpu_context){(const void *)record, d.name}));
	case MSR_GPU_DEF_QUEUE:
		return PUT(&g->queues, id, ((struct load_gpu_queue){(const void *)record, d.name}));
	case MSR_GPU_DEF_CODE:
		return PUT(&g->codes, id,
			   ((struct load_gpu_code){(const void *)record, d.name, d.more}));
	case MSR_GPU_DEF_FUNCTION:
		return PUT(&g->functions, id,
			   ((struct load_gpu_function){(const void *)record, d.name, d.more}));
	case MSR_GPU_DEF_STALL:
		return PUT(&g->stalls, id,
			   ((struct load_gpu_stall){(const void *)record, d.name, d.more}));
	case MSR_GPU_DEF_DEVICE_LIMITS:
		return PUT(&g->limits, id, ((struct load_gpu_limits){(const void *)record}));
	case MSR_GPU_DEF_DEVICE_RATES:
		return PUT(&g->rates, id, ((struct load_gpu_rates){(const void *)record}));
	default:
		return PUT(&g->counters, id,
			   ((struct load_gpu_counter){(const void *)record, d.name, d.more}));
	}
}

/* ---- records of one size ---- */

/* Returns false and counts damage if the extent cannot hold records of at least `least_bytes`. */
static bool make_part(struct load_file *f, const struct msr_view *v, uint32_t least_bytes,
		      struct load_gpu_part *p)
{
	uint32_t stride = v->extent->record_bytes;
	if (stride < least_bytes || stride % 8) {
		f->bytes_damaged += v->n_bytes;
		return false;
	}
	*p = (struct load_gpu_part){v->content, v->n_bytes / stride, v->extent->first,
				    stride,     v->extent->thread,   v->extent->sequence};
	f->bytes_damaged += v->n_bytes % stride;
	return p->n > 0;
}

static enum status read_shapes(struct load_file *f, const struct load_gpu_part *p)
{
	for (uint64_t i = 0; i < p->n; i++) {
		const struct msr_gpu_shape *s = load_gpu_at(p, i);
		if (!id_is_sound(f, s->id) || load_gpu_shape(&f->gpu, s->id)) {
			f->bytes_damaged += p->stride;
			continue;
		}
		if (f->gpu.shapes.n <= s->id &&
		    !vec_extend(&f->gpu.shapes, s->id + 1 - f->gpu.shapes.n))
			return STATUS_NO_MEMORY;
		f->gpu.shapes.at[s->id] = s;
	}
	return STATUS_OK;
}

static enum status read_clocks(struct load_file *f, const struct load_gpu_part *p)
{
	for (uint64_t i = 0; i < p->n; i++) {
		const struct msr_gpu_clock *c = load_gpu_at(p, i);
		if (!c->clock || c->mono_ns > f->header.start_mono_ns + LOAD_LONGEST_NS ||
		    c->device_ns > INT64_MAX) {
			f->bytes_damaged += p->stride;
			continue;
		}
		struct msr_gpu_clock *at = vec_push(&f->gpu.pairs);
		if (!at)
			return STATUS_NO_MEMORY;
		*at = *c;
	}
	return STATUS_OK;
}

/* Sums the tallies of one back end, which several threads wrote. */
static void add_tally(struct msr_gpu_tally *to, const struct msr_view *v)
{
	const size_t from = offsetof(struct msr_gpu_tally, launched),
		     n_bytes = v->n_bytes < sizeof *to ? v->n_bytes : sizeof *to;
	_Atomic uint64_t *sum = to->launched;
	uint64_t before = to->aggregate_from_ns; /* a time; the earliest counts */
	for (size_t i = 0; i < (n_bytes - from) / sizeof *sum; i++) {
		uint64_t word;
		memcpy(&word, (const char *)v->content + from + i * sizeof word, sizeof word);
		sum[i] += word;
	}
	uint64_t of_view = to->aggregate_from_ns - before;
	to->aggregate_from_ns = !before || (of_view && of_view < before) ? of_view : before;
}

static enum status read_tally(struct load_file *f, const struct msr_view *v)
{
	uint32_t backend = v->extent->sequence;
	if (v->n_bytes < offsetof(struct msr_gpu_tally, n_ops) || backend >= LOAD_GPU_BACKENDS) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	if (f->gpu.tallies[backend]) {
		add_tally(f->gpu.tallies[backend], v);
		return STATUS_OK;
	}
	struct msr_gpu_tally *t = f->gpu.tallies[backend] = calloc(1, sizeof *t);
	if (!t)
		return STATUS_NO_MEMORY;
	memcpy(t, v->content, v->n_bytes < sizeof *t ? v->n_bytes : sizeof *t);
	t->backend[sizeof t->backend - 1] = t->entrance[sizeof t->entrance - 1] = 0;
	return STATUS_OK;
}

bool load_gpu_is_kind(unsigned kind)
{
	return (kind >= MSR_GPU_DEFINITION && kind <= MSR_GPU_GRAPH_NODE) || kind == MSR_GPU_ENERGY;
}

static uint32_t least_bytes(unsigned kind)
{
	static const uint32_t bytes[] = {
		[MSR_GPU_SHAPE] = sizeof(struct msr_gpu_shape),
		[MSR_GPU_CLOCK] = sizeof(struct msr_gpu_clock),
		[MSR_GPU_LAUNCH] = sizeof(struct msr_gpu_launch),
		[MSR_GPU_OP] = MSR_GPU_OP_SHORT,
		[MSR_GPU_AGGREGATE] = sizeof(struct msr_gpu_aggregate),
		[MSR_GPU_PC] = sizeof(struct msr_gpu_pc),
		[MSR_GPU_PC_RANGE] = sizeof(struct msr_gpu_pc_range),
		[MSR_GPU_VALUE] = sizeof(struct msr_gpu_value),
		[MSR_GPU_GRAPH_NODE] = sizeof(struct msr_gpu_graph_node),
		[MSR_GPU_ENERGY] = sizeof(struct msr_gpu_energy),
	};
	return bytes[kind];
}

static enum status read_part(struct load_file *f, unsigned kind, const struct load_gpu_part *p)
{
	struct load_gpu *g = &f->gpu;
	if (kind == MSR_GPU_SHAPE)
		return read_shapes(f, p);
	if (kind == MSR_GPU_CLOCK)
		return read_clocks(f, p);
	if (kind == MSR_GPU_LAUNCH && p->thread != UINT32_MAX && !load_get_thread(f, p->thread))
		return STATUS_NO_MEMORY;
	struct load_gpu_part *at = kind == MSR_GPU_LAUNCH       ? vec_push(&g->launches)
				   : kind == MSR_GPU_OP         ? vec_push(&g->ops)
				   : kind == MSR_GPU_AGGREGATE  ? vec_push(&g->aggregates)
				   : kind == MSR_GPU_GRAPH_NODE ? vec_push(&g->graph_nodes)
				   : kind == MSR_GPU_PC         ? vec_push(&g->pcs)
				   : kind == MSR_GPU_PC_RANGE   ? vec_push(&g->ranges)
				   : kind == MSR_GPU_ENERGY     ? vec_push(&g->energies)
								: vec_push(&g->values);
	if (!at)
		return STATUS_NO_MEMORY;
	*at = *p;
	return STATUS_OK;
}

enum status load_gpu_extent(struct load_file *f, const struct msr_view *v)
{
	unsigned kind = v->extent->kind;
	struct load_gpu_part p;
	f->gpu.is_present = true;
	if (kind == MSR_GPU_DEFINITION)
		return load_lengthed(f, v, read_definition);
	if (kind == MSR_GPU_TALLY)
		return read_tally(f, v);
	return make_part(f, v, least_bytes(kind), &p) ? read_part(f, kind, &p) : STATUS_OK;
}

/* ---- when all is read ---- */

static int compare_launches(const void *pa, const void *pb)
{
	const struct load_gpu_part *a = pa, *b = pb;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return (a->content > b->content) - (a->content < b->content);
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct msr_gpu_clock *a = pa, *b = pb;
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	if (a->device_ns != b->device_ns)
		return a->device_ns < b->device_ns ? -1 : 1;
	return (a->mono_ns > b->mono_ns) - (a->mono_ns < b->mono_ns);
}

static uint64_t error_of(const struct msr_gpu_clock *p)
{
	return p->error_ns < UINT32_MAX ? p->error_ns : UINT32_MAX;
}

/*
 * Drops the later of two clock pairs if the device's clock advanced and ours went backwards. A step
 * within the error of the clocks is not damage: two threads wrote pairs at the same time.
 */
static void sort_pairs(struct load_file *f)
{
	size_t kept = 0;
	if (f->gpu.pairs.n)
		qsort(f->gpu.pairs.at, f->gpu.pairs.n, sizeof *f->gpu.pairs.at, compare_pairs);
	for (size_t i = 0; i < f->gpu.pairs.n; i++) {
		struct msr_gpu_clock p = f->gpu.pairs.at[i],
				     *last = kept ? &f->gpu.pairs.at[kept - 1] : NULL;
		if (last && last->clock == p.clock &&
		    (p.mono_ns < last->mono_ns || p.device_ns == last->device_ns)) {
			f->bytes_damaged +=
				last->mono_ns > p.mono_ns + error_of(last) + error_of(&p) ? sizeof p
											  : 0;
			continue;
		}
		f->gpu.pairs.at[kept++] = p;
	}
	f->gpu.pairs.n = kept;
}

bool load_gpu_energy_is_sound(const struct load_file *f, const struct msr_gpu_energy *e)
{
	const struct load_gpu_counter *meter = load_gpu_find(&f->gpu.counters, e->meter);
	const struct load_gpu_device *device = load_gpu_find(&f->gpu.devices, e->device);
	return meter && (device || !e->device) && e->energy_uj <= INT64_MAX &&
	       e->unchanged_ns <= e->time_ns &&
	       e->time_ns <= f->header.start_mono_ns + LOAD_LONGEST_NS;
}

static void count_damage(struct load_file *f)
{
	for (size_t k = 0; k < f->gpu.launches.n; k++) {
		const struct load_gpu_part *p = &f->gpu.launches.at[k];
		for (uint64_t i = 0; i < p->n; i++) {
			const struct msr_gpu_launch *l = load_gpu_at(p, i);
			f->bytes_damaged +=
				load_gpu_kind_is_sound(msr_gpu_launch_kind(l)) ? 0 : p->stride;
		}
		load_release(f, p->n * p->stride);
	}
	for (size_t k = 0; k < f->gpu.ops.n; k++) {
		const struct load_gpu_part *p = &f->gpu.ops.at[k];
		for (uint64_t i = 0; i < p->n; i++) {
			const struct msr_gpu_op *op = load_gpu_at(p, i);
			f->bytes_damaged +=
				load_gpu_kind_is_sound(msr_gpu_op_kind(op)) ? 0 : p->stride;
		}
		load_release(f, p->n * p->stride);
	}
	for (size_t k = 0; k < f->gpu.energies.n; k++) {
		const struct load_gpu_part *p = &f->gpu.energies.at[k];
		for (uint64_t i = 0; i < p->n; i++) {
			const struct msr_gpu_energy *e = load_gpu_at(p, i);
			f->bytes_damaged += load_gpu_energy_is_sound(f, e) ? 0 : p->stride;
		}
	}
}

void load_gpu_finish(struct load_file *f)
{
	struct load_gpu *g = &f->gpu;
	if (g->launches.n)
		qsort(g->launches.at, g->launches.n, sizeof *g->launches.at, compare_launches);
	sort_pairs(f);
	count_damage(f);
}

void load_gpu_free(struct load_gpu *g)
{
	vec_free(&g->devices);
	vec_free(&g->limits);
	vec_free(&g->rates);
	vec_free(&g->contexts);
	vec_free(&g->queues);
	vec_free(&g->codes);
	vec_free(&g->functions);
	vec_free(&g->stalls);
	vec_free(&g->counters);
	vec_free(&g->shapes);
	vec_free(&g->pairs);
	vec_free(&g->launches);
	vec_free(&g->ops);
	vec_free(&g->aggregates);
	vec_free(&g->graph_nodes);
	vec_free(&g->pcs);
	vec_free(&g->ranges);
	vec_free(&g->values);
	vec_free(&g->energies);
	for (unsigned b = 0; b < LOAD_GPU_BACKENDS; b++)
		free(g->tallies[b]);
}
