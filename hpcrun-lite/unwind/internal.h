/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a thread and of one walk, shared by the parts of the unwinder: walk.c (fast path),
 * step.c (slow path), heuristic.c, deep.c. Signal-safe.
 */
#ifndef HPCRUN_LITE_UNWIND_INTERNAL_H
#define HPCRUN_LITE_UNWIND_INTERNAL_H

#include "hpcrun-lite/unwind/arch.h"
#include "hpcrun-lite/unwind/code/code_lines.h"
#include "hpcrun-lite/unwind/code/generated.h"
#include "hpcrun-lite/unwind/code/leave.h"
#include "hpcrun-lite/unwind/unwind_image.h"
#include "hpcrun-lite/unwind/mem.h"
#include "hpcrun-lite/unwind/proof.h"
#include "hpcrun-lite/unwind/recipe.h"
#include "hpcrun-lite/unwind/regs.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <string.h>

/* These values determine all frames further out, as long as no frame needs another register. */
struct state {
	uint64_t pc, sp, bp;
	bool exact; /* pc is the current instruction, not a return address */
};

/* The pc to look up. A return address may be past the end of its function. */
static inline uint64_t state_key(const struct state *s)
{
	return s->pc - !s->exact;
}

/*
 * How the caller's state was found, so that the next walk can confirm it by reading the same
 * memory.
 */
enum record_kind {
	RECORD_PLAIN,  /* pc from record_return_slot(), bp from *bp_slot */
	RECORD_DEREF,  /* and sp from *(bp + aux) */
	RECORD_SIGNAL, /* from the signal frame at sp */
	RECORD_OPEN,   /* found in another way: must be walked again */
};

struct record {
	uint64_t pc, sp, bp;
	/* where the caller's bp was read, or the return address's slot if bp is unchanged */
	uint64_t bp_slot;
	int32_t aux;      /* with ARCH_RETURN_BITS: of the return address, from the caller's sp */
	uint16_t n_outer; /* number of addresses of the path from this frame outwards */
	uint8_t kind;
	bool exact : 1;
	bool skipped : 1; /* has no address in the path */
	bool marked : 1;
	/* its start address was put on the stack as a return address; nothing called it */
	bool laid : 1;
	bool by_code : 1; /* its caller was found by RECIPE_BY_CODE */
	bool signal : 1;  /* the kernel's signal frame is at sp */
};

/* Where the pc of the caller n of r was read. */
static inline uint64_t record_return_slot(const struct record *r, const struct record *n)
{
	return n->sp + (ARCH_RETURN_BITS ? (uint64_t)(int64_t)r->aux : (uint64_t)-8);
}

/*
 * Returns true if r's caller is still n, because the words that made n are unchanged. r must not be
 * RECORD_OPEN, so all these words are readable.
 */
static inline bool record_still_calls(const struct record *r, const struct record *n)
{
	const uint64_t ra_slot = record_return_slot(r, n);
	uint64_t pc, bp, sp;
	if (__builtin_expect(r->kind == RECORD_SIGNAL, 0)) {
		memcpy(&pc, (const void *)(r->sp + ARCH_SIGNAL_PC), sizeof pc);
		memcpy(&sp, (const void *)(r->sp + ARCH_SIGNAL_SP), sizeof sp);
		memcpy(&bp, (const void *)(r->sp + ARCH_SIGNAL_BP), sizeof bp);
		return pc == n->pc && sp == n->sp && bp == n->bp;
	}
	memcpy(&pc, (const void *)ra_slot, sizeof pc);
	memcpy(&bp, (const void *)r->bp_slot, sizeof bp);
	if (r->kind == RECORD_DEREF) {
		memcpy(&sp, (const void *)(r->bp + (uint64_t)(int64_t)r->aux), sizeof sp);
		if (sp != n->sp)
			return false;
	}
	return arch_strip(pc) == n->pc && ((bp == n->bp) | (r->bp_slot == ra_slot));
}

/* The function that contains a pc, or the gap between functions with tables. */
struct extent {
	uint64_t lo, hi;
	uint64_t calls;     /* of a caller: the target of its call, if known; else 0 */
	const void *module; /* the module, or NULL */
	bool in_module, is_function;
};
enum { EXTENTS = 16 };

/*
 * Of a path with more than max_depth frames we keep the innermost DEEP_WINDOW addresses and the
 * outermost frames, up to main or to the thread's function.
 */
enum { DEEP_WINDOW = 128, DEEP_ROOTS = 4, DEEP_LEAST = 1024 /* of max_depth */ };
struct deep {
	struct record root[DEEP_ROOTS]; /* inner first */
	uint64_t address[DEEP_ROOTS];
	uint32_t n_addresses;
	bool has_roots, has_failed;
	/*
	 * A stack with this many bytes in use may hold more than max_depth frames; 0: not seen yet.
	 */
	uint64_t least_bytes;
};

/*
 * A thread starts with arrays for this many frames, directly behind its state. The first deeper
 * path moves it to arrays of full_depth. So a thread that is sampled only a few times touches few
 * pages.
 */
enum { UNWIND_FEW = 16 };

