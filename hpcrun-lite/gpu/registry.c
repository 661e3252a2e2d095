/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions: devices, contexts, queues, code objects, functions, shapes, stall reasons and
 * counters, which back ends define once. Equal code, functions and shapes get one id. New ones are
 * compared with the records in the file. A definition that cannot be written is counted and has id
 * 0. Never allocates. Test: tests/unit/gpu/test_gpu_define.c.
 */
#include "common/safe/clock.h"
#include "hpcrun-lite/gpu/content.h"
#include "hpcrun-lite/gpu/hash128.h"
#include "hpcrun-lite/gpu/core_internal.h"

#include <string.h>

#define NAME_MAX_BYTES 65000u /* longer names are cut */
/*
 * After this many shapes, a shape has only its function, because the program hardly repeats shapes.
 */
#define SHAPES_MAX (1u << 18)

/* A definition to be written: the fixed part after its head, then the strings. */
struct wanted {
	enum msr_gpu_definition_type type;
	const void *fixed;     /* begins with an empty struct msr_gpu_definition */
	size_t fixed_bytes;
	const char *name, *more;
	uint32_t id;           /* 0: use the next id of its type */
	bool interned;
	uint64_t hash;         /* hash of what two equal definitions share */
};

static size_t text_bytes(const char *s)
{
	return s ? strnlen(s, NAME_MAX_BYTES) + 1 : 1;
}

static void put_text(char **to, const char *s, size_t n)
{
	memcpy(*to, s ? s : "", n - 1); /* the NUL is there already: extents start zeroed */
	*to += n;
}

static bool same_text(const char *kept, size_t kept_bytes, const char *s)
{
	size_t n = text_bytes(s);
	return (kept_bytes ? kept_bytes : 1) == n && (n == 1 || memcmp(kept, s, n - 1) == 0);
}

/*
 * The record of a part does not say which code object it was cut from. The hash includes that, and
 * is compared first.
 */
static bool same_code(const struct msr_gpu_def_function *a, const struct msr_gpu_def_function *b)
{
	return a->code == b->code || (a->flags & MSR_GPU_FUNCTION_PART);
}

static bool same_definition(const void *value, const void *key)
{
	const struct msr_gpu_definition *d = value;
	const struct wanted *w = key;
	const char *text = (const char *)value + w->fixed_bytes;
	if (d->type != w->type || !same_text(text + d->name_bytes, d->more_bytes, w->more))
		return false;
	if (w->type == MSR_GPU_DEF_FUNCTION)
		return same_code(value, w->fixed) && same_text(text, d->name_bytes, w->name);
	const struct msr_gpu_def_code *a = value, *b = w->fixed;
	return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1] && a->kind == b->kind &&
	       a->device == b->device && a->content_bytes == b->content_bytes;
}

static uint32_t write_definition(const struct wanted *w, struct writer *to, void *at, size_t n)
{
	struct msr_gpu_definition *d = at;
	size_t name_bytes = text_bytes(w->name),
	       more_bytes = w->more && *w->more ? text_bytes(w->more) : 0;
	char *text = (char *)at + w->fixed_bytes;
	memcpy(at, w->fixed, w->fixed_bytes);
	d->bytes = (uint32_t)n;
	d->type = (uint16_t)w->type;
	d->name_bytes = (uint16_t)name_bytes;
	d->more_bytes = (uint32_t)more_bytes;
	d->id = w->id ? w->id
		      : 1 + atomic_fetch_add_explicit(&gpu_core.n_defined[w->type], 1,
						      memory_order_relaxed);
	put_text(&text, w->name, name_bytes);
	if (more_bytes)
		put_text(&text, w->more, more_bytes);
	extent_publish(to->extent, n);
	if (w->interned)
		/* if this fails, an equal definition is written again */
		index_add(&gpu_core.interned, w->hash, d);
	return d->id;
}

static uint32_t define(struct gpu_backend *b, const struct wanted *w)
{
	const struct msr_gpu_definition *known =
		w->interned ? index_find(&gpu_core.interned, w->hash, same_definition, w) : NULL;
	if (known)
		return known->id;
	size_t n = (w->fixed_bytes + text_bytes(w->name) + text_bytes(w->more) + 7) & ~(size_t)7;
	struct writer *to;
	enum msr_gpu_loss cause;
	void *at = stream_begin(&gpu_core.definitions, 0, n, &to, &cause);
	if (!at) {
		gpu_count(&gpu_tally_of(b)->n_lost_definitions, 1);
		gpu_note_once(NOTED_DEFINITION, "GPU names, queues or shapes could not be written");
		return 0;
	}
	known = w->interned ? index_find(&gpu_core.interned, w->hash, same_definition, w) : NULL;
	uint32_t id = known ? known->id : write_definition(w, to, at, n);
	stream_end(to, 0);
	return id;
}

