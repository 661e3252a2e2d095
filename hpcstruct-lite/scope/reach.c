/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See reach.h. Symbols and unwind ranges that overlap form a piece of code. Pieces depend on each
 * other only through jumps, calls, and code that was moved away, which is known by its name. Every
 * byte that could start a jump or call is treated as one. So we may take a piece in vain, but never
 * miss one.
 */
#include "hpcstruct-lite/scope/reach.h"

#include "common/base/pool.h"
#include "common/base/sorted.h"
#include "hpcstruct-lite/isa/isa.h"
#include "hpcstruct-lite/scope/pieces.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Called functions matter only if they may not return (see code_needed.c). */
enum level { NOT_REACHED, RETURNS, CALLED, ASKED_FOR };

/* For most symbols, one check of their grain shows that they are not needed. */
#define GRAIN_BYTES 256u
#define BATCH_PIECES 32u

/* A name of code that was moved away, or of the function that it belongs to. */
struct moved {
	uint64_t hash; /* of the function's name */
	uint32_t position;
};

/* A link from one part of a function to another. */
struct link {
	uint32_t from, to; /* positions */
};

struct targets {
	VEC(uint64_t); /* link addresses */
};

struct reach {
	const struct scope_map *map;
	const struct image *symbols_of;
	const struct isa *isa;
	struct spans symbols, labels;
	struct image_ranges frames;
	struct pieces pieces;
	VEC(uint32_t) queue; /* pieces whose code must be read */
	VEC(bool) grains;    /* by grain: some of it is in a reached piece */
	struct image_stubs stubs;
	VEC(struct moved) moved;
	struct map moved_names; /* hashes */
	VEC(struct link) links; /* by `from` */
	bool has_moved;
	bool ok; /* false: out of memory */
};

/* Pieces of the queue that one worker reads. Each is read as if it were alone. */
struct batch {
	const struct reach *r;
	size_t first, n;
	struct targets jumps, calls; /* of the piece that is being read */
	bool goes_back;              /* and whether it may jump back */
	struct targets found;        /* references to follow */
	VEC(uint32_t) returning;     /* pieces: called functions that return */
	bool ok;                     /* false: out of memory */
};

void scope_sources_free(struct scope_sources *s)
{
	vec_free(&s->symbols);
	vec_free(&s->stubs);
	vec_free(&s->frames);
}

/* ---- reading ---- */

/*
 * Returns true if names end in ".cold", or in ".cold" and a number. Only local symbols have such
 * names.
 */
static bool has_moved_code(const struct image *image)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (s->type != SHT_SYMTAB || s->link >= image->sections.n)
			continue;
		const struct image_section *strings = &image->sections.at[s->link];
		const uint8_t *at = strings->bytes, *end = at ? at + strings->n_bytes : at;
		for (; at && end - at >= 5 && (at = memchr(at, '.', (size_t)(end - at) - 4)); at++)
			if (memcmp(at, ".cold", 5) == 0)
				return true;
	}
	return false;
}

static void push_moved(struct reach *r, uint64_t hash, uint32_t position)
{
	struct moved *slot = vec_push(&r->moved);
	r->ok = r->ok && slot && map_put(&r->moved_names, hash, 0, 1) != MAP_NONE;
	if (slot)
		*slot = (struct moved){hash, position};
}

/* Records the place of a symbol. Never takes the symbol. */
static bool note_symbol(void *arg, const struct image_symbol *s)
{
	struct reach *r = arg;
	uint32_t start, end = 0, n;
	if (!scope_is_symbol_wanted(s) || !image_position(r->map->image, s->link_addr, &start))
		return false;
	const struct image_region *c = image_code_at(r->map->image, s->link_addr);
	uint64_t room = c ? c->start + c->n_bytes - s->link_addr : 1;
	if (s->n_bytes > 0)
		end = start + (uint32_t)(s->n_bytes < room ? s->n_bytes : room);
	r->ok = r->ok && spans_push(&r->symbols, start, end);
	if (r->has_moved && s->bind == STB_LOCAL && (n = scope_moved_base(s)) > 0)
		push_moved(r, hash_name(s->name, n), start);
	return false;
}

/* Records a function whose code was moved away. */
static bool note_base(void *arg, const struct image_symbol *s)
{
	struct reach *r = arg;
	uint32_t start;
	uint64_t hash = hash_name(s->name, s->name_bytes);
	if (map_get(&r->moved_names, hash, 0) != MAP_NONE && scope_is_symbol_wanted(s) &&
	    image_position(r->map->image, s->link_addr, &start))
		push_moved(r, hash, start);
	return false;
}

