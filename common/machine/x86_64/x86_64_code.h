/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64: functions in assembly; see machine.h, which includes this. */
#ifndef COMMON_MACHINE_X86_64_X86_64_CODE_H
#define COMMON_MACHINE_X86_64_X86_64_CODE_H

/* Debuggers and unwinders recognise a signal frame by these bytes, which are libc's, too. */
#define MACHINE_RESTORER(name) \
	__asm__(".pushsection .text\n" \
		".balign 16\n" \
		"nop\n" \
		".hidden " #name "\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n" \
		"movq $15, %rax\n" /* SYS_rt_sigreturn */ \
		"syscall\n" \
		".size " #name ", .-" #name "\n" \
		".popsection\n")

/* The kernel always passes all three arguments. */
#define MACHINE_HANDLER(name, then)   \
	__asm__(".globl " #name "\n"  \
		".hidden " #name "\n" \
		".set " #name ", " #then "\n")

/*
 * The kernel leaves EFLAGS.AC (bit 18) set, and restores it after the handler. The stack stays
 * aligned as at a function's entry.
 */
#define MACHINE_SIGNAL_ENTRY(name, then) \
	__asm__(".pushsection .text\n" \
		".balign 16\n" \
		".globl " #name "\n" \
		".hidden " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n" \
		".cfi_startproc\n" \
		"endbr64\n" \
		"pushfq\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"testl $0x40000, (%rsp)\n" \
		"jne 1f\n" \
		"leaq 8(%rsp), %rsp\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"jmp " #then "\n" \
		"1:\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"andl $~0x40000, (%rsp)\n" \
		"popfq\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"jmp " #then "\n" \
		".cfi_endproc\n" \
		".size " #name ", .-" #name "\n" \
		".popsection\n")

#define MACHINE_CALL_ON_STACK(name) \
	__asm__(".pushsection .text\n" \
		".balign 16\n" \
		".globl " #name "\n" \
		".hidden " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n" \
		".cfi_startproc\n" \
		"endbr64\n" \
		"pushq %rbp\n" \
		".cfi_adjust_cfa_offset 8\n" \
		".cfi_rel_offset %rbp, 0\n" \
		"movq %rsp, %rbp\n" \
		".cfi_def_cfa_register %rbp\n" \
		"movq %rdx, %rsp\n" \
		"call *%rsi\n" \
		"movq %rbp, %rsp\n" \
		"popq %rbp\n" \
		".cfi_def_cfa %rsp, 8\n" \
		"ret\n" \
		".cfi_endproc\n" \
		".size " #name ", .-" #name "\n" \
		".popsection\n")

/* Keeps the two arguments of a function around a call with them. */
#define MACHINE_CALL_WITH_TWO(function) \
	"pushq %rdi\n" \
	".cfi_adjust_cfa_offset 8\n" \
	"pushq %rsi\n" \
	".cfi_adjust_cfa_offset 8\n" \
	"subq $8, %rsp\n" \
	".cfi_adjust_cfa_offset 8\n" \
	"call " #function "\n" \
	"addq $8, %rsp\n" \
	".cfi_adjust_cfa_offset -8\n" \
	"popq %rsi\n" \
	".cfi_adjust_cfa_offset -8\n" \
	"popq %rdi\n" \
	".cfi_adjust_cfa_offset -8\n"

#define MACHINE_HOOK_SETJMP(ask) \
	__asm__(".pushsection .text\n" \
		".globl setjmp\n" \
		".type setjmp, @function\n" \
		"setjmp:\n" \
		".cfi_startproc\n" \
		"endbr64\n" \
		"movl $1, %esi\n" \
		"jmp 1f\n" \
		".cfi_endproc\n" \
		".size setjmp, .-setjmp\n" \
		".globl __sigsetjmp\n" \
		".type __sigsetjmp, @function\n" \
		"__sigsetjmp:\n" \
		".cfi_startproc\n" \
		"endbr64\n" \
		"1:\n" \
		MACHINE_CALL_WITH_TWO(ask) \
		"jmp *%rax\n" \
		".cfi_endproc\n" \
		".size __sigsetjmp, .-__sigsetjmp\n" \
		".popsection\n")

#define MACHINE_HOOK_DLSYM(ask, next) \
	__asm__(".pushsection .text\n" \
		".globl dlsym\n" \
		".type dlsym, @function\n" \
		"dlsym:\n" \
		".cfi_startproc\n" \
		"endbr64\n" \
		MACHINE_CALL_WITH_TWO(ask) \
		"testq %rax, %rax\n" \
		"jne 1f\n" \
		"jmpq *" #next "(%rip)\n" \
		"1: ret\n" \
		".cfi_endproc\n" \
		".size dlsym, . - dlsym\n" \
		".popsection\n")

#define MACHINE_SLOT_BYTES 32u
#define MACHINE_SLOTS(name, counts, targets) \
	__asm__(".text\n" \
		".p2align 5\n" \
		".globl " #name "\n" \
		".hidden " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n" \
		".set machine_slot, 0\n" \
		".rept 32\n" \
		".p2align 5\n" \
		"endbr64\n" \
		"lock incq " #counts "+8*machine_slot(%rip)\n" \
		"jmp *" #targets "+8*machine_slot(%rip)\n" \
		".set machine_slot, machine_slot+1\n" \
		".endr\n" \
		".p2align 5\n" \
		".size " #name ", .-" #name "\n")

/*
 * syscall() reads only the number. The sixth argument is on the stack. If a caller passes fewer,
 * its own variables are there, which other threads may write. So we must not write that word, not
 * even with the same value, and a C function might.
 */
#define MACHINE_SPECIAL_CALLS 323
#define MACHINE_OLDER_SPECIAL_CALLS [SYS_signalfd] = 1, [SYS_fork] = 1
#define MACHINE_HOOK_SYSCALL \
	_Static_assert(SYS_clone == 56 && (CLONE_THREAD | CLONE_VM) == 0x10100, "as below"); \
	__asm__(".pushsection .text\n" \
		".globl syscall\n" \
		".type syscall, @function\n" \
		"syscall:\n" \
		".cfi_startproc\n" \
		"endbr64\n" \
		"cmpq $322, %rdi\n" \
		"ja 2f\n" \
		"leaq hook_syscall_is_special(%rip), %rax\n" \
		"cmpb $0, (%rax,%rdi)\n" \
		"je 2f\n" \
		"cmpq $56, %rdi\n" \
		"jne hook_syscall_special\n" \
		"testl $0x10100, %esi\n" /* CLONE_THREAD, CLONE_VM */ \
		"jne 2f\n" \
		"testq %rdx, %rdx\n" /* the child returns from here, on a copy of this stack */ \
		"je hook_syscall_special\n" \
		"2:\n" \
		"movq wait_noted@gottpoff(%rip), %rax\n" \
		"movq %rsp, %fs:(%rax)\n" \
		"movq %rdi, %fs:8(%rax)\n" \
		"movq hook_syscall_next+8(%rip), %rax\n" \
		"testq %rax, %rax\n" \
		"je 1f\n" \
		"jmp *%rax\n" \
		"1:\n" /* called before hook_syscall_start() */ \
		"pushq %rdi\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"pushq %rsi\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"pushq %rdx\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"pushq %rcx\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"pushq %r8\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"pushq %r9\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"subq $8, %rsp\n" \
		".cfi_adjust_cfa_offset 8\n" \
		"leaq hook_syscall_next(%rip), %rdi\n" \
		"call hook_next_find\n" \
		"addq $8, %rsp\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"popq %r9\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"popq %r8\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"popq %rcx\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"popq %rdx\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"popq %rsi\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"popq %rdi\n" \
		".cfi_adjust_cfa_offset -8\n" \
		"jmp *%rax\n" \
		".cfi_endproc\n" \
		".size syscall, .-syscall\n" \
		".popsection\n")

#endif
