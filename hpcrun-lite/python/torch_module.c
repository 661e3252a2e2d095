/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See torch_module.h. A table (torch_table.h) has, for a module and the next module further out,
 * its number and the words of memory that the number depends on. These words are compared each
 * time, all words of a path with one system call. Must not wait, nor touch a reference count. Test:
 * tests/cli/python/python_modules.sh.
 */
#include "hpcrun-lite/python/torch_module.h"

#include "common/safe/load.h"
#include "hpcrun-lite/python/torch_search.h"

#include <string.h>

enum {
	UNCHECKED = 509, /* a prime, because the calls of a step are often a multiple of 2^i */
	TRUSTED = 64,    /* after this many uses without a change, a module is probably unchanged */
	CELL_CONTENT = 16,
	REFERENCE_TAG = 7 /* bits of a reference that 3.14 reserves */
};

/* ---- whether words have changed ---- */

static void clear(struct torch_scratch *s)
{
	s->n_words = 0;
}

static bool add_words(struct torch_scratch *s, const struct object_words *w)
{
	if (s->n_words + w->n > TORCH_WORDS)
		return false;
	for (uint32_t i = 0; i < w->n; i++) {
		s->piece[s->n_words] = (struct iovec){(void *)w->word[i].at, sizeof *s->now};
		s->value[s->n_words++] = w->word[i].value;
	}
	return true;
}

/* Returns how many words, counted from the first, are unchanged. */
static uint32_t compare(struct torch_scratch *s)
{
	const size_t n = load_gathered(s->now, s->piece, s->n_words) / sizeof *s->now;
	uint32_t same = 0;
	while (same < n && s->now[same] == s->value[same])
		same++;
	return same;
}

/* A module that was not found is searched again when it has been met 16, 32, 64 ... times. */
static bool is_due(uint32_t n_uses)
{
	enum { FIRST = 16 };
	return n_uses >= FIRST && (n_uses & (n_uses - 1)) == 0;
}

/* ---- calls ---- */

bool torch_add(struct torch_calls *calls, const struct python_layout *l,
	       const struct frames_frame *frame, uint32_t i, uint32_t at, bool direct)
{
	uint64_t module = frame->first_local;
	struct torch_call *inner = calls->n ? &calls->call[calls->n - 1] : NULL;
	if (direct)
		memcpy(&module, (const void *)(frame->at + l->frame.locals), sizeof module);
	module &= ~(uint64_t)REFERENCE_TAG;
	if (!reader_is_plausible(module))
		return true;
	/* If a module's forward() is another module, their frames are side by side, too. */
	if (inner && inner->frame + 1 == i && inner->code && inner->code != frame->code) {
		/* the argument of _wrapped_call_impl() is never in a cell */
		inner->module = module;
		inner->frame = i;
		inner->at = at;
		inner->code = 0;
		return true;
	}
	if (calls->n == TORCH_CALLS)
		return false;
	calls->call[calls->n++] = (struct torch_call){
		.module = module, .frame = i, .at = at, .code = frame->code};
	return true;
}

static uintptr_t outer_of(const struct torch_calls *calls, uint32_t k)
{
	return k + 1 < calls->n ? calls->call[k + 1].module : 0;
}

static bool is_again(const struct torch_calls *calls, uint32_t k)
{
	return calls->call[k].module == outer_of(calls, k);
}

bool torch_has_frame(const struct torch_calls *calls, uint32_t k)
{
	return calls->call[k].number && !is_again(calls, k);
}

/*
 * A module may be called without the module that contains it: checkpointing calls it again in the
 * backward pass. It then keeps its name below that module, as long as that module still contains
 * it.
 */
static uint32_t find_elsewhere(struct torch_scratch *scratch, uintptr_t module)
{
	struct torch_found *f = &scratch->found;
	for (unsigned i = 0; i < TORCH_SLOT_WAYS; i++) {
		const uintptr_t outer = torch_slot_outer(module, i);
		clear(scratch);
		struct torch_slot *s = outer ? torch_slot_find(module, outer) : NULL;
		if (s && torch_slot_read(s, module, outer, f) && f->is_below &&
		    add_words(scratch, &f->words) && compare(scratch) == f->words.n)
			return f->number;
	}
	return 0;
}

/*
 * If an inner function uses an argument too, the argument is in a cell. Replaces the cell by its
 * content.
 */
