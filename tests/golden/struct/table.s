// SPDX-License-Identifier: BSD-3-Clause
// A jump table between functions with an entry that leads back; a function that only .eh_frame
// knows; jumps and returns with pointer authentication.
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
