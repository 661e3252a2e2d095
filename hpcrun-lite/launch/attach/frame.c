/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See frame.h. x86-64: sigreturn(2), Linux's struct rt_sigframe and _fpx_sw_bytes; Intel's manual,
 * volume 1, 13.4 for the layout of vector registers.
 */
#include "hpcrun-lite/launch/attach/frame.h"

#include "hpcrun-lite/launch/attach/target.h"

#include "common/safe/sys.h"

#include <cpuid.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
	RESTART_FIRST = 512, /* ERESTARTSYS, then NOINTR, NOHAND */
	RESTART_LAST = 516,  /* ERESTART_RESTARTBLOCK */
	NO_STACK_FLAGS = 7,  /* no mode of sigaltstack(2): the kernel leaves the stack as it is */
	FRAME_FLAGS = 7,     /* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
	SOFTWARE_AT = 464,   /* of the vector registers' first 512 bytes, what the kernel may use */
	STATES_AT = 512,     /* XSTATE_BV: which of the states are not in their first state */
	LEGACY_STATES = 3,   /* x87 and SSE */
	LEAST_BYTES = 576,   /* of these, and the header */
	CPUID_STATES = 13,
};

/* struct rt_sigframe. The kernel reads 8 bytes of the mask and nothing behind them. */
struct signal_frame {
	uint64_t restorer;
	ucontext_t context;
};
enum { READ_BYTES = offsetof(struct signal_frame, context.uc_sigmask) + sizeof(uint64_t) };

/* With the states that differ from their first ones, and no others: the kernel resets those. */
static size_t vector_bytes(const struct remote *r, uint64_t *states)
{
	size_t n = LEAST_BYTES;
	memcpy(states, r->vectors + STATES_AT, sizeof *states);
	*states |= LEGACY_STATES;
	for (unsigned i = 2; i < 63; i++) {
		unsigned size, offset, c, d;
		if (!(*states >> i & 1))
			continue;
		__cpuid_count(CPUID_STATES, i, size, offset, c, d);
		n = offset + size > n ? offset + size : n;
	}
	return n < r->vector_bytes ? n : r->vector_bytes;
}

size_t frame_bytes(const struct remote *r)
{
	uint64_t states;
	return READ_BYTES + vector_bytes(r, &states) + sizeof(uint32_t) + 128;
}

/* What the kernel writes in front of a handler, so that it believes the rest. */
static void describe_vectors(uint8_t *image, size_t n_bytes, uint64_t states)
{
	const uint32_t magic = FP_XSTATE_MAGIC2;
	const struct _fpx_sw_bytes software = {
		.magic1 = FP_XSTATE_MAGIC1,
		.extended_size = (uint32_t)(n_bytes + sizeof magic),
		.xstate_bv = states,
		.xstate_size = (uint32_t)n_bytes,
	};
	memcpy(image + SOFTWARE_AT, &software, sizeof software);
	memcpy(image + n_bytes, &magic, sizeof magic);
}

/*
 * The number of the call that ended before `pc`. If it was interrupted before, the kernel knows it
 * as restart_syscall(2), which a return from a handler makes impossible: then the code tells it.
 */
static uint64_t number_of(const struct remote *r)
{
	uint8_t code[5 + MACHINE_CALL_BYTES]; /* mov $number, %eax; syscall */
	uint32_t number;
	if (r->regs.orig_rax != SYS_restart_syscall ||
	    !target_read(r->t, r->regs.rip - sizeof code, code, sizeof code) || code[0] != 0xb8)
		return r->regs.orig_rax;
	memcpy(&number, code + 1, sizeof number);
	return number;
}

