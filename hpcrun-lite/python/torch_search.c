/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See torch_search.h. Must not touch a reference count, nor follow more than LOADS words.
 * Test: tests/cli/python/python_modules.sh.
 */
#include "hpcrun-lite/python/torch_search.h"

#include "common/safe/fnv.h"

#include <string.h>

enum {
	DEPTH = 4,     /* "layers.5" is two dictionaries further in */
	LOADS = 3000,  /* for one search in modules, and for all searches of a walk in containers */
	ANCESTORS = 6, /* modules further out to search */
	NAME_BYTES = 256,
	CLASS_BYTES = 128,
	TYPE_NAME = 24
};

/* ---- records ---- */

/*
 * Loads the name of a class: the part after the last dot, as UTF-8, NUL-terminated and cut to
 * CLASS_BYTES.
 */
static bool load_class(struct object_reader *o, uintptr_t module, char *to, size_t *n)
{
	uint64_t type, name, word;
	*n = 0;
	if (!object_load(o, module + OBJECT_TYPE_AT, &type) ||
	    !object_load(o, type + TYPE_NAME, &name))
		return false;
	uintptr_t skip = name % 8;
	for (uintptr_t at = name - skip;; at += sizeof word, skip = 0) {
		if (!object_load(o, at, &word))
			return false;
		for (uintptr_t i = skip; i < sizeof word; i++) {
			const char character = (char)(word >> 8 * i);
			if (!character || *n + 1 == CLASS_BYTES) {
				to[*n] = '\0';
				return true;
			}
			to[(*n)++] = character;
			*n = character == '.' ? 0 : *n;
		}
	}
}

static uint32_t write_record(const struct torch_context *c, uint32_t parent, const char *name,
			     size_t n_name, const char *class, size_t n_class)
{
	const size_t n = (sizeof(struct msr_torch_module) + n_name + n_class + 2 + 7) & ~(size_t)7;
	struct msr_torch_module *r = c->code->host->begin_record(MSR_TORCH_MODULE, n);
	if (!r)
		return 0;
	const uint32_t number = code_take_number();
	*r = (struct msr_torch_module){.bytes = (uint32_t)n,
				       .id = number,
				       .parent = parent,
				       .name_bytes = (uint16_t)(n_name + 1),
				       .class_bytes = (uint16_t)(n_class + 1)};
	char *at = (char *)(r + 1); /* extents are zeroed, so the NULs exist already */
	memcpy(at, name, n_name);
	memcpy(at + n_name + 1, class, n_class);
	c->code->host->end_record(MSR_TORCH_MODULE, n);
	return number;
}

/* Returns the number of a module with this name. 0: not possible now, or there were too many. */
static uint32_t number_of(const struct torch_context *c, struct object_reader *o, uint32_t parent,
			  uintptr_t module, const char *name, size_t n_name)
{
	char class[CLASS_BYTES];
	size_t n_class;
	if (!load_class(o, module, class, &n_class))
		return 0;
	uint64_t key = fnv64(FNV64_START, &parent, sizeof parent);
	key = fnv64(key, name, n_name);
	key = fnv64(key, "\x01torch", sizeof "\x01torch"); /* no code object has this key */
	key = fnv64(key, class, n_class) | 1;
	uint32_t number = code_find_given(key);
	if (!number && code_has_numbers() &&
	    (number = write_record(c, parent, name, n_name, class, n_class)))
		code_give(key, number);
	return number;
}

/* ---- the search ---- */

static const char modules[] = "_modules";

struct search {
	struct object_reader *o;
	uintptr_t module; /* is searched */
	struct object_words *words;
	uintptr_t key[DEPTH]; /* str objects, outermost first */
	uint32_t n_keys;
};

/* Searches below `in`, exactly `depth` dictionaries further in. */
static bool search_at(struct search *s, uintptr_t in, uint32_t depth)
{
	struct object_table t;
	struct object_entry e;
	const uint32_t n = s->words->n, n_keys = s->n_keys;
	bool found = false;
	if (object_open(s->o, in, modules, &t, s->words))
		for (uint32_t i = 0; i < t.n && !found && object_entry(s->o, &t, i, &e); i++) {
			if (!e.key || !reader_is_plausible(e.value) ||
			    (depth == 1 && e.value != s->module))
				continue;
			const uint32_t n_opened = s->words->n;
			s->key[s->n_keys++] = e.key;
			found = object_keep_entry(s->o, &e, s->words) &&
				(depth == 1 || search_at(s, e.value, depth - 1));
			if (!found) {
				s->words->n = n_opened;
				s->n_keys--;
			}
		}
	if (!found) {
		s->words->n = n;
		s->n_keys = n_keys;
	}
	return found;
}

