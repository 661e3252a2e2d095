/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcstruct-lite/isa: x86-64 instructions and jump tables as gcc and clang write them,
 * SASS as ptxas writes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/isa/isa.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define AT UINT64_C(0x1000)

struct expected {
	const char *bytes;
	uint8_t n_bytes, kind;
	bool is_conditional, has_target;
	uint64_t target;
};

static void check(const struct isa *isa, const struct expected *e, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		struct isa_instruction i;
		isa->decode((const uint8_t *)e[k].bytes, e[k].n_bytes, AT, &i);
		assert_int_equal(i.n_bytes, e[k].n_bytes);
		assert_int_equal(i.kind, e[k].kind);
		assert_int_equal(i.is_conditional, e[k].is_conditional);
		assert_int_equal(i.has_target, e[k].has_target);
		if (e[k].has_target)
			assert_int_equal(i.target, e[k].target);
	}
}

static void test_x86(void **unused)
{
	static const struct expected table[] = {
		{"\x89\xd8", 2, ISA_PLAIN, false, false, 0},
		{"\xeb\xfe", 2, ISA_JUMP, false, true, AT},
		{"\xe9\x00\x01\x00\x00", 5, ISA_JUMP, false, true, AT + 0x105},
		{"\x75\x10", 2, ISA_JUMP, true, true, AT + 0x12},
		{"\x0f\x8f\xfa\xff\xff\xff", 6, ISA_JUMP, true, true, AT},
		{"\xe2\x02", 2, ISA_JUMP, true, true, AT + 4},              /* loop */
		{"\xe3\x02", 2, ISA_JUMP, true, true, AT + 4},              /* jrcxz */
		{"\xe8\xfb\xff\xff\xff", 5, ISA_CALL, false, true, AT},
		{"\xff\xd0", 2, ISA_CALL, false, false, 0},
		{"\xff\xe0", 2, ISA_INDIRECT, false, false, 0},
		{"\x3e\xff\xe0", 3, ISA_INDIRECT, false, false, 0},         /* notrack */
		{"\xff\x24\xc5\x00\x20\x40\x00", 7, ISA_INDIRECT, false, false, 0},
		{"\xc3", 1, ISA_RETURN, false, false, 0},
		{"\xf3\xc3", 2, ISA_RETURN, false, false, 0},
		{"\xf4", 1, ISA_EXIT, false, false, 0},
		{"\x0f\x0b", 2, ISA_EXIT, false, false, 0},
		{"\x0f\x05", 2, ISA_PLAIN, false, false, 0},                /* syscall */
		{"\xf3\x0f\x1e\xfa", 4, ISA_PLAIN, false, false, 0},        /* endbr64 */
		{"\x06", 1, ISA_INVALID, false, false, 0},
		{"\xe9", 1, ISA_INVALID, false, false, 0},                  /* cut off */
	};
	const struct isa *isa = isa_find(EM_X86_64, 0);
	(void)unused;
	if (!isa) { /* skip() of cmocka 1.1.5 counts as a failure in TAP */
		print_message("not tested: built without Zydis\n");
		return;
	}
	check(isa, table, sizeof table / sizeof table[0]);
}

struct tables {
	struct isa_table at[8];
	size_t n;
};

static bool collect(void *arg, const struct isa_table *table)
{
	struct tables *t = arg;
	assert_true(t->n < 8);
	t->at[t->n++] = *table;
	return true;
}

