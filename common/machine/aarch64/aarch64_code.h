/* SPDX-License-Identifier: BSD-3-Clause */
/* aarch64: functions in assembly; see machine.h, which includes this. "hint #34" is bti c. */
#ifndef COMMON_MACHINE_AARCH64_AARCH64_CODE_H
#define COMMON_MACHINE_AARCH64_AARCH64_CODE_H

#define MACHINE_FUNCTION(name) \
	".globl " #name "\n" \
	".type " #name ", %function\n" \
	#name ":\n" \
	".cfi_startproc\n" \
	"hint #34\n"
#define MACHINE_FUNCTION_END(name) \
	".cfi_endproc\n" \
	".size " #name ", .-" #name "\n"

/* Debuggers and unwinders recognise a signal frame by these bytes, which are the vDSO's, too. */
#define MACHINE_RESTORER(name) \
	__asm__(".pushsection .text\n" \
		".balign 16\n" \
		"nop\n" \
		".hidden " #name "\n" \
		".globl " #name "\n" \
		".type " #name ", %function\n" \
		#name ":\n" \
		"mov x8, #139\n" /* SYS_rt_sigreturn */ \
		"svc #0\n" \
		".size " #name ", .-" #name "\n" \
		".popsection\n")

/* Programs run with no state that compiled code cannot stand. */
#define MACHINE_SIGNAL_ENTRY(name, then) \
	__asm__(".pushsection .text\n" \
		".balign 16\n" \
		".hidden " #name "\n" \
		MACHINE_FUNCTION(name) \
		"b " #then "\n" \
		MACHINE_FUNCTION_END(name) \
		".popsection\n")

/* The siginfo_t is at sp, the ucontext_t after it; only with SA_SIGINFO the registers say so. */
#define MACHINE_HANDLER(name, then)                              \
	__asm__(".pushsection .text\n"                           \
		".balign 16\n"                                   \
		".hidden " #name                                 \
		"\n" MACHINE_FUNCTION(name) "mov x1, sp\n"       \
					    "add x2, sp, #128\n" \
					    "b " #then           \
					    "\n" MACHINE_FUNCTION_END(name) ".popsection\n")

#define MACHINE_CALL_ON_STACK(name) \
	__asm__(".pushsection .text\n" \
		".balign 16\n" \
		".hidden " #name "\n" \
		MACHINE_FUNCTION(name) \
		"stp x29, x30, [sp, #-16]!\n" \
		".cfi_def_cfa_offset 16\n" \
		".cfi_offset 29, -16\n" \
		".cfi_offset 30, -8\n" \
		"mov x29, sp\n" \
		".cfi_def_cfa_register 29\n" \
		"and x2, x2, #-16\n" \
		"mov sp, x2\n" \
		"blr x1\n" \
		"mov sp, x29\n" \
		".cfi_def_cfa_register 31\n" \
		"ldp x29, x30, [sp], #16\n" \
		".cfi_def_cfa_offset 0\n" \
		".cfi_restore 29\n" \
		".cfi_restore 30\n" \
		"ret\n" \
		MACHINE_FUNCTION_END(name) \
		".popsection\n")

/* Calls a function with the two arguments, keeps them, and leaves its result in x16. */
#define MACHINE_CALL_WITH_TWO(function) \
	"stp x29, x30, [sp, #-32]!\n" \
	".cfi_def_cfa_offset 32\n" \
	".cfi_offset 29, -32\n" \
	".cfi_offset 30, -24\n" \
	"mov x29, sp\n" \
	"stp x0, x1, [sp, #16]\n" \
	"bl " #function "\n" \
	"mov x16, x0\n" \
	"ldp x0, x1, [sp, #16]\n" \
	"ldp x29, x30, [sp], #32\n" \
	".cfi_def_cfa_offset 0\n" \
	".cfi_restore 29\n" \
	".cfi_restore 30\n"

#define MACHINE_HOOK_SETJMP(ask) \
	__asm__(".pushsection .text\n" \
		MACHINE_FUNCTION(setjmp) \
		"mov w1, #1\n" \
		"b 1f\n" \
		MACHINE_FUNCTION_END(setjmp) \
		MACHINE_FUNCTION(__sigsetjmp) \
		"1:\n" \
		MACHINE_CALL_WITH_TWO(ask) \
		"br x16\n" \
		MACHINE_FUNCTION_END(__sigsetjmp) \
		".popsection\n")