/* Limits are a separate definition, written if the back end knows any of them. */
static void define_limits(struct gpu_backend *b, const struct gpu_device *d, uint32_t id)
{
	const struct msr_gpu_def_device_limits r = {
		.compute_major = d->compute_major,
		.compute_minor = d->compute_minor,
		.registers_per_group = d->registers_per_group,
		.reserved_shared_bytes = d->reserved_shared_bytes,
		.shared_bytes_per_group = d->shared_bytes_per_group,
		.shared_bytes_per_group_optin = d->shared_bytes_per_group_optin};
	if (id && (d->compute_major || d->registers_per_group || d->shared_bytes_per_group))
		define(b, &(struct wanted){.type = MSR_GPU_DEF_DEVICE_LIMITS,
					   .fixed = &r,
					   .fixed_bytes = sizeof r,
					   .id = id});
}

static void define_rates(struct gpu_backend *b, const struct gpu_device *d, uint32_t id)
{
	const struct msr_gpu_def_device_rates r = {.memory_khz = d->memory_khz,
						   .memory_bits = d->memory_bits};
	if (id && d->memory_khz && d->memory_bits)
		define(b, &(struct wanted){.type = MSR_GPU_DEF_DEVICE_RATES,
					   .fixed = &r,
					   .fixed_bytes = sizeof r,
					   .id = id});
}

uint32_t registry_device(struct gpu_backend *b, const struct gpu_device *d)
{
	struct msr_gpu_def_device r = {.ordinal = d->ordinal,
				       .n_units = d->n_units,
				       .threads_per_unit = d->threads_per_unit,
				       .group_max = d->group_max,
				       .lanes = d->lanes,
				       .clock_mhz = d->clock_mhz,
				       .memory_bytes = d->memory_bytes,
				       .registers_per_unit = d->registers_per_unit,
				       .shared_bytes_per_unit = d->shared_bytes_per_unit,
				       .groups_per_unit = d->groups_per_unit,
				       .type = d->type};
	memcpy(r.uuid, d->uuid, sizeof r.uuid);
	uint32_t id = define(b, &(struct wanted){.type = MSR_GPU_DEF_DEVICE,
						 .fixed = &r,
						 .fixed_bytes = sizeof r,
						 .name = d->name,
						 .more = d->driver});
	define_limits(b, d, id);
	define_rates(b, d, id);
	return id;
}

uint32_t registry_context(struct gpu_backend *b, const struct gpu_context *c)
{
	const struct msr_gpu_def_context r = {.device = c->device, .ordinal = c->ordinal};
	return define(b, &(struct wanted){.type = MSR_GPU_DEF_CONTEXT,
					  .fixed = &r,
					  .fixed_bytes = sizeof r,
					  .name = c->name});
}

uint32_t registry_queue(struct gpu_backend *b, const struct gpu_queue *q)
{
	const struct msr_gpu_def_queue r = {.context = q->context,
					    .device = q->device,
					    .ordinal = q->ordinal,
					    .clock = q->clock,
					    .flags = q->flags};
	return define(b, &(struct wanted){.type = MSR_GPU_DEF_QUEUE,
					  .fixed = &r,
					  .fixed_bytes = sizeof r,
					  .name = q->name});
}

/* ---- code objects ---- */

static uint64_t hash_of(const void *bytes, size_t n, uint32_t seed)
{
	uint64_t h[2];
	hash128(bytes, n, seed, h);
	return h[0];
}

static const char *save(struct gpu_backend *b, const struct gpu_code *c, const uint64_t hash[2],
			char name[CONTENT_NAME_BYTES])
{
	if (!c->is_lost && (!c->bytes || c->kind == MSR_GPU_CODE_BUILTIN))
		return "";
	const char *cache = gpu_core.runtime->cache;
	if (c->kind == MSR_GPU_CODE_ELF && !c->must_keep && !c->is_lost && cache && *cache &&
	    content_take_structure(gpu_core.runtime->directory, cache, hash))
		return content_name(name, hash, msr_gpu_code_suffix(c->kind));
	if (c->bytes && content_save(gpu_core.runtime->directory, hash,
				     msr_gpu_code_suffix(c->kind), c->bytes, c->n_bytes, name))
		return name;
	gpu_count(&gpu_tally_of(b)->n_lost_contents, 1);
	gpu_note_once(NOTED_CONTENT, "the code of GPU functions could not be saved in the run "
				     "directory; their source lines will be missing");
	return "";
}

uint32_t registry_code(struct gpu_backend *b, const struct gpu_code *c, uint64_t hash[2])
{
	char name[CONTENT_NAME_BYTES];
	if (c->bytes)
		hash128(c->bytes, c->n_bytes, 0, hash);
	if (!gpu_is_open())
		return 0;
	const struct msr_gpu_def_code r = {.hash = {hash[0], hash[1]},
					   .content_bytes = c->n_bytes,
					   .load_ns = clock_mono_ns(),
					   .kind = c->kind,
					   .device = c->device};
	struct wanted w = {.type = MSR_GPU_DEF_CODE,
			   .fixed = &r,
			   .fixed_bytes = sizeof r,
			   .more = c->options,
			   .interned = true};
	w.hash = hash[0] ^
		 hash_of(c->options, text_bytes(c->options) - 1, MSR_GPU_DEF_CODE + c->kind);
	const struct msr_gpu_definition *known =
		index_find(&gpu_core.interned, w.hash, same_definition, &w);
	if (known)
		return known->id;
	w.name = save(b, c, hash, name);
	return define(b, &w);
}

