/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See memo.h. Entries are replaced in the order in which they were made. Each entry is in two
 * lists, the newest first. One list is by stack pointer and tag, for calls that come in another
 * order than before. The other is by stack pointer and node, so that a walk that found nothing new
 * makes no second entry.
 *
 * A replaced entry stays in its old lists, but its links are those of its new lists. All entries
 * behind it in an old list were older and are replaced already, so nothing is lost. A search may
 * meet any entry, because it checks each one and its length is bounded.
 *
 * The words of the entries are in a ring of blocks of different sizes. A new block takes the place
 * of the oldest ones, whose entries are then empty. Test: tests/unit/unwind/test_unwind_memo.c.
 */
#include "hpcrun-lite/unwind/memo.h"

#include "hpcrun-lite/unwind/internal.h"

#include <string.h>

enum { BY_TAG, BY_NODE, ORDERS };
enum { LISTS_BITS = 10, LISTS = 1 << LISTS_BITS, SEARCH_MOST = 16, AT_ONCE = 8, NEXTS = 2 };

enum { RING_BYTES = 12 << 20, BLOCK_ALIGN = UNWIND_MEMO_ALIGN };

/* The number of an entry is its index + 1; 0: none. */
struct entry {
	uint64_t pc, sp, bp, tag, part, epoch;
	uint64_t serial; /* of the path, never used again */
	struct unwind_memo_value value;
	uint32_t at;      /* of its block in the ring */
	uint32_t n_guard; /* bytes of its guard; 0: none */
	uint16_t n_words; /* a multiple of AT_ONCE; 0: the entry is empty */
	/*
	 * Numbers of the entries that were found after this one, the last first. Two, because a
	 * loop of calls in one place ends in another.
	 */
	uint16_t next[NEXTS];
	uint32_t next_at, next_bytes; /* where the words of the first were then, for a prefetch */
	uint16_t older[ORDERS]; /* the next number in the list */
	uint16_t n_found;       /* by its tag */
	bool needs_bp;
};

/* Before the words of an entry, and then its guard. The words are an array of struct pair. */
struct block {
	uint32_t n_bytes; /* of the block; 0: no block is here or behind it */
	uint32_t number;  /* of the entry, if its `at` is here */
};

/* AT_ONCE words of the stack. */
struct eight {
	uint32_t below[AT_ONCE]; /* distances of the words from the end of the stack */
	uint64_t word[AT_ONCE];
};

/* The words of a path that is being remembered. */
struct words {
	uint32_t n;
	struct eight eight[UNWIND_MEMO_WORDS / AT_ONCE];
};

/* The key is that of the path and of the variant; 0: none. */
struct variant {
	uint64_t key;
	uint32_t node;
	uint32_t next; /* the set of the one that was found after this one, for a prefetch */
};
enum { VARIANT_WAYS = 4, VARIANT_SETS = UNWIND_MEMO_VARIANTS / VARIANT_WAYS };

struct unwind_memo {
	uint16_t last;   /* number of the entry that was found or made last */
	uint16_t victim; /* index of the entry to fill next */
	uint32_t begin;  /* where the next block goes */
	uint32_t n_free; /* bytes from there on that have no block */
	uint16_t newest[ORDERS][LISTS];
	uint64_t n_made; /* entries so far */
	struct words words;
	uint64_t guard[UNWIND_MEMO_GUARD_BYTES / 8];
	struct entry entry[UNWIND_MEMO_ENTRIES];
	struct variant *last_variant; /* found or kept last */
	_Alignas(BLOCK_ALIGN) struct variant variant[VARIANT_SETS][VARIANT_WAYS];
	_Alignas(BLOCK_ALIGN) uint8_t ring[RING_BYTES];
};

_Static_assert(UNWIND_MEMO_WORDS % AT_ONCE == 0, "words are compared AT_ONCE");

size_t unwind_memo_bytes(void)
{
	return sizeof(struct unwind_memo);
}

void *unwind_memo_room(struct unwind_memo *m)
{
	return m->guard;
}

/* ---- blocks ---- */

static struct block *block_at(struct unwind_memo *m, uint32_t at)
{
	return (struct block *)(void *)&m->ring[at];
}

static struct eight *words_of(struct unwind_memo *m, const struct entry *e)
{
	return (struct eight *)(void *)(block_at(m, e->at) + 1);
}