static void open_cell(const struct torch_context *c, struct torch_call *call)
{
	struct object_reader o = {.layout = c->code->layout,
				  .types = c->types,
				  .reader = c->code->reader,
				  .n_left = 2};
	uint64_t type, content;
	if (object_load(&o, call->module + OBJECT_TYPE_AT, &type) && type == c->types->cell &&
	    object_load(&o, call->module + CELL_CONTENT, &content))
		call->module = content;
}

/*
 * Compares the words of the calls from..to-1. If one call differs, all calls further in count as
 * changed.
 */
static void compare_calls(struct torch_scratch *s, uint32_t from, uint32_t to)
{
	uint32_t same = compare(s);
	for (uint32_t k = to; k-- > from;) {
		s->last[k].is_same = s->last[k].n_words <= same;
		same -= s->last[k].is_same ? s->last[k].n_words : same;
	}
	clear(s);
}

/*
 * Finds the last results for the calls, and whether they are still valid, from the outermost call
 * inwards.
 */
static void find_last(const struct torch_context *c, struct torch_calls *calls)
{
	struct torch_scratch *s = c->scratch;
	uint32_t to = calls->n;
	clear(s);
	for (uint32_t k = calls->n; k-- > 0;) {
		const uintptr_t outer = outer_of(calls, k);
		s->last[k] = (struct torch_last){0};
		if (!torch_slot_find(calls->call[k].module, outer))
			open_cell(c, &calls->call[k]);
		struct torch_slot *slot = torch_slot_find(calls->call[k].module, outer);
		if (is_again(calls, k) || !slot ||
		    !torch_slot_read(slot, calls->call[k].module, outer, &s->found))
			continue;
		if (!add_words(s, &s->found.words)) {
			compare_calls(s, k + 1, to);
			to = k + 1;
			add_words(s, &s->found.words);
		}
		const uint32_t n_uses = torch_slot_use(slot);
		s->last[k] = (struct torch_last){
			.n_words = s->found.words.n,
			.number = s->found.number,
			.parent_number = s->found.parent_number,
			.is_known = true,
			.is_below = s->found.is_below,
			.is_due = !s->found.is_below && (outer || !s->found.number) &&
				  is_due(n_uses)};
	}
	compare_calls(s, 0, to);
}

static bool has_value(const struct object_words *w, uint64_t value)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->word[i].value == value)
			return true;
	return false;
}

/*
 * Finds the table's entry for the class of call k. Modules that forward() makes are new each time,
 * and a search that finds nothing takes longest.
 */
static bool find_class(const struct torch_context *c, const struct torch_calls *calls, uint32_t k,
		       bool was_searched)
{
	/*
	 * The first objects of a class are always searched for: one may be in a container although
	 * others are not.
	 */
	enum { OBJECTS = 4 };
	struct torch_scratch *s = c->scratch;
	struct object_reader o = {.layout = c->code->layout,
				  .types = c->types,
				  .reader = c->code->reader,
				  .n_left = 1};
	const uintptr_t module = calls->call[k].module, outer = outer_of(calls, k);
	uint64_t class;
	if (!outer || !object_load(&o, module + OBJECT_TYPE_AT, &class))
		return false;
	struct torch_slot *slot = torch_slot_find(outer, class);
	if (!slot || !torch_slot_read(slot, outer, class, &s->found))
		return false;
	const uint32_t n_uses = was_searched ? 0 : torch_slot_use(slot);
	if (!was_searched && (n_uses < OBJECTS || is_due(n_uses)))
		return false;
	clear(s);
	return !has_value(&s->found.words, module) && add_words(s, &s->found.words) &&
	       compare(s) == s->found.words.n;
}

static uint32_t name_one(const struct torch_context *c, struct torch_calls *calls, uint32_t k)
{
	const struct torch_last *last = &c->scratch->last[k];
	const uintptr_t module = calls->call[k].module, outer = outer_of(calls, k);
	const uint32_t outer_number = outer ? calls->call[k + 1].number : 0,
		       elsewhere = outer ? 0 : find_elsewhere(c->scratch, module);
	if (is_again(calls, k) || elsewhere)
		return elsewhere ? elsewhere : outer_number;
	if (last->is_known && last->is_same && !last->is_due &&
	    (!last->parent_number || last->parent_number == outer_number))
		return last->number;
	if ((!(last->is_due && last->is_same) &&
	     find_class(c, calls, k, last->is_known && !last->is_below)) ||
	    !torch_search(c, calls, k))
		return c->scratch->found.number;
	torch_slot_write(module, outer, &c->scratch->found);
	if (c->scratch->class)
		torch_slot_write(outer, c->scratch->class, &c->scratch->found_class);
	return c->scratch->found.number;
}

