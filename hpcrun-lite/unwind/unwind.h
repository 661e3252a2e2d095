/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the call path from a register state and a stack: an array of packed addresses, leaf
 * first, and how the walk ended.
 *
 * It follows frames with the call frame information (.eh_frame) that the compiler wrote for every
 * instruction. Code without frame pointers, prologues, epilogues, PLT stubs and signal frames are
 * therefore exact. It follows Go code with Go's own tables and other code with checked frame
 * pointers. The result of interpreting .eh_frame at a pc is stored as a 64-bit recipe in a
 * lock-free table that all threads share. The part of the stack that has not changed since the
 * thread's previous walk is recognised by its saved values and not walked again. See
 * doc/unwinding.md for what is exact and what is marked.
 *
 * All functions are signal-safe unless they say otherwise: no malloc, no lock, no dl_iterate_phdr,
 * errno unchanged. Link the library with -z now; otherwise a first call would enter the lazy
 * binder. This code writes only to its own memory.
 * Tests: tests/unit/unwind/test_unwind*.c, tests/workload/unwind/unwind_*, tests/fuzz/fuzz_cfi.c.
 */
#ifndef HPCRUN_LITE_UNWIND_UNWIND_H
#define HPCRUN_LITE_UNWIND_UNWIND_H

#include "common/safe/find_object.h"

#include "common/safe/sys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A packed address: bits 63..48 module id (0: no module), bit 47 guess, bits 46..0 link address
 * (run-time pc - load bias; for module 0 the run-time pc). The address is the return address - 1,
 * except for the innermost frame and frames that a signal interrupted.
 */
#define UNWIND_ADDR_MODULE_SHIFT 48
#define UNWIND_ADDR_MARK (UINT64_C(1) << 47)
#define UNWIND_ADDR_LINK_MASK (UNWIND_ADDR_MARK - 1)

/*
 * How a walk ended. All except UNWIND_ROOT mean that the outermost frame of the path is not the
 * root of the thread.
 */
enum unwind_end {
	UNWIND_ROOT,      /* the outermost frame has no caller */
	/* the outermost frame is in a module without CFI for it, and no heuristic worked */
	UNWIND_NO_CFI,
	/*
	 * The outermost pc is in no loaded module (generated code, garbage), and no heuristic
	 * worked.
	 */
	UNWIND_NO_MODULE,
	UNWIND_UNREADABLE, /* stack memory that the CFI points to cannot be read */
	UNWIND_BAD_CFI,    /* the CFI is damaged or needs a register whose value is unknown */
	UNWIND_LOOP,       /* the stack makes no progress */
	/*
	 * The path has more frames than max_depth. It contains the innermost max_depth frames, or
	 * the innermost 128 and the n_root outermost ones. A stack as large as that of an earlier
	 * deep path is treated the same way, although it may hold fewer frames.
	 */
	UNWIND_DEEP,
	UNWIND_THROWING,   /* the C++ run time is rewriting the frame that it will return to */
	UNWIND_N_ENDS
};

/* A short English name, "root", "no CFI", ...; never NULL. */
const char *unwind_end_name(enum unwind_end end);

struct unwind_config {
	/*
	 * Returns the id (1..65535) of the module that find_object() found, and sets its load bias.
	 * With id 0xffff (table full) the bias must be 0: the run-time pc is recorded. NULL: every
	 * module gets id 1 and the bias of its link map.
	 *
	 * Called in the signal handler, only when a recipe is not in the table; must be
	 * signal-safe. An id must not stand for two mappings at the same time. If the function
	 * finds that an object has replaced another one at the same address (unloaded without our
	 * knowledge, as iconv does), it calls unwind_flush_begin and _end.
	 */
	uint16_t (*module_of)(const struct dl_find_object *object, uintptr_t *bias);
	/*
	 * Frames with a pc in [skip_lo, skip_hi), the text of our own library, are left out. Both
	 * 0: none.
	 */
	uintptr_t skip_lo;
	uintptr_t skip_hi;
};

/* Call once per process before the first walk. Not signal-safe. */
void unwind_init(const struct unwind_config *config);

/*
 * In a forked child before its first walk: forgets flush windows that other threads of the parent
 * had open.
 */
void unwind_after_fork(void);

/*
 * Call around every dlclose, in the same thread. Nests; several threads may be inside. In between,
 * the shared recipes are not used (walks are exact but slower). Afterwards all recipes and previous
 * walks are forgotten.
 */
void unwind_flush_begin(void);
void unwind_flush_end(void);

/* Returns true if the module that contains pc has the note of Go's linker. */
bool unwind_is_go(uintptr_t pc);

/* The location of a thread's stack. */
struct unwind_stack {
	/*
	 * Lowest address that may ever be stack, without guard pages. Main thread:
	 * hi - RLIMIT_STACK, or 0.
	 */
	uintptr_t lo;
	uintptr_t hi; /* first address above the stack */
	bool grows;   /* main thread: pages below those in use may not be mapped yet */
	/*
	 * Main thread: the stack pointer at the start of the process; argc and the rest are above
	 * it; 0: unknown.
	 */
	uintptr_t first;
};

struct unwind_thread; /* the state of one thread; only that thread may write it */

/*
 * Size of the memory for a thread that keeps paths of up to max_depth (16..65535) frames: about 128
 * bytes per frame + 36 KiB, of which few pages are touched.
 */
