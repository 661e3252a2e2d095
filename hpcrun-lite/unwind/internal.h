/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a thread and of one walk, shared by the parts of the unwinder: walk.c (fast way), step.c (slow way), heuristic.c. Signal-safe. */
#ifndef HPCRUN_LITE_UNWIND_INTERNAL_H
#define HPCRUN_LITE_UNWIND_INTERNAL_H

#include "hpcrun-lite/unwind/arch.h"
#include "hpcrun-lite/unwind/code_lines.h"
#include "hpcrun-lite/unwind/unwind_image.h"
#include "hpcrun-lite/unwind/mem.h"
#include "hpcrun-lite/unwind/proof.h"
#include "hpcrun-lite/unwind/recipe.h"
#include "hpcrun-lite/unwind/regs.h"
#include "hpcrun-lite/unwind/unwind.h"

/* What determines all frames further out, as long as no other register is needed. */
struct state {
	uint64_t pc, sp, bp;
	bool exact; /* pc is where execution stands, not a return address */
};

/* The pc to look up: a return address may lie behind the end of its function. */
static inline uint64_t state_key(const struct state *s)
{
	return s->pc - !s->exact;
}

/* How the caller's state was made, so that it can be confirmed in the next walk by looking at the same memory. */
enum record_kind {
	RECORD_PLAIN,  /* pc from *(caller's sp - 8), bp from *bp_slot */
	RECORD_DEREF,  /* and sp from *(bp + aux) */
	RECORD_SIGNAL, /* from the signal frame at sp */
	RECORD_OPEN,   /* otherwise: it has to be walked again */
};

struct record {
	uint64_t pc, sp, bp;
	uint64_t bp_slot; /* where the caller's bp was read; the return address's slot if bp is the same */
	int32_t aux;
	uint16_t n_outer; /* addresses of the path from this frame outwards */
	uint8_t kind;
	bool exact : 1;
	bool skipped : 1; /* without an address */
	bool marked : 1;
	bool laid : 1; /* its start was laid down as a return address: nobody called it */
};

/* The function that holds a pc, or the stretch without tables that does. */
struct extent {
	uint64_t lo, hi;
	uint64_t calls; /* of a caller: where its call goes, if that is known; else 0 */
	const void *module; /* that it lies in, or NULL */
	bool in_module, is_function;
};
enum { EXTENTS = 16 };

struct unwind_thread {
	struct mem mem;
	struct code code_seen;
	struct unwind_stack stack;
	uint32_t max_depth;
	struct unwind_counts counts;
	/*
	 * Arrays of 2 * max_depth. The first half holds the frames of the walk under way, leaf first; the previous path ends at the very end, so that its outermost
	 * frames stay in place however many inner ones come and go.
	 */
	struct record *records;
	uint64_t *addresses;
	struct proof_slots *slots; /* as records, for the outermost n_proven of the previous path */
	uint64_t *proof;           /* the sums of what they held */
	uint32_t n_records, n_addresses; /* of the previous path */
	uint32_t n_proven;
	uint64_t epoch;                  /* of the previous walk */
	enum unwind_end end;
	bool closed; /* the last record is a root by its pc alone */
	/* Scratch. */
	struct regs leaf;
	struct regs regs; /* of the frame regs_at of the walk under way */
	struct regs next;
	uint32_t regs_at;
	uint64_t expr_stack[EXPR_STACK_MAX];
	struct cfi_work cfi;
	struct image image;
	uint8_t code[384];
	/* Of modules, what the tables said in this or an earlier walk of the same epoch. */
	struct extent extents[EXTENTS];
	uint32_t n_extents; /* ever put there */
};

struct walk {
	struct unwind_thread *thread;
	struct state state;
	uint64_t epoch, tag;
	uint32_t n_records, n_addresses; /* new ones */
	uint32_t old;                    /* in the previous path: the first record that may still match */
	uint32_t n_tail;                 /* records of the previous path that end this one */
	uint32_t n_switches;             /* times sp did not go up */
	bool bypass;                     /* a flush window is open */
	bool heuristic;
	bool laid;
	bool mark;   /* the state is a guess */
	bool by_bp;  /* the state was found by a frame pointer: a call need not precede its pc */
	bool closed; /* the last record is a root by its pc alone */
};

enum step_status { STEP_OK, STEP_ROOT, STEP_NO_MODULE, STEP_NO_CFI, STEP_BAD_CFI, STEP_UNREADABLE };

/*
 * From the last of w's records to its caller by CFI with all registers: those of the leaf or the nearest signal frame are carried outwards first.
 * On STEP_OK *next is set.
 */
enum step_status step_slow(struct walk *w, struct state *next);

/* One step with thread->regs; for tests and step_slow. `exact` of the frame, then of its caller. */
enum step_status step_regs(struct unwind_thread *t, bool *exact);

/* The caller of s where the stack was switched, or the function was interrupted (RECIPE_GO). False:
 * the run time's records make no sense. */
bool go_step(struct walk *w, uint64_t recipe, const struct state *s, struct state *next);

/* The bits of enum recipe_bp of RECIPE_GO. */
enum { GO_STEP_INTERRUPTED, GO_STEP_ASMCGOCALL, GO_STEP_SYSTEMSTACK, GO_STEP_MORESTACK };

/*
 * The caller of s, in code without CFI or with a wrong one, by its frame pointer or by a search.
 * *is_guess: it is marked. `bp_slot`: where the caller's bp was read; 0: it is not to be confirmed
 * by that. False: nothing plausible.
 */
struct heuristic {
	struct state next;
	uint64_t bp_slot;
	bool is_guess;
};
bool heuristic_step(struct walk *w, const struct state *s, struct heuristic *found);

/*
 * From the module's tables, and into the table of recipes unless a flush is going on. What lies in
 * no module is not kept: code may be loaded there any time.
 */
uint64_t walk_compute_recipe(struct walk *w, uint64_t key, uint64_t *delta);

/* A recipe from the table or from CFI; *delta: packed address = pc - delta. */
uint64_t walk_find_recipe(struct walk *w, uint64_t key, uint64_t *delta);
/* The caller by any recipe that names memory; fills r so that it can be confirmed where possible.
 */
bool walk_step_general(struct mem *mem, uint64_t recipe, struct record *r, struct state *s);

/*
 * image_find() into w->thread->image, which is left as it is if it is that of the same segment.
 * `guarded` as there.
 */
bool walk_find_image(struct walk *w, uint64_t pc, bool guarded);

/*
 * Whether a call instruction ends right before the address. *in_text: it lies in the executable part of a module. `guarded`: the address is a guess, and a module may
 * be vanishing, so nothing of it is read directly.
 */
bool heuristic_is_return(struct walk *w, uint64_t address, bool guarded, bool *in_text);

/*
 * For a frame at pc whose function ends by __builtin_eh_return: is it past the point where libgcc's uw_install_context_1 overwrites this very frame's saved registers
 * with those of the landing pad's frame?
 */
enum rewriting {
	REWRITING_NOT,
	REWRITING_REGISTERS, /* it may be, but the return address, which goes last, is still its own (or it is not clear) */
	REWRITING_NOW
};
enum rewriting heuristic_rewriting(struct walk *w, uint64_t pc, uint64_t return_address);

/* Parameters of unwind_init. */
extern struct unwind_config unwind_config;

#endif