static int compare_moved(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Links all parts that belong to one name in a chain. */
static bool make_links(struct reach *r)
{
	qsort(r->moved.at, r->moved.n, sizeof *r->moved.at, compare_moved);
	for (size_t i = 1; i < r->moved.n; i++) {
		const struct moved *m = &r->moved.at[i];
		struct link *slot = m->hash == m[-1].hash ? vec_extend(&r->links, 2) : NULL;
		if (slot) {
			slot[0] = (struct link){m[-1].position, m->position};
			slot[1] = (struct link){m->position, m[-1].position};
		}
		r->ok = r->ok && (slot || m->hash != m[-1].hash);
	}
	if (r->links.n > 1)
		qsort(r->links.at, r->links.n, sizeof *r->links.at, compare_links);
	return r->ok;
}

static bool read_symbols(struct reach *r, bool (*takes)(void *, const struct image_symbol *),
			 bool with_names, struct image_symbols *out)
{
	const struct image_symbol_filter filter = {takes, r, with_names,
						   .is_again = takes != note_symbol};
	return image_read_symbols(r->map->image, &filter, out) == STATUS_OK &&
	       (!r->symbols_of || image_read_symbols(r->symbols_of, &filter, out) == STATUS_OK) &&
	       r->ok;
}

/* Reads the unwind ranges and the code that already has scopes. */
static bool read_others(struct reach *r, struct spans *others)
{
	const struct scope_intervals *v = &r->map->intervals;
	if (image_read_frames(r->map->image, &r->frames) != STATUS_OK ||
	    !vec_reserve(others, r->frames.n))
		return false;
	for (size_t i = 0; i < r->frames.n; i++) {
		const struct image_range *f = &r->frames.at[i];
		uint32_t start, end;
		if (image_position(r->map->image, f->start, &start))
			r->ok &= spans_push(others, start,
					    image_position_end(r->map->image, f->end, &end) ? end
											    : 0);
	}
	for (size_t i = 0; i + 1 < v->n; i++)
		if (v->at[i].scope != SCOPE_NONE)
			r->ok &= spans_push(others, v->at[i].offset, v->at[i + 1].offset);
	return r->ok && spans_sort(others);
}

static bool read_places(struct reach *r)
{
	struct image_symbols none = {0};
	struct spans others = {0};
	r->has_moved =
		has_moved_code(r->map->image) || (r->symbols_of && has_moved_code(r->symbols_of));
	bool ok = read_symbols(r, note_symbol, r->has_moved, &none) && spans_sort(&r->symbols) &&
		  spans_find_labels(r->map->image, &r->symbols, &r->labels);
	if (ok && r->moved.n > 0)
		ok = read_symbols(r, note_base, true, &none) && make_links(r);
	ok = ok && read_others(r, &others) &&
	     pieces_make(&r->pieces, &r->symbols, &r->labels, &others);
	vec_free(&others);
	return ok;
}

/* ---- what is reached ---- */

static void reach_position(struct reach *r, uint32_t position, enum level level)
{
	struct piece *p = pieces_at(&r->pieces, position);
	if (!p || p->level >= level || (p->level == RETURNS && level == CALLED))
		return;
	uint32_t *slot = vec_push(&r->queue);
	r->ok = r->ok && slot;
	if (slot)
		*slot = (uint32_t)(p - r->pieces.at);
	p->level = (uint8_t)level;
}

static void reach_address(struct reach *r, uint64_t link_addr, enum level level)
{
	uint32_t position;
	if (image_position(r->map->image, link_addr, &position))
		reach_position(r, position, level);
}

static int compare_stubs(const void *a, const void *b)
{
	const struct image_stub *x = a, *y = b;
	return x->link_addr < y->link_addr ? -1 : x->link_addr > y->link_addr;
}

/*
 * Follows a jump or call. A stub leads to the function of this binary with its name, if there is
 * one.
 */
static void follow(struct reach *r, uint64_t link_addr)
{
	size_t n = sorted_up_to(r->stubs.at, r->stubs.n, link_addr, link_addr);
	const struct image_stub *stub = n ? &r->stubs.at[n - 1] : NULL;
	bool is_stub = stub && link_addr - stub->link_addr < stub->n_bytes;
	reach_address(r, is_stub ? stub->target_addr : link_addr, CALLED);
}

/*
 * Returns the length of the jump or call that may start here, without its distance of *n_distance
 * bytes. 0: no such instruction. Call: e8; jumps: eb, e9, 70 to 7f, e0 to e3, 0f 80 to 0f 8f, c7
 * f8.
 */
static unsigned transfer_bytes(const uint8_t *at, unsigned *n_distance)
{
	*n_distance = 4;
	if (at[0] == 0xe8 || at[0] == 0xe9)
		return 1;
	if ((at[0] == 0x0f && (at[1] & 0xf0) == 0x80) || (at[0] == 0xc7 && at[1] == 0xf8))
		return 2;
	*n_distance = 1;
	return at[0] == 0xeb || (at[0] & 0xf0) == 0x70 || (at[0] & 0xfc) == 0xe0;
}

static void push_target(struct batch *b, struct targets *list, uint64_t target)
{
	uint64_t *slot = vec_push(list);
	b->ok = b->ok && slot;
	if (slot)
		*slot = target;
}

/* Records a jump or call out of the code [start, end), or a jump back. */
static void note_transfer(struct batch *b, uint64_t start, uint64_t end, uint64_t at,
			  uint64_t target, bool is_call)
{
	b->goes_back |= !is_call && target <= at;
	if (target - start >= end - start)
		push_target(b, is_call ? &b->calls : &b->jumps, target);
}

/* Does what scan() does if instructions start at multiples of their length. */
static void scan_fixed(struct batch *b, const struct image_section *s, uint64_t start, uint64_t end)
{
	const unsigned n = b->r->isa->n_bytes;
	struct isa_instruction i;
	for (uint64_t at = start + (n - start % n) % n; at < end; at += n) {
		b->r->isa->decode(s->bytes + (at - s->link_addr), end - at, at, &i);
		if (i.has_target)
			note_transfer(b, start, end, at, i.target, i.kind == ISA_CALL);
	}
}

/*
 * Records every jump or call that may start in [start, end) of a section. We do not know where
 * functions start.
 */
static void scan(struct batch *b, const struct image_section *s, uint64_t start, uint64_t end)
{
	const uint8_t *bytes = s->bytes + (start - s->link_addr);
	uint64_t room = s->link_addr + s->n_bytes - start;
	if (b->r->isa->n_bytes) {
		scan_fixed(b, s, start, end);
		return;
	}
	for (uint64_t i = 0; i < end - start && room - i >= 2; i++) {
		unsigned n_distance, n = transfer_bytes(bytes + i, &n_distance);
		if (n == 0 || room - i < n + n_distance)
			continue;
		int32_t distance = (int8_t)bytes[i + n];
		if (n_distance == 4)
			memcpy(&distance, bytes + i + n, sizeof distance);
		uint64_t target = start + i + n + n_distance + (uint64_t)(int64_t)distance;
		note_transfer(b, start, end, start + i, target, bytes[i] == 0xe8);
	}
}

/* Decodes a function as code_ranges.c does. Stops at its first return if that is enough. */
static bool returns(struct batch *b, const struct image_section *s, uint64_t start, uint64_t end,
		    bool is_enough)
{
	struct isa_instruction i = {.kind = ISA_PLAIN};
	bool found = false;
	for (uint64_t at = start; at < end && !(found && is_enough); at += i.n_bytes) {
		b->r->isa->decode(s->bytes + (at - s->link_addr), end - at, at, &i);
		found |= i.kind == ISA_RETURN || i.kind == ISA_INVALID;
		b->goes_back |= i.kind == ISA_INDIRECT;
		if (i.has_target && (i.kind == ISA_JUMP || i.kind == ISA_CALL))
			note_transfer(b, start, end, at, i.target, i.kind == ISA_CALL);
	}
	return found;
}

/*
 * Returns true for a called function that returns. If a function has several parts, the first part
 * starts with an instruction, and mostly returns. If it does not, everything that it may jump to is
 * followed.
 */
static bool read_code(struct batch *b, const struct piece *p, bool has_parts,
		      const struct image_section *s, uint64_t start, uint64_t end)
{
	bool is_asked_for = p->level == ASKED_FOR, has_return = false;
	vec_clear(&b->jumps);
	vec_clear(&b->calls);
	b->goes_back = !p->is_function || has_parts;
	if (p->is_function && !(has_parts && is_asked_for))
		has_return = returns(b, s, start, end, !is_asked_for);
	if (!has_return && (!p->is_function || has_parts)) {
		vec_clear(&b->jumps);
		vec_clear(&b->calls);
		scan(b, s, start, end);
	}
	for (size_t i = 0; i < b->jumps.n && !has_return; i++)
		push_target(b, &b->found, b->jumps.at[i]);
	for (size_t i = 0; i < b->calls.n && is_asked_for && b->goes_back; i++)
		push_target(b, &b->found, b->calls.at[i]);
	return has_return && !is_asked_for;
}

static size_t first_link(const struct reach *r, const struct piece *p)
{
	return sorted_below(r->links.at, r->links.n, from, p->start);
}

static bool read_piece(struct batch *b, const struct piece *p)
{
	const struct reach *r = b->r;
	const struct image *image = r->map->image;
	uint64_t start = image_address(image, p->start), end = image_address(image, p->end - 1) + 1;
	size_t link = first_link(r, p);
	bool has_parts = link < r->links.n && r->links.at[link].from < p->end, found = false;
	for (size_t i = 0; i < image->sections.n && !found; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (!(s->flags & SHF_EXECINSTR) || !(s->flags & SHF_ALLOC) || !s->bytes ||
		    s->packed != IMAGE_PLAIN || image->is_cubin || !r->isa ||
		    start >= s->link_addr + s->n_bytes || end <= s->link_addr)
			continue;
		uint64_t last = s->link_addr + s->n_bytes;
		found = read_code(b, p, has_parts, s, start > s->link_addr ? start : s->link_addr,
				  end < last ? end : last);
	}
	return found;
}

static void read_batch(void *arg, size_t i, unsigned worker)
{
	struct batch *b = (struct batch *)arg + i;
	(void)worker;
	for (size_t k = 0; k < b->n && b->ok; k++) {
		uint32_t index = b->r->queue.at[b->first + k];
		if (read_piece(b, &b->r->pieces.at[index])) {
			uint32_t *slot = vec_push(&b->returning);
			b->ok = slot != NULL;
			if (slot)
				*slot = index;
		}
	}
}

/* Follows the references that a batch has found. */
static void end_batch(struct reach *r, struct batch *b)
{
	r->ok = r->ok && b->ok;
	for (size_t i = 0; i < b->returning.n; i++) {
		struct piece *p = &r->pieces.at[b->returning.at[i]];
		p->level = p->level == CALLED ? RETURNS : p->level;
	}
	for (size_t i = 0; i < b->found.n && r->ok; i++)
		follow(r, b->found.at[i]);
	for (size_t k = 0; k < b->n && r->ok; k++) {
		const struct piece *p = &r->pieces.at[r->queue.at[b->first + k]];
		for (size_t i = p->level > RETURNS ? first_link(r, p) : r->links.n;
		     i < r->links.n && r->links.at[i].from < p->end; i++)
			reach_position(r, r->links.at[i].to, (enum level)p->level);
	}
	vec_free(&b->jumps);
	vec_free(&b->calls);
	vec_free(&b->found);
	vec_free(&b->returning);
}

/* Reads the code of the pieces in the queue from `first` on, in parallel. */
static void read_queue(struct reach *r, size_t first, unsigned n_workers)
{
	size_t end = r->queue.n, n = (end - first + BATCH_PIECES - 1) / BATCH_PIECES;
	struct batch *batches = calloc(n, sizeof *batches);
	r->ok = r->ok && batches;
	if (!batches)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t at = first + i * BATCH_PIECES, left = end - at;
		batches[i] = (struct batch){.r = r,
					    .first = at,
					    .n = left < BATCH_PIECES ? left : BATCH_PIECES,
					    .ok = true};
	}
	pool_run(n, n_workers, read_batch, batches);
	for (size_t i = 0; i < n; i++)
		end_batch(r, &batches[i]);
	free(batches);
}

