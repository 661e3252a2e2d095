/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a register state and a stack to the call path: a leaf-first array of packed addresses, and
 * how the walk ended.
 *
 * Frames are followed by the call frame information (.eh_frame) that the compiler wrote for every
 * instruction, so code without frame pointers, prologues, epilogues, PLT stubs and signal frames
 * are exact; Go code by Go's own tables, other code by checked frame pointers. What the
 * interpretation of .eh_frame gives at one pc is kept as a 64-bit recipe in a table that all
 * threads share without a lock; the part of the stack that has not changed since this thread's
 * previous walk is recognised by its saved values and is not walked again. doc/unwinding.md tells
 * what is exact and what is marked.
 *
 * Signal-safe, all functions here unless said otherwise: no malloc, no lock, no dl_iterate_phdr,
 * errno as it was. The library that holds this code must be linked with -z now, or the first call
 * of _dl_find_object would enter the lazy binder.
 *
 * Must not: write anything but its own memory. Tests: tests/unit/test_unwind*.c,
 * tests/workload/unwind_*, tests/fuzz/fuzz_cfi.c.
 */
#ifndef HPCRUN_LITE_UNWIND_UNWIND_H
#define HPCRUN_LITE_UNWIND_UNWIND_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/*
 * A packed address: bits 63..48 module id (0: no module), bit 47 guess, bits 46..0 link address
 * (runtime pc - load bias; with module 0 the runtime pc). For every frame but the innermost and
 * those interrupted by a signal it is that of the return address - 1.
 */
#define UNWIND_ADDR_MODULE_SHIFT 48
#define UNWIND_ADDR_MARK (UINT64_C(1) << 47)
#define UNWIND_ADDR_LINK_MASK (UNWIND_ADDR_MARK - 1)

/* How a walk ended. All but UNWIND_ROOT mean: the outermost frame of the path is not the root of the thread. */
enum unwind_end {
	UNWIND_ROOT,      /* the outermost frame is one that has no caller */
	UNWIND_NO_CFI,    /* the outermost frame lies in a module without CFI for it, and no heuristic applied */
	UNWIND_NO_MODULE, /* the outermost frame's pc lies in no loaded module (generated code, garbage), and no heuristic applied */
	UNWIND_UNREADABLE, /* stack memory that the CFI points to cannot be read */
	UNWIND_BAD_CFI,    /* the CFI is damaged or asks for a register whose value is not known */
	UNWIND_LOOP,       /* the stack does not progress */
	UNWIND_DEEP,       /* more frames than max_depth; the innermost max_depth are in the path */
	UNWIND_THROWING,   /* the C++ run time is just rewriting the stack that it is about to return to */
	UNWIND_N_ENDS
};

/* Short English name of an end, "root", "no CFI", ...; never NULL. */
const char *unwind_end_name(enum unwind_end end);

struct unwind_config {
	/*
	 * The id (1..65535) of the module that _dl_find_object found, and its load bias. Called in the signal handler, on a recipe
	 * cache miss only; must be signal-safe. An id must not stand for two mappings at the same time. Where it notices that an
	 * object lies where another one was (unloaded behind our back, as iconv does), it calls unwind_flush_begin and _end.
	 * With id 0xffff (table full) the bias must be 0: the runtime pc is recorded.
	 * NULL: every module is 1, the bias is that of the link map.
	 */
	uint16_t (*module_of)(const struct dl_find_object *object, uintptr_t *bias);
	/* Frames with a pc in [skip_lo, skip_hi) are left out of the path: the text of our own library. Both 0: none. */
	uintptr_t skip_lo;
	uintptr_t skip_hi;
};

/* Once per process before the first walk. Not signal-safe. */
void unwind_init(const struct unwind_config *config);

/* In the child of a fork, before its first walk: forgets flush windows that other threads of the parent had open. */
void unwind_after_fork(void);

/*
 * Around every dlclose, by the thread that calls it; nests, and several threads may be inside. From begin to end the shared
 * recipes are bypassed (walks are exact but slower), afterwards all of them and all previous walks are forgotten.
 */
void unwind_flush_begin(void);
void unwind_flush_end(void);

