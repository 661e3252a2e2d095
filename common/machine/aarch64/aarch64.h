/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aarch64; see machine.h, which includes this. AAPCS64; System V ABI for the Arm 64-bit
 * architecture (TLS); Linux arch/arm64/include/uapi/asm/sigcontext.h.
 */
#ifndef COMMON_MACHINE_AARCH64_AARCH64_H
#define COMMON_MACHINE_AARCH64_AARCH64_H

#include <sched.h>
#include <sys/auxv.h>

#define MACHINE_ELF EM_AARCH64
#define MACHINE_NAME "64-bit ARM"
#define MACHINE_OTHER_ABI "ILP32"
#define MACHINE_LINKER "ld-linux-aarch64.so.1"
#define MACHINE_JUMP_SLOT 1026u /* ELF for the Arm 64-bit Architecture, 5.7.12 */
#define MACHINE_GLOB_DAT 1025u
#define MACHINE_CALL_BYTES 4u
#define MACHINE_HEAD_WORDS 1
#define MACHINE_BLOCKS_WORD 0
#define MACHINE_ADDRESS_BITS 48

/*
 * DWARF's numbers of registers (DWARF for the Arm 64-bit architecture, 4.1): x0 to x30, sp, pc.
 */
enum { MACHINE_BP = 29, MACHINE_LR = 30, MACHINE_SP = 31, MACHINE_PC = 32, MACHINE_N_REGS = 33 };

/*
 * Calls that this machine never had. Ours use the newer ones, and code that sorts calls by their
 * numbers never meets these.
 */
enum {
	SYS_access = -1000,
	SYS_epoll_wait,
	SYS_fork,
	SYS_lstat,
	SYS_mkdir,
	SYS_open,
	SYS_pause,
	SYS_poll,
	SYS_readlink,
	SYS_rename,
	SYS_rmdir,
	SYS_select,
	SYS_signalfd,
	SYS_stat,
	SYS_unlink,
	SYS_vfork,
};

/* ---- system calls ---- */

static inline long machine_call6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static inline long machine_call4(long n, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

static inline long machine_call3(long n, long a, long b, long c)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}

static inline long machine_clone(void (*run)(void), void *stack_end, long flags, void *runs)
{
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = flags;
	register long x1 __asm__("x1") = (long)stack_end;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = (long)runs;
	register long x5 __asm__("x5") = (long)run;
	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, #0\n\t"
			 "mov x30, #0\n\t"
			 "blr x5\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

/* ---- the processor ---- */

static inline size_t machine_page_bytes(void)
{
	static size_t n; /* two threads may write the same value */
	size_t known = __atomic_load_n(&n, __ATOMIC_RELAXED);
	if (__builtin_expect(!known, 0)) {
		known = getauxval(AT_PAGESZ);
		__atomic_store_n(&n, known, __ATOMIC_RELAXED);
	}
	return known;
}

static inline bool machine_is_virtual(void)
{
	return false; /* programs cannot ask */
}

static inline void machine_pause(void)
{
	__asm__ volatile("isb" ::: "memory"); /* yield does nothing on most processors */
}

static inline uint64_t machine_ticks(void)
{
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static inline void machine_fill(void *to, int c, size_t n)
{
	const uint64_t word = UINT64_C(0x0101010101010101) * (uint8_t)c;
	uint8_t *at = (uint8_t *)to, *const end = at + n;
	/* The barriers keep the compiler from making a call of memset of it. */
	for (; n >= 16; at += 16, n -= 16)
		__asm__ volatile("stp %1, %1, [%0]" : : "r"(at), "r"(word) : "memory");
	for (; at < end; at++)
		__asm__ volatile("strb %w1, [%0]" : : "r"(at), "r"(c) : "memory");
}

/* ---- the thread pointer ---- */

static inline void *machine_thread_pointer(void)
{
	void *thread;
	__asm__("mrs %0, tpidr_el0" : "=r"(thread));
	return thread;
}

static inline const void *machine_libc_thread(size_t n_bytes)
{
	return (const char *)machine_thread_pointer() - n_bytes;
}

static inline bool machine_has_direct_base(void)
{
	return true;
}

static inline uintptr_t machine_base(bool is_direct)
{
	uintptr_t base;
	(void)is_direct;
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(base));
	return base;
}

static inline bool machine_set_base(bool is_direct, uintptr_t base)
{
	(void)is_direct;
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(base) : "memory");
	return true;
}

/* The first word of libc's threads leads to the blocks of their variables (tcbhead_t). */
static inline bool machine_is_thread_head(uintptr_t base, const uintptr_t *word)
{
	return base % 16 == 0 && word[0] != 0 && word[0] % 8 == 0;
}

/*
 * Above the frame record, at a distance that only gcc tells. With clang, the caller's own frame
 * record serves: it is in the caller's frame, too.
 */
#if defined __clang__
#define MACHINE_CFA() (*(const uintptr_t *)__builtin_frame_address(0))
#else
#define MACHINE_CFA() ((uintptr_t)__builtin_dwarf_cfa())
#endif

/* ---- the registers of an interrupted thread ---- */

static inline uintptr_t machine_pc(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.pc;
}

static inline void machine_set_pc(ucontext_t *context, uintptr_t pc)
{
	context->uc_mcontext.pc = pc;
}

static inline uintptr_t machine_sp(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.sp;
}

/* After a call, argument 0 is gone: the result is in its register. */
static inline long machine_argument(const ucontext_t *context, unsigned i)
{
	return (long)context->uc_mcontext.regs[i];
}

static inline void machine_set_argument(ucontext_t *context, unsigned i, long value)
{
	context->uc_mcontext.regs[i] = (unsigned long long)value;
}

static inline long machine_result(const ucontext_t *context)
{
	return (long)context->uc_mcontext.regs[0];
}

static inline void machine_set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.regs[0] = (unsigned long long)result;
}

static inline void machine_call_again(ucontext_t *context, long number, long first)
{
	context->uc_mcontext.pc -= MACHINE_CALL_BYTES;
	/* what else is in x8 stays: see hooks/wait */
	context->uc_mcontext.regs[8] =
		(context->uc_mcontext.regs[8] & ~UINT64_C(0xffffffff)) | (uint32_t)number;
	context->uc_mcontext.regs[0] = (unsigned long long)first;
}

static inline long machine_newer_call(long number)
{
	switch (number) {
	case SYS_epoll_wait: return SYS_epoll_pwait;
	case SYS_pause:
	case SYS_poll: return SYS_ppoll;
	case SYS_select: return SYS_pselect6;
	default: return number;
	}
}

/*
 * A system call keeps its number in x8, so any number there may be one. The kernel takes the lower
 * half.
 */
static inline long machine_number_again(const ucontext_t *context)
{
	return (int32_t)context->uc_mcontext.regs[8];
}

static inline bool machine_may_have_called(const ucontext_t *context)
{
	enum { NUMBERS = 1024 };
	return (uint32_t)context->uc_mcontext.regs[8] < NUMBERS;
}

static inline bool machine_may_call_again(const ucontext_t *context)
{
	return machine_may_have_called(context);
}

#endif