static void check_table(const char *bytes, size_t n_bytes, uint64_t jump, uint64_t base,
			uint32_t n_entries, uint8_t entry_bytes)
{
	struct tables t = {.n = 0};
	const struct isa *isa = isa_find(EM_X86_64, 0);
	if (!isa) { /* skip() of cmocka 1.1.5 counts as a failure in TAP */
		print_message("not tested: built without Zydis\n");
		return;
	}
	isa->find_tables((const uint8_t *)bytes, n_bytes, AT, collect, &t);
	if (entry_bytes == 0) {
		assert_int_equal(t.n, 0);
		return;
	}
	assert_int_equal(t.n, 1);
	assert_int_equal(t.at[0].jump, AT + jump);
	assert_int_equal(t.at[0].base, base);
	assert_int_equal(t.at[0].n_entries, n_entries);
	assert_int_equal(t.at[0].entry_bytes, entry_bytes);
}
#define TABLE(bytes, ...) check_table(bytes, sizeof(bytes) - 1, __VA_ARGS__)

static void test_x86_tables(void **unused)
{
	(void)unused;
	/* gcc -O2 -fPIC: cmp edi,7; ja; lea rdx,[rip+0x100]; mov edi,edi; movsxd rax,[rdx+rdi*4];
	 * add rax,rdx; jmp rax */
	TABLE("\x83\xff\x07\x77\x20\x48\x8d\x15\x00\x01\x00\x00\x89\xff\x48\x63\x04\xba\x48\x01\xd0"
	      "\xff\xe0",
	      21, AT + 12 + 0x100, 8, 4);
	/* the same without a bound; and with the address loaded before the loop, its register used
	 * for something else behind the jump */
	TABLE("\x48\x8d\x15\x00\x01\x00\x00\x89\xff\x48\x63\x04\xba\x48\x01\xd0\xff\xe0", 16,
	      AT + 7 + 0x100, 0, 4);
	/* cmp edi,7; jbe +2; xor eax,eax; lea ...: the jump is taken when the index is small
	 * enough */
	TABLE("\x83\xff\x07\x76\x02\x31\xc0\x48\x8d\x15\x00\x01\x00\x00\x48\x63\x04\xba\x48\x01\xd0"
	      "\xff\xe0",
	      21, AT + 14 + 0x100, 8, 4);
	/* gcc -O0 -fPIC: cmp dword [rbp-4],9; ja; mov eax,[rbp-4]; lea rdx,[rax*4]; lea
	 * rax,[rip+0x40]; mov eax,[rdx+rax]; cdqe; lea rdx,[rip+0x34]; add rax,rdx; notrack jmp
	 * rax */
	TABLE("\x83\x7d\xfc\x09\x77\x40\x8b\x45\xfc\x48\x8d\x14\x85\x00\x00\x00\x00\x48\x8d\x05\x40"
	      "\x00\x00\x00\x8b\x04\x02\x48\x98\x48\x8d\x15\x34\x00\x00\x00\x48\x01\xd0\x3e\xff"
	      "\xe0",
	      39, AT + 24 + 0x40, 10, 4);
	/* without -fPIC: cmp edi,5; ja; jmp [rdi*8+0x402000] */
	TABLE("\x83\xff\x05\x77\x10\xff\x24\xfd\x00\x20\x40\x00", 5, 0x402000, 6, 8);
	/* and esi,3; mov rax,[rsi*8+0x402000]; jmp rax */
	TABLE("\x83\xe6\x03\x48\x8b\x04\xf5\x00\x20\x40\x00\xff\xe0", 11, 0x402000, 4, 8);
	/* a call through a pointer that is the last thing: jmp rax */
	TABLE("\x48\x8b\x07\xff\xe0", 0, 0, 0, 0);
	/* the index is overwritten between comparison and use: cmp edi,7; ja; mov edi,[rsi]; lea
	 * rdx,...: no bound */
	TABLE("\x83\xff\x07\x77\x20\x8b\x3e\x48\x8d\x15\x00\x01\x00\x00\x48\x63\x04\xba\x48\x01\xd0"
	      "\xff\xe0",
	      21, AT + 14 + 0x100, 0, 4);
}

static void put_word(char *to, uint64_t w)
{
	for (int i = 0; i < 8; i++)
		to[i] = (char)(w >> 8 * i);
}