static uint32_t words_bytes(const struct entry *e)
{
	return (uint32_t)(e->n_words / AT_ONCE * sizeof(struct eight));
}

static const uint8_t *guard_of(struct unwind_memo *m, const struct entry *e)
{
	return (const uint8_t *)words_of(m, e) + words_bytes(e);
}

/* Frees the oldest block. Its entry is empty then, unless it has another block. */
static void drop_oldest(struct unwind_memo *m)
{
	const uint32_t at = m->begin + m->n_free;
	const struct block *b = block_at(m, at);
	if (!b->n_bytes) {
		m->n_free = RING_BYTES - m->begin;
		return;
	}
	struct entry *e = &m->entry[b->number - 1];
	if (e->at == at)
		e->n_words = 0;
	m->n_free += b->n_bytes;
}

/* Makes a block for so many bytes of words and guard. Returns where it is. */
static uint32_t make_block(struct unwind_memo *m, uint32_t n_bytes)
{
	const uint32_t n = (n_bytes + (uint32_t)sizeof(struct block) + BLOCK_ALIGN - 1) &
			   ~(uint32_t)(BLOCK_ALIGN - 1);
	if (m->begin + n > RING_BYTES) {
		while (m->begin + m->n_free < RING_BYTES)
			drop_oldest(m);
		if (m->begin < RING_BYTES)
			block_at(m, m->begin)->n_bytes = 0;
		m->begin = m->n_free = 0;
	}
	while (m->n_free < n)
		drop_oldest(m);
	const uint32_t at = m->begin;
	m->begin += n;
	m->n_free -= n;
	return at;
}

/* Call after the block has its words: they may have been where its head is now. */
static void set_block(struct unwind_memo *m, struct entry *e, uint32_t at)
{
	e->at = at;
	*block_at(m, at) =
		(struct block){.n_bytes = m->begin - at, .number = (uint32_t)(e - m->entry) + 1};
}

/* `key`: the tag or the node. */
static uint16_t *list_of(struct unwind_memo *m, unsigned order, uint64_t sp, uint64_t key)
{
	const uint64_t both = sp ^ key * UINT64_C(0xd6e8feb86659fd93);
	return &m->newest[order][(both * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - LISTS_BITS)];
}

/* All words are between the current stack pointer and the end of the stack, so they are mapped. */
static bool has_words(struct unwind_memo *m, const struct entry *e, uint64_t stack_end)
{
	const struct eight *w = words_of(m, e), *end = w + e->n_words / AT_ONCE;
	for (; w < end; w++) {
		uint64_t differs = 0;
		for (uint32_t k = 0; k < AT_ONCE; k++) {
			uint64_t now;
			__builtin_memcpy(&now, (const void *)(stack_end - w->below[k]), sizeof now);
			differs |= now ^ w->word[k];
		}
		if (differs)
			return false;
	}
	return true;
}

/* The registers that a walk starts from, and everything else that a value depends on. */
struct start {
	uint64_t pc, sp, bp, tag, epoch, stack_end;
};

static bool has_stack(struct unwind_memo *m, const struct entry *e, const struct start *s)
{
	return e->n_words && e->sp == s->sp && e->pc == s->pc && e->epoch == s->epoch &&
	       (!e->needs_bp || e->bp == s->bp) && has_words(m, e, s->stack_end);
}

static bool holds(struct unwind_memo *m, uint16_t number, const struct start *s)
{
	const struct entry *e = &m->entry[number - 1];
	return e->tag == s->tag && has_stack(m, e, s);
}

static struct start start_at(const struct unwind_thread *t, const struct unwind_regs *regs,
			     uint64_t tag)
{
	return (struct start){.pc = regs->reg[ARCH_PC],
			      .sp = regs->reg[ARCH_SP],
			      .bp = regs->reg[ARCH_BP],
			      .tag = tag,
			      .epoch = recipe_epoch_now(),
			      .stack_end = t->stack.hi};
}

/* Returns the number of the entry, or 0. */
static uint16_t find(struct unwind_memo *m, const struct start *s)
{
	for (unsigned i = 0; m->last && i < NEXTS; i++) {
		const uint16_t next = m->entry[m->last - 1].next[i];
		if (next && holds(m, next, s))
			return next;
	}
	uint16_t at = *list_of(m, BY_TAG, s->sp, s->tag);
	for (unsigned i = 0; i < SEARCH_MOST && at; i++, at = m->entry[at - 1].older[BY_TAG])
		if (holds(m, at, s))
			return at;
	return 0;
}