static void keep_address(struct reach *r, uint64_t link_addr)
{
	uint32_t position;
	struct piece *p = image_position(r->map->image, link_addr, &position)
				  ? pieces_at(&r->pieces, position)
				  : NULL;
	if (p)
		p->is_kept = true;
}

/* Keeps code that other steps use: stubs, and sections that are known by name (fill.c). */
static void keep_known(struct reach *r)
{
	const struct image_section *init = image_find(r->map->image, ".init"),
				   *fini = image_find(r->map->image, ".fini");
	if (init)
		keep_address(r, init->link_addr);
	if (fini)
		keep_address(r, fini->link_addr);
	for (size_t i = 0; i < r->stubs.n; i++) {
		keep_address(r, r->stubs.at[i].link_addr);
		if (r->stubs.at[i].target_bytes == 0 && r->stubs.at[i].target_addr)
			keep_address(r, r->stubs.at[i].target_addr);
	}
}

static bool find_reached(struct reach *r, const uint64_t *link_addrs, size_t n, unsigned n_workers)
{
	const struct scope_intervals *v = &r->map->intervals;
	keep_known(r);
	for (size_t i = 0; i < n; i++)
		reach_address(r, link_addrs[i], ASKED_FOR);
	for (size_t i = 0; i < v->n; i++) {
		struct piece *p = v->at[i].scope == SCOPE_NONE
					  ? NULL
					  : pieces_at(&r->pieces, v->at[i].offset);
		if (p)
			p->is_function = false; /* it may have further parts */
		if (p)
			reach_position(r, v->at[i].offset, ASKED_FOR);
	}
	for (size_t first = 0, end; (end = r->queue.n) > first && r->ok; first = end)
		read_queue(r, first, n_workers);
	return r->ok;
}

