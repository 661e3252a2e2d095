/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the code of each function and decodes it in parallel; see code_ranges.h. Decodes each range
 * of a function from its start, one instruction after the other. Skips a byte that starts no
 * instruction. Test: tests/cli/struct/struct_loops.sh.
 */
#include "common/base/pool.h"
#include "common/base/sorted.h"
#include "hpcstruct-lite/scope/code_decoder.h"
#include "hpcstruct-lite/scope/dead_ends.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (64u << 10)

struct run {
	uint32_t root, start, end;
};
struct runs {
	VEC(struct run);
};

void code_free(struct code *c)
{
	for (size_t i = 0; i < c->batches.n; i++) {
		struct code_batch *b = &c->batches.at[i];
		vec_free(&b->transfers);
		vec_free(&b->tables);
		vec_free(&b->targets);
		vec_free(&b->outs);
	}
	vec_free(&c->batches);
	vec_free(&c->functions);
	vec_free(&c->ranges);
	vec_free(&c->pieces);
	vec_free(&c->tables);
	vec_free(&c->branches);
	vec_free(&c->dead_ends);
	free(c->roots);
	free(c->depths);
}

/* ---- which code belongs to which function ---- */

static bool find_roots(struct code *c)
{
	size_t n = c->map->scopes.n;
	c->roots = malloc((n + 1) * sizeof *c->roots);
	c->depths = malloc((n + 1) * sizeof *c->depths);
	if (!c->roots || !c->depths)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = c->map->scopes.at[i].parent;
		c->roots[i] = parent == SCOPE_NONE ? i : c->roots[parent];
		c->depths[i] = parent == SCOPE_NONE ? 0 : c->depths[parent] + 1;
	}
	return true;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct code_piece *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static bool find_pieces(struct code *c)
{
	const struct image *image = c->map->image;
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		uint32_t start;
		if ((s->flags & (SHF_EXECINSTR | SHF_ALLOC)) != (SHF_EXECINSTR | SHF_ALLOC) ||
		    !s->bytes || s->packed != IMAGE_PLAIN || s->n_bytes >= UINT32_MAX ||
		    !image_position(image, s->link_addr, &start))
			continue;
		struct code_piece *p = vec_push(&c->pieces);
		if (!p)
			return false;
		*p = (struct code_piece){start, start + (uint32_t)s->n_bytes, s->link_addr,
					 s->bytes};
	}
	if (c->pieces.n > 1)
		qsort(c->pieces.at, c->pieces.n, sizeof *c->pieces.at, compare_pieces);
	return true;
}

size_t code_piece_before(const struct code *c, uint32_t position)
{
	size_t n = sorted_up_to(c->pieces.at, c->pieces.n, start, position);
	return n ? n - 1 : 0;
}

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/*
 * Finds runs of intervals of one function each. A run does not cross from one section into another.
 */
static bool find_runs(struct code *c, struct runs *runs)
{
	const struct scope_intervals *v = &c->map->intervals;
	for (size_t i = 0; i + 1 < v->n; i++) {
		uint32_t scope = v->at[i].scope, start = v->at[i].offset, end = v->at[i + 1].offset;
		if (scope == SCOPE_NONE ||
		    c->map->scopes.at[c->roots[scope]].origin == STRUCTURE_FROM_PLT)
			continue;
		struct run *last = runs->n ? &runs->at[runs->n - 1] : NULL;
		if (last && last->root == c->roots[scope] && last->end == start) {
			last->end = end;
			continue;
		}
		last = vec_push(runs);
		if (!last)
			return false;
		*last = (struct run){c->roots[scope], start, end};
	}
	if (runs->n > 1)
		qsort(runs->at, runs->n, sizeof *runs->at, compare_runs);
	return true;
}

