/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See torch_table.h. A slot has a sequence number, which is odd while the slot is written. Readers
 * copy the slot and then check that the number is the same. Must not wait. Test:
 * tests/cli/python/python_modules.sh.
 */
#include "hpcrun-lite/python/torch_table.h"

#include <stdatomic.h>
#include <string.h>

enum { SETS = 1024, WAYS = TORCH_SLOT_WAYS };

struct torch_slot {
	_Atomic uint32_t sequence; /* odd: being written */
	_Atomic uint32_t n_uses, n_same; /* n_same: since it was written */
	struct torch_found found;
};

/* What the slots of a set are for, apart from them, because a search looks at all of a set. */
struct names {
	_Alignas(64) _Atomic uintptr_t module[WAYS];
	_Atomic uintptr_t outer[WAYS];
};

static struct {
	struct names names[SETS];
	struct torch_slot slot[SETS][WAYS];
	_Atomic uint32_t n_written; /* selects the slot to replace */
	_Atomic uint32_t epoch;
} table;

static unsigned set_of(uintptr_t module)
{
	return (unsigned)(module * UINT64_C(0x9E3779B97F4A7C15) >> 54);
}
_Static_assert(SETS == 1 << 10, "set_of takes 10 bits");

static bool is_for(const struct torch_slot *s, uintptr_t module, uintptr_t outer)
{
	const unsigned i = (unsigned)(s - table.slot[0]);
	struct names *n = &table.names[i / WAYS];
	return atomic_load_explicit(&n->module[i % WAYS], memory_order_relaxed) == module &&
	       atomic_load_explicit(&n->outer[i % WAYS], memory_order_relaxed) == outer;
}

static bool read_slot(struct torch_slot *s, uintptr_t module, uintptr_t outer,
		      struct torch_found *f, bool own)
{
	/* acquire: the content was written before */
	const uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire),
		       n = own && s->found.n_own < s->found.words.n ? s->found.n_own
								    : s->found.words.n;
	if (!is_for(s, module, outer) || sequence & 1 || n > OBJECT_WORDS)
		return false;
	f->number = s->found.number;
	f->parent_number = s->found.parent_number;
	f->n_own = s->found.n_own;
	f->is_below = s->found.is_below;
	f->n_same = atomic_load_explicit(&s->n_same, memory_order_relaxed);
	f->words.n = n;
	memcpy(f->words.word, s->found.words.word, n * sizeof *f->words.word);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&s->sequence, memory_order_relaxed) == sequence &&
	       is_for(s, module, outer);
}

bool torch_slot_read(struct torch_slot *s, uintptr_t module, uintptr_t outer, struct torch_found *f)
{
	return read_slot(s, module, outer, f, false);
}

bool torch_slot_read_own(struct torch_slot *s, uintptr_t module, uintptr_t outer,
			 struct torch_found *f)
{
	return read_slot(s, module, outer, f, true);
}

struct torch_slot *torch_slot_find(uintptr_t module, uintptr_t outer)
{
	struct torch_slot *set = table.slot[set_of(module)];
	for (unsigned i = 0; i < WAYS; i++)
		if (is_for(&set[i], module, outer))
			return &set[i];
	return NULL;
}

void torch_slot_write(uintptr_t module, uintptr_t outer, const struct torch_found *f)
{
	struct torch_slot *s = torch_slot_find(module, outer);
	const bool is_again = s;
	if (is_again && s->found.number != f->number)
		atomic_fetch_add_explicit(&table.epoch, 1, memory_order_relaxed);
	if (!is_again)
		s = &table.slot[set_of(module)][atomic_fetch_add_explicit(&table.n_written, 1,
									  memory_order_relaxed) %
						WAYS];
	uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);
	if (sequence & 1 ||
	    !atomic_compare_exchange_strong_explicit(&s->sequence, &sequence, sequence + 1,
						     memory_order_acquire, memory_order_relaxed))
		return;
	atomic_thread_fence(memory_order_release);
	const unsigned i = (unsigned)(s - table.slot[0]);
	struct names *names = &table.names[i / WAYS];
	atomic_store_explicit(&names->module[i % WAYS], module, memory_order_relaxed);
	atomic_store_explicit(&names->outer[i % WAYS], outer, memory_order_relaxed);
	if (!is_again)
		atomic_store_explicit(&s->n_uses, 0, memory_order_relaxed);
	atomic_store_explicit(&s->n_same, 0, memory_order_relaxed);
	s->found.number = f->number;
	s->found.parent_number = f->parent_number;
	s->found.n_own = f->n_own;
	s->found.is_below = f->is_below;
	s->found.words.n = f->words.n;
	memcpy(s->found.words.word, f->words.word, f->words.n * sizeof *f->words.word);
	atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

void torch_forget(void)
{
	if (!atomic_load_explicit(&table.n_written, memory_order_relaxed))
		return;
	for (unsigned i = 0; i < SETS * WAYS; i++) {
		_Atomic uintptr_t *module = &table.names[i / WAYS].module[i % WAYS];
		if (atomic_load_explicit(module, memory_order_relaxed)) {
			atomic_store_explicit(module, 0, memory_order_relaxed);
			atomic_store_explicit(&table.slot[i / WAYS][i % WAYS].sequence, 0,
					      memory_order_relaxed);
		}
	}
	atomic_store_explicit(&table.n_written, 0, memory_order_relaxed);
}

uint32_t torch_slot_use(struct torch_slot *s)
{
	atomic_fetch_add_explicit(&s->n_same, 1, memory_order_relaxed);
	return 1 + atomic_fetch_add_explicit(&s->n_uses, 1, memory_order_relaxed);
}

uint32_t torch_slot_epoch(void)
{
	return atomic_load_explicit(&table.epoch, memory_order_relaxed);
}

uintptr_t torch_slot_outer(uintptr_t module, uint32_t i)
{
	return atomic_load_explicit(&table.names[set_of(module)].outer[i], memory_order_relaxed);
}