/* ---- what is kept ---- */

static bool is_needed(const struct piece *p)
{
	return p->level > RETURNS || p->is_kept;
}

static bool mark_grains(struct reach *r)
{
	bool ok = vec_extend(&r->grains, image_n_positions(r->map->image) / GRAIN_BYTES + 1);
	for (size_t i = 0; i < r->pieces.n && ok; i++) {
		const struct piece *p = &r->pieces.at[i];
		for (size_t k = p->start / GRAIN_BYTES;
		     is_needed(p) && k <= (p->end - 1) / GRAIN_BYTES; k++)
			r->grains.at[k] = true;
	}
	return ok;
}

static bool is_reached(const struct reach *r, uint64_t link_addr)
{
	uint32_t position;
	if (!image_position(r->map->image, link_addr, &position))
		return true;
	const struct piece *p =
		r->grains.at[position / GRAIN_BYTES] ? pieces_at(&r->pieces, position) : NULL;
	return p && is_needed(p);
}

static bool takes_symbol(void *arg, const struct image_symbol *s)
{
	return is_reached(arg, s->link_addr);
}

/* Gives a size to symbols without one, because the next symbol may be left out. */
static void measure_labels(const struct reach *r, struct image_symbols *symbols)
{
	for (size_t i = 0; i < symbols->n; i++) {
		struct image_symbol *s = &symbols->at[i];
		uint32_t start;
		if (s->n_bytes > 0 || !image_position(r->map->image, s->link_addr, &start))
			continue;
		const struct spans *l = &r->labels;
		size_t at = sorted_prefix(l->n, k, span_start(l->at[k]) < start);
		if (at < l->n && span_start(l->at[at]) == start)
			s->n_bytes = (uint32_t)l->at[at] - start;
	}
}