/* Adds a run to the ranges of the last function, limited to bytes that sections have. */
static bool add_ranges(struct code *c, struct code_function *f, const struct run *r)
{
	for (size_t i = code_piece_before(c, r->start);
	     i < c->pieces.n && c->pieces.at[i].start < r->end; i++) {
		const struct code_piece *p = &c->pieces.at[i];
		uint32_t next = i + 1 < c->pieces.n
					? p[1].start
					: UINT32_MAX; /* sections of a damaged file may overlap */
		uint32_t start = r->start > p->start ? r->start : p->start,
			 end = r->end < p->end ? r->end : p->end;
		end = end < next ? end : next;
		if (start >= end)
			continue;
		struct flow_range *slot = vec_push(&c->ranges);
		if (!slot)
			return false;
		*slot = (struct flow_range){start, end};
		f->n_ranges++;
	}
	return true;
}

/*
 * Returns the entry from the debug information or the symbol, if it is in the function's code.
 * Otherwise returns the first byte of the code.
 */
static uint32_t entry_of(const struct code *c, const struct code_function *f)
{
	uint32_t position, first = c->ranges.at[f->first_range].start;
	if (!image_position(c->map->image, c->map->scopes.at[f->scope].entry, &position))
		return first;
	for (size_t i = 0; i < f->n_ranges; i++) {
		const struct flow_range *r = &c->ranges.at[f->first_range + i];
		if (position >= r->start && position < r->end)
			return position;
	}
	return first;
}

static bool make_functions(struct code *c, const struct runs *runs)
{
	for (size_t i = 0; i < runs->n;) {
		struct code_function f = {.scope = runs->at[i].root, .first_range = c->ranges.n};
		for (; i < runs->n && runs->at[i].root == f.scope; i++)
			if (!add_ranges(c, &f, &runs->at[i]))
				return false;
		if (f.n_ranges == 0)
			continue;
		f.entry = entry_of(c, &f);
		struct code_function *slot = vec_push(&c->functions);
		if (!slot)
			return false;
		*slot = f;
	}
	return true;
}

static bool make_batches(struct code *c, size_t first)
{
	uint64_t n_bytes = BATCH_BYTES;
	for (size_t i = first; i < c->functions.n; i++) {
		const struct code_function *f = &c->functions.at[i];
		if (n_bytes >= BATCH_BYTES) {
			struct code_batch *b = vec_push(&c->batches);
			if (!b)
				return false;
			b->first = i;
			n_bytes = 0;
		}
		c->batches.at[c->batches.n - 1].n++;
		for (size_t k = 0; k < f->n_ranges; k++)
			n_bytes += c->ranges.at[f->first_range + k].end -
				   c->ranges.at[f->first_range + k].start;
	}
	return true;
}

/* ---- decoding ---- */

bool decoder_offset(const struct decoder *d, uint32_t position, size_t *offset)
{
	const struct flow_range *ranges = d->code->ranges.at + d->function->first_range;
	size_t n = sorted_up_to(ranges, d->function->n_ranges, start, position);
	if (n == 0 || position >= ranges[n - 1].end)
		return false;
	*offset = d->before.at[n - 1] + (position - ranges[n - 1].start);
	return true;
}

static uint32_t target_position(const struct decoder *d, const struct isa_instruction *i)
{
	uint32_t position;
	return i->has_target && image_position(d->code->map->image, i->target, &position)
		       ? position
		       : FLOW_NONE;
}

static void add_transfer(struct decoder *d, uint32_t at, const struct isa_instruction *i)
{
	struct flow_transfer *t = vec_push(&d->batch->transfers);
	d->ok = d->ok && t;
	if (!t)
		return;
	*t = (struct flow_transfer){at,      at + i->n_bytes,   target_position(d, i),
				    i->kind, i->is_conditional, false};
	d->function->is_whole = d->function->is_whole && i->kind != ISA_INVALID;
}

/* One way out is enough to know that a function can return. */
static bool is_settled(const struct decoder *d)
{
	return !d->is_wanted && d->function->has_way_out;
}