static void follow_last(struct unwind_memo *m, uint16_t number)
{
	const struct entry *e = &m->entry[number - 1];
	if (m->last) {
		struct entry *last = &m->entry[m->last - 1];
		if (last->next[0] != number)
			last->next[1] = last->next[0];
		last->next[0] = number;
		last->next_at = e->at;
		last->next_bytes = (uint32_t)sizeof(struct block) + words_bytes(e) + e->n_guard;
	}
	m->last = number;
}

/* Prefetches the entry of the next call. With some hundred entries in use, it is far away. */
static void fetch_next(const struct unwind_memo *m, const struct entry *last)
{
	enum { LINE = 64 };
	if (!last->next[0])
		return;
	const char *e = (const char *)&m->entry[last->next[0] - 1];
	for (uint32_t i = 0; i < sizeof(struct entry); i += LINE)
		__builtin_prefetch(e + i);
	for (uint32_t i = 0; i < last->next_bytes; i += LINE)
		__builtin_prefetch(&m->ring[last->next_at + i]);
}

static const struct unwind_memo_value *found(struct unwind_memo *m, uint16_t number)
{
	follow_last(m, number);
	fetch_next(m, &m->entry[number - 1]);
	return &m->entry[number - 1].value;
}

const struct unwind_memo_value *unwind_memo_next(struct unwind_memo *m,
						 const struct unwind_thread *t,
						 const struct unwind_regs *regs, uint64_t part,
						 unwind_memo_holds *guard_holds, void *user)
{
	const struct start s = start_at(t, regs, 0);
	if (!m->last || recipe_epoch_is_open(s.epoch))
		return NULL;
	for (unsigned i = 0; i < NEXTS; i++) {
		const uint16_t next = m->entry[m->last - 1].next[i];
		const struct entry *e = next ? &m->entry[next - 1] : NULL;
		if (e && e->n_guard && e->part == part && has_stack(m, e, &s) &&
		    guard_holds(user, guard_of(m, e), e->n_guard))
			return found(m, next);
	}
	return NULL;
}

const struct unwind_memo_value *unwind_memo_find(struct unwind_memo *m,
						 const struct unwind_thread *t,
						 const struct unwind_regs *regs, uint64_t tag)
{
	const struct start s = start_at(t, regs, tag);
	const uint16_t number = recipe_epoch_is_open(s.epoch) ? 0 : find(m, &s);
	if (!number)
		return NULL;
	m->entry[number - 1].n_found++;
	return found(m, number);
}

/* ---- making an entry ---- */

static bool add_word(struct words *w, const struct start *s, uint64_t at, uint64_t word)
{
	if (w->n == UNWIND_MEMO_WORDS || at < s->sp || at > s->stack_end - sizeof word ||
	    s->stack_end - at > UINT32_MAX)
		return false;
	struct eight *e = &w->eight[w->n / AT_ONCE];
	e->below[w->n % AT_ONCE] = (uint32_t)(s->stack_end - at);
	e->word[w->n++ % AT_ONCE] = word;
	return true;
}

/*
 * Returns the recipe of a frame of the last walk. The table may have lost it long ago, because
 * frames that do not change are not looked up again.
 */
static uint64_t recipe_of(struct unwind_thread *t, const struct start *s, const struct record *r)
{
	struct walk w = {
		.thread = t,
		.state = {.pc = r->pc, .sp = r->sp, .bp = r->bp, .exact = r->exact},
		.epoch = s->epoch,
		.tag = recipe_tag(s->epoch),
	};
	uint64_t delta;
	return walk_find_recipe(&w, r->pc - !r->exact, &delta);
}

/* Returns true if the walk went from r to its caller by this recipe alone. */
static bool is_by_recipe(const struct record *r, uint64_t recipe)
{
	const uint64_t offset = (uint64_t)recipe_cfa_offset(recipe);
	switch (recipe_kind(recipe)) {
	case RECIPE_SP: return r->kind == RECORD_PLAIN && r[1].sp == r->sp + offset;
	case RECIPE_BP: return r->kind == RECORD_PLAIN && r[1].sp == r->bp + offset;
	case RECIPE_DEREF_BP: return r->kind == RECORD_DEREF;
	default: return false;
	}
}

/*
 * Adds the words that made the caller of r by this recipe. *needs_bp says whether the caller's bp
 * matters, and afterwards whether the bp of r matters.
 */
