/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/unwind/aarch64/insn_aarch64.c, on any processor: the instructions that move
 * the stack pointer, save and restore registers, or change the flow of control.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/unwind/code/insn.h"

enum { NONE = INSN_NO_REG, AT = 0x1000 };

/* The words are what GNU as makes of the text in `name`. */
static const struct {
	const char *name;
	uint32_t word;
	struct insn want;
} known[] = {
	{"stp x29, x30, [sp, #-32]!", 0xa9be7bfd, {4, INSN_STORE, 31, 29, 30, -32, -32}},
	{"ldp x29, x30, [sp], #32", 0xa8c27bfd, {4, INSN_LOAD, 29, 31, 30, 32, 0}},
	{"stp x19, x20, [sp, #16]", 0xa90153f3, {4, INSN_STORE, 31, 19, 20, 0, 16}},
	{"str x30, [sp, #-16]!", 0xf81f0ffe, {4, INSN_STORE, 31, 30, NONE, -16, -16}},
	{"ldr x30, [sp], #16", 0xf84107fe, {4, INSN_LOAD, 30, 31, NONE, 16, 0}},
	{"ldr x30, [sp, #16]", 0xf9400bfe, {4, INSN_LOAD, 30, 31, NONE, 0, 16}},
	{"stp d8, d9, [sp, #-64]!", 0x6dbc27e8, {4, INSN_ADD, 31, NONE, NONE, 0, -64}},
	{"ldr w19, [sp], #16", 0xb84107f3, {4, INSN_SET, 19, 31, NONE, 0, 0}},
	{"ldrb w3, [x1], #1", 0x38401423, {4, INSN_SET, 3, 1, NONE, 0, 0}},
	{"sub sp, sp, #48", 0xd100c3ff, {4, INSN_ADD, 31, 31, NONE, 0, -48}},
	{"mov x29, sp", 0x910003fd, {4, INSN_MOVE, 29, 31, NONE, 0, 0}},
	{"add x19, x19, #1, lsl #12", 0x91400673, {4, INSN_ADD, 19, 19, NONE, 0, 4096}},
	{"mov x19, x0", 0xaa0003f3, {4, INSN_MOVE, 19, 0, NONE, 0, 0}},
	{"and sp, x9, #-16", 0x927ced3f, {4, INSN_SET, 31, NONE, NONE, 0, 0}},
	{"cmp x0, #1", 0xf100041f, {4, INSN_PLAIN, NONE, NONE, NONE, 0, 0}},
	{"addvl sp, sp, #-1", 0x043f57ff, {4, INSN_SET, 31, NONE, NONE, 0, 0}},
	{"fadd d29, d0, d1", 0x1e61281d, {4, INSN_PLAIN, NONE, NONE, NONE, 0, 0}},
	{"fmov x29, d0", 0x9e66001d, {4, INSN_SET, 29, NONE, NONE, 0, 0}},
	{"ret", 0xd65f03c0, {4, INSN_RETURN, NONE, NONE, NONE, 0, 0}},
	{"retaa", 0xd65f0bff, {4, INSN_RETURN, NONE, NONE, NONE, 0, 0}},
	{"ret x1", 0xd65f0020, {4, INSN_END, NONE, NONE, NONE, 0, 0}},
	{"br x17", 0xd61f0220, {4, INSN_JUMP_SLOT, NONE, NONE, NONE, 0, 0}},
	{"br x0", 0xd61f0000, {4, INSN_END, NONE, NONE, NONE, 0, 0}},
	{"blr x1", 0xd63f0020, {4, INSN_CALL, NONE, NONE, NONE, 0, 0}},
	{"bl .-4", 0x97ffffff, {4, INSN_CALL, NONE, NONE, NONE, 0, 0}},
	{"b .+8", 0x14000002, {4, INSN_JUMP, NONE, NONE, NONE, 0, AT + 8}},
	{"b.ne .-8", 0x54ffffc1, {4, INSN_BRANCH, NONE, NONE, NONE, 0, AT - 8}},
	{"cbz x0, .+8", 0xb4000040, {4, INSN_BRANCH, NONE, NONE, NONE, 0, AT + 8}},
	{"tbnz w0, #3, .-4", 0x371fffe0, {4, INSN_BRANCH, NONE, NONE, NONE, 0, AT - 4}},
	{"paciasp", 0xd503233f, {4, INSN_ENTRY, NONE, NONE, NONE, 0, 0}},
	{"autiasp", 0xd50323bf, {4, INSN_PLAIN, NONE, NONE, NONE, 0, 0}},
	{"nop", 0xd503201f, {4, INSN_NOP, NONE, NONE, NONE, 0, 0}},
	{"svc #0", 0xd4000001, {4, INSN_PLAIN, NONE, NONE, NONE, 0, 0}},
	{"brk #1", 0xd4200020, {4, INSN_END, NONE, NONE, NONE, 0, 0}},
};

static void decodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const struct insn *want = &known[i].want;
		struct insn got;
		if (!insn_decode((const uint8_t *)&known[i].word, 4, AT, &got))
			fail_msg("%s: not decoded", known[i].name);
		if (got.n_bytes != want->n_bytes || got.kind != want->kind || got.to != want->to ||
		    (want->from != NONE && got.from != want->from) || got.second != want->second ||
		    got.after != want->after || got.value != want->value)
			fail_msg("%s: kind %d, to %d, from %d, second %d, after %d, value %lld",
				 known[i].name, got.kind, got.to, got.from, got.second, got.after,
				 (long long)got.value);
	}
}

static void refuses(void **state)
{
	const uint32_t udf = 0, ret = 0xd65f03c0;
	struct insn got;
	(void)state;
	assert_false(insn_decode((const uint8_t *)&udf, 4, AT, &got));
	assert_false(insn_decode((const uint8_t *)&ret, 3, AT, &got));
	assert_false(insn_decode((const uint8_t *)&ret, 4, AT + 2, &got));
}

/* Any word is decoded without harm, and names no register that does not exist. */
static void any_word(void **state)
{
	uint32_t word = 1;
	(void)state;
	for (unsigned i = 0; i < 1000000; i++) {
		struct insn got;
		word = word * 1664525 + 1013904223;
		if (!insn_decode((const uint8_t *)&word, 4, AT, &got))
			continue;
		assert_true(got.to < 32 || got.to == NONE);
		assert_true(got.from < 32 || got.from == NONE);
		assert_true(got.second < 32 || got.second == NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes),
		cmocka_unit_test(refuses),
		cmocka_unit_test(any_word),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