static void decode_range(struct decoder *d, const struct flow_range *r, const struct code_piece *p,
			 uint8_t *starts)
{
	const struct isa *isa = d->code->isa;
	struct isa_instruction i = {.kind = ISA_PLAIN};
	for (uint32_t at = r->start; at < r->end && d->ok && !is_settled(d); at += i.n_bytes) {
		isa->decode(p->bytes + (at - p->start), r->end - at, p->link_addr + (at - p->start),
			    &i);
		starts[at - r->start] = i.kind != ISA_INVALID ? STARTS_INSTRUCTION : 0;
		if (i.kind != ISA_PLAIN)
			add_transfer(d, at, &i);
		if (i.kind == ISA_RETURN || i.kind == ISA_INVALID)
			d->function->has_way_out = true;
	}
	/* assume that a call at the end never returns */
	d->function->has_way_out |= i.kind == ISA_PLAIN || i.kind == ISA_INVALID ||
				    (i.is_conditional && i.kind != ISA_CALL);
}

/*
 * Records what each transfer means for the whole function: jumps out of it, and whether it has a
 * way out.
 */
static void judge_transfers(struct decoder *d)
{
	struct code_function *f = d->function;
	for (size_t i = f->first_transfer; i < d->batch->transfers.n && d->ok; i++) {
		struct flow_transfer *t = &d->batch->transfers.at[i];
		size_t offset;
		if (t->kind == ISA_INDIRECT && !decoder_has_table(d, t->at))
			f->has_way_out = true;
		if (t->kind != ISA_JUMP)
			continue;
		if (t->target == FLOW_NONE) {
			f->has_way_out = true;
		} else if (!decoder_offset(d, t->target, &offset)) {
			uint32_t *slot = vec_push(&d->batch->outs);
			d->ok = slot != NULL;
			if (slot)
				*slot = t->target;
		} else if (!d->starts.at[offset]) {
			t->target = FLOW_NONE;
			f->is_whole = false;
		}
	}
}

static void decode_function(struct decoder *d, struct code_function *f)
{
	size_t n_bytes = 0;
	d->function = f;
	f->first_transfer = d->batch->transfers.n;
	f->first_table = d->batch->tables.n;
	f->first_out = d->batch->outs.n;
	f->is_whole = true;
	d->has_leaders = false;
	vec_clear(&d->starts);
	vec_clear(&d->before);
	d->ok = vec_extend(&d->before, f->n_ranges) != NULL;
	for (size_t i = 0; i < f->n_ranges && d->ok; i++) {
		d->before.at[i] = n_bytes;
		n_bytes += d->code->ranges.at[f->first_range + i].end -
			   d->code->ranges.at[f->first_range + i].start;
	}
	d->ok = d->ok && vec_extend(&d->starts, n_bytes);
	for (size_t i = 0; i < f->n_ranges && d->ok; i++) {
		const struct flow_range *r = &d->code->ranges.at[f->first_range + i];
		decode_range(d, r, &d->code->pieces.at[code_piece_before(d->code, r->start)],
			     d->starts.at + d->before.at[i]);
	}
	if (d->ok && !is_settled(d))
		decoder_find_tables(d);
	if (d->ok && !is_settled(d))
		judge_transfers(d);
	f->n_transfers = d->batch->transfers.n - f->first_transfer;
	f->n_tables = d->batch->tables.n - f->first_table;
	f->n_out = d->batch->outs.n - f->first_out;
}

/* Batches that are decoded together. */
struct decoding {
	struct code *code;
	size_t first;
};

static void decode_batch(void *arg, size_t i, unsigned worker)
{
	const struct decoding *run = arg;
	struct code *c = run->code;
	struct decoder d = {.code = c, .batch = &c->batches.at[run->first + i], .ok = true};
	(void)worker;
	for (size_t k = 0; k < d.batch->n && d.ok; k++) {
		d.is_wanted = d.batch->first + k < c->n_wanted;
		decode_function(&d, &c->functions.at[d.batch->first + k]);
	}
	d.batch->failed = !d.ok;
	vec_free(&d.starts);
	vec_free(&d.before);
}

/* Decodes the functions from number `first` on. */
static bool decode_from(struct code *c, size_t first, unsigned n_workers)
{
	struct decoding run = {c, c->batches.n};
	if (!make_batches(c, first))
		return false;
	pool_run(c->batches.n - run.first, n_workers, decode_batch, &run);
	for (size_t i = run.first; i < c->batches.n; i++)
		if (c->batches.at[i].failed)
			return false;
	return true;
}