uint32_t registry_function(struct gpu_backend *b, const struct gpu_function *f)
{
	struct msr_gpu_def_function r = {.code = f->code};
	const struct wanted w = {.type = MSR_GPU_DEF_FUNCTION,
				 .fixed = &r,
				 .fixed_bytes = sizeof r,
				 .name = f->name,
				 .more = f->source_name,
				 .interned = true,
				 .hash = hash_of(f->name, text_bytes(f->name) - 1, f->code) ^
					 hash_of(f->source_name, text_bytes(f->source_name) - 1,
						 MSR_GPU_DEF_FUNCTION)};
	const struct msr_gpu_definition *known =
		f->part ? index_find(&gpu_core.interned, w.hash, same_definition, &w) : NULL;
	if (known)
		return known->id;
	r.code = f->part ? f->part(f->code, f->name) : f->code;
	r.flags = r.code != f->code ? MSR_GPU_FUNCTION_PART : 0;
	return define(b, &w);
}

void registry_stall(struct gpu_backend *b, unsigned index, const char *name,
		    const char *description, uint32_t device, uint32_t flags)
{
	const struct msr_gpu_def_stall r = {.device = device, .flags = flags};
	define(b, &(struct wanted){.type = MSR_GPU_DEF_STALL,
				   .fixed = &r,
				   .fixed_bytes = sizeof r,
				   .name = name,
				   .more = description,
				   .id = index + 1});
}

uint32_t registry_counter(struct gpu_backend *b, const char *name, const char *description,
			  uint32_t unit)
{
	const struct msr_gpu_def_counter r = {.unit = unit};
	return define(b, &(struct wanted){.type = MSR_GPU_DEF_COUNTER,
					  .fixed = &r,
					  .fixed_bytes = sizeof r,
					  .name = name,
					  .more = description});
}

/* ---- shapes ---- */

/* Everything except the id. */
#define SHAPE_KEY_AT offsetof(struct msr_gpu_shape, function)
#define SHAPE_KEY_BYTES (sizeof(struct msr_gpu_shape) - SHAPE_KEY_AT)

static bool same_shape(const void *value, const void *key)
{
	return memcmp((const uint8_t *)value + SHAPE_KEY_AT, (const uint8_t *)key + SHAPE_KEY_AT,
		      SHAPE_KEY_BYTES) == 0;
}

static uint32_t find_shape(const struct msr_gpu_shape *s, uint64_t *hash)
{
	*hash = hash_of((const uint8_t *)s + SHAPE_KEY_AT, SHAPE_KEY_BYTES, 0);
	const struct msr_gpu_shape *known =
		index_find(&gpu_core.interned_shapes, *hash, same_shape, s);
	return known ? known->id : 0;
}

static uint32_t write_shape(struct gpu_backend *b, struct msr_gpu_shape *s, uint64_t hash)
{
	struct writer *to;
	enum msr_gpu_loss cause;
	struct msr_gpu_shape *at = stream_begin(&gpu_core.shapes, 0, sizeof *at, &to, &cause);
	if (!at) {
		gpu_count(&gpu_tally_of(b)->n_lost_definitions, 1);
		gpu_note_once(NOTED_DEFINITION, "GPU names, queues or shapes could not be written");
		return 0;
	}
	s->id = find_shape(s, &hash); /* another thread may have added it meanwhile */
	if (!s->id) {
		s->id = 1 + atomic_fetch_add_explicit(&gpu_core.n_shapes, 1, memory_order_relaxed);
		*at = *s;
		extent_publish(to->extent, sizeof *at);
		index_add(&gpu_core.interned_shapes, hash, at);
	}
	stream_end(to, 0);
	return s->id;
}

uint32_t registry_shape(struct gpu_backend *b, const struct gpu_shape *g)
{
	struct msr_gpu_shape s = {.function = g->function,
				  .grid = {g->grid[0], g->grid[1], g->grid[2]},
				  .block = {g->block[0], g->block[1], g->block[2]},
				  .cluster = {g->cluster[0], g->cluster[1], g->cluster[2]},
				  .registers = g->registers,
				  .static_shared_bytes = g->static_shared_bytes,
				  .dynamic_shared_bytes = g->dynamic_shared_bytes,
				  .local_bytes = g->local_bytes,
				  .global = {g->global[0], g->global[1], g->global[2]}};
	uint64_t hash;
	uint32_t id = find_shape(&s, &hash);
	if (!id && atomic_load_explicit(&gpu_core.n_shapes, memory_order_relaxed) >= SHAPES_MAX) {
		s = (struct msr_gpu_shape){.function = g->function};
		id = find_shape(&s, &hash);
	}
	return id ? id : write_shape(b, &s, hash);
}
