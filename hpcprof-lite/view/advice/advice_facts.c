/* SPDX-License-Identifier: BSD-3-Clause */
/* See advice_facts.h. Test: tests/unit/prof_gpu/test_advice.c. */
#include "hpcprof-lite/view/advice/advice_facts.h"

#include "hpcprof-lite/view/view_gpu_idle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double advice_active(const struct advice_samples *s)
{
	double idle = 0;
	for (unsigned r = 0; r < ADVICE_N_REASONS; r++)
		idle += s->idle[r];
	return s->all > idle ? 1 - idle / s->all : 0;
}

double advice_idle(const struct advice_samples *s, enum advice_reason r)
{
	return s->all > 0 ? s->idle[r] / s->all : 0;
}

/* ---- samples ---- */

/* Finds the reason by the short name of the metric. */
static enum advice_reason reason_of(const char *name)
{
	static const struct {
		const char *name;
		enum advice_reason reason;
	} known[] = {
		{"GMEM", ADVICE_MEMORY},
		{"MTHR", ADVICE_MEMORY_QUEUE},
		{"SHORT_SCOREBOARD", ADVICE_SHORT},
		{"MIO_THROTTLE", ADVICE_SHORT_QUEUE},
		{"PIPE", ADVICE_PIPE},
		{"SYNC", ADVICE_BARRIER},
		{"IFET", ADVICE_FETCH},
		{"CMEM", ADVICE_CONSTANT},
		{"IDEP", ADVICE_FIXED},
		{"BRANCH_RESOLVING", ADVICE_BRANCH},
		{"DRAIN", ADVICE_DRAIN},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].reason;
	return ADVICE_OTHER;
}

static struct advice_samples samples_of(const struct model *m, const struct view_hot *h,
					double samples, size_t values)
{
	struct advice_samples s = {.all = samples};
	for (uint32_t i = 0; i < h->n_stalls; i++) {
		const struct model_metric *metric = &m->metrics[h->stalls[i]];
		if (metric->role == MODEL_ROLE_ISSUED)
			s.issued += h->values.at[values + i];
		if (metric->role != MODEL_ROLE_STALL)
			continue;
		enum advice_reason r = reason_of(metric->reason);
		uint32_t idle = view_hot_idle_part(m, h, i);
		s.stalled[r] += h->values.at[values + i];
		s.idle[r] += idle < h->n_stalls ? h->values.at[values + idle] : 0;
	}
	return s;
}

/* ---- causes ---- */

static enum advice_operation operation_of(enum structure_operation o)
{
	switch (o) {
	case STRUCTURE_GLOBAL_LOAD:
	case STRUCTURE_GLOBAL_STORE:
	case STRUCTURE_GENERIC_LOAD:
	case STRUCTURE_GENERIC_STORE: return ADVICE_GLOBAL;
	case STRUCTURE_STRONG_LOAD: return ADVICE_STRONG;
	case STRUCTURE_GLOBAL_ATOMIC:
	case STRUCTURE_GENERIC_ATOMIC: return ADVICE_ATOMIC;
	case STRUCTURE_LOCAL_LOAD:
	case STRUCTURE_LOCAL_STORE: return ADVICE_LOCAL;
	case STRUCTURE_SHARED_LOAD:
	case STRUCTURE_SHARED_STORE:
	case STRUCTURE_SHARED_ATOMIC: return ADVICE_SHARED;
	case STRUCTURE_MUFU: return ADVICE_SPECIAL;
	case STRUCTURE_CONVERSION: return ADVICE_CONVERSION;
	case STRUCTURE_DIVISION: return ADVICE_DIVISION;
	case STRUCTURE_CONSTANT_LOAD: return ADVICE_TABLE;
	default: return ADVICE_OTHER_OPERATION;
	}
}

static bool is_same_line(const struct model *m, uint32_t a, uint32_t b)
{
	const struct model_context *x = &m->contexts[a], *y = &m->contexts[b];
	return x->kind == y->kind && x->function == y->function && x->file == y->file &&
	       x->line == y->line;
}

static bool is_in_loop(const struct model *m, uint32_t context)
{
	while (context != MODEL_NONE && !view_is_kernel(m, context) &&
	       m->contexts[context].kind != MODEL_CONTEXT_LOOP)
		context = m->contexts[context].parent;
	return context != MODEL_NONE && m->contexts[context].kind == MODEL_CONTEXT_LOOP;
}