/* A system call that was interrupted begins again: its instruction is the one before. */
static void put_registers(greg_t *to, const struct remote *r)
{
	const struct user_regs_struct *u = &r->regs;
	const long result = (long)u->rax;
	const bool again =
		(long)u->orig_rax >= 0 && result <= -RESTART_FIRST && result >= -RESTART_LAST;
	to[REG_R8] = (greg_t)u->r8;
	to[REG_R9] = (greg_t)u->r9;
	to[REG_R10] = (greg_t)u->r10;
	to[REG_R11] = (greg_t)u->r11;
	to[REG_R12] = (greg_t)u->r12;
	to[REG_R13] = (greg_t)u->r13;
	to[REG_R14] = (greg_t)u->r14;
	to[REG_R15] = (greg_t)u->r15;
	to[REG_RDI] = (greg_t)u->rdi;
	to[REG_RSI] = (greg_t)u->rsi;
	to[REG_RBP] = (greg_t)u->rbp;
	to[REG_RBX] = (greg_t)u->rbx;
	to[REG_RDX] = (greg_t)u->rdx;
	to[REG_RAX] = (greg_t)(again ? number_of(r) : u->rax);
	to[REG_RCX] = (greg_t)u->rcx;
	to[REG_RSP] = (greg_t)u->rsp;
	to[REG_RIP] = (greg_t)(again ? u->rip - MACHINE_CALL_BYTES : u->rip);
	to[REG_EFL] = (greg_t)u->eflags;
	to[REG_CSGSFS] = (greg_t)(u->cs | u->ss << 48);
}

uintptr_t frame_put(const struct remote *r, uintptr_t end, uintptr_t restorer)
{
	uint64_t states;
	const size_t n = vector_bytes(r, &states);
	const uintptr_t vectors = (end - n - sizeof(uint32_t)) & ~(uintptr_t)63,
			at = (vectors - READ_BYTES) & ~(uintptr_t)15;
	struct signal_frame frame = {
		.restorer = restorer,
		.context = {.uc_flags = FRAME_FLAGS, .uc_stack = {.ss_flags = NO_STACK_FLAGS}},
	};
	uint8_t *image = malloc(n + sizeof(uint32_t));
	if (!image)
		return 0;
	memcpy(image, r->vectors, n);
	describe_vectors(image, n, states);
	put_registers(frame.context.uc_mcontext.gregs, r);
	frame.context.uc_mcontext.fpregs = (void *)vectors;
	memcpy(&frame.context.uc_sigmask, &r->mask, sizeof r->mask);
	const bool done = target_write(r->t, vectors, image, n + sizeof(uint32_t)) &&
			  target_write(r->t, at, &frame, READ_BYTES);
	free(image);
	return done ? at : 0;
}

bool frame_is_restorer(const uint8_t *code, size_t n_bytes)
{
	static const uint8_t libcs[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	return n_bytes >= sizeof libcs && !memcmp(code, libcs, sizeof libcs);
}

/*
 * rbx: struct frame_call; r12: the function; r13: the frame. pselect6 is a wait that leaves the
 * kernel's note of a call to begin again (restart_syscall(2)) as it is.
 */
__asm__(".pushsection .rodata\n"
	".globl frame_code, frame_code_end\n"
	"frame_code:\n"
	"	call *%r12\n"
	"	mov %rax, (%rbx)\n"
	"	movq $1, 8(%rbx)\n"
	"	mov $270, %eax\n" /* pselect6(0, NULL, NULL, NULL, &wait, NULL) */
	"	xor %edi, %edi\n"
	"	xor %esi, %esi\n"
	"	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n"
	"	lea 16(%rbx), %r8\n"
	"	xor %r9d, %r9d\n"
	"	syscall\n"
	"	mov %r13, %rsp\n"
	"	ret\n"
	"frame_code_end:\n"
	".popsection\n");

void frame_set_registers(struct user_regs_struct *regs, const struct frame_registers *to)
{
	regs->rip = to->code;
	regs->rsp = to->stack_end & ~(uintptr_t)15; /* the call pushes its return address */
	regs->rdi = to->a;
	regs->rsi = to->b;
	regs->rbx = to->call;
	regs->r12 = to->function;
	regs->r13 = to->frame;
	regs->rax = 0;
	regs->rbp = 0;
	regs->eflags &= ~0x400ull; /* direction */
	regs->orig_rax = (unsigned long long)-1;
}
