/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recipe says in 64 bits how to find the caller at one pc. All threads of the process share one
 * table of recipes.
 *
 * The table is lock-free. An entry is two words {w0 ^ mix(w1) ^ tag, w1} with w0 = pc48 | module16
 * and w1 = recipe. An entry that two writers tore, or that was written under another tag, decodes
 * to a pc that nobody looks up. The tag depends on the flush epoch, so a flush is one addition.
 * Signal-safe. Test: tests/unit/unwind/test_unwind.c.
 */
#ifndef HPCRUN_LITE_UNWIND_RECIPE_H
#define HPCRUN_LITE_UNWIND_RECIPE_H

#include "hpcrun-lite/unwind/cfi.h"

#include <stdatomic.h>

/* Bits 0..3: how to find the CFA, or why it cannot be found. */
enum recipe_kind {
	RECIPE_NONE,     /* an empty entry */
	RECIPE_SP,       /* CFA = sp + offset */
	RECIPE_BP,       /* CFA = bp + offset */
	RECIPE_DEREF_BP, /* CFA = *(bp + offset) */
	RECIPE_SIGNAL,   /* the kernel's signal frame at sp */
	RECIPE_ROOT,     /* no caller */
	RECIPE_SLOW,     /* needs other registers or an expression */
	RECIPE_NO_CFI,   /* in a module, but no CFI covers the pc */
	RECIPE_BAD,      /* damaged CFI */
	RECIPE_NO_MODULE,
	/* A Go function that go_step() handles; the bits of enum recipe_bp say how. */
	RECIPE_GO,
	RECIPE_REG,       /* CFA = register + offset; see recipe_make_reg() */
	RECIPE_DEREF_REG, /* CFA = *(register + offset) + another offset */
	/* An interrupted leaf: CFA = sp + offset, and the return address is still in its register.
	 */
	RECIPE_LEAF
};
/* Bits 4..5: where the caller's bp is. */
enum recipe_bp {
	RECIPE_BP_SAME,
	RECIPE_BP_AT_CFA,
	RECIPE_BP_AT_BP,
	RECIPE_BP_AT_SP /* in RECIPE_REG and RECIPE_DEREF_REG */
};

enum {
	RECIPE_KIND_MASK = 0xf,
	RECIPE_BP_SHIFT = 4,
	RECIPE_IN_TEXT = 1 << 6,    /* pc is in the executable part of a module, as far as known */
	RECIPE_SKIP = 1 << 7,       /* our own code: not in the path */
	RECIPE_AFTER_CALL = 1 << 8, /* the instruction that ends at pc + 1 is a call */
	RECIPE_AT_START = 1 << 9,   /* pc is the first address that its FDE covers */
	/*
	 * Bit 10: the function saves the registers that carry data to a landing pad, so it ends
	 * with __builtin_eh_return (_Unwind_RaiseException and others). Just before that, it
	 * overwrites its own saved registers and return address.
	 */
	RECIPE_REWRITES = 1 << 10,
	RECIPE_BY_CODE = 1 << 11,    /* from the instructions; there is no CFI */
	RECIPE_BP_OFFSET_SHIFT = 12, /* bits 12..31: signed, in words, from the CFA or from bp */
	/*
	 * Bits 32..63: signed, in bytes. If the processor puts the return address where the
	 * function likes, the highest ARCH_RETURN_BITS say where, signed, in words from the CFA.
	 */
	RECIPE_CFA_SHIFT = 32,
	/* RECIPE_REG and RECIPE_DEREF_REG: the register, and offsets in bytes */
	RECIPE_REG_SHIFT = 32,   /* bits 32..35 */
	RECIPE_DEREF_SHIFT = 36, /* bits 36..45: added to what was read; 0 in RECIPE_REG */
	RECIPE_REG_OFFSET_SHIFT = 46,
};

static inline enum recipe_kind recipe_kind(uint64_t recipe)
{
	return (enum recipe_kind)(recipe & RECIPE_KIND_MASK);
}
static inline enum recipe_bp recipe_bp(uint64_t recipe)
{
	return (enum recipe_bp)(recipe >> RECIPE_BP_SHIFT & 3);
}
static inline int64_t recipe_cfa_offset(uint64_t recipe)
{
	return (int64_t)(recipe << ARCH_RETURN_BITS) >> (RECIPE_CFA_SHIFT + ARCH_RETURN_BITS);
}
/* Where the return address is, from the CFA. */
static inline int64_t recipe_return_offset(uint64_t recipe)
{
	return ARCH_RETURN_BITS ? ((int64_t)recipe >> ((64 - ARCH_RETURN_BITS) & 63)) * 8 : -8;
}
static inline int64_t recipe_bp_offset(uint64_t recipe)
{
	return ((int64_t)(int32_t)(uint32_t)recipe >> RECIPE_BP_OFFSET_SHIFT) * 8;
}

