/* SPDX-License-Identifier: BSD-3-Clause */
/* See gen_gpu.h. Must not share code with the readers it tests, apart from the layout in
 * measurement_gpu.h. */
#include "tests/gen/gen_gpu.h"

#include "common/base/vec.h"
#include "tests/gen/gen_extent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One extent to be: records of a kind that have thread, `first` and size in common. */
struct part {
	struct gen_extent extent;
	VEC(uint8_t) content;
};

struct gen_gpu {
	VEC(struct part) parts;
	uint32_t n_definitions[16], n_shapes;
	struct msr_gpu_tally *tallies[4];
	bool splits;
};

static void *check(void *p)
{
	if (!p) {
		fprintf(stderr, "gen_gpu: out of memory\n");
		exit(99);
	}
	return p;
}

/* Room for one more record of the kind; a full extent is followed by another. */
static void *append(struct gen *g, struct gen_extent e, size_t n_bytes)
{
	struct gen_gpu *gpu = gen_gpu_of(g);
	struct part *at = NULL;
	for (size_t i = gpu->parts.n; i-- > 0 && !at;) {
		struct part *p = &gpu->parts.at[i];
		if (p->extent.kind == e.kind && p->extent.thread == e.thread &&
		    p->extent.first == e.first && p->extent.record_bytes == e.record_bytes)
			at = p;
	}
	if (!at || at->content.n + n_bytes > gen_extent_bytes(g)) {
		e.sequence = 0;
		for (size_t i = 0; i < gpu->parts.n; i++)
			e.sequence += gpu->parts.at[i].extent.kind == e.kind &&
				      gpu->parts.at[i].extent.thread == e.thread;
		at = check(vec_push(&gpu->parts));
		at->extent = e;
	}
	return check(vec_extend(&at->content, n_bytes));
}

static void append_record(struct gen *g, unsigned kind, const void *record, size_t n_bytes)
{
	struct gen_extent e = {
		.kind = kind, .record_bytes = (uint16_t)n_bytes, .thread = UINT32_MAX};
	memcpy(append(g, e, n_bytes), record, n_bytes);
}

/* ---- definitions ---- */

static uint32_t define(struct gen *g, void *record, size_t fixed_bytes, unsigned type, uint32_t id,
		       const char *name, const char *more)
{
	struct gen_gpu *gpu = gen_gpu_of(g);
	struct msr_gpu_definition *head = record;
	size_t n = strlen(name) + 1, m = *more ? strlen(more) + 1 : 0;
	*head = (struct msr_gpu_definition){.bytes = (uint32_t)((fixed_bytes + n + m + 7) / 8 * 8),
					    .type = (uint16_t)type,
					    .name_bytes = (uint16_t)n,
					    .id = id ? id : ++gpu->n_definitions[type],
					    .more_bytes = (uint32_t)m};
	uint8_t *at =
		append(g, (struct gen_extent){.kind = MSR_GPU_DEFINITION, .thread = UINT32_MAX},
		       head->bytes);
	memcpy(at, record, fixed_bytes);
	memcpy(at + fixed_bytes, name, n);
	memcpy(at + fixed_bytes + n, more, m);
	return head->id;
}

uint32_t gen_gpu_device(struct gen *g, const char *name, const char *driver,
			struct msr_gpu_def_device d)
{
	return define(g, &d, sizeof d, MSR_GPU_DEF_DEVICE, 0, name, driver);
}

void gen_gpu_limits(struct gen *g, uint32_t device, struct msr_gpu_def_device_limits l)
{
	define(g, &l, sizeof l, MSR_GPU_DEF_DEVICE_LIMITS, device, "", "");
}

void gen_gpu_rates(struct gen *g, uint32_t device, struct msr_gpu_def_device_rates r)
{
	define(g, &r, sizeof r, MSR_GPU_DEF_DEVICE_RATES, device, "", "");
}

uint32_t gen_gpu_context(struct gen *g, uint32_t device, uint32_t ordinal)
{
	struct msr_gpu_def_context c = {.device = device, .ordinal = ordinal};
	return define(g, &c, sizeof c, MSR_GPU_DEF_CONTEXT, 0, "", "");
}

uint32_t gen_gpu_queue(struct gen *g, const char *name, struct msr_gpu_def_queue q)
{
	return define(g, &q, sizeof q, MSR_GPU_DEF_QUEUE, 0, name, "");
}

