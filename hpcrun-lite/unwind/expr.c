/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Evaluates the DWARF expressions that occur in call frame information; see regs.h. Stack,
 * operations and bytes are bounded. Reads memory through mem_load() only. Test:
 * tests/unit/unwind/test_unwind_cfi.c.
 */
#include "hpcrun-lite/unwind/arch.h"
#include "hpcrun-lite/unwind/bytes.h"
#include "hpcrun-lite/unwind/regs.h"

struct machine {
	const struct regs *regs;
	struct mem *mem;
	uint64_t *stack;
	unsigned depth;
	enum expr_status status;
	const uint8_t *start;
	struct bytes b;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->depth == EXPR_STACK_MAX)
		m->status = EXPR_BAD;
	else
		m->stack[m->depth++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth == 0) {
		m->status = EXPR_BAD;
		return 0;
	}
	return m->stack[--m->depth];
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	uint64_t value;
	if (reg < CFI_N_REGS && (m->regs->known >> reg & 1))
		push(m, m->regs->reg[reg] + (uint64_t)offset);
	else if (arch_constant_register(reg, &value))
		push(m, value + (uint64_t)offset);
	else
		m->status = EXPR_BAD;
}

static void pick(struct machine *m, uint64_t i)
{
	if (i >= m->depth)
		m->status = EXPR_BAD;
	else
		push(m, m->stack[m->depth - 1 - i]);
}

static void dereference(struct machine *m, unsigned n_bytes)
{
	uint64_t v = 0;
	const uint64_t address = pop(m);
	if (m->status != EXPR_OK)
		return;
	if (n_bytes == 0 || n_bytes > sizeof v)
		m->status = EXPR_BAD;
	else if (n_bytes == sizeof v ? !mem_load(m->mem, address, &v)
				     : !mem_load_guarded(m->mem, address, &v, n_bytes))
		m->status = EXPR_UNREADABLE;
	else
		push(m, v);
}

static void jump(struct machine *m, int64_t distance)
{
	const int64_t target = (m->b.at - m->start) + distance;
	if (target < 0 || target > m->b.end - m->start)
		m->status = EXPR_BAD;
	else
		m->b.at = m->start + target;
}

/* n 2: swaps the top two. n 3: rotates the top three (the top becomes the third). */
static void rotate(struct machine *m, unsigned n)
{
	if (m->depth < n) {
		m->status = EXPR_BAD;
		return;
	}
	uint64_t *top = m->stack + m->depth - n;
	const uint64_t v = top[n - 1];
	for (unsigned i = n - 1; i > 0; i--)
		top[i] = top[i - 1];
	top[0] = v;
}

static uint64_t divide_signed(struct machine *m, int64_t a, int64_t b)
{
	if (b == 0) {
		m->status = EXPR_BAD;
		return 0;
	}
	return b == -1 ? -(uint64_t)a : (uint64_t)(a / b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0) {
		m->status = EXPR_BAD;
		return 0;
	}
	return a % b;
}

/* Operations with two operands: 0x1a..0x2e, except the operations with one operand or none. */
static void binary(struct machine *m, unsigned op)
{
	const uint64_t b = pop(m), a = pop(m);
	const int64_t sa = (int64_t)a, sb = (int64_t)b;
	switch (op) {
	case 0x1a: return push(m, a & b);
	case 0x1b: return push(m, divide_signed(m, sa, sb));
	case 0x1c: return push(m, a - b);
	case 0x1d: return push(m, modulo(m, a, b));
	case 0x1e: return push(m, a * b);
	case 0x21: return push(m, a | b);
	case 0x22: return push(m, a + b);
	case 0x24: return push(m, b < 64 ? a << b : 0);
	case 0x25: return push(m, b < 64 ? a >> b : 0);
	case 0x26: return push(m, (uint64_t)(sa >> (b < 64 ? b : 63)));
	case 0x27: return push(m, a ^ b);
	case 0x29: return push(m, sa == sb);
	case 0x2a: return push(m, sa >= sb);
	case 0x2b: return push(m, sa > sb);
	case 0x2c: return push(m, sa <= sb);
	case 0x2d: return push(m, sa < sb);
	case 0x2e: return push(m, sa != sb);
	default: m->status = EXPR_BAD;
	}
}

static void constant(struct machine *m, unsigned op)
{
	struct bytes *b = &m->b;
	switch (op) {
	case 0x03: /* addr */
	case 0x0e: /* const8u */
	case 0x0f: return push(m, bytes_unsigned(b, 8));
	case 0x08: /* const1u, const1s, const2u, ... */
	case 0x0a:
	case 0x0c: return push(m, bytes_unsigned(b, 1U << ((op - 0x08) / 2)));
	case 0x09:
	case 0x0b:
	case 0x0d: return push(m, (uint64_t)bytes_signed(b, 1U << ((op - 0x09) / 2)));
	case 0x10: return push(m, bytes_uleb(b));
	default: return push(m, (uint64_t)bytes_sleb(b));
	}
}

static void operation(struct machine *m, unsigned op)
{
	struct bytes *b = &m->b;
	uint64_t v;
	switch (op) {
	case 0x03:
	case 0x08 ... 0x11: return constant(m, op);
	case 0x06: return dereference(m, 8);
	case 0x12: /* dup */ return pick(m, 0);
	case 0x13: /* drop */ pop(m); return;
	case 0x14: /* over */ return pick(m, 1);
	case 0x15: return pick(m, bytes_unsigned(b, 1));
	case 0x16: return rotate(m, 2);
	case 0x17: return rotate(m, 3);
	case 0x19: /* abs */ v = pop(m); return push(m, (int64_t)v < 0 ? -v : v);
	case 0x1f: /* neg */ return push(m, -pop(m));
	case 0x20: /* not */ return push(m, ~pop(m));
	case 0x23: /* plus_uconst */ v = pop(m); return push(m, v + bytes_uleb(b));
	case 0x28: { /* bra */
		const int64_t distance = bytes_signed(b, 2);
		if (pop(m))
			jump(m, distance);
		return;
	}
	case 0x2f: /* skip */ return jump(m, bytes_signed(b, 2));
	case 0x30 ... 0x4f: /* lit */ return push(m, op - 0x30);
	case 0x70 ... 0x8f: /* breg */ return push_register(m, op - 0x70, bytes_sleb(b));
	case 0x92: /* bregx */ v = bytes_uleb(b); return push_register(m, v, bytes_sleb(b));
	case 0x94: /* deref_size */ return dereference(m, (unsigned)bytes_unsigned(b, 1));
	case 0x96: /* nop */ return;
	default: return binary(m, op);
	}
}

enum expr_status expr_evaluate(const uint8_t *at, size_t n_bytes, const struct regs *regs,
			       const uint64_t *initial, struct mem *mem,
			       uint64_t stack[EXPR_STACK_MAX], uint64_t *value)
{
	struct machine m = {.regs = regs,
			    .mem = mem,
			    .stack = stack,
			    .status = EXPR_OK,
			    .start = at,
			    .b = {.at = at, .end = at + n_bytes}};
	if (initial)
		push(&m, *initial);
	for (unsigned steps = 0; bytes_left(&m.b) && m.status == EXPR_OK; steps++) {
		if (steps == EXPR_STEPS_MAX)
			return EXPR_BAD;
		operation(&m, (unsigned)bytes_unsigned(&m.b, 1));
		if (m.b.bad)
			return EXPR_BAD;
	}
	if (m.status == EXPR_OK)
		*value = pop(&m);
	return m.status;
}
