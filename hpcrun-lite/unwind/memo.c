/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See memo.h. Entries are replaced in the order in which they were made. Each entry is in two
 * lists, the newest first. One list is by stack pointer and tag, for calls that come in another
 * order than before. The other is by stack pointer and node, so that a walk that found nothing new
 * makes no second entry.
 *
 * A replaced entry stays in its old lists, but its links are those of its new lists. All entries
 * behind it in an old list were older and are replaced already, so nothing is lost. A search may
 * meet any entry, because it checks each one and its length is bounded. Test:
 * tests/unit/unwind/test_unwind_memo.c.
 */
#include "hpcrun-lite/unwind/memo.h"

#include "hpcrun-lite/unwind/internal.h"

enum { BY_TAG, BY_NODE, ORDERS };
enum { LISTS_BITS = 10, LISTS = 1 << LISTS_BITS, SEARCH_MOST = 16, AT_ONCE = 8 };

/* The number of an entry is its index + 1; 0: none. */
struct entry {
	uint64_t pc, sp, bp, tag, epoch;
	struct unwind_memo_value value;
	uint16_t n_words; /* a multiple of AT_ONCE; 0: the entry is empty */
	uint16_t next;    /* number of the entry that was found after this one */
	uint16_t older[ORDERS]; /* the next number in the list */
	bool needs_bp;
	uint32_t below[UNWIND_MEMO_WORDS]; /* distances of the words from the end of the stack */
	uint64_t word[UNWIND_MEMO_WORDS];
};

struct unwind_memo {
	uint16_t last;   /* number of the entry that was found or made last */
	uint16_t victim; /* index of the entry to fill next */
	uint16_t newest[ORDERS][LISTS];
	struct entry entry[UNWIND_MEMO_ENTRIES];
};

_Static_assert(UNWIND_MEMO_WORDS % AT_ONCE == 0, "words are compared AT_ONCE");

size_t unwind_memo_bytes(void)
{
	return sizeof(struct unwind_memo);
}

/* `key`: the tag or the node. */
static uint16_t *list_of(struct unwind_memo *m, unsigned order, uint64_t sp, uint64_t key)
{
	const uint64_t both = sp ^ key * UINT64_C(0xd6e8feb86659fd93);
	return &m->newest[order][(both * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - LISTS_BITS)];
}