static bool decode_needed(struct code *c, unsigned n_workers)
{
	struct code_needed *needed = code_needed_new(c);
	bool ok = needed != NULL;
	c->n_wanted = c->functions.n;
	for (size_t first = 0; ok && first < c->functions.n;) {
		size_t end = c->functions.n;
		ok = decode_from(c, first, n_workers) && code_needed_follow(needed);
		first = end;
	}
	code_needed_free(needed);
	return ok;
}

/* ---- what is known when all are decoded ---- */

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static bool sort_tables(struct code *c)
{
	for (size_t i = 0; i < c->batches.n; i++) {
		const struct code_batch *b = &c->batches.at[i];
		for (size_t k = 0; k < b->tables.n; k++) {
			uint64_t *slot = vec_push(&c->tables);
			if (!slot)
				return false;
			*slot = b->tables.at[k].base;
		}
	}
	if (c->tables.n > 1)
		qsort(c->tables.at, c->tables.n, sizeof *c->tables.at, compare_addresses);
	return true;
}

bool code_read(struct code *c, const struct scope_map *map, const struct isa *isa,
	       unsigned n_workers)
{
	struct runs runs = {0};
	c->map = map;
	c->isa = isa;
	bool ok = branches_read(map->image, &c->branches) && find_roots(c) && find_pieces(c) &&
		  find_runs(c, &runs) && make_functions(c, &runs);
	vec_free(&runs);
	c->n_wanted = c->functions.n;
	if (ok)
		ok = map->is_wanted ? decode_needed(c, n_workers) : decode_from(c, 0, n_workers);
	return ok && sort_tables(c) && dead_ends_find(c);
}

/*
 * Returns the number of a table's targets. A table without a bound ends where another one starts.
 */
static size_t n_targets(const struct code *c, const struct code_table *t)
{
	if (t->is_bounded)
		return t->n_targets;
	size_t next = sorted_prefix(c->tables.n, i, c->tables.at[i] <= t->base);
	uint64_t room =
		next < c->tables.n ? (c->tables.at[next] - t->base) / t->entry_bytes : t->n_targets;
	return room < t->n_targets ? (size_t)room : t->n_targets;
}

bool code_prepare(const struct code *c, const struct code_batch *b, const struct code_function *f,
		  struct code_edges *edges, struct flow_code *out)
{
	vec_clear(edges);
	for (size_t i = f->first_table; i < f->first_table + f->n_tables; i++) {
		const struct code_table *t = &b->tables.at[i];
		size_t n = n_targets(c, t);
		struct flow_edge *slot = n ? vec_extend(edges, n) : NULL;
		if (n && !slot)
			return false;
		for (size_t k = 0; k < n; k++)
			slot[k] = (struct flow_edge){t->jump, b->targets.at[t->first_target + k]};
	}
	for (size_t i = f->first_transfer; i < f->first_transfer + f->n_transfers; i++) {
		struct flow_transfer *t = &b->transfers.at[i];
		t->never_returns = t->kind == ISA_CALL && t->target != FLOW_NONE &&
				   dead_ends_has(c, t->target);
	}
	*out = (struct flow_code){
		.ranges = c->ranges.at + f->first_range, .n_ranges = f->n_ranges,
		.transfers = f->n_transfers ? &b->transfers.at[f->first_transfer] : NULL,
		.n_transfers = f->n_transfers,
		.edges = edges->at, .n_edges = edges->n,
		.entry = f->entry,
		.with_unreached = f->is_whole,
	};
	return true;
}

const uint8_t *code_bytes_at(const struct code *c, uint32_t position)
{
	const struct code_piece *p = &c->pieces.at[code_piece_before(c, position)];
	return p->bytes + (position - p->start);
}

size_t code_interval_at(const struct code *c, uint32_t position)
{
	const struct scope_intervals *v = &c->map->intervals;
	size_t n = sorted_up_to(v->at, v->n, offset, position);
	return n ? n - 1 : 0;
}
