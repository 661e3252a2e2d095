/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds loops to the tree of scopes: the intervals of code in a loop get scopes below the loop. An
 * inlined call with code inside and outside a loop, or in several loops, becomes several scopes.
 * The functions, inlined calls and lines of an address do not change. Test:
 * tests/cli/struct/struct_loops.sh.
 */
#include "common/base/pool.h"
#include "hpcstruct-lite/isa/isa.h"
#include "hpcstruct-lite/scope/scope_loops.h"
#include "hpcstruct-lite/scope/gpu_waits.h"

#include <stdlib.h>

/* What a worker needs. */
struct finder_worker {
	struct loops_scratch *scratch;
	struct depend *depend;
	bool failed;
};

struct finder {
	const struct code *code;
	bool has_waits; /* instructions of this machine have the information what they wait for */
	struct loops *by_batch;
	struct waits *waits;   /* by batch */
	struct finder_worker *workers;
};

static bool prepare_worker(struct finder_worker *w)
{
	if (!w->scratch)
		w->scratch = loops_scratch_new();
	if (!w->depend)
		w->depend = depend_new();
	return w->scratch && w->depend;
}

static void find_in_batch(void *arg, size_t i, unsigned worker)
{
	struct finder *f = arg;
	const struct code_batch *b = &f->code->batches.at[i];
	struct finder_worker *w = &f->workers[worker];
	bool ok = prepare_worker(w);
	for (size_t k = b->first; k < b->first + b->n && k < f->code->n_wanted && ok; k++) {
		ok = loops_find(f->code, b, &f->code->functions.at[k], w->scratch, &f->by_batch[i]);
		if (ok && f->has_waits)
			ok = waits_find(f->code, loops_flow(w->scratch), w->depend, &f->waits[i]);
	}
	w->failed |= !ok;
}