uint32_t gen_gpu_code(struct gen *g, const char *file, const char *options, const uint64_t hash[2],
		      enum msr_gpu_code_kind kind)
{
	struct msr_gpu_def_code c = {
		.hash = {hash[0], hash[1]}, .content_bytes = 1000, .kind = kind};
	return define(g, &c, sizeof c, MSR_GPU_DEF_CODE, 0, file, options);
}

uint32_t gen_gpu_function(struct gen *g, uint32_t code, const char *name, const char *source_name)
{
	struct msr_gpu_def_function f = {.code = code};
	return define(g, &f, sizeof f, MSR_GPU_DEF_FUNCTION, 0, name, source_name);
}

void gen_gpu_stall(struct gen *g, uint32_t id, const char *name, const char *description,
		   uint32_t flags)
{
	struct msr_gpu_def_stall s = {.flags = flags};
	define(g, &s, sizeof s, MSR_GPU_DEF_STALL, id, name, description);
}

uint32_t gen_gpu_counter(struct gen *g, const char *name, const char *description,
			 enum msr_unit unit)
{
	struct msr_gpu_def_counter c = {.unit = unit};
	return define(g, &c, sizeof c, MSR_GPU_DEF_COUNTER, 0, name, description);
}

uint32_t gen_gpu_shape(struct gen *g, struct msr_gpu_shape s)
{
	s.id = ++gen_gpu_of(g)->n_shapes;
	append_record(g, MSR_GPU_SHAPE, &s, sizeof s);
	return s.id;
}

void gen_gpu_pair(struct gen *g, uint32_t clock, uint64_t device_ns, uint64_t mono_ns,
		  uint64_t error_ns)
{
	append_record(g, MSR_GPU_CLOCK,
		      &(struct msr_gpu_clock){clock, 0, device_ns, mono_ns, error_ns},
		      sizeof(struct msr_gpu_clock));
}

/* ---- operations ---- */

struct msr_gpu_tally *gen_gpu_tally(struct gen *g, unsigned backend, const char *name,
				    const char *entrance)
{
	struct msr_gpu_tally **t = &gen_gpu_of(g)->tallies[backend];
	if (!*t) {
		*t = check(calloc(1, sizeof **t));
		snprintf((*t)->backend, sizeof (*t)->backend, "%s", name);
		snprintf((*t)->entrance, sizeof (*t)->entrance, "%s", entrance);
	}
	return *t;
}

static struct msr_gpu_tally *tally_of(struct gen *g, uint64_t id)
{
	return gen_gpu_of(g)->tallies[id >> 46 & 3];
}

void gen_gpu_launch(struct gen *g, uint32_t thread, uint32_t node, uint64_t id,
		    enum msr_gpu_kind kind, uint64_t enter_ns)
{
	struct msr_gpu_launch l = {.enter_ns = enter_ns,
				   .id_low = (uint32_t)id,
				   .kind_node = (uint32_t)kind << 28 | node};
	struct gen_extent e = {.kind = MSR_GPU_LAUNCH,
			       .record_bytes = sizeof l,
			       .thread = thread,
			       .first = id & ~(uint64_t)UINT32_MAX};
	memcpy(append(g, e, sizeof l), &l, sizeof l);
	struct msr_gpu_tally *t = tally_of(g, id);
	if (t) {
		t->launched[kind]++;
		t->recorded[kind]++;
	}
	gen_moment(g, enter_ns);
}

void gen_gpu_launch_lost(struct gen *g, unsigned backend, enum msr_gpu_kind kind,
			 enum msr_gpu_loss cause)
{
	struct msr_gpu_tally *t = gen_gpu_of(g)->tallies[backend];
	t->launched[kind]++;
	t->launch_losses[cause]++;
}

static void put_op(struct gen *g, const struct msr_gpu_op *r, bool is_long)
{
	size_t n = is_long ? MSR_GPU_OP_LONG : MSR_GPU_OP_SHORT;
	append_record(g, MSR_GPU_OP, r, n);
	struct msr_gpu_tally *t = tally_of(g, r->id_kind & MSR_GPU_ID_MAX);
	if (t)
		t->n_ops++;
}

void gen_gpu_op(struct gen *g, const struct gen_gpu_op *op)
{
	struct msr_gpu_op r = {.id_kind = msr_gpu_op_make(op->id, op->kind, op->detail),
			       .start_ns = op->start_ns,
			       .end_ns = op->end_ns,
			       .amount = op->amount,
			       .queue = op->queue,
			       .shape = op->shape,
			       .queued_before_ns = op->queued_before_ns,
			       .submitted_before_ns = op->submitted_before_ns};
	put_op(g, &r, op->has_waits);
}