/* Merges the pairs of a waiting line and its cause, so that each cause is there once. */
static void add_causes(const struct model *m, const struct view_blame *b, struct advice_facts *f,
		       struct advice_kernel *k)
{
	size_t n, first = view_blame_find(b, k->function, &n);
	struct advice_cause *to = f->causes + first;
	k->causes = to;
	for (size_t i = first; i < first + n; i++) {
		const struct view_blame_pair *p = &b->pairs.at[i];
		const struct advice_cause c = {
			.context = p->cause,
			.reason = reason_of(m->metrics[p->metric].reason),
			.operation = p->kind == STRUCTURE_WAIT_PATHS ? ADVICE_PATHS
								     : operation_of(p->operation),
			.samples = p->samples,
			.issued = p->issued,
			.bytes = p->issued_bytes,
			.cycles = p->cycles,
			.in_loop = is_in_loop(m, p->waiting) && !p->is_chained ? p->samples : 0};
		size_t at = 0;
		while (at < k->n_causes &&
		       (to[at].reason != c.reason || to[at].operation != c.operation ||
			!is_same_line(m, to[at].context, c.context)))
			at++;
		if (at == k->n_causes) {
			to[k->n_causes++] = c;
			continue;
		}
		to[at].samples += c.samples;
		to[at].issued += c.issued;
		to[at].bytes += c.bytes;
		to[at].cycles += c.cycles;
		to[at].in_loop += c.in_loop;
	}
}

/* ---- shapes ---- */

/* The device, if all devices have the same name; NULL if there is none, or if they differ. */
static const struct model_gpu_device *only_device(const struct model *m)
{
	for (uint32_t d = 0; d < m->n_gpu_devices; d++)
		if (!m->gpu_devices[d].definition ||
		    strcmp(m->gpu_devices[d].name, m->gpu_devices[0].name) != 0)
			return NULL;
	return m->n_gpu_devices ? &m->gpu_devices[0] : NULL;
}

static double product(const uint32_t n[3])
{
	double all = n[0];
	for (unsigned i = 1; i < 3; i++)
		all *= n[i] ? n[i] : 1;
	return all;
}

static struct advice_shape shape_of(const struct model *m, const struct view_gpu_kernel *k)
{
	const struct model_gpu_device *d = only_device(m);
	if (!d || !k || k->more_shapes || k->shape >= m->n_gpu_shapes || !m->gpu_occupancies ||
	    !m->gpu_occupancies[k->shape].warps_most || !d->definition->lanes)
		return (struct advice_shape){0};
	const struct msr_gpu_shape *s = &m->gpu_shapes[k->shape];
	const struct model_gpu_occupancy *o = &m->gpu_occupancies[k->shape];
	uint32_t threads = (uint32_t)product(s->block), lanes = d->definition->lanes;
	return (struct advice_shape){
		.units = s->grid[0] ? d->definition->n_units : 0,
		.blocks = product(s->grid),
		.block_threads = threads,
		.block_warps = (threads + lanes - 1) / lanes,
		.registers = s->registers,
		.shared_bytes = s->static_shared_bytes + s->dynamic_shared_bytes,
		.local_bytes = s->local_bytes,
		.warps = o->warps,
		.warps_most = o->warps_most,
		.limit = o->limit,
		.eased = o->eased,
		.eased_warps = o->eased_warps,
	};
}

/*
 * Bytes that memory delivers to each SM in a cycle, from data sheets: bandwidth / SMs / clock, for
 * the slowest usual board with this compute capability and memory size.
 */
static double memory_rate(const struct model *m)
{
	static const struct {
		uint32_t major, minor;
		double least_memory, bytes;
	} known[] = {{7, 0, 0, 7},   {7, 5, 0, 4},   {8, 0, 0, 10},
		     {8, 6, 0, 4.5}, {8, 9, 0, 2.4}, {9, 0, 130e9, 18},
		     {9, 0, 0, 9.5}, {10, 0, 0, 25}, {12, 0, 0, 4}};
	const struct model_gpu_device *d = only_device(m);
	for (size_t i = 0; d && d->limits && i < sizeof known / sizeof *known; i++)
		if (d->limits->compute_major == known[i].major &&
		    d->limits->compute_minor == known[i].minor &&
		    (double)d->definition->memory_bytes >= known[i].least_memory)
			return known[i].bytes;
	return 0;
}

/* ---- kernels ---- */

static const struct view_hot_kernel *find_hot(const struct view_hot *h, uint32_t function)
{
	for (size_t i = 0; i < h->kernels.n; i++)
		if (h->kernels.at[i].function == function)
			return &h->kernels.at[i];
	return NULL;
}

