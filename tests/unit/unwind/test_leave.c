/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/unwind/code: the way out of code as people and compilers write it, code that
 * has no way out, any bytes, and the lengths of instructions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/unwind/code/insn.h"
#include "hpcrun-lite/unwind/code/leave.h"

#include <stdio.h>
#include <string.h>

/* Between AT() are instructions with the same way out, which ways[] has. */
#define AT(name) #name ":\n"

__asm__(".text\n"
	/* OpenBLAS: the old stack pointer is in rbx */
	AT(a0) "sub $96, %rsp\n mov %rbx, (%rsp)\n mov %rbp, 8(%rsp)\n mov %r12, 16(%rsp)\n"
	"mov %rsp, %rbx\n"
	AT(a1) "sub $28800, %rsp\n and $-4096, %rsp\n"
	AT(a2) "vfmadd231pd (%rdi), %ymm1, %ymm2\n prefetcht0 512(%rsi)\n xor %ebp, %ebp\n"
	"1: add $64, %rbp\n jne 1b\n vzeroupper\n"
	AT(a3) "mov %rbx, %rsp\n"
	AT(a4) "mov (%rsp), %rbx\n mov 8(%rsp), %rbp\n mov 16(%rsp), %r12\n"
	AT(a5) "add $96, %rsp\n"
	AT(a6) "ret\n"
	/* x264, dav1d: the old stack pointer is in memory */
	AT(b0) "push %rbx\n"
	AT(b1) "mov %rsp, %rax\n sub $200, %rsp\n and $-32, %rsp\n mov %rax, 160(%rsp)\n"
	AT(b2) "vpxor %xmm0, %xmm0, %xmm0\n"
	AT(b3) "mov 160(%rsp), %rsp\n pop %rbx\n ret\n"
	/* gcc: a realigned frame */
	AT(c0) "lea 8(%rsp), %r10\n"
	AT(c1) "and $-32, %rsp\n"
	AT(c2) "push -8(%r10)\n push %rbp\n mov %rsp, %rbp\n push %r10\n"
	AT(c3) "sub $64, %rsp\n nop\n add $64, %rsp\n"
	AT(c4) "pop %r10\n"
	AT(c5) "pop %rbp\n"
	AT(c6) "lea -8(%r10), %rsp\n ret\n"
	/* an early return and a loop without an end, but for a branch in it */
	AT(d0) "push %rbp\n"
	AT(d1) "2: test %edi, %edi\n je 3f\n dec %edi\n jmp 2b\n"
	"3: pop %rbp\n ret\n"
	/* a tail call, through a register only after a branch */
	AT(e0) "push %rbx\n"
	AT(e1) "test %edi, %edi\n jne 4f\n pop %rbx\n jmp *%rax\n"
	"4: pop %rbx\n jmp *slot(%rip)\n"
	/* a call that does not return */
	AT(f0) "sub $8, %rsp\n call f0\n"
	".p2align 4\n"
	AT(g0) "sub $24, %rsp\n add $24, %rsp\n ret\n"
	AT(h0) "jmp h0\n"
	AT(i0) "jmp *%rax\n"
	AT(u0) "ud2\n"
	AT(k0) "sub %rax, %rsp\n"
	AT(k1) "ret\n"
	/* V8 takes the arguments off; a jump by a return */
	AT(l0) "pop %r10\n add $16, %rsp\n push %r10\n ret\n"
	AT(m0) "sub $24, %rsp\n push %rax\n pop %rcx\n"
	AT(m1) "add $24, %rsp\n ret\n"
	AT(n0) "add $24, %rsp\n push %rax\n ret\n"
	/* pushed words that are not popped */
	AT(o0) "push %rax\n add $8, %rsp\n ret\n"
	AT(p0) "push %rbp\n mov %rsp, %rbp\n push %rbx\n leave\n ret\n"
	/* a word below the stack pointer, r10 after a call, a loop without an end */
	AT(q0) "mov -8(%rsp), %rbp\n ret\n"
	AT(r0) "mov %rsp, %r10\n call a0\n mov %r10, %rsp\n ret\n"
	AT(s0) "sub $24, %rsp\n call f0\n .p2align 4\n nop\n .p2align 4\n"
	"lea 32(%rsp), %rsp\n add $-8, %rsp\n ret\n"
	/* realigned twice: nothing of the first place is known at the second */
	AT(t0) "mov %rsp, %rbx\n and $-64, %rsp\n mov %rbx, (%rsp)\n and $-128, %rsp\n"
	"mov (%rsp), %rsp\n ret\n"
	AT(t1) "mov %rsp, %rbx\n and $-64, %rsp\n mov %rsp, %rcx\n and $-128, %rsp\n"
	"mov %rbx, (%rsp)\n mov (%rcx), %rsp\n ret\n"
	/* too far away; a word that is stored twice */
	AT(v0) "lea 0x7fffffff(%rsp), %rsp\n lea 0x7fffffff(%rsp), %rsp\n"
	"lea 10(%rsp), %rsp\n ret\n"
	AT(w0) "mov %rsp, %rax\n sub $64, %rsp\n mov %rsp, (%rsp)\n mov %rax, (%rsp)\n"
	"mov (%rsp), %rsp\n ret\n"
	AT(w1) "mov %rsp, %rax\n sub $64, %rsp\n mov %rax, (%rsp)\n xor %eax, %eax\n"
	"mov %rax, (%rsp)\n mov (%rsp), %rsp\n ret\n"
	AT(x0) "mov %rbp, 8(%rsp)\n"
	AT(x1) "je 5f\n nop\n 5: ret\n"
	AT(x2) "enter $16, $0\n"
	AT(x3) "nop\n leave\n ret\n"
	AT(z0) "xchg %rsp, %rax\n"
	AT(z1) "mov %rax, %rsp\n ret\n"
	AT(z2) "push %rbp\n xchg %rcx, %rbp\n pop %rbp\n ret\n"
	AT(z3) "push %rbx\n xchg %rbx, (%rdi)\n xchg %rax, %rcx\n pop %rbx\n ret\n"
	AT(end) ".data\nslot: .quad 0\n.text\n");

