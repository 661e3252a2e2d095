/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remembers the results of walks that start in the tool's own hooks. The next call with the same
 * stack costs a few tens of ns instead of a walk. An entry has the words of the stack that the walk
 * depended on, and is used only if all of them are unchanged. So its path is exactly what a walk
 * would find; doc/unwinding.md has the proof. Only paths of plain frames on the thread's own stack
 * are remembered.
 *
 * Calls come in loops, so a search first tries the entry that followed the last one, and then the
 * entries with the same stack pointer. What a value depends on besides the stack is a tag, and it
 * may take long to compute. So an entry may also have a guard: words of its user, which the user
 * compares in place of the tag. Only one thread uses a memo, and not in signal handlers. A longjmp
 * out of these functions does no harm. No allocation, no lock. Tests:
 * tests/unit/unwind/test_unwind_memo.c, tests/cli/mpi/mpi_memo.sh.
 */
#ifndef HPCRUN_LITE_UNWIND_MEMO_H
#define HPCRUN_LITE_UNWIND_MEMO_H

#include "hpcrun-lite/unwind/unwind.h"

enum {
	UNWIND_MEMO_ENTRIES = 4096,
	UNWIND_MEMO_WORDS = 256,        /* a path that depends on more is not remembered */
	UNWIND_MEMO_GUARD_BYTES = 8192, /* longest guard, a multiple of 8 */
	UNWIND_MEMO_VARIANTS = 16384,
	UNWIND_MEMO_ALIGN = 64, /* of its memory */
};

struct unwind_memo;

/* Size of the memory of a memo. Only the pages of entries in use are ever touched. */
size_t unwind_memo_bytes(void);

/* What the user of the memo wants to know again. */
struct unwind_memo_value {
	uint32_t node;     /* of the calling-context tree */
	uint32_t n_frames; /* of the path */
	enum unwind_end end;
	bool heuristic;
};

/*
 * Returns the value for a walk from these registers of the calling thread, or NULL. `memo` is
 * memory that was zero at the start, and `thread` the state of the calling thread. `tag` stands for
 * everything else that the value depends on, and must be equal. The result is valid until the next
 * call.
 */
const struct unwind_memo_value *unwind_memo_find(struct unwind_memo *memo,
						 const struct unwind_thread *thread,
						 const struct unwind_regs *regs, uint64_t tag);

/*
 * The words of the user that a value depends on, besides the stack and `part`, a number that is
 * cheap to compute.
 */
struct unwind_memo_guard {
	uint64_t part;
	const void *words;
	uint32_t n_bytes; /* a multiple of 8; 0: none, so only the tag finds the value */
};

/* UNWIND_MEMO_GUARD_BYTES for the words of a guard, so that nobody needs them on the stack. */
void *unwind_memo_room(struct unwind_memo *memo);

/* Returns true if the words of a guard are unchanged. */
typedef bool unwind_memo_holds(void *user, const void *words, uint32_t n_bytes);

/*
 * As unwind_memo_find(), but tries only values that followed the last one, and compares their
 * guards, if they have one, in place of the tag.
 */
const struct unwind_memo_value *unwind_memo_next(struct unwind_memo *memo,
						 const struct unwind_thread *thread,
						 const struct unwind_regs *regs, uint64_t part,
						 unwind_memo_holds *holds, void *user);

/*
 * Remembers the value for the last walk of `thread`, which started from these registers. Returns
 * false if the walk has other frames than plain ones, or depends on too many words. `guard` may be
 * NULL.
 */
bool unwind_memo_keep(struct unwind_memo *memo, struct unwind_thread *thread,
		      const struct unwind_regs *regs, uint64_t tag,
		      const struct unwind_memo_guard *guard, const struct unwind_memo_value *value);

/*
 * Returns true if the value that unwind_memo_find() has just found should get a new guard: now and
 * then, because the words of some values never stay.
 */
bool unwind_memo_wants_guard(struct unwind_memo *memo);
void unwind_memo_set_guard(struct unwind_memo *memo, const struct unwind_memo_guard *guard);

/*
 * A path that differs from call to call in one thing alone may have variants: a node for each of
 * them, in place of the node of the value. These are about the value that was found or kept last.
 * `variant`: a number that stands for the thing, with as many bits as a tag. A variant may be
 * forgotten at any time.
 */
bool unwind_memo_variant(struct unwind_memo *memo, uint64_t variant, uint32_t *node);
void unwind_memo_keep_variant(struct unwind_memo *memo, uint64_t variant, uint32_t node);

#endif