/* Encodes a recipe. Returns false if an offset does not fit. The return address is below the CFA.
 */
bool recipe_make(enum recipe_kind kind, int64_t cfa_offset, enum recipe_bp bp, int64_t bp_offset,
		 uint64_t *recipe);

/* Sets where the return address is. Returns false if that does not fit. */
bool recipe_set_return(uint64_t *recipe, int64_t offset);

/* How to find the CFA from a register (DWARF number) other than sp and bp. */
struct recipe_reg {
	unsigned reg;
	int64_t offset, then; /* RECIPE_REG: `then` is 0 */
};
/* The same for RECIPE_REG and RECIPE_DEREF_REG. */
bool recipe_make_reg(enum recipe_kind kind, const struct recipe_reg *cfa, enum recipe_bp bp,
		     int64_t bp_offset, uint64_t *recipe);

static inline struct recipe_reg recipe_reg(uint64_t recipe)
{
	return (struct recipe_reg){
		.reg = recipe >> RECIPE_REG_SHIFT & 15,
		.offset = (int64_t)recipe >> RECIPE_REG_OFFSET_SHIFT,
		.then = (int64_t)(recipe << (64 - RECIPE_REG_OFFSET_SHIFT)) >>
			(64 - RECIPE_REG_OFFSET_SHIFT + RECIPE_DEREF_SHIFT),
	};
}

enum { RECIPE_SETS = 4096, RECIPE_WAYS = 4 }; /* 256 KiB; pages are touched as they fill */

struct recipe_entry {
	_Atomic uint64_t mixed, recipe;
};

extern struct recipe_entry recipe_table[RECIPE_SETS][RECIPE_WAYS];
/* By module id: load bias - (id << 48), so that packed address = pc - delta. */
extern _Atomic uint64_t recipe_delta[1 << 16];

#define RECIPE_PC_MASK ((UINT64_C(1) << 48) - 1)

static inline uint64_t recipe_mix(uint64_t recipe)
{
	return recipe * UINT64_C(0x9e3779b97f4a7c15);
}
static inline struct recipe_entry *recipe_set(uint64_t pc)
{
	return recipe_table[(pc * UINT64_C(0xd6e8feb86659fd93)) >> 52];
}

/*
 * Looks pc up and sets *recipe and *delta on a hit. Acquire pairs with the release in
 * recipe_insert: a reader that sees an entry also sees the delta of its module. (Both are plain
 * loads on x86-64.)
 */
static inline bool recipe_find(uint64_t tag, uint64_t pc, uint64_t *recipe, uint64_t *delta)
{
	struct recipe_entry *set = recipe_set(pc);
	for (unsigned i = 0; i < RECIPE_WAYS; i++) {
		const uint64_t mixed = atomic_load_explicit(&set[i].mixed, memory_order_acquire);
		const uint64_t found = atomic_load_explicit(&set[i].recipe, memory_order_acquire);
		const uint64_t key = mixed ^ recipe_mix(found) ^ tag;
		if ((key & RECIPE_PC_MASK) == pc && found != RECIPE_NONE) {
			*recipe = found;
			*delta = atomic_load_explicit(
				&recipe_delta[key >> 48], memory_order_relaxed);
			return true;
		}
	}
	return false;
}

/* `victim` selects the way to replace if none is empty. */
void recipe_insert(uint64_t tag, uint64_t pc, uint16_t module, uint64_t bias, uint64_t recipe,
		   unsigned victim);

/* The flush epoch: the low 16 bits count the open windows; the generation is above them. */
extern _Atomic uint64_t recipe_epoch;

static inline uint64_t recipe_epoch_now(void)
{
	return atomic_load_explicit(&recipe_epoch, memory_order_acquire);
}
static inline bool recipe_epoch_is_open(uint64_t epoch)
{
	return (epoch & 0xffff) != 0;
}
static inline uint64_t recipe_tag(uint64_t epoch)
{
	return (epoch >> 16) * UINT64_C(0xc2b2ae3d27d4eb4f);
}

#endif