static void check_sass(unsigned architecture, uint64_t low, uint64_t high, uint8_t kind,
		       bool is_conditional, bool has_target, int64_t distance)
{
	char bytes[16];
	put_word(bytes, low);
	put_word(bytes + 8, high);
	const struct expected e = {bytes,          16,         kind,
				   is_conditional, has_target, AT + 16 + (uint64_t)distance};
	assert_non_null(isa_find(EM_CUDA, architecture));
	check(isa_find(EM_CUDA, architecture), &e, 1);
}

/* Words from cubins made by CUDA 13.0; the distances are those the source's loops and calls ask
 * for. */
static void test_sass(void **unused)
{
	(void)unused;
	check_sass(75, 0xfffffff000007947, 0x000fc0000383ffff, ISA_EXIT, false, false,
		   0); /* BRA to itself: a trap */
	check_sass(86, 0xfffffff000007947, 0x000fc0000383ffff, ISA_EXIT, false, false, 0);
	check_sass(75, 0xffffff3000000947, 0x001fea000383ffff, ISA_JUMP, true, true,
		   -0xd0); /* @P0 BRA */
	check_sass(75, 0x0000138000008947, 0x000fea0003800000, ISA_JUMP, true, true,
		   0x1380); /* @!P0 BRA */
	check_sass(90, 0xfffffffc00fc7947, 0x000fc0000383ffff, ISA_EXIT, false, false, 0);
	check_sass(120, 0x0000001000e48947, 0x000fea0003800000, ISA_JUMP, true, true, 0x1390);
	check_sass(120, 0xfffffffc00ec8947, 0x002fea000383ffff, ISA_JUMP, true, true, -0x50);
	check_sass(120, 0x00000001001c7547, 0x006fea000b800000, ISA_JUMP, true, true,
		   0x70); /* BRA.U UP0 */
	check_sass(86, 0x000045327f007947, 0x000fea000b800000, ISA_JUMP, true, true,
		   0x4530); /* BRA.DIV ~URZ */
	check_sass(86, 0x000000a37f007947, 0x000fea000b800000, ISA_JUMP, true, true,
		   0xa0); /* BRA.CONV ~URZ */
	check_sass(120, 0x0000000000447944, 0x000fea0003c00000, ISA_CALL, false, true,
		   0x110); /* CALL.REL */
	check_sass(75, 0xffffff5002007344, 0x020fea0003c3ffff, ISA_CALL, false, false,
		   0); /* CALL.REL through a register */
	check_sass(120, 0xfffffff404207950, 0x000fea0003c3ffff, ISA_RETURN, false, false,
		   0); /* RET.REL */
	check_sass(120, 0x000000000000794d, 0x000fea0003800000, ISA_EXIT, false, false, 0);
	check_sass(120, 0x000000000000894d, 0x000fea0003800000, ISA_EXIT, true, false,
		   0); /* @!P0 EXIT */
	check_sass(120, 0xfffffffc0a947949, 0x000fea000383ffff, ISA_INDIRECT, false, false,
		   0); /* BRX */
	check_sass(120, 0x000001b000047945, 0x000fe20003800200, ISA_PLAIN, false, false,
		   0); /* BSSY */
	check_sass(120, 0x0000000000057941, 0x000fea0003800200, ISA_PLAIN, false, false,
		   0); /* BSYNC */
	check_sass(120, 0x0000000000008942, 0x000fea0003800100, ISA_PLAIN, false, false,
		   0); /* BREAK */
	check_sass(75, 0, 0, ISA_PLAIN, false, false, 0);
	struct isa_instruction i;
	isa_find(EM_CUDA, 80)->decode((const uint8_t *)"\x47\x79", 2, AT, &i);
	assert_int_equal(i.kind, ISA_INVALID);
	assert_int_equal(i.n_bytes, 2);
	assert_null(isa_find(EM_CUDA, 61));
	assert_null(isa_find(EM_AARCH64, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_x86_tables),
		cmocka_unit_test(test_sass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