static void drop_frames(struct reach *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->frames.n; i++)
		if (is_reached(r, r->frames.at[i].start))
			r->frames.at[n++] = r->frames.at[i];
	r->frames.n = n;
}

bool reach_read(const struct scope_map *map, const struct image *symbols_of,
		const uint64_t *link_addrs, size_t n, unsigned n_workers, struct scope_sources *out)
{
	struct reach r = {.map = map,
			  .symbols_of = symbols_of,
			  .isa = isa_find(map->image->machine, map->image->architecture),
			  .ok = true};
	bool ok = image_read_stubs(map->image, &out->stubs) == STATUS_OK;
	if (ok && out->stubs.n > 0) {
		struct image_stub *copy = vec_extend(&r.stubs, out->stubs.n);
		ok = copy != NULL;
		if (copy) {
			memcpy(copy, out->stubs.at, out->stubs.n * sizeof *copy);
			qsort(copy, r.stubs.n, sizeof *copy, compare_stubs);
		}
	}
	ok = ok && read_places(&r) && find_reached(&r, link_addrs, n, n_workers) &&
	     mark_grains(&r) && read_symbols(&r, takes_symbol, false, &out->symbols);
	if (ok) {
		measure_labels(&r, &out->symbols);
		drop_frames(&r);
		out->frames = r.frames;
		memset(&r.frames, 0, sizeof r.frames);
	}
	vec_free(&r.symbols);
	vec_free(&r.labels);
	vec_free(&r.frames);
	vec_free(&r.pieces);
	vec_free(&r.queue);
	vec_free(&r.grains);
	vec_free(&r.stubs);
	vec_free(&r.moved);
	vec_free(&r.links);
	map_free(&r.moved_names);
	return ok;
}