static bool add_frame(struct words *words, const struct start *s, const struct record *r,
		      uint64_t recipe, bool *needs_bp)
{
	const struct record *caller = r + 1;
	const uint64_t pc_at = record_return_slot(r, caller);
	if (!is_by_recipe(r, recipe))
		return false;
	const enum recipe_kind kind = recipe_kind(recipe);
	bool uses_bp = kind != RECIPE_SP;
	if (*needs_bp && recipe_bp(recipe) == RECIPE_BP_SAME)
		uses_bp = true;
	else if (*needs_bp) {
		uses_bp = uses_bp || recipe_bp(recipe) == RECIPE_BP_AT_BP;
		if (!add_word(words, s, r->bp_slot, caller->bp))
			return false;
	}
	*needs_bp = uses_bp;
	return (kind != RECIPE_DEREF_BP ||
		add_word(words, s, r->bp + (uint64_t)recipe_cfa_offset(recipe), caller->sp)) &&
	       add_word(words, s, pc_at, caller->pc);
}

/*
 * Checks cheaply whether the path can be remembered. A refused path is refused at each call, so
 * this check comes first.
 */
static bool may_have_words(const struct record *r, uint32_t n_callers)
{
	if (n_callers > UNWIND_MEMO_WORDS) /* each caller depends on at least one word */
		return false;
	for (uint32_t i = 0; i < n_callers; i++)
		if (r[i].kind != RECORD_PLAIN && r[i].kind != RECORD_DEREF)
			return false;
	return true;
}

/*
 * Collects the words, from the outermost frame inwards. Returns false if the path cannot be
 * remembered. *needs_bp: bp at the start matters.
 */
static bool add_frames(struct words *words, struct unwind_thread *t, const struct start *s,
		       bool *needs_bp)
{
	const struct record *r = t->records + 2 * (size_t)t->max_depth - t->n_records;
	words->n = 0;
	*needs_bp = false; /* the root is known by its pc alone */
	if (!t->closed || t->end != UNWIND_ROOT || t->epoch != s->epoch || t->n_records < 2 ||
	    r->pc != s->pc || r->sp != s->sp || r->bp != s->bp || !r->exact ||
	    !may_have_words(r, t->n_records - 1))
		return false;
	for (uint32_t i = t->n_records - 1; i-- > 0;)
		if (!add_frame(words, s, &r[i], recipe_of(t, s, &r[i]), needs_bp))
			return false;
	while (words->n % AT_ONCE) {
		const struct eight *first = &words->eight[0];
		add_word(words, s, s->stack_end - first->below[0], first->word[0]);
	}
	return true;
}

static void link_entry(struct unwind_memo *m, uint16_t index)
{
	struct entry *e = &m->entry[index];
	for (unsigned order = 0; order < ORDERS; order++) {
		const uint64_t key = order == BY_TAG ? e->tag : e->value.node;
		uint16_t *newest = list_of(m, order, e->sp, key);
		e->older[order] = *newest;
		atomic_signal_fence(memory_order_seq_cst);
		*newest = index + 1;
	}
}

/* Returns the number of the entry that find() missed because its list is long, or 0. */
static uint16_t find_path(struct unwind_memo *m, const struct start *s, uint32_t node)
{
	uint16_t at = *list_of(m, BY_NODE, s->sp, node);
	for (unsigned i = 0; i < SEARCH_MOST && at; i++, at = m->entry[at - 1].older[BY_NODE])
		if (m->entry[at - 1].value.node == node && holds(m, at, s))
			return at;
	return 0;
}

/* Replaces an entry. Returns false if the path cannot be remembered; then it is empty. */
static bool fill(struct unwind_memo *m, struct entry *e, struct unwind_thread *t,
		 const struct start *s, const struct unwind_memo_guard *guard,
		 const struct unwind_memo_value *value)
{
	struct words *words = &m->words;
	bool needs_bp;
	e->n_words = 0;
	atomic_signal_fence(memory_order_seq_cst); /* after a longjmp the entry is empty */
	if (!add_frames(words, t, s, &needs_bp))
		return false;
	const uint32_t n_bytes = (uint32_t)(words->n / AT_ONCE * sizeof(struct eight)),
		       n_guard = guard ? guard->n_bytes : 0, at = make_block(m, n_bytes + n_guard);
	set_block(m, e, at);
	memcpy(words_of(m, e), words->eight, n_bytes);
	if (n_guard)
		memcpy((uint8_t *)words_of(m, e) + n_bytes, guard->words, n_guard);
	e->pc = s->pc;
	e->sp = s->sp;
	e->bp = s->bp;
	e->tag = s->tag;
	e->part = guard ? guard->part : 0;
	e->epoch = s->epoch;
	e->value = *value;
	e->n_guard = n_guard;
	e->needs_bp = needs_bp;
	e->next[0] = e->next[1] = 0;
	e->n_found = 0;
	e->serial = ++m->n_made;
	atomic_signal_fence(memory_order_seq_cst);
	e->n_words = (uint16_t)words->n;
	return true;
}