/* More than 1 if kernels of several queues ran at the same time. */
static double beside(const struct model *m)
{
	double busy = 0, sum = view_total(m, view_find_metric(m, MODEL_ROLE_KERNEL_TIME));
	for (uint32_t d = 0; d < m->n_gpu_devices; d++)
		busy += view_gpu_idle_of(m, d) ? (double)view_gpu_idle_of(m, d)->kernel_ns / 1e9
					       : 0;
	return busy > 0 && sum > busy ? sum / busy : 1;
}

/*
 * The share of the PC samples that belong to an instruction. CUPTI cannot attribute the others, but
 * some warp was on the SM.
 */
static double placed(const struct model *m)
{
	const double all = (double)m->gpu_sampling.total, outside = (double)m->gpu_sampling.outside;
	return all > outside ? 1 - outside / all : 1;
}

static bool add_kernel(const struct model *m, const struct view_gpu_kernel *from,
		       const struct view_hot *h, const struct view_blame *b, struct advice_facts *f)
{
	const struct view_hot_kernel *hot = find_hot(h, from->function);
	struct advice_kernel *k = vec_push(&f->kernels);
	if (!k)
		return false;
	*k = (struct advice_kernel){.function = from->function,
				    .seconds = from->seconds,
				    .launches = from->n,
				    .beside = beside(m),
				    .memory_rate = memory_rate(m),
				    .shape = shape_of(m, from)};
	if (!hot)
		return true;
	k->samples = samples_of(m, h, hot->samples, hot->stalls);
	k->busy_units = hot->expected > 0 ? hot->measured / hot->expected / placed(m) : 0;
	k->busy_units = k->busy_units < 1 ? k->busy_units : 1;
	k->lines = f->lines + hot->first_line;
	k->n_lines = hot->n_lines;
	add_causes(m, b, f, k);
	return true;
}

static bool add_kernels(const struct model *m, const struct view_gpu *g, struct advice_facts *f)
{
	struct view_hot h;
	struct view_blame b;
	if (!view_hot_open(m, &h))
		return false;
	if (!view_blame_open(m, &b)) {
		view_hot_close(&h);
		return false;
	}
	f->lines = calloc(h.lines.n + 1, sizeof *f->lines);
	f->causes = calloc(b.pairs.n + 1, sizeof *f->causes);
	bool ok = f->lines && f->causes;
	for (size_t i = 0; ok && i < h.lines.n; i++) {
		const struct view_hot_line *l = &h.lines.at[i];
		f->lines[i] =
			(struct advice_line){l->context, samples_of(m, &h, l->samples, l->stalls)};
	}
	/* NCCL chooses its blocks by the link, and its kernels mostly wait: no advice */
	for (size_t i = 0; ok && i < g->kernels.n; i++)
		ok = view_is_placeholder(m, g->kernels.at[i].function) ||
		     m->functions[g->kernels.at[i].function].is_nccl ||
		     add_kernel(m, &g->kernels.at[i], &h, &b, f);
	view_blame_close(&b);
	view_hot_close(&h);
	return ok;
}

/* ---- devices ---- */

/* The first launch waits until sampling has been set up: 70 to 110 ms on an H200, in seconds. */
#define SAMPLING_START 0.11

/* The rate of copies with pinned memory: PCIe 3, 4 and 5. Known only for CUDA devices. */
static double link_rate(const struct model_gpu_device *d)
{
	uint32_t major = d->limits ? d->limits->compute_major : 0;
	return major >= 9 ? 50e9 : major == 8 ? 24e9 : major == 7 ? 12e9 : 0;
}

/* A call path that allocates once in 10 kernels, and this often, is in the loop that launches. */
#define KERNELS_OF_ALLOCATION 10
#define LEAST_ALLOCATIONS 10

static void add_call(const struct model *m, uint32_t context, double seconds,
		     struct advice_device *d)
{
	const uint32_t line = view_program_line(m, context);
	unsigned at = 0;
	while (at < d->n_calls && !is_same_line(m, d->calls[at].context, line))
		at++;
	if (at == VIEW_PLACES)
		return;
	d->calls[at].context = line;
	d->calls[at].share += seconds;
	d->n_calls += at == d->n_calls;
}