size_t unwind_thread_bytes(unsigned max_depth);

/*
 * Makes the thread's state in the caller's memory: unwind_thread_bytes(max_depth) bytes, zeroed,
 * aligned to 16. Only the pages that the deepest path needs are ever touched. Never fails.
 */
struct unwind_thread *unwind_thread_init(void *mem, unsigned max_depth,
					 const struct unwind_stack *stack);

/*
 * The same in two pieces of memory, aligned to 64. Only paths of more than 16 frames touch the
 * unwind_deep_bytes(max_depth) of `deep`. Of the unwind_shallow_bytes() of `shallow`, most threads
 * touch only the last 4 KiB.
 */
size_t unwind_shallow_bytes(void);
size_t unwind_deep_bytes(unsigned max_depth);
struct unwind_thread *unwind_thread_place(void *shallow, void *deep, unsigned max_depth,
					  const struct unwind_stack *stack);

/* A call path. */
struct unwind_path {
	/* packed addresses, leaf first; borrowed, valid until the thread's next walk */
	const uint64_t *addr;
	uint32_t n;           /* number of frames; 0 only if all were skipped */
	/* The outermost n_same frames and `end` are those of the previous walk. */
	uint32_t n_same;
	uint32_t n_root; /* with UNWIND_DEEP: this many outermost frames are those at the root */
	enum unwind_end end;
	/*
	 * Some frame carries UNWIND_ADDR_MARK: it is a guess, and all frames further out depend on
	 * it. With end UNWIND_ROOT the path is not complete.
	 */
	bool heuristic;
};

/*
 * The path of the calling thread where the signal interrupted it. `context` is the third argument
 * of the signal handler. One walk at a time per thread: the caller must guard against nested
 * signals.
 */
void unwind_walk(struct unwind_thread *thread, const ucontext_t *context, struct unwind_path *path);

/*
 * Returns true if one of the innermost frames at `context` returns to `pc`, and sets *sp to the
 * stack pointer after that return. Follows only CFI, and no frame of our own library. This is not a
 * walk: the path of the last walk stays valid.
 */
bool unwind_find_return(struct unwind_thread *thread, const ucontext_t *context, uint64_t pc,
			uint64_t *sp);

/* Registers by DWARF number. The pc is that of the next instruction. */
#define UNWIND_N_REGS MACHINE_N_REGS
struct unwind_regs {
	uint64_t reg[UNWIND_N_REGS];
};

/* Like unwind_walk(), from a register state. */
void unwind_walk_regs(struct unwind_thread *thread, const struct unwind_regs *regs,
		      struct unwind_path *path);

/*
 * Walks the stack of another thread. That stack may change or be unmapped meanwhile, so it is read
 * with guarded loads. `thread` must be a state that is not used for walks of the calling thread's
 * own stack.
 */
void unwind_walk_other(struct unwind_thread *thread, const struct unwind_stack *stack,
		       const struct unwind_regs *regs, struct unwind_path *path);

/*
 * Stores the registers of the caller, as they are when this function returns. A walk outside signal
 * handlers starts from them.
 */
void unwind_here(struct unwind_regs *regs);

/*
 * Returns true if the path of the last walk contains a signal frame, which means that the code runs
 * in a signal handler. Also true if the path was too deep to know.
 */
bool unwind_met_signal(const struct unwind_thread *thread);

/* The position of a search along the path of the last walk; zero: at its leaf. */
struct unwind_scan {
	uint32_t record, address;
};

/*
 * In the last walk, from *scan outwards, finds the frame whose part of the stack contains `place`.
 * Returns the index of its address in the path. Returns UINT32_MAX and keeps *scan if there is
 * none, or if the path was too deep.
 */
uint32_t unwind_find_on_stack(const struct unwind_thread *thread, struct unwind_scan *scan,
			      uintptr_t place);

/*
 * Like unwind_find_on_stack(), but the frame may be one that was left out of the path. Then returns
 * the index of the next address further out, which may be the number of addresses.
 */
uint32_t unwind_find_outside(const struct unwind_thread *thread, struct unwind_scan *scan,
			     uintptr_t place);

/*
 * [*lo, *hi) is the part of the thread's own stack that was in use at the last walk or before. It
 * is mapped and stays mapped while the thread runs.
 */
void unwind_own_stack(const struct unwind_thread *thread, uintptr_t *lo, uintptr_t *hi);

/*
 * Counts the walks of one thread. Only the thread writes them; others may read when it has stopped
 * walking.
 */
struct unwind_counts {
	uint64_t walks;
	uint64_t frames_walked; /* found by a recipe or the slow path */
	uint64_t frames_reused; /* taken from the previous walk after comparing saved values */
	uint64_t cache_misses;  /* recipes computed from .eh_frame */
	uint64_t codes;         /* recipes computed from instructions, or not found there */
	uint64_t slow_frames;   /* frames that needed all registers or a DWARF expression */
	uint64_t heuristics;    /* frames found by a frame pointer or a search */
	/* system calls to read memory that may not be this thread's stack */
	uint64_t guarded_loads;
	uint64_t ends[UNWIND_N_ENDS];
};

const struct unwind_counts *unwind_counts(const struct unwind_thread *thread);

#endif