bool unwind_memo_keep(struct unwind_memo *m, struct unwind_thread *t,
		      const struct unwind_regs *regs, uint64_t tag,
		      const struct unwind_memo_guard *guard, const struct unwind_memo_value *value)
{
	const struct start s = start_at(t, regs, tag);
	if (recipe_epoch_is_open(s.epoch))
		return false;
	const uint16_t number = find_path(m, &s, value->node);
	if (number) {
		follow_last(m, number);
		return true;
	}
	const uint16_t index = m->victim;
	if (!fill(m, &m->entry[index], t, &s, guard, value))
		return false;
	m->victim = (index + 1) % UNWIND_MEMO_ENTRIES;
	/* after a longjmp the other entries are still in order */
	atomic_signal_fence(memory_order_seq_cst);
	link_entry(m, index);
	follow_last(m, index + 1);
	return true;
}

bool unwind_memo_wants_guard(struct unwind_memo *m)
{
	const uint16_t n = m->last ? m->entry[m->last - 1].n_found : 0;
	return n && !(n & (n - 1));
}

void unwind_memo_set_guard(struct unwind_memo *m, const struct unwind_memo_guard *guard)
{
	struct entry *e = m->last ? &m->entry[m->last - 1] : NULL;
	if (!e || !e->n_words)
		return;
	const uint16_t n_words = e->n_words;
	const uint32_t n_bytes = words_bytes(e);
	e->n_guard = 0;
	e->part = guard->part;
	if (block_at(m, e->at)->n_bytes < sizeof(struct block) + n_bytes + guard->n_bytes) {
		const struct eight *old = words_of(m, e);
		const uint32_t at = make_block(m, n_bytes + guard->n_bytes);
		memmove(block_at(m, at) + 1, old, n_bytes);
		set_block(m, e, at);
		e->n_words = n_words; /* the ring may have dropped the old block */
	}
	memcpy((uint8_t *)words_of(m, e) + n_bytes, guard->words, guard->n_bytes);
	e->n_guard = guard->n_bytes;
}

/* ---- variants ---- */

static uint64_t variant_key(const struct unwind_memo *m, uint64_t variant)
{
	const uint64_t serial = m->last ? m->entry[m->last - 1].serial : 0,
		       key = (variant ^ serial * UINT64_C(0xd6e8feb86659fd93)) *
			     UINT64_C(0x9e3779b97f4a7c15);
	return (key ^ key >> 32) | 1;
}

static uint32_t set_of_key(uint64_t key)
{
	return (uint32_t)(key / 2 % VARIANT_SETS);
}

static void follow_variant(struct unwind_memo *m, struct variant *v)
{
	if (m->last_variant)
		m->last_variant->next = set_of_key(v->key);
	m->last_variant = v;
	__builtin_prefetch(m->variant[v->next]);
}

bool unwind_memo_variant(struct unwind_memo *m, uint64_t variant, uint32_t *node)
{
	const uint64_t key = variant_key(m, variant);
	struct variant *set = m->variant[set_of_key(key)];
	for (unsigned i = 0; i < VARIANT_WAYS; i++)
		if (set[i].key == key) {
			*node = set[i].node;
			follow_variant(m, &set[i]);
			return true;
		}
	return false;
}

void unwind_memo_keep_variant(struct unwind_memo *m, uint64_t variant, uint32_t node)
{
	const uint64_t key = variant_key(m, variant);
	struct variant *set = m->variant[set_of_key(key)];
	unsigned i = 0;
	while (i < VARIANT_WAYS - 1 && set[i].key != key)
		i++;
	memmove(&set[1], &set[0], i * sizeof *set);
	set[0] = (struct variant){.key = key, .node = node};
	follow_variant(m, &set[0]);
}
