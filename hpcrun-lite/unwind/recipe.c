/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared table of recipes and its flush epoch; see recipe.h. Must not lock. Test:
 * tests/unit/unwind/test_unwind.c.
 */
#include "hpcrun-lite/unwind/recipe.h"
#include "hpcrun-lite/unwind/unwind.h"

_Alignas(64) struct recipe_entry recipe_table[RECIPE_SETS][RECIPE_WAYS];
_Atomic uint64_t recipe_delta[1 << 16];

#define GENERATION (UINT64_C(1) << 16)
/* Start at generation 1: with the tag of generation 0 an empty entry would decode to pc 0. */
_Atomic uint64_t recipe_epoch = GENERATION;

static bool fits(int64_t v, unsigned bits)
{
	return v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1);
}

bool recipe_make(enum recipe_kind kind, int64_t cfa_offset, enum recipe_bp bp, int64_t bp_offset,
		 uint64_t *recipe)
{
	enum { BP_WORDS_MAX = 1 << 19 };
	if (!fits(cfa_offset, 32 - ARCH_RETURN_BITS) || bp_offset % 8 != 0 ||
	    bp_offset / 8 >= BP_WORDS_MAX || bp_offset / 8 < -BP_WORDS_MAX)
		return false;
	*recipe = (uint64_t)kind | (uint64_t)bp << RECIPE_BP_SHIFT |
		  (uint32_t)((uint32_t)(int32_t)(bp_offset / 8) << RECIPE_BP_OFFSET_SHIFT) |
		  (uint64_t)cfa_offset << RECIPE_CFA_SHIFT;
	return recipe_set_return(recipe, -8);
}

bool recipe_set_return(uint64_t *recipe, int64_t offset)
{
	if (!ARCH_RETURN_BITS)
		return offset == -8;
	if (offset % 8 != 0 || !fits(offset / 8, ARCH_RETURN_BITS + !ARCH_RETURN_BITS))
		return false;
	*recipe = (*recipe << ARCH_RETURN_BITS >> ARCH_RETURN_BITS) |
		  (uint64_t)(offset / 8) << ((64 - ARCH_RETURN_BITS) & 63);
	return true;
}

bool recipe_make_reg(enum recipe_kind kind, const struct recipe_reg *cfa, enum recipe_bp bp,
		     int64_t bp_offset, uint64_t *recipe)
{
	enum {
		REG_MAX = 15,
		THEN_MASK = (1 << (RECIPE_REG_OFFSET_SHIFT - RECIPE_DEREF_SHIFT)) - 1
	};
	if (!recipe_make(kind, 0, bp, bp_offset, recipe) || cfa->reg > REG_MAX ||
	    !fits(cfa->offset, 64 - RECIPE_REG_OFFSET_SHIFT) ||
	    !fits(cfa->then, RECIPE_REG_OFFSET_SHIFT - RECIPE_DEREF_SHIFT))
		return false;
	*recipe |= (uint64_t)cfa->reg << RECIPE_REG_SHIFT |
		   ((uint64_t)cfa->then & THEN_MASK) << RECIPE_DEREF_SHIFT |
		   (uint64_t)cfa->offset << RECIPE_REG_OFFSET_SHIFT;
	return true;
}

void recipe_insert(uint64_t tag, uint64_t pc, uint16_t module, uint64_t bias, uint64_t recipe,
		   unsigned victim)
{
	struct recipe_entry *set = recipe_set(pc);
	unsigned way = victim % RECIPE_WAYS;
	for (unsigned i = 0; i < RECIPE_WAYS; i++) {
		if (atomic_load_explicit(&set[i].recipe, memory_order_relaxed) == RECIPE_NONE) {
			way = i;
			break;
		}
	}
	const uint64_t key = (pc & RECIPE_PC_MASK) | (uint64_t)module << 48;
	atomic_store_explicit(&recipe_delta[module], bias - ((uint64_t)module << 48),
			      memory_order_relaxed);
	/*
	 * Release: see recipe_find. A reader that sees only one of the two stores decodes another
	 * pc.
	 */
	atomic_store_explicit(&set[way].mixed, key ^ recipe_mix(recipe) ^ tag,
			      memory_order_release);
	atomic_store_explicit(&set[way].recipe, recipe, memory_order_release);
}

/*
 * Starts a new generation at both ends of the window. Inside the window no older entries are used.
 * After it, no entries from before or inside are used.
 */
void unwind_flush_begin(void)
{
	atomic_fetch_add_explicit(&recipe_epoch, GENERATION + 1, memory_order_acq_rel);
}

void unwind_flush_end(void)
{
	atomic_fetch_add_explicit(&recipe_epoch, GENERATION - 1, memory_order_acq_rel);
}

void unwind_after_fork(void)
{
	const uint64_t epoch = recipe_epoch_now();
	if (epoch & 0xffff) /* a thread of the parent was flushing */
		atomic_store_explicit(&recipe_epoch, (epoch & ~UINT64_C(0xffff)) + GENERATION,
				      memory_order_release);
}