static void add_allocations(const struct model *m, struct advice_device *d)
{
	const uint32_t time = view_find_metric(m, MODEL_ROLE_MEMORY_TIME),
		       calls = view_find_metric(m, MODEL_ROLE_MEMORY_CALLS);
	const double least = fmax(d->n_kernels / KERNELS_OF_ALLOCATION, LEAST_ALLOCATIONS);
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		if (t->metric != calls || t->sum[MODEL_POINT] < least)
			continue;
		const struct model_total *total = model_find_total(m, t->context, time);
		const double seconds = total ? total->sum[MODEL_POINT] : 0;
		d->n_allocations += t->sum[MODEL_POINT];
		d->allocation += seconds;
		if (view_program_line(m, t->context) != MODEL_NONE)
			add_call(m, t->context, seconds, d);
	}
	for (unsigned i = 0; i < d->n_calls; i++)
		d->calls[i].share /= d->allocation > 0 ? d->allocation : 1;
}

static bool add_device(const struct model *m, const struct view_gpu *g, uint32_t device,
		       struct advice_facts *f)
{
	const struct model_gpu_idle *i = view_gpu_idle_of(m, device);
	if (!i)
		return true;
	struct advice_device *d = vec_push(&f->devices);
	if (!d)
		return false;
	*d = (struct advice_device){.device = device,
				    .kernels = (double)i->kernel_ns / 1e9,
				    .copies = (double)i->copy_ns / 1e9,
				    .overlap = (double)i->overlap_ns / 1e9,
				    .pieces = (double)g->device_pieces_ns[device] / 1e9,
				    .n_kernels =
					    view_total(m, view_find_metric(m, MODEL_ROLE_KERNELS)),
				    .n_launches = (double)m->gpu_ledger.launched[MSR_GPU_KERNEL],
				    .n_waits = view_total(m, view_find_metric(m, MODEL_ROLE_SYNCS)),
				    .is_sampled = m->gpu_sampling.sampled_ns > 0,
				    .link_rate = link_rate(&m->gpu_devices[device]),
				    .to_device = g->copies[MSR_GPU_COPY_H2D],
				    .from_device = g->copies[MSR_GPU_COPY_D2H]};
	for (unsigned c = 0; c < MODEL_N_GPU_IDLE_CAUSES; c++)
		d->idle[c] = (double)i->idle_ns[c] / 1e9;
	d->setup = (double)i->setup_ns / 1e9;
	add_allocations(m, d);
	d->whole = (double)i->watched_ns / 1e9 - d->idle[MODEL_GPU_IDLE_BEFORE] -
		   d->idle[MODEL_GPU_IDLE_AFTER];
	if (d->is_sampled) {
		const double start = fmin(d->idle[MODEL_GPU_IDLE_QUEUED], SAMPLING_START);
		d->idle[MODEL_GPU_IDLE_QUEUED] -= start;
		d->whole -= start;
	}
	return true;
}

static struct view_gpu_sum part_of(struct view_gpu_sum s, double part)
{
	return (struct view_gpu_sum){.n = (uint64_t)((double)s.n * part),
				     .bytes = (uint64_t)((double)s.bytes * part),
				     .once_bytes = (uint64_t)((double)s.once_bytes * part),
				     .ns = (uint64_t)((double)s.ns * part)};
}

/* Counts are known only for all devices together, so they are divided by time. */
static void share_counts(struct advice_facts *f)
{
	double kernels = 0, copies = 0;
	for (size_t i = 0; i < f->devices.n; i++) {
		kernels += f->devices.at[i].kernels;
		copies += f->devices.at[i].copies;
	}
	for (size_t i = 0; i < f->devices.n; i++) {
		struct advice_device *d = &f->devices.at[i];
		double of_kernels = kernels > 0 ? d->kernels / kernels : 0,
		       of_copies = copies > 0 ? d->copies / copies : 0;
		d->n_kernels *= of_kernels;
		d->n_launches *= of_kernels;
		d->n_waits *= of_kernels;
		d->n_allocations *= of_kernels;
		d->allocation *= of_kernels;
		d->to_device = part_of(d->to_device, of_copies);
		d->from_device = part_of(d->from_device, of_copies);
	}
}

/* Sampling that serialized most kernels made gaps that are not the program's. */
static bool is_serialized(const struct model *m)
{
	return m->gpu_sampling.serialized_ns > m->gpu_sampling.sampled_ns / 10;
}

bool advice_facts_make(const struct model *m, const struct view_gpu *g, struct advice_facts *f)
{
	*f = (struct advice_facts){0};
	bool ok = add_kernels(m, g, f);
	for (uint32_t d = 0; ok && !is_serialized(m) && d < m->n_gpu_devices; d++)
		ok = add_device(m, g, d, f);
	share_counts(f);
	return ok;
}

void advice_facts_free(struct advice_facts *f)
{
	vec_free(&f->kernels);
	vec_free(&f->devices);
	free(f->lines);
	free(f->causes);
	*f = (struct advice_facts){0};
}