static uint64_t word_at(uintptr_t at)
{
	uint64_t word;
	memcpy(&word, (const void *)at, sizeof word);
	return word;
}

/* Looks only at the module, the next one further out, and their classes. */
static bool is_as_before(const struct torch_found *f, uint32_t least)
{
	if (f->n_same < least)
		return false;
	for (uint32_t i = 0; i < f->n_own && i < f->words.n; i++)
		if (word_at(f->words.word[i].at) != f->words.word[i].value)
			return false;
	return true;
}

static uint32_t find_known(struct torch_scratch *scratch, const struct torch_calls *calls,
			   uint32_t k, uint32_t least)
{
	struct torch_found *f = &scratch->found;
	const uintptr_t module = calls->call[k].module, outer = outer_of(calls, k);
	const uint32_t elsewhere = outer ? 0 : find_elsewhere(scratch, module);
	if (elsewhere)
		return elsewhere;
	struct torch_slot *slot = torch_slot_find(module, outer);
	f->is_below = false;
	if (slot && torch_slot_read_own(slot, module, outer, f) && is_as_before(f, least))
		return !f->parent_number || f->parent_number == calls->call[k + 1].number
			       ? f->number
			       : 0;
	const uintptr_t class = word_at(module + OBJECT_TYPE_AT);
	slot = outer && !f->is_below ? torch_slot_find(outer, class) : NULL;
	return slot && torch_slot_read(slot, outer, class, f) && is_as_before(f, least) &&
			       !has_value(&f->words, module)
		       ? f->number
		       : 0;
}

static void open_cell_now(const struct object_types *types, struct torch_call *call)
{
	if (word_at(call->module + OBJECT_TYPE_AT) == types->cell)
		call->module = word_at(call->module + CELL_CONTENT);
}

/* Finds the numbers of calls whose modules were often unchanged. Returns false if one has none. */
static bool find_all_known(const struct object_types *types, struct torch_scratch *scratch,
			   struct torch_calls *calls)
{
	bool all = true;
	for (uint32_t k = calls->n; k-- > 0;) {
		struct torch_call *call = &calls->call[k];
		open_cell_now(types, call);
		if (is_again(calls, k))
			call->number = calls->call[k + 1].number;
		else if (reader_is_plausible(call->module))
			call->number = find_known(scratch, calls, k, TRUSTED);
		else
			call->number = 0;
		all = all && call->number;
	}
	return all;
}

bool torch_name(const struct torch_context *c, struct torch_calls *calls)
{
	const bool direct = c->code->reader->direct;
	bool all = true;
	if (direct && ++c->scratch->n_unchecked % UNCHECKED &&
	    find_all_known(c->types, c->scratch, calls))
		return true;
	c->code->reader->direct = false;
	torch_search_begin(c->scratch);
	find_last(c, calls);
	for (uint32_t k = calls->n; k-- > 0;) {
		calls->call[k].number = name_one(c, calls, k);
		all = all && calls->call[k].number;
	}
	c->code->reader->direct = direct;
	return all;
}

static uint64_t mix(uint64_t tag, uint64_t word)
{
	tag = (tag ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return tag ^ tag >> 29;
}

bool torch_tag(const struct python_layout *l, const struct object_types *types,
	       struct torch_scratch *scratch, struct torch_calls *calls, uint64_t *tag)
{
	uint64_t sum = mix(torch_slot_epoch(), calls->n);
	for (uint32_t k = calls->n; k-- > 0;) {
		struct torch_call *call = &calls->call[k];
		open_cell_now(types, call);
		if (!reader_is_plausible(call->module))
			return false;
		sum = mix(mix(sum, call->module), object_mark(l, call->module));
	}
	/* the name of the outermost module may depend on paths that it was met on before */
	const uint32_t number = find_known(scratch, calls, calls->n - 1, 0);
	*tag = mix(sum, number);
	return number;
}

bool torch_is_due(struct torch_scratch *scratch)
{
	if ((scratch->n_unchecked + 1) % UNCHECKED == 0)
		return true;
	scratch->n_unchecked++;
	return false;
}