/* The keys, with dots between, cut to NAME_BYTES. */
static bool join_keys(const struct torch_context *c, const struct search *s, char *to, size_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < s->n_keys && NAME_BYTES - *n >= 8; i++) {
		size_t part;
		if (i)
			to[(*n)++] = '.';
		if (!code_load_string(c->code, s->key[i], to + *n, NAME_BYTES - *n, &part))
			return false;
		*n += part;
	}
	return true;
}

/*
 * Keeps the words that change when the next module further out gets other modules: the number of
 * its modules and, as far as there is room, which ones they are. Returns false if they cannot be
 * read.
 */
static bool keep_absence(struct search *s, uintptr_t outer)
{
	struct object_table t;
	struct object_entry e;
	if (!object_open(s->o, outer, modules, &t, s->words) ||
	    !object_keep_size(s->o, &t, s->words))
		return false;
	for (uint32_t i = 0; i < t.n && object_entry(s->o, &t, i, &e); i++)
		if (!object_keep(s->words, e.value_slot, e.value))
			break;
	return true;
}

/* Makes the result for other objects of the class: only the words that are not in this object. */
static void find_class(struct object_reader *o, struct torch_scratch *scratch, uint32_t n_outer)
{
	const struct torch_found *f = &scratch->found;
	struct torch_found *class = &scratch->found_class;
	uint64_t name;
	const uintptr_t type = f->words.word[0].value;
	*class = (struct torch_found){.number = f->number, .n_own = n_outer + 1};
	if (!object_load(o, type + TYPE_NAME, &name))
		return;
	object_keep(&class->words, type + TYPE_NAME, name);
	for (uint32_t i = f->n_own; i < f->words.n; i++)
		object_keep(&class->words, f->words.word[i].at, f->words.word[i].value);
	scratch->class = type;
}

/*
 * Searches for call k in the modules further out, the nearest first. Then searches in their
 * containers with the loads that this walk has left. Returns the call whose module contains it; 0:
 * none.
 */
static uint32_t search_outer(struct search *s, const struct torch_calls *calls, uint32_t k,
			     uint32_t *n_loads_left)
{
	uint32_t outer = 0;
	for (uint32_t depth = 1; depth <= DEPTH && !outer; depth++) {
		if (depth == 2)
			s->o->n_left = *n_loads_left;
		for (uint32_t i = k + 1; i < calls->n && i <= k + ANCESTORS && !outer; i++)
			outer = search_at(s, calls->call[i].module, depth) ? i : 0;
		if (depth > 1)
			*n_loads_left = s->o->n_left;
	}
	return outer;
}

void torch_search_begin(struct torch_scratch *scratch)
{
	scratch->n_loads_left = LOADS;
}

bool torch_search(const struct torch_context *c, const struct torch_calls *calls, uint32_t k)
{
	struct torch_scratch *scratch = c->scratch;
	struct torch_found *f = &scratch->found;
	struct object_reader o = {.layout = c->code->layout,
				  .types = c->types,
				  .reader = c->code->reader,
				  .n_left = LOADS};
	const uintptr_t module = calls->call[k].module;
	const bool has_outer = k + 1 < calls->n, is_first = scratch->n_loads_left == LOADS;
	struct search s = {.o = &o, .module = module, .words = &f->words};
	char name[NAME_BYTES];
	size_t n_name = 0;
	uint32_t n_outer = 0;
	*f = (struct torch_found){0};
	scratch->class = 0;
	if (has_outer && object_keep_own(&o, calls->call[k + 1].module, &f->words))
		n_outer = f->words.n;
	f->words.n = 0;
	const bool is_readable = object_keep_own(&o, module, &f->words);
	f->n_own = f->words.n;
	if (!is_readable)
		return true;
	const uint32_t outer = search_outer(&s, calls, k, &scratch->n_loads_left),
		       parent = outer ? calls->call[outer].number : 0;
	o.n_left = LOADS;
	const bool is_kept = !outer && has_outer && keep_absence(&s, calls->call[k + 1].module);
	o.n_left = LOADS;
	if (!outer || join_keys(c, &s, name, &n_name))
		f->number = number_of(c, &o, parent, module, name, n_name);
	f->is_below = outer && f->number;
	if (is_kept)
		find_class(&o, scratch, n_outer);
	if (outer == k + 1) {
		f->parent_number = parent;
		f->n_own += n_outer;
	}
	return outer || is_first || scratch->n_loads_left;
}