enum { AX = 0, BX = 3, BP = 6, SP = 7, R10 = 10 };
#define SAME {LEAVE_REG, BP, 0, 0}
#define REG(reg, n) {LEAVE_REG, reg, 0, n}
#define LOAD(reg, at, n) {LEAVE_LOAD, reg, at, n}

extern const uint8_t a0[], a1[], a2[], a3[], a4[], a5[], a6[], b0[], b1[], b2[], b3[], c0[], c1[],
	c2[], c3[], c4[], c5[], c6[], d0[], d1[], e0[], e1[], f0[], g0[], h0[], i0[], u0[], k0[],
	k1[], l0[], m0[], m1[], n0[], o0[], p0[], q0[], r0[], s0[], t0[], t1[], v0[],
	w0[], w1[], x0[], x1[], x2[], x3[], z0[], z1[], z2[], z3[], end[];

/* At the first instruction from `at` on. LEAVE_UNKNOWN: there is no way out. */
static const struct {
	const uint8_t *at;
	struct leave_value cfa, bp;
} ways[] = {
	{a0, REG(SP, 8), SAME},
	{a1, REG(BX, 104), LOAD(BX, 8, 0)},
	{a2, REG(BX, 104), LOAD(BX, 8, 0)},
	{a3, REG(BX, 104), LOAD(BX, 8, 0)},
	{a4, REG(SP, 104), LOAD(SP, 8, 0)},
	{a5, REG(SP, 104), SAME},
	{a6, REG(SP, 8), SAME},
	{b0, REG(SP, 8), SAME},
	{b1, REG(SP, 16), SAME},
	{b2, LOAD(SP, 160, 16), SAME},
	{b3, LOAD(SP, 160, 16), SAME},
	{c0, REG(SP, 8), SAME},
	{c1, REG(R10, 0), SAME},
	{c2, REG(R10, 0), SAME},
	{c3, LOAD(SP, 0, 0), LOAD(SP, 8, 0)},
	{c4, LOAD(SP, 0, 0), LOAD(SP, 8, 0)},
	{c5, REG(R10, 0), LOAD(SP, 0, 0)},
	{c6, REG(R10, 0), SAME},
	{d0, REG(SP, 8), SAME},
	{d1, REG(SP, 16), LOAD(SP, 0, 0)},
	{e0, REG(SP, 8), SAME},
	{e1, REG(SP, 16), SAME},
	{f0, {0}, {0}},
	{g0, REG(SP, 8), SAME},
	{h0, {0}, {0}},
	{i0, {0}, {0}},
	{u0, {0}, {0}},
	{k0, {0}, {0}},
	{k1, REG(SP, 8), SAME},
	{l0, {0}, {0}},
	{m0, REG(SP, 8), SAME},
	{m1, REG(SP, 32), SAME},
	{n0, {0}, {0}},
	{o0, REG(SP, 8), SAME},
	{p0, REG(SP, 8), SAME},
	{q0, {0}, {0}},
	{r0, {0}, {0}},
	{s0, {0}, {0}},
	{t0, {0}, {0}},
	{t1, {0}, {0}},
	{v0, {0}, {0}},
	{w0, REG(SP, 8), SAME},
	{w1, {0}, {0}},
	{x2, {0}, {0}},
	{x3, REG(BP, 16), LOAD(BP, 0, 0)},
	{z0, {0}, {0}},
	{z1, REG(AX, 8), SAME},
	{z2, {0}, {0}},
	{z3, REG(SP, 8), SAME},
};