/* All words are between the current stack pointer and the end of the stack, so they are mapped. */
static bool has_words(const struct entry *e, uint64_t stack_end)
{
	for (uint32_t i = 0; i < e->n_words; i += AT_ONCE) {
		uint64_t differs = 0;
		for (uint32_t k = i; k < i + AT_ONCE; k++) {
			uint64_t now;
			__builtin_memcpy(&now, (const void *)(stack_end - e->below[k]), sizeof now);
			differs |= now ^ e->word[k];
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

static bool holds(const struct entry *e, const struct start *s)
{
	return e->n_words && e->sp == s->sp && e->pc == s->pc && e->tag == s->tag &&
	       e->epoch == s->epoch && (!e->needs_bp || e->bp == s->bp) &&
	       has_words(e, s->stack_end);
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
	const uint16_t next = m->last ? m->entry[m->last - 1].next : 0;
	if (next && holds(&m->entry[next - 1], s))
		return next;
	uint16_t at = *list_of(m, BY_TAG, s->sp, s->tag);
	for (unsigned i = 0; i < SEARCH_MOST && at; i++, at = m->entry[at - 1].older[BY_TAG])
		if (holds(&m->entry[at - 1], s))
			return at;
	return 0;
}

static void follow_last(struct unwind_memo *m, uint16_t number)
{
	if (m->last)
		m->entry[m->last - 1].next = number;
	m->last = number;
}

/*
 * Prefetches the entry of the next call. With some hundred entries in use, it is not in a near
 * cache. Its path is about as deep as this one.
 */
static void fetch_next(const struct unwind_memo *m, const struct entry *last)
{
	enum { LINE = 64 };
	if (!last->next)
		return;
	const struct entry *e = &m->entry[last->next - 1];
	const uint32_t n = last->n_words;
	__builtin_prefetch(e);
	for (uint32_t i = 0; i < n; i += LINE / sizeof *e->below)
		__builtin_prefetch(&e->below[i]);
	for (uint32_t i = 0; i < n; i += LINE / sizeof *e->word)
		__builtin_prefetch(&e->word[i]);
}

const struct unwind_memo_value *unwind_memo_find(struct unwind_memo *m,
						 const struct unwind_thread *t,
						 const struct unwind_regs *regs, uint64_t tag)
{
	const struct start s = start_at(t, regs, tag);
	const uint16_t number = recipe_epoch_is_open(s.epoch) ? 0 : find(m, &s);
	if (!number)
		return NULL;
	follow_last(m, number);
	fetch_next(m, &m->entry[number - 1]);
	return &m->entry[number - 1].value;
}

/* ---- making an entry ---- */

static bool add_word(struct entry *e, const struct start *s, uint32_t *n, uint64_t at,
		     uint64_t word)
{
	if (*n == UNWIND_MEMO_WORDS || at < s->sp || at > s->stack_end - sizeof word ||
	    s->stack_end - at > UINT32_MAX)
		return false;
	e->below[*n] = (uint32_t)(s->stack_end - at);
	e->word[*n] = word;
	++*n;
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
static bool add_frame(struct entry *e, const struct start *s, uint32_t *n, const struct record *r,
		      uint64_t recipe, bool *needs_bp)
{
	const struct record *caller = r + 1;
	const uint64_t pc_at = caller->sp - 8;
	if (!is_by_recipe(r, recipe))
		return false;
	const enum recipe_kind kind = recipe_kind(recipe);
	bool uses_bp = kind != RECIPE_SP;
	if (*needs_bp && recipe_bp(recipe) == RECIPE_BP_SAME)
		uses_bp = true;
	else if (*needs_bp) {
		uses_bp = uses_bp || recipe_bp(recipe) == RECIPE_BP_AT_BP;
		if (!add_word(e, s, n, r->bp_slot, caller->bp))
			return false;
	}
	*needs_bp = uses_bp;
	return (kind != RECIPE_DEREF_BP ||
		add_word(e, s, n, r->bp + (uint64_t)recipe_cfa_offset(recipe), caller->sp)) &&
	       add_word(e, s, n, pc_at, caller->pc);
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
 * Fills in the words, from the outermost frame inwards. Returns their number; 0: the path cannot be
 * remembered.
 */
static uint32_t add_frames(struct entry *e, struct unwind_thread *t, const struct start *s)
{
	const struct record *r = t->records + 2 * (size_t)t->max_depth - t->n_records;
	uint32_t n = 0;
	bool needs_bp = false; /* the root is known by its pc alone */
	if (!t->closed || t->end != UNWIND_ROOT || t->epoch != s->epoch || t->n_records < 2 ||
	    r->pc != s->pc || r->sp != s->sp || r->bp != s->bp || !r->exact ||
	    !may_have_words(r, t->n_records - 1))
		return 0;
	for (uint32_t i = t->n_records - 1; i-- > 0;)
		if (!add_frame(e, s, &n, &r[i], recipe_of(t, s, &r[i]), &needs_bp))
			return 0;
	e->needs_bp = needs_bp;
	for (; n % AT_ONCE; n++) {
		e->below[n] = e->below[0];
		e->word[n] = e->word[0];
	}
	return n;
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
		if (m->entry[at - 1].value.node == node && holds(&m->entry[at - 1], s))
			return at;
	return 0;
}

/* Replaces an entry. Returns false if the path cannot be remembered; then it is empty. */
static bool fill(struct entry *e, struct unwind_thread *t, const struct start *s,
		 const struct unwind_memo_value *value)
{
	e->n_words = 0;
	atomic_signal_fence(memory_order_seq_cst); /* after a longjmp the entry is empty */
	const uint32_t n_words = add_frames(e, t, s);
	e->pc = s->pc;
	e->sp = s->sp;
	e->bp = s->bp;
	e->tag = s->tag;
	e->epoch = s->epoch;
	e->value = *value;
	e->next = 0;
	atomic_signal_fence(memory_order_seq_cst);
	e->n_words = (uint16_t)n_words;
	return n_words != 0;
}

bool unwind_memo_keep(struct unwind_memo *m, struct unwind_thread *t,
		      const struct unwind_regs *regs, uint64_t tag,
		      const struct unwind_memo_value *value)
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
	if (!fill(&m->entry[index], t, &s, value))
		return false;
	m->victim = (index + 1) % UNWIND_MEMO_ENTRIES;
	/* after a longjmp the other entries are still in order */
	atomic_signal_fence(memory_order_seq_cst);
	link_entry(m, index);
	follow_last(m, index + 1);
	return true;
}
