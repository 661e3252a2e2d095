// SPDX-License-Identifier: BSD-3-Clause
// A jump table between functions with an entry that leads back; a function that only .eh_frame
// knows; jumps and returns with pointer authentication; a table of bytes without a bound, behind
// which are bytes that are distances to instructions as well; a computed goto.
	.arch armv8.3-a
	.text
	.globl back
	.type back, %function
back:
	.cfi_startproc
.Lagain:
	sub w0, w0, #1
	cmp w0, #2
	b.hi .Lout
	adr x1, .Ltable
	ldrb w1, [x1, w0, uxtw]
	adr x2, .Lorigin
	add x1, x2, w1, sxtb #2
	br x1
.Lorigin:
	add w0, w0, #5
.Lout:
	retaa
	.cfi_endproc
	.size back, . - back
.Ltable:
	.byte (.Lagain - .Lorigin) / 4, 0, (.Lout - .Lorigin) / 4, 0

	.balign 16
.Lunnamed:
	.cfi_startproc
	cbz x0, .Ldone
.Lround:
	subs x0, x0, #1
	b.ne .Lround
.Ldone:
	ret
	.cfi_endproc

	.globl other
	.type other, %function
other:
	.cfi_startproc
	ldr x1, [x0], #8
	braa x1, x0
	.cfi_endproc
	.size other, . - other

	.globl unbounded
	.type unbounded, %function
unbounded:
	adr x1, .Lends
	adr x2, .Lfirst
	ldrb w1, [x1, w0, uxtw]
	add x1, x2, w1, sxtb #2
	br x1
.Lfirst:
	sub w0, w0, #1
	b .Llast
.Lsecond:
	add w0, w0, #2
	add w0, w0, #3
	add w0, w0, #4
	ret
.Llast:
	ret
	.size unbounded, . - unbounded
.Lends:
	.byte 0, (.Lsecond - .Lfirst) / 4, (.Llast - .Lfirst) / 4, -3, -3, -2, 0

	.balign 16
	.globl computed
	.type computed, %function
computed:
	stp x29, x30, [sp, #-32]!
	adrp x1, .Lplaces
	add x1, x1, :lo12:.Lplaces
	str x1, [sp, #16]
.Lnext:
	ldrb w1, [x0], #1
	ldr x2, [sp, #16]
	ldr x1, [x2, x1, lsl #3]
	br x1
.Lone:
	bl back
	b .Lnext
.Ltwo:
	ldp x29, x30, [sp], #32
	ret
	.size computed, . - computed

	.section .data.rel.ro, "aw"
	.balign 8
.Lplaces:
	.xword .Lone, .Ltwo
