/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a processor must give, and the one place that chooses it. Each processor has a folder of its
 * own with these functions; nothing outside of such folders asks which processor this is. What the
 * unwinder needs is in hpcrun-lite/unwind/arch.h. All functions are inline, so none costs a call.
 * Signal-safe. Linux with 64 bits. Tests: tests/unit/common/test_safe.c, tests/cli/sacred.
 *
 * A folder also defines these names:
 *
 *   MACHINE_ELF         e_machine of its programs
 *   MACHINE_NAME        of its programs, in messages
 *   MACHINE_OTHER_ABI   name of its ABI with pointers of 32 bits
 *   MACHINE_LINKER      file name of glibc's dynamic linker
 *   MACHINE_JUMP_SLOT, _GLOB_DAT  relocations of an object's tables of imported functions
 *   MACHINE_CALL_BYTES  length of the system call instruction
 *   MACHINE_HEAD_WORDS  see machine_is_thread_head()
 *   MACHINE_BLOCKS_WORD  the word at the thread pointer that leads to the thread's blocks (dtv)
 *   MACHINE_ADDRESS_BITS  of a program's addresses, unless it asks the kernel for more
 *   MACHINE_BP, _SP, _PC, MACHINE_N_REGS  DWARF's numbers of the frame pointer, the stack pointer
 *                       and the program counter; how many registers unwinding knows
 *   MACHINE_CFA()       the end of the calling function's frame, where its caller's begins
 *   SYS_...             a negative number for each call that only older processors have
 *
 * and these pieces of assembly, which define a function:
 *
 *   MACHINE_RESTORER(name)           the code to which a signal handler returns
 *   MACHINE_SIGNAL_ENTRY(name, then) a handler that jumps to `then` with sane flags
 *   MACHINE_HANDLER(name, then)      a handler that jumps to then(sig, info, context), whose last
 * two arguments some kernels set only with SA_SIGINFO. Without that flag *info has no data.
 *   MACHINE_CALL_ON_STACK(name)      name(argument, fn, stack): calls fn(argument) below `stack`
 *   MACHINE_HOOK_SETJMP(ask)         setjmp and __sigsetjmp: jump to what ask(buffer, mask) returns
 *   MACHINE_HOOK_DLSYM(ask, next)    dlsym: returns ask(handle, name) or, if NULL, jumps to *next
 *   MACHINE_HOOK_SYSCALL             syscall: a call of hook_syscall_is_special[], which has
 *                                    MACHINE_SPECIAL_CALLS elements, goes to hook_syscall_special
 *   MACHINE_SLOTS(name, counts, targets)  32 pieces of MACHINE_SLOT_BYTES: number i adds one to
 *                                    counts[i] and jumps to targets[i]
 */
#ifndef COMMON_MACHINE_MACHINE_H
#define COMMON_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* ---- system calls: return what the kernel returns, the result or -errno ---- */

static inline long machine_call3(long n, long a, long b, long c);
static inline long machine_call4(long n, long a, long b, long c, long d);
static inline long machine_call6(long n, long a, long b, long c, long d, long e, long f);

/*
 * clone() with these flags and a stack, whose highest 16 bytes are taken. The child calls run(),
 * which must not return. Returns the child's id. The kernel clears *runs and wakes its waiters when
 * the child ends, if the flags say so.
 */
static inline long machine_clone(void (*run)(void), void *stack_end, long flags, void *runs);

/* ---- the processor ---- */

/* The size of pages, and the least size of pages: each page begins at a multiple of it. */
static inline size_t machine_page_bytes(void);
#define MACHINE_LEAST_PAGE 4096u

static inline uint64_t machine_page_floor(uint64_t n)
{
	return n & ~(uint64_t)(machine_page_bytes() - 1);
}

static inline uint64_t machine_page_ceiling(uint64_t n)
{
	return machine_page_floor(n + machine_page_bytes() - 1);
}

/* Whether the processor says that it is one of a virtual machine. */
static inline bool machine_is_virtual(void);

/* For loops that wait for another thread. */
static inline void machine_pause(void);

/* A counter that runs at a constant rate. Does not wait for the instructions before it. */
static inline uint64_t machine_ticks(void);

/* memset(), without a call of it. */
static inline void machine_fill(void *to, int c, size_t n_bytes);

/* ---- the thread pointer ---- */

/* Address of the calling thread, as libc set it: a fixed distance from its variables. */
static inline void *machine_thread_pointer(void);

/* libc's structure of the calling thread, which has n_bytes. */
static inline const void *machine_libc_thread(size_t n_bytes);

/*
 * The register that leads to the thread's variables, which the program may have changed.
 * machine_set_base() returns false if it cannot be set. `is_direct`: what machine_has_direct_base()
 * said.
 */
static inline bool machine_has_direct_base(void);
static inline uintptr_t machine_base(bool is_direct);
static inline bool machine_set_base(bool is_direct, uintptr_t base);

/* Whether libc made the thread whose first MACHINE_HEAD_WORDS words at `base` are these. */
static inline bool machine_is_thread_head(uintptr_t base, const uintptr_t *word);

/* ---- the registers of an interrupted thread ---- */

static inline uintptr_t machine_pc(const ucontext_t *context);
static inline void machine_set_pc(ucontext_t *context, uintptr_t pc);
static inline uintptr_t machine_sp(const ucontext_t *context);

/* Arguments 0 to 5 of the system call at the pc, or before it: most stay in their registers. */
static inline long machine_argument(const ucontext_t *context, unsigned i);
static inline void machine_set_argument(ucontext_t *context, unsigned i, long value);

/* The result of the system call before the pc. */
static inline long machine_result(const ucontext_t *context);
static inline void machine_set_result(ucontext_t *context, long result);

/*
 * Makes the system call before the pc begin again with the number and its arguments; argument 0 is
 * `first`, because the result is in its register on some processors.
 */
static inline void machine_call_again(ucontext_t *context, long number, long first);

/* The system call that libc makes instead of an older one. */
static inline long machine_newer_call(long number);

/*
 * Whether the kernel, or machine_call_again(), may have set the thread back to the system call at
 * the pc; and whether the thread may have just made the call before the pc. Only the code there can
 * say for certain.
 */
static inline bool machine_may_call_again(const ucontext_t *context);
static inline bool machine_may_have_called(const ucontext_t *context);

/* The number of the call at the pc, if machine_may_call_again(). */
static inline long machine_number_again(const ucontext_t *context);

#if defined __x86_64__
#include "common/machine/x86_64/x86_64.h"
#include "common/machine/x86_64/x86_64_code.h"
#include "common/machine/x86_64/x86_64_unwind.h"
#elif defined __aarch64__
#include "common/machine/aarch64/aarch64.h"
#include "common/machine/aarch64/aarch64_code.h"
#include "common/machine/aarch64/aarch64_unwind.h"
#else
#error "this processor has no folder here"
#endif

#endif