void gen_gpu_lost(struct gen *g, uint64_t id, enum msr_gpu_kind kind, enum msr_gpu_loss cause)
{
	put_op(g,
	       &(struct msr_gpu_op){
		       .id_kind = msr_gpu_op_make(id, (unsigned)kind | MSR_GPU_OP_LOST, cause)},
	       false);
}

void gen_gpu_refused(struct gen *g, uint64_t id, enum msr_gpu_kind kind, uint32_t error)
{
	put_op(g,
	       &(struct msr_gpu_op){.id_kind = msr_gpu_op_make(id, (unsigned)kind | MSR_GPU_OP_LOST,
							       MSR_GPU_LOSS_REFUSED),
				    .amount = error},
	       false);
}

void gen_gpu_aggregate(struct gen *g, unsigned backend, const struct msr_gpu_aggregate *a)
{
	struct gen_extent e = {.kind = MSR_GPU_AGGREGATE,
			       .record_bytes = sizeof *a,
			       .thread = UINT32_MAX,
			       .first = backend};
	memcpy(append(g, e, sizeof *a), a, sizeof *a);
	struct msr_gpu_tally *t = gen_gpu_of(g)->tallies[backend];
	if (t) {
		t->launched[a->kind] += a->n_launches;
		t->aggregated[a->kind] += a->n_launches;
	}
}

void gen_gpu_graph_node(struct gen *g, const struct msr_gpu_graph_node *n)
{
	append_record(g, MSR_GPU_GRAPH_NODE, n, sizeof *n);
}

void gen_gpu_pc(struct gen *g, const struct msr_gpu_pc *s)
{
	append_record(g, MSR_GPU_PC, s, sizeof *s);
}

void gen_gpu_pc_at(struct gen *g, const struct msr_gpu_pc_at *s)
{
	append_record(g, MSR_GPU_PC, s, sizeof *s);
}

void gen_gpu_range(struct gen *g, const struct msr_gpu_pc_range *r)
{
	append_record(g, MSR_GPU_PC_RANGE, r, sizeof *r);
}

void gen_gpu_value(struct gen *g, const struct msr_gpu_value *v)
{
	append_record(g, MSR_GPU_VALUE, v, sizeof *v);
}

void gen_gpu_energy(struct gen *g, const struct msr_gpu_energy *e)
{
	append_record(g, MSR_GPU_ENERGY, e, sizeof *e);
}

/* ---- writing ---- */

void gen_gpu_split_tallies(struct gen *g)
{
	gen_gpu_of(g)->splits = true;
}

static void put_whole(struct gen *g, unsigned backend, struct msr_gpu_tally *t)
{
	gen_put_extent(g,
		       &(struct gen_extent){.kind = MSR_GPU_TALLY,
					    .record_bytes = sizeof *t,
					    .thread = UINT32_MAX,
					    .sequence = backend},
		       t, sizeof *t);
}

static void put_parts(struct gen *g, unsigned backend, struct msr_gpu_tally *t)
{
	static struct msr_gpu_tally other;
	memset(&other, 0, sizeof other);
	for (unsigned kind = 0; kind < 16 && !other.launched[kind]; kind++)
		if (t->recorded[kind]) {
			other.launched[kind] = other.recorded[kind] = 1;
			t->launched[kind]--;
			t->recorded[kind]--;
		}
	put_whole(g, backend, t);
	put_whole(g, backend, &other);
}

void gen_gpu_write(struct gen *g, struct gen_gpu *gpu)
{
	for (size_t i = 0; gpu && i < gpu->parts.n; i++)
		gen_put_extent(g, &gpu->parts.at[i].extent, gpu->parts.at[i].content.at,
			       gpu->parts.at[i].content.n);
	for (unsigned b = 0; gpu && b < 4; b++)
		if (gpu->tallies[b])
			(gpu->splits ? put_parts : put_whole)(g, b, gpu->tallies[b]);
}

void gen_gpu_free(struct gen_gpu *gpu)
{
	for (size_t i = 0; gpu && i < gpu->parts.n; i++)
		vec_free(&gpu->parts.at[i].content);
	for (unsigned b = 0; gpu && b < 4; b++)
		free(gpu->tallies[b]);
	if (gpu)
		vec_free(&gpu->parts);
	free(gpu);
}

struct gen_gpu *gen_gpu_new(void)
{
	return check(calloc(1, sizeof(struct gen_gpu)));
}
