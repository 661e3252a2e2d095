/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * x86-64; see wait_machine.h. The signal frame does not have the number: the kernel puts the result
 * where it was. So the code before the call must show it.
 */
#include "hpcrun-lite/hooks/wait/wait_machine.h"

#include "common/safe/load.h"

#include <string.h>

enum { MOV_BYTES = 5, BEFORE_BYTES = 40, REX_B = 0x41 };

/*
 * Length of an instruction that sets an argument of a system call: mov, lea, movslq or xor, to a
 * register other than eax. 0: another instruction.
 */
static size_t argument_bytes(const uint8_t *code, size_t n_left)
{
	const uint8_t rex = n_left > 0 && (code[0] & 0xf0) == 0x40 ? code[0] : 0;
	size_t n = rex ? 1 : 0;
	if (n_left < n + 2)
		return 0;
	const uint8_t opcode = code[n], modrm = code[n + 1];
	if ((opcode & 0xf8) == 0xb8)
		return (rex & 8) || (opcode == 0xb8 && !(rex & 1)) ? 0 : n + 5;
	const bool to_rm = opcode == 0x89 || opcode == 0x31;
	if (!to_rm && opcode != 0x8b && opcode != 0x8d && opcode != 0x63)
		return 0;
	const unsigned mod = modrm >> 6, rm = modrm & 7, reg = modrm >> 3 & 7;
	const bool is_memory = mod != 3;
	if (to_rm && is_memory)
		return 0;
	if (to_rm ? rm == 0 && !(rex & 1) : reg == 0 && !(rex & 4))
		return 0;
	n += 2 + (is_memory && rm == 4);
	return n + (mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);
}

/* The number in "mov $number, %eax" at `code`, if only arguments follow up to `end`. */
static long number_at(const uint8_t *code, const uint8_t *end)
{
	int32_t number;
	memcpy(&number, code + 1, sizeof number);
	for (code += MOV_BYTES; code < end;) {
		const size_t n = argument_bytes(code, (size_t)(end - code));
		if (n == 0)
			return UNKNOWN_CALL;
		code += n;
	}
	return code == end && number >= 0 && number < 1024 ? number : UNKNOWN_CALL;
}

/*
 * Returns true after "xor %eax, %eax", and after "test %eax, %eax; jne elsewhere", with which older
 * glibc (2.31) finds out whether it has threads.
 */
static bool is_zero_at(const uint8_t *end)
{
	return (end[-2] == 0x31 && end[-1] == 0xc0) ||
	       (end[-4] == 0x85 && end[-3] == 0xc0 && end[-2] == 0x75);
}

/* Works up to glibc 2.40. Number 0 is the call read. */
long wait_number_in_code(const ucontext_t *context, uintptr_t pc)
{
	(void)context;
	uint8_t code[BEFORE_BYTES + MACHINE_CALL_BYTES];
	const uint8_t *end = code + BEFORE_BYTES;
	size_t n = sizeof code;
	if (load_guarded(code, pc - n, n) != n) {
		/* the bytes before that may not be mapped */
		n = MOV_BYTES + 1 + MACHINE_CALL_BYTES;
		if (load_guarded(code + sizeof code - n, pc - n, n) != n)
			return NO_CALL;
	}
	if (end[0] != 0x0f || end[1] != 0x05)
		return NO_CALL;
	if (is_zero_at(end))
		return SYS_read;
	long number = UNKNOWN_CALL;
	for (const uint8_t *at = end - MOV_BYTES;
	     number == UNKNOWN_CALL && at > end + MACHINE_CALL_BYTES - n; at--)
		if (at[0] == 0xb8 && at[-1] != REX_B) /* with this prefix it loads r8d */
			number = number_at(at, end);
	return number;
}

bool wait_first_in_code(const ucontext_t *context, uintptr_t pc, long *first)
{
	(void)pc;
	*first = machine_argument(context, 0);
	return true;
}

/*
 * The system call instruction overwrites rcx, so our handlers use it to mark a context. The values
 * cannot be addresses. The assembly keeps them out of rcx itself: what we leave there may still be
 * there when a handler of the program returns, and a signal at the call of rt_sigreturn would find
 * its context marked.
 */
#define RESTARTED 0x706f7c68732d5741
#define INTERRUPTED 0x706f7c68732d5742

#define HAS_MARK(is, context, mark) \
	__asm__("movabsq %2, %%rax\n\tcmpq %%rax, %1" \
		: "=@cce"(is) \
		: "m"((context)->uc_mcontext.gregs[REG_RCX]), "i"(mark) \
		: "rax")
#define SET_MARK(context, mark) \
	__asm__("movabsq %1, %%rax\n\tmovq %%rax, %0" \
		: "=m"((context)->uc_mcontext.gregs[REG_RCX]) \
		: "i"(mark) \
		: "rax")

enum wait_mark wait_mark_of(const ucontext_t *context)
{
	bool is_restarted, is_interrupted;
	HAS_MARK(is_restarted, context, RESTARTED);
	HAS_MARK(is_interrupted, context, INTERRUPTED);
	return is_restarted ? WAIT_RESTARTED : is_interrupted ? WAIT_INTERRUPTED : WAIT_NOT_MARKED;
}

void wait_set_mark(ucontext_t *context, enum wait_mark mark)
{
	if (mark == WAIT_RESTARTED)
		SET_MARK(context, RESTARTED);
	else
		SET_MARK(context, INTERRUPTED);
}

/*
 * The system call instruction keeps the flags, and the code around it does not need them. Our
 * handler sets the zero and the sign flag in a call that it restarts. No instruction that computes
 * flags sets both, so they identify the call if it is interrupted again.
 */
#define SAME_CALL 0xc0

void wait_set_same(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_EFL] |= SAME_CALL;
}

bool wait_take_same(ucontext_t *context)
{
	greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];
	const bool is_same = (*flags & SAME_CALL) == SAME_CALL;
	*flags &= ~SAME_CALL;
	return is_same;
}