/* Whether the module that holds pc is a Go program or library, by the note of Go's linker. */
bool unwind_is_go(uintptr_t pc);

/* Where a thread's stack lies. */
struct unwind_stack {
	uintptr_t
		lo; /* lowest address that may ever be stack (guard pages excluded); for the main thread: hi - RLIMIT_STACK, or 0 */
	uintptr_t hi; /* first address above the stack */
	bool grows;   /* main thread: pages below those in use need not be mapped yet */
	uintptr_t first; /* main thread: the stack pointer at the process's entry, above which lie argc and what follows; 0: not known */
};

struct unwind_thread; /* the state of one thread: one writer, the thread itself */

/* Size of the memory for one thread that keeps paths of up to max_depth (16..65535) frames: about
 * 128 bytes a frame + 12 KiB. */
size_t unwind_thread_bytes(unsigned max_depth);

/*
 * Makes the thread's state in mem (zeroed, unwind_thread_bytes(max_depth) bytes, aligned to 16, the caller's; only as many pages
 * as the deepest path needs are ever touched). Never fails.
 */
struct unwind_thread *unwind_thread_init(void *mem, unsigned max_depth, const struct unwind_stack *stack);

/* A call path. */
struct unwind_path {
	const uint64_t *addr; /* packed addresses, leaf first; borrowed, valid until the thread's next walk */
	uint32_t n;           /* frames; 0 only if all were skipped */
	uint32_t
		n_same; /* the outermost n_same frames (addr[n - n_same] .. addr[n - 1]) and the end are those of the previous walk */
	enum unwind_end end;
	bool heuristic; /* some frame carries UNWIND_ADDR_MARK: it is a guess, and all further out
			   hang on it. With end UNWIND_ROOT: not complete */
};

/*
 * The path of the calling thread at the point where the signal interrupted it. `context` is the third argument of the signal
 * handler. One walk at a time in a thread: the caller guards against signals that nest.
 */
void unwind_walk(struct unwind_thread *thread, const ucontext_t *context, struct unwind_path *path);

/* Registers by DWARF number; `pc` is the instruction that is executed next. */
#define UNWIND_N_REGS 17
struct unwind_regs {
	uint64_t reg[UNWIND_N_REGS]; /* x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */
};

/* The same from a register state. */
void unwind_walk_regs(struct unwind_thread *thread, const struct unwind_regs *regs, struct unwind_path *path);

/* The registers of the caller, as they are when this function returns to it: the start for a walk outside of signal handlers. */
void unwind_here(struct unwind_regs *regs);

/*
 * Whether the path of the last walk goes through the frame of a signal: the code runs in a signal handler. Also true when that is not known (the path was too deep).
 */
bool unwind_met_signal(const struct unwind_thread *thread);

/* Where a search along the last walk's path stands; zero: at its leaf. */
struct unwind_scan {
	uint32_t record, address;
};

/*
 * The frame, from *scan outwards, whose part of the stack holds `place`: the index of its address in the path. UINT32_MAX and *scan as it was: there is none (also where the path was too deep).
 * Of the last walk of the thread.
 */
uint32_t unwind_find_on_stack(const struct unwind_thread *thread, struct unwind_scan *scan, uintptr_t place);

/* [*lo, *hi): of the thread's own stack, the part that has been in use at the last walk or before: mapped, and nobody takes it away while the thread runs. */
void unwind_own_stack(const struct unwind_thread *thread, uintptr_t *lo, uintptr_t *hi);

/* What the walks of one thread did. Written by the thread alone; others may read once it has stopped walking. */
struct unwind_counts {
	uint64_t walks;
	uint64_t frames_walked; /* followed by a recipe or the slow way */
	uint64_t frames_reused; /* taken from the previous walk after comparing the saved values */
	uint64_t cache_misses;  /* recipes computed from .eh_frame */
	uint64_t slow_frames;   /* frames that needed all registers or a DWARF expression */
	uint64_t heuristics;    /* frames found by a frame pointer or a search */
	uint64_t guarded_loads; /* system calls made to read memory that is not known to be this thread's stack */
	uint64_t ends[UNWIND_N_ENDS];
};

const struct unwind_counts *unwind_counts(const struct unwind_thread *thread);

#endif
