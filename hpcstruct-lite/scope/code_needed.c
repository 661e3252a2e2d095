/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions that must be decoded for the loops of a few wanted ones: these functions, and
 * called functions, to know whether they return. A called function with its own way out returns. If
 * it has none, the functions that it jumps to matter; see dead_ends.c. Whether calls return only
 * matters in functions with a jump back. Test: tests/cli/struct/struct_needed.sh.
 */
#include "hpcstruct-lite/scope/code_ranges.h"

#include "common/base/map.h"
#include "common/base/sorted.h"

#include <stdlib.h>
#include <string.h>

/* A range of code and its function, by number in `all`. */
struct owner {
	uint32_t start, end, function;
};

struct code_needed {
	struct code *code;
	struct code_functions all;
	VEC(struct owner) owners; /* by start */
	struct map by_name;       /* hash of the symbol's name -> function; made when needed */
	bool *is_taken;           /* by function */
	size_t n_looked;          /* number of functions whose references have been followed */
};

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static bool take(struct code_needed *n, uint32_t function)
{
	if (n->is_taken[function])
		return true;
	struct code_function *slot = vec_push(&n->code->functions);
	if (slot)
		*slot = n->all.at[function];
	n->is_taken[function] = true;
	return slot != NULL;
}

struct code_needed *code_needed_new(struct code *c)
{
	struct code_needed *n = calloc(1, sizeof *n);
	if (!n)
		return NULL;
	n->code = c;
	n->all = c->functions;
	memset(&c->functions, 0, sizeof c->functions);
	n->is_taken = calloc(n->all.n + 1, sizeof *n->is_taken);
	bool ok = n->is_taken != NULL;
	for (uint32_t i = 0; i < n->all.n && ok; i++) {
		const struct code_function *f = &n->all.at[i];
		for (size_t k = 0; k < f->n_ranges && ok; k++) {
			const struct flow_range *r = &c->ranges.at[f->first_range + k];
			struct owner *slot = vec_push(&n->owners);
			ok = slot != NULL;
			if (slot)
				*slot = (struct owner){r->start, r->end, i};
		}
		ok = ok && (!c->map->is_wanted[f->scope] || take(n, i));
	}
	if (n->owners.n > 1)
		qsort(n->owners.at, n->owners.n, sizeof *n->owners.at, compare_owners);
	if (ok)
		return n;
	code_needed_free(n);
	return NULL;
}

void code_needed_free(struct code_needed *n)
{
	if (!n)
		return;
	vec_free(&n->all);
	vec_free(&n->owners);
	map_free(&n->by_name);
	free(n->is_taken);
	free(n);
}

static bool index_names(struct code_needed *n)
{
	for (uint32_t i = 0; i < n->all.n; i++) {
		size_t n_bytes;
		const char *name = scope_text(n->code->map, n->all.at[i].scope, &n_bytes);
		if (map_put(&n->by_name, hash_name(name, n_bytes), 0, i) == MAP_NONE)
			return false;
	}
	return true;
}

/* Follows a stub to the function of this binary with its name, if there is one. */
static bool follow_stub(struct code_needed *n, uint32_t scope)
{
	size_t n_bytes;
	const char *name = scope_text(n->code->map, scope, &n_bytes), *at = strstr(name, "@plt");
	if (n->by_name.n == 0 && !index_names(n))
		return false;
	uint64_t function =
		map_get(&n->by_name, hash_name(name, at ? (size_t)(at - name) : n_bytes), 0);
	return function == MAP_NONE || take(n, (uint32_t)function);
}

static bool follow(struct code_needed *n, uint32_t position)
{
	size_t i = sorted_up_to(n->owners.at, n->owners.n, start, position);
	if (i > 0 && position < n->owners.at[i - 1].end)
		return take(n, n->owners.at[i - 1].function);
	uint32_t scope = scope_at(n->code->map, position);
	return scope == SCOPE_NONE || n->code->map->scopes.at[scope].origin != STRUCTURE_FROM_PLT ||
	       follow_stub(n, scope);
}

/* Returns true if the function may have a loop: it needs a jump back, whatever calls do. */
static bool can_loop(const struct code_batch *b, const struct code_function *f)
{
	bool goes_back = f->n_tables > 0;
	for (size_t i = f->first_transfer; i < f->first_transfer + f->n_transfers && !goes_back;
	     i++) {
		const struct flow_transfer *t = &b->transfers.at[i];
		goes_back = t->kind == ISA_JUMP && t->target != FLOW_NONE && t->target <= t->at;
	}
	return goes_back;
}

static bool follow_function(struct code_needed *n, const struct code_batch *b, size_t function)
{
	const struct code_function f = n->code->functions.at[function];
	bool ok = true;
	for (size_t i = f.first_out; i < f.first_out + f.n_out && ok && !f.has_way_out; i++)
		ok = follow(n, b->outs.at[i]);
	if (function >= n->code->n_wanted || !can_loop(b, &f))
		return ok;
	for (size_t i = f.first_transfer; i < f.first_transfer + f.n_transfers && ok; i++) {
		const struct flow_transfer *t = &b->transfers.at[i];
		ok = t->kind != ISA_CALL || t->target == FLOW_NONE || follow(n, t->target);
	}
	return ok;
}

bool code_needed_follow(struct code_needed *n)
{
	size_t end = n->code->functions.n;
	bool ok = true;
	for (size_t i = 0; i < n->code->batches.n && ok; i++) {
		const struct code_batch *b = &n->code->batches.at[i];
		for (size_t k = b->first; k < b->first + b->n && ok; k++)
			ok = k < n->n_looked || follow_function(n, b, k);
	}
	n->n_looked = end;
	return ok;
}
