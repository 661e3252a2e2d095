/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library whose .eh_frame is writable, as old compilers make it, and so lies in another segment
 * than .eh_frame_hdr; with an FDE longer than what is copied where it cannot be read directly, and
 * a function without tables, which has a frame pointer and leaves by a jump, which cannot be
 * followed. With SWAPPED the two functions change places. Loaded by
 * tests/unit/unwind/test_unwind_odd.c.
 */
#define LONG_FDE                                                                                   \
	".globl call_from_long_fde\n"                                                              \
	".p2align 6\n"                                                                             \
	"call_from_long_fde:\n"                                                                    \
	"	.cfi_startproc\n"                                                                  \
	"	.rept 1100\n"                                                                      \
	"	.cfi_escape 0\n" /* DW_CFA_nop */                                                  \
	"	.endr\n"                                                                           \
	"	push %rbx\n"                                                                       \
	"	.cfi_adjust_cfa_offset 8\n"                                                        \
	"	call *%rdi\n"                                                                      \
	"	pop %rbx\n"                                                                        \
	"	.cfi_adjust_cfa_offset -8\n"                                                       \
	"	ret\n"                                                                             \
	"	.cfi_endproc\n"

#define NO_TABLES                                                                                  \
	".globl call_without_tables\n"                                                             \
	".p2align 6\n"                                                                             \
	"call_without_tables:\n"                                                                   \
	"	push %rbp\n"                                                                       \
	"	mov %rsp, %rbp\n"                                                                  \
	"	call *%rdi\n"                                                                      \
	"	pop %rbp\n"                                                                        \
	"	pop %rcx\n"                                                                        \
	"	jmp *%rcx\n"

__asm__(
#ifndef __clang__ /* its assembler refuses other flags */
	".pushsection .eh_frame, \"aw\", @progbits\n"
	".popsection\n"
#endif
	".text\n"
#ifdef SWAPPED
	NO_TABLES LONG_FDE
#else
	LONG_FDE NO_TABLES
#endif
	".p2align 6\n");