static struct leave_work work;

static bool find(const uint8_t *at, bool is_exact, struct leave *leave)
{
	const struct leave_code code = {.lo = (uintptr_t)a0, .hi = (uintptr_t)end};
	return leave_find(&code, (uintptr_t)at, is_exact, &work, leave);
}

static void check_value(size_t i, const struct leave_value *found, const struct leave_value *want)
{
	if (found->kind != want->kind || found->reg != want->reg || found->at != want->at ||
	    found->offset != want->offset)
		fail_msg("way %zu: kind %u, register %u, at %d, offset %d", i, found->kind,
			 found->reg, found->at, found->offset);
}

static void ways_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct leave leave;
		const bool is_found = find(ways[i].at, true, &leave);
		if (is_found != (ways[i].cfa.kind != LEAVE_UNKNOWN))
			fail_msg("way %zu: found %d", i, is_found);
		if (!is_found)
			continue;
		check_value(i, &leave.cfa, &ways[i].cfa);
		check_value(i, &leave.bp, &ways[i].bp);
	}
}

static uint16_t known_needs;

static uint64_t know_last(void *arg, uint64_t pc, uint32_t *needs)
{
	*needs = known_needs;
	return pc == *(const uint64_t *)arg ? 4711 : 0;
}

/* A search ends at a branch that is known, if what that needs has not changed. */
static void branches(void **state)
{
	struct leave leave;
	(void)state;
	assert_true(find(a2, true, &leave));
	assert_int_equal(leave.n_passed, 0); /* bp has changed */
	assert_true(find(d1, true, &leave));
	assert_int_equal(leave.n_passed, 1);
	uint64_t branch = leave.passed[0];
	const struct leave_code code = {
		.lo = (uintptr_t)a0, .hi = (uintptr_t)end, .known = know_last, .arg = &branch};
	known_needs = 1 << SP;
	assert_true(leave_find(&code, (uintptr_t)d1, true, &work, &leave));
	assert_int_equal(leave.known, 4711);
	assert_false(leave_find(&code, (uintptr_t)h0, true, &work, &leave));
	assert_true(leave_find(&code, (uintptr_t)d0, true, &work, &leave)); /* pushes bp */
	assert_int_equal(leave.known, 0);
	/* a word is stored before the branch, which the known way may load */
	branch = (uintptr_t)x1;
	assert_true(leave_find(&code, (uintptr_t)x1, true, &work, &leave));
	assert_int_equal(leave.known, 4711);
	assert_true(leave_find(&code, (uintptr_t)x0, true, &work, &leave));
	assert_int_equal(leave.known, 0);
	assert_true(find(d1, true, &leave));
	branch = leave.passed[0];
	known_needs = 1 << R10;
	assert_true(leave_find(&code, (uintptr_t)d1, false, &work, &leave));
	assert_int_equal(leave.known, 0);
}