struct unwind_thread {
	/*
	 * Scratch memory; few walks need most of it. The fields that every walk needs come after
	 * it.
	 */
	uint64_t expr_stack[EXPR_STACK_MAX];
	struct cfi_work cfi;
	struct leave_work leave;
	struct generated generated;
	uint8_t code[384];
	struct code code_seen;
	struct mem mem;
	struct unwind_stack stack;
	uint32_t max_depth, full_depth;
	void *full; /* zeroed memory for the arrays of full_depth; NULL: they are in use */
	struct unwind_counts counts;
	/*
	 * Arrays of 2 * max_depth. The first half holds the frames of the current walk, leaf first.
	 * The previous path is at the very end, so that its outermost frames stay in place when
	 * inner frames come and go.
	 */
	struct record *records;
	uint64_t *addresses;
	/* parallel to records, for the outermost n_proven of the previous path */
	struct proof_slots *slots;
	uint64_t *proof;                 /* their proof sums */
	uint32_t n_records, n_addresses; /* of the previous path */
	uint32_t n_proven;
	uint64_t epoch;                  /* of the previous walk */
	enum unwind_end end;
	bool closed; /* the last record is a root by its pc alone */
	struct deep deep;
	struct regs leaf;
	struct regs regs; /* of frame regs_at of the current walk */
	struct regs next;
	uint32_t regs_at;
	struct image image;
	/* What the tables of modules said in this walk or an earlier one of the same epoch. */
	struct extent extents[EXTENTS];
	uint32_t n_extents; /* number ever added */
};

/* Gives the thread arrays of 2 * max_depth in zeroed memory. */
void unwind_take_arrays(struct unwind_thread *t, void *memory, uint32_t max_depth);

struct walk {
	struct unwind_thread *thread;
	struct state state;
	uint64_t epoch, tag;
	uint32_t n_records, n_addresses; /* new ones */
	uint32_t old; /* in the previous path: the first record that may still match */
	uint32_t most;                   /* records of this walk */
	uint32_t n_tail;                 /* records of the previous path that end this one */
	uint32_t n_switches;             /* steps in which sp did not go up */
	bool bypass;                     /* a flush window is open, or the loader deletes */
	bool moves;                      /* a pc was in an object that comes or goes */
	bool heuristic;
	bool laid;
	bool mark;   /* the state is a guess */
	/* registers other than pc and sp may be those of another frame */
	bool lost_registers;
	bool by_bp;  /* found by a frame pointer, so its pc need not follow a call */
	bool closed; /* the last record is a root by its pc alone */
};

enum step_status { STEP_OK, STEP_ROOT, STEP_NO_MODULE, STEP_NO_CFI, STEP_BAD_CFI, STEP_UNREADABLE };

/*
 * Steps from the last record of `w` to its caller by CFI, with all registers. First carries the
 * registers outwards from the leaf or from the nearest signal frame. Sets *next on STEP_OK.
 */
enum step_status step_slow(struct walk *w, struct state *next);

/* The same by RECIPE_REG and RECIPE_DEREF_REG. */
enum step_status step_code(struct walk *w, uint64_t recipe, struct state *next);

/* The caller of an interrupted function by RECIPE_LEAF. */
enum step_status step_leaf(struct walk *w, uint64_t recipe, struct state *next);

/*
 * One step with thread->regs, for tests and step_slow. *exact describes the frame at the call, and
 * its caller afterwards.
 */
enum step_status step_regs(struct unwind_thread *t, bool *exact);

/*
 * The caller of `s` where the stack was switched or the function was interrupted (RECIPE_GO).
 * Returns false if the records of the Go run time are inconsistent.
 */
bool go_step(struct walk *w, uint64_t recipe, const struct state *s, struct state *next);

/* The bits of enum recipe_bp in a RECIPE_GO. */
enum { GO_STEP_INTERRUPTED, GO_STEP_ASMCGOCALL, GO_STEP_SYSTEMSTACK, GO_STEP_MORESTACK };

/*
 * The caller of `s` in code without CFI, or with wrong CFI, by its frame pointer or by a search.
 * is_guess: mark it. bp_slot and return_slot: where the caller's bp and pc were read; bp_slot is 0:
 * cannot confirm it this way. Returns false if nothing is plausible.
 */
struct heuristic {
	struct state next;
	uint64_t bp_slot, return_slot;
	bool is_guess;
};
bool heuristic_step(struct walk *w, const struct state *s, struct heuristic *found);

/*
 * Computes a recipe from the tables of the module and stores it, unless a flush is open. Does not
 * store recipes of code outside modules, because other code may be loaded there at any time.
 */
uint64_t walk_compute_recipe(struct walk *w, uint64_t key, uint64_t *delta);

/*
 * Returns the recipe of generated code at `s`, found by following the code to its return;
 * RECIPE_NO_MODULE if that fails. Such recipes are not stored in the table.
 */
uint64_t walk_generated_recipe(struct walk *w, const struct state *s);

/*
 * Follows the frames from w->state. The returned end is that of the whole path, with the previous
 * path's tail if w->n_tail is not 0.
 */
enum unwind_end walk_follow(struct walk *w);

/* A recipe from the table or from CFI; *delta: packed address = pc - delta. */
uint64_t walk_find_recipe(struct walk *w, uint64_t key, uint64_t *delta);
/*
 * The caller by any recipe that refers to memory. Fills `r` so that it can be confirmed if
 * possible.
 */
bool walk_step_general(struct mem *mem, uint64_t recipe, struct record *r, struct state *s);

/*
 * Runs image_find() into w->thread->image, unless that is already the image of the same segment.
 * `guarded` is as in image_find().
 */
bool walk_find_image(struct walk *w, uint64_t pc, bool guarded);

/*
 * Returns true if a call instruction ends right before the address. *in_text: it is in the
 * executable part of a module. `guarded`: the address is a guess and its module may be about to
 * disappear, so read nothing of it directly.
 */
bool heuristic_is_return(struct walk *w, uint64_t address, bool guarded, bool *in_text);

/*
 * Corrects the caller of r, a function that ends with __builtin_eh_return (`key`: its pc), if
 * libgcc has started to overwrite the saved registers. Then w->lost_registers is set. Returns false
 * if the caller is not found.
 */
bool throw_step(struct walk *w, struct record *r, uint64_t key);

/* The parameters of unwind_init. */
extern struct unwind_config unwind_config;

#endif
