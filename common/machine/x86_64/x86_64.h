/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64; see machine.h, which includes this. Intel SDM volume 1, 3.4; System V ABI, A.2. */
#ifndef COMMON_MACHINE_X86_64_X86_64_H
#define COMMON_MACHINE_X86_64_X86_64_H

#include <asm/prctl.h>
#include <cpuid.h>
#include <sched.h>
#include <sys/auxv.h>

#define MACHINE_ELF EM_X86_64
#define MACHINE_NAME "64-bit x86"
#define MACHINE_OTHER_ABI "x32"
#define MACHINE_LINKER "ld-linux-x86-64.so.2"
#define MACHINE_JUMP_SLOT 7u /* psABI x86-64, 4.4.1 */
#define MACHINE_GLOB_DAT 6u
#define MACHINE_CALL_BYTES 2u
#define MACHINE_HEAD_WORDS 3
#define MACHINE_BLOCKS_WORD 1
#define MACHINE_ADDRESS_BITS 47

/* DWARF's numbers of registers (System V ABI, 3.6.2): 0 to 15, and 16 for the return address. */
enum { MACHINE_BP = 6, MACHINE_SP = 7, MACHINE_PC = 16, MACHINE_N_REGS = 17 };

/* ---- system calls ---- */

static inline long machine_call3(long n, long a, long b, long c)
{
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long machine_call4(long n, long a, long b, long c, long d)
{
	long result;
	register long r10 __asm__("r10") = d;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long machine_call6(long n, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long machine_clone(void (*run)(void), void *stack_end, long flags, void *runs)
{
	void (**top)(void) = (void (**)(void))stack_end;
	long result;
	register long r10 __asm__("r10") = (long)runs;
	register long r8 __asm__("r8") = 0;
	*(top -= 2) = run;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "pop %%rax\n\t"
			 "add $8, %%rsp\n\t"
			 "call *%%rax\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(0), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

/* ---- the processor ---- */

static inline size_t machine_page_bytes(void)
{
	return 4096; /* there are no others */
}

static inline bool machine_is_virtual(void)
{
	const unsigned hypervisor = 1u << 31;
	unsigned a, b, c, d;
	return __get_cpuid(1, &a, &b, &c, &d) && (c & hypervisor);
}

static inline void machine_pause(void)
{
	__builtin_ia32_pause();
}

static inline uint64_t machine_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline void machine_fill(void *to, int c, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(c) : "memory");
}

/* ---- the thread pointer: the FS base ---- */

static inline void *machine_thread_pointer(void)
{
	void *thread; /* gcc before 11 has no __builtin_thread_pointer here */
	__asm__("mov %%fs:0, %0" : "=r"(thread));
	return thread;
}

static inline const void *machine_libc_thread(size_t n_bytes)
{
	(void)n_bytes;
	return machine_thread_pointer();
}

static inline bool machine_has_direct_base(void) /* rdfsbase and wrfsbase */
{
	enum { HWCAP2_FSGSBASE_BIT = 2 };
	return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT;
}

static inline uintptr_t machine_base(bool is_direct)
{
	uintptr_t base = 0;
	if (__builtin_expect(is_direct, 1))
		__asm__ volatile("rdfsbase %0" : "=r"(base));
	else
		machine_call3(SYS_arch_prctl, ARCH_GET_FS, (long)&base, 0);
	return base;
}

/* Without the instructions a selector other than 0 (32-bit code) would be lost. */
static inline bool machine_set_base(bool is_direct, uintptr_t base)
{
	uint16_t selector;
	if (is_direct) {
		__asm__ volatile("wrfsbase %0" : : "r"(base) : "memory");
		return true;
	}
	__asm__ volatile("mov %%fs, %0" : "=r"(selector));
	return selector == 0 && machine_call3(SYS_arch_prctl, ARCH_SET_FS, (long)base, 0) == 0;
}

/* libc's threads have their own address in the first and in the third word. */
static inline bool machine_is_thread_head(uintptr_t base, const uintptr_t *word)
{
	return word[0] == base && word[2] == base;
}

/* Above the saved bp and the return address. */
#define MACHINE_CFA() ((uintptr_t)__builtin_frame_address(0) + 16)

/* ---- the registers of an interrupted thread ---- */

static inline uintptr_t machine_pc(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline void machine_set_pc(ucontext_t *context, uintptr_t pc)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

static inline uintptr_t machine_sp(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline unsigned machine_greg_of_argument(unsigned i)
{
	switch (i) {
	case 0: return REG_RDI;
	case 1: return REG_RSI;
	case 2: return REG_RDX;
	case 3: return REG_R10;
	case 4: return REG_R8;
	default: return REG_R9;
	}
}

static inline long machine_argument(const ucontext_t *context, unsigned i)
{
	return (long)context->uc_mcontext.gregs[machine_greg_of_argument(i)];
}

static inline void machine_set_argument(ucontext_t *context, unsigned i, long value)
{
	context->uc_mcontext.gregs[machine_greg_of_argument(i)] = value;
}

static inline long machine_result(const ucontext_t *context)
{
	return (long)context->uc_mcontext.gregs[REG_RAX];
}

static inline void machine_set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}

static inline void machine_call_again(ucontext_t *context, long number, long first)
{
	greg_t *reg = context->uc_mcontext.gregs;
	reg[REG_RIP] -= MACHINE_CALL_BYTES;
	reg[REG_RAX] = number;
	reg[REG_RDI] = first;
}

static inline long machine_newer_call(long number)
{
	return number;
}

/*
 * The system call instruction leaves the address after itself in rcx. If the kernel restarts a call
 * itself, it sets the program counter back to the instruction and rax to the number.
 */
static inline bool machine_may_call_again(const ucontext_t *context)
{
	const greg_t *reg = context->uc_mcontext.gregs;
	return reg[REG_RCX] == reg[REG_RIP] + (greg_t)MACHINE_CALL_BYTES;
}

static inline bool machine_may_have_called(const ucontext_t *context)
{
	const greg_t *reg = context->uc_mcontext.gregs;
	return reg[REG_RCX] == reg[REG_RIP];
}

static inline long machine_number_again(const ucontext_t *context)
{
	return (long)context->uc_mcontext.gregs[REG_RAX];
}

#endif