/* Appends `from`. Changes its numbers to indices in `all`. */
static bool append(struct loops *all, const struct loops *from)
{
	uint32_t n = (uint32_t)all->loops.n;
	struct loop *loops = from->loops.n ? vec_extend(&all->loops, from->loops.n) : NULL;
	struct loop_range *ranges =
		from->ranges.n ? vec_extend(&all->ranges, from->ranges.n) : NULL;
	if ((from->loops.n && !loops) || (from->ranges.n && !ranges))
		return false;
	for (size_t i = 0; i < from->loops.n; i++) {
		loops[i] = from->loops.at[i];
		loops[i].parent += loops[i].parent == SCOPE_NONE ? 0 : n;
	}
	for (size_t i = 0; i < from->ranges.n; i++) {
		ranges[i] = from->ranges.at[i];
		ranges[i].loop += n;
	}
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct loop_range *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static bool find_all(struct scope_map *map, const struct code *code, unsigned n_workers,
		     struct loops *all)
{
	size_t n = code->batches.n;
	struct finder f = {.code = code,
			   .has_waits = code->isa->has_waits,
			   .by_batch = calloc(n + 1, sizeof *f.by_batch),
			   .waits = calloc(n + 1, sizeof *f.waits),
			   .workers = calloc(n_workers + 1, sizeof *f.workers)};
	bool ok = f.by_batch && f.waits && f.workers;
	if (ok)
		pool_run(n, n_workers, find_in_batch, &f);
	for (unsigned i = 0; i < n_workers && ok; i++)
		ok = !f.workers[i].failed;
	ok = ok && waits_keep(map, f.waits, n);
	for (size_t i = 0; i < n; i++) {
		ok = ok && append(all, &f.by_batch[i]);
		if (f.by_batch)
			loops_free(&f.by_batch[i]);
		if (f.waits)
			vec_free(&f.waits[i].causes);
	}
	for (unsigned i = 0; i < n_workers && f.workers; i++) {
		loops_scratch_free(f.workers[i].scratch);
		depend_free(f.workers[i].depend);
	}
	free(f.by_batch);
	free(f.waits);
	free(f.workers);
	if (ok && all->ranges.n > 1)
		qsort(all->ranges.at, all->ranges.n, sizeof *all->ranges.at, compare_ranges);
	return ok;
}

/* ---- the tree ---- */

struct nester {
	struct scope_map *map;
	const struct loops *loops;
	struct map places;   /* (scope, loop) -> scope that the code then belongs to */
	struct map children; /* (parent, scope or loop copied there) -> scope */
	VEC(uint32_t) chain; /* scopes from the innermost outwards */
};

#define IS_LOOP (UINT64_C(1) << 32)

/*
 * Returns the child of `parent` for an original scope or for a loop. SCOPE_NONE when out of memory.
 */
static uint32_t child(struct nester *n, uint32_t parent, uint64_t what)
{
	struct scope_map *map = n->map;
	uint64_t id = map_put(&n->children, parent, what, map->scopes.n);
	if (id != map->scopes.n)
		return id == MAP_NONE ? SCOPE_NONE : (uint32_t)id;
	struct scope_record r;
	if (what & IS_LOOP) {
		const struct loop *l = &n->loops->loops.at[(uint32_t)what];
		uint32_t definition = scope_define(map, 0, 0, l->file, l->line);
		if (definition == SCOPE_NONE)
			return SCOPE_NONE;
		r = (struct scope_record){.definition = definition,
					  .call_file = SCOPE_NONE,
					  .kind = STRUCTURE_LOOP,
					  .origin = STRUCTURE_FROM_CODE,
					  .flags = l->is_irreducible ? STRUCTURE_SCOPE_IRREDUCIBLE
								     : 0};
	} else {
		r = map->scopes.at[(uint32_t)what];
	}
	r.parent = parent;
	struct scope_record *slot = vec_push(&map->scopes);
	if (!slot)
		return SCOPE_NONE;
	*slot = r;
	return (uint32_t)id;
}

/*
 * Goes down from `at` through those of the loops around `loop`, and `loop` itself, that belong to
 * `scope`.
 */
static uint32_t enter_loops(struct nester *n, uint32_t at, uint32_t loop, uint32_t scope)
{
	uint32_t around[LOOPS_MAX_DEPTH];
	unsigned k = 0;
	for (; loop != SCOPE_NONE && k < LOOPS_MAX_DEPTH; loop = n->loops->loops.at[loop].parent)
		if (n->loops->loops.at[loop].scope == scope)
			around[k++] = loop;
	while (k > 0 && at != SCOPE_NONE)
		at = child(n, at, IS_LOOP | around[--k]);
	return at;
}

/* Returns the scope for code that was in `scope` and is in `loop`. */
static uint32_t find_place(struct nester *n, uint32_t scope, uint32_t loop)
{
	vec_clear(&n->chain);
	for (uint32_t s = scope; s != SCOPE_NONE; s = n->map->scopes.at[s].parent) {
		uint32_t *slot = vec_push(&n->chain);
		if (!slot)
			return SCOPE_NONE;
		*slot = s;
	}
	uint32_t at = n->chain.at[n->chain.n - 1];
	at = enter_loops(n, at, loop, at);
	for (size_t i = n->chain.n - 1; i-- > 0 && at != SCOPE_NONE;) {
		/*
		 * outside all loops so far: use the scope itself, which then keeps its original
		 * children
		 */
		at = at == n->chain.at[i + 1] ? n->chain.at[i] : child(n, at, n->chain.at[i]);
		if (at != SCOPE_NONE)
			at = enter_loops(n, at, loop, n->chain.at[i]);
	}
	return at;
}

static bool place_piece(struct nester *n, const struct structure_interval_record *v,
			uint32_t position, uint32_t loop, struct scope_intervals *out)
{
	uint64_t scope = v->scope;
	if (v->scope != SCOPE_NONE && loop != SCOPE_NONE) {
		scope = map_get(&n->places, v->scope, loop);
		if (scope == MAP_NONE) {
			uint32_t place = find_place(n, v->scope, loop);
			scope = place == SCOPE_NONE ? MAP_NONE
						    : map_put(&n->places, v->scope, loop, place);
		}
		if (scope == MAP_NONE)
			return false;
	}
	return scope_append(out, position, (uint32_t)scope, v->file, v->line);
}

/* Splits the intervals at the starts and ends of loops. */
static bool split(struct nester *n, struct scope_intervals *out)
{
	const struct scope_intervals *v = &n->map->intervals;
	const struct loops *l = n->loops;
	size_t k = 0;
	bool ok = vec_reserve(out, v->n + 2 * l->ranges.n + 1);
	for (size_t i = 0; i < v->n && ok; i++) {
		uint32_t at = v->at[i].offset,
			 end = i + 1 < v->n ? v->at[i + 1].offset : UINT32_MAX;
		while (at < end && ok) {
			while (k < l->ranges.n && l->ranges.at[k].end <= at)
				k++;
			bool inside = k < l->ranges.n && l->ranges.at[k].start <= at;
			uint32_t next = k == l->ranges.n ? end
					: inside         ? l->ranges.at[k].end
							 : l->ranges.at[k].start;
			ok = place_piece(n, &v->at[i], at,
					 inside ? l->ranges.at[k].loop : SCOPE_NONE, out);
			at = next < end ? next : end;
		}
	}
	return ok;
}

static bool nest(struct scope_map *map, const struct loops *loops)
{
	struct nester n = {.map = map, .loops = loops};
	struct scope_intervals out = {0};
	bool ok = split(&n, &out);
	map_free(&n.places);
	map_free(&n.children);
	vec_free(&n.chain);
	if (!ok) {
		vec_free(&out);
		return false;
	}
	vec_free(&map->intervals);
	map->intervals = out;
	return true;
}

static const struct isa *isa_of(const struct image *image)
{
	return isa_find(image->machine, image->architecture);
}

bool scope_has_loops(const struct image *image)
{
	return isa_of(image) != NULL;
}

enum status scope_find_loops(struct scope_map *map, unsigned n_workers)
{
	struct code code = {0};
	struct loops all = {0};
	bool ok = code_read(&code, map, isa_of(map->image), n_workers) &&
		  find_all(map, &code, n_workers, &all);
	code_free(&code);
	ok = ok && (all.loops.n == 0 || nest(map, &all));
	loops_free(&all);
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