/* Of a return address only what callees keep is known. */
static void after_a_call(void **state)
{
	struct leave leave;
	(void)state;
	assert_true(find(a2, false, &leave));
	assert_true(find(a4, false, &leave));
	assert_false(find(c1, false, &leave)); /* r10 */
}

/* Whatever the bytes are: an answer, and nothing beyond the bounds is read. */
static void any_bytes(void **state)
{
	enum { N = 4096 };
	static uint8_t bytes[N];
	const struct leave_code code = {.lo = (uintptr_t)bytes, .hi = (uintptr_t)bytes + N};
	uint64_t seed = 7;
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct leave leave;
		struct insn insn;
		for (unsigned i = 0; i < N; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			bytes[i] = (uint8_t)(seed >> 24);
		}
		for (unsigned i = 0; i < N; i += 61) {
			leave_find(&code, (uintptr_t)bytes + i, round % 2, &work, &leave);
			if (insn_decode(bytes + i, N - i < 15 ? N - i : 15, 0, &insn))
				assert_in_range(insn.n_bytes, 1, 15);
		}
	}
}

static void lengths(void **state)
{
	static const struct {
		const char *bytes;
		unsigned n;
	} known[] = {
		{"\x90", 1},
		{"\xf3\x0f\x1e\xfa", 4},
		{"\x66\x2e\x0f\x1f\x84\0\0\0\0\0", 10},
		{"\x48\xb8" "12345678", 10},
		{"\x66\xb8" "12", 4},
		{"\x48\xa1" "12345678", 10},
		{"\x66\x66\x48\xe8" "1234", 8},
		{"\xf6\x05" "1234" "\x01", 7},
		{"\xf6\x15" "1234", 6},
		{"\xf7\x04\x25" "1234" "1234", 11},
		{"\xc8\x10\x00\x01", 4},
		{"\x66\x0f\x3a\x0f\xc1\x08", 6},
		{"\xc5\xf8\x77", 3},
		{"\xc4\xe2\xf5\xb8\x17", 5},
		{"\xc4\xe3\x7d\x19\xc1\x01", 6},
		{"\xc5\xfd\x70\xc0\x4e", 5},
		{"\x62\xf1\x7c\x48\x10\x47\x01", 7},
		{"\x62\xf3\x75\x48\x43\xc0\x11", 7},
		{"\x8f\xe8\x78\xa2\xc1\x10", 6}, /* XOP */
		{"\x8f\x04\x24", 3},             /* pop (%rsp) */
	};
	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		uint8_t code[INSN_MAX_BYTES] = {0};
		struct insn insn;
		memcpy(code, known[i].bytes, known[i].n);
		if (!insn_decode(code, sizeof code, 0, &insn) || insn.n_bytes != known[i].n)
			fail_msg("instruction %zu has %u bytes", i, insn.n_bytes);
		assert_false(insn_decode(code, known[i].n - 1, 0, &insn));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_out),
		cmocka_unit_test(branches),
		cmocka_unit_test(after_a_call),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(lengths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