#define MACHINE_HOOK_DLSYM(ask, next) \
	__asm__(".pushsection .text\n" \
		MACHINE_FUNCTION(dlsym) \
		MACHINE_CALL_WITH_TWO(ask) \
		"cbz x16, 1f\n" \
		"mov x0, x16\n" \
		"ret\n" \
		"1: adrp x16, " #next "\n" \
		"ldr x16, [x16, #:lo12:" #next "]\n" \
		"br x16\n" \
		MACHINE_FUNCTION_END(dlsym) \
		".popsection\n")

/* ldadd needs Armv8.1, so this is a loop. */
#define MACHINE_SLOT_BYTES 64u
#define MACHINE_SLOTS(name, counts, targets) \
	__asm__(".text\n" \
		".p2align 6\n" \
		".globl " #name "\n" \
		".hidden " #name "\n" \
		".type " #name ", %function\n" \
		#name ":\n" \
		".set machine_slot, 0\n" \
		".rept 32\n" \
		".p2align 6\n" \
		"hint #34\n" \
		"stp x9, x10, [sp, #-16]!\n" \
		"adrp x16, " #counts "+8*machine_slot\n" \
		"add x16, x16, #:lo12:" #counts "+8*machine_slot\n" \
		"1: ldxr x9, [x16]\n" \
		"add x9, x9, #1\n" \
		"stxr w10, x9, [x16]\n" \
		"cbnz w10, 1b\n" \
		"ldp x9, x10, [sp], #16\n" \
		"adrp x16, " #targets "+8*machine_slot\n" \
		"ldr x16, [x16, #:lo12:" #targets "+8*machine_slot]\n" \
		"br x16\n" \
		".set machine_slot, machine_slot+1\n" \
		".endr\n" \
		".p2align 6\n" \
		".size " #name ", .-" #name "\n")

/*
 * All arguments are in registers. The number of a call that was interrupted is in x8, so its
 * argument 0 is noted instead.
 */
#define MACHINE_SPECIAL_CALLS 282
#define MACHINE_OLDER_SPECIAL_CALLS
#define MACHINE_HOOK_SYSCALL \
	_Static_assert(SYS_clone == 220 && SYS_execveat == 281 && \
			       (CLONE_THREAD | CLONE_VM) == 0x10100, \
		       "as below"); \
	__asm__(".pushsection .text\n" \
		MACHINE_FUNCTION(syscall) \
		"cmp x0, #281\n" \
		"b.hi 2f\n" \
		"adrp x16, hook_syscall_is_special\n" \
		"add x16, x16, #:lo12:hook_syscall_is_special\n" \
		"ldrb w16, [x16, x0]\n" \
		"cbz w16, 2f\n" \
		"cmp x0, #220\n" \
		"b.ne 3f\n" \
		"tbnz w1, #16, 2f\n" /* CLONE_THREAD */ \
		"tbnz w1, #8, 2f\n" /* CLONE_VM */ \
		"cbnz x2, 2f\n" /* without a stack, the child returns from here */ \
		"3: b hook_syscall_special\n" \
		"2:\n" \
		"adrp x16, :gottprel:wait_noted\n" \
		"ldr x16, [x16, #:gottprel_lo12:wait_noted]\n" \
		"mrs x17, tpidr_el0\n" \
		"add x16, x16, x17\n" \
		"mov x17, sp\n" \
		"stp x17, x1, [x16]\n" \
		"adrp x16, hook_syscall_next+8\n" \
		"ldr x16, [x16, #:lo12:hook_syscall_next+8]\n" \
		"cbz x16, 1f\n" \
		"br x16\n" \
		"1:\n" /* called before hook_syscall_start() */ \
		"stp x29, x30, [sp, #-80]!\n" \
		".cfi_def_cfa_offset 80\n" \
		".cfi_offset 29, -80\n" \
		".cfi_offset 30, -72\n" \
		"mov x29, sp\n" \
		"stp x0, x1, [sp, #16]\n" \
		"stp x2, x3, [sp, #32]\n" \
		"stp x4, x5, [sp, #48]\n" \
		"str x6, [sp, #64]\n" \
		"adrp x0, hook_syscall_next\n" \
		"add x0, x0, #:lo12:hook_syscall_next\n" \
		"bl hook_next_find\n" \
		"mov x16, x0\n" \
		"ldp x0, x1, [sp, #16]\n" \
		"ldp x2, x3, [sp, #32]\n" \
		"ldp x4, x5, [sp, #48]\n" \
		"ldr x6, [sp, #64]\n" \
		"ldp x29, x30, [sp], #80\n" \
		".cfi_def_cfa_offset 0\n" \
		".cfi_restore 29\n" \
		".cfi_restore 30\n" \
		"br x16\n" \
		MACHINE_FUNCTION_END(syscall) \
		".popsection\n")

#endif
