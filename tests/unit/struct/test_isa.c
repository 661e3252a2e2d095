/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcstruct-lite/isa: instructions and jump tables of x86-64 and aarch64 as gcc and clang
 * write them, SASS as ptxas writes it. */
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

static void put_half(char *to, uint32_t w)
{
	for (int i = 0; i < 4; i++)
		to[i] = (char)(w >> 8 * i);
}

/* Instructions as GNU as 2.40 encodes them. */
static void test_aarch64(void **unused)
{
	static const struct {
		uint32_t word;
		uint8_t kind;
		bool is_conditional, has_target;
		int64_t distance;
	} table[] = {
		{0x14000000, ISA_JUMP, false, true, 0},      /* b . */
		{0x97fffc00, ISA_CALL, false, true, -4096},  /* bl */
		{0x54000081, ISA_JUMP, true, true, 16},      /* b.ne */
		{0x54000091, ISA_JUMP, true, true, 16},      /* bc.ne */
		{0x5400004e, ISA_JUMP, false, true, 8},      /* b.al */
		{0xb4ffffc3, ISA_JUMP, true, true, -8},      /* cbz x3 */
		{0xb7400105, ISA_JUMP, true, true, 32},      /* tbnz x5, #40 */
		{0xd61f0020, ISA_INDIRECT, false, false, 0}, /* br x1 */
		{0xd71f0822, ISA_INDIRECT, false, false, 0}, /* braa x1, x2 */
		{0xd61f087f, ISA_INDIRECT, false, false, 0}, /* braaz x3 */
		{0xd63f0040, ISA_CALL, false, false, 0},     /* blr x2 */
		{0xd73f083f, ISA_CALL, false, false, 0},     /* blraa x1, sp */
		{0xd63f0c3f, ISA_CALL, false, false, 0},     /* blrabz x1 */
		{0xd65f03c0, ISA_RETURN, false, false, 0},   /* ret */
		{0xd65f0bff, ISA_RETURN, false, false, 0},   /* retaa */
		{0xd69f03e0, ISA_RETURN, false, false, 0},   /* eret */
		{0xd4000001, ISA_PLAIN, false, false, 0},    /* svc #0 */
		{0xd4200020, ISA_EXIT, false, false, 0},     /* brk #1 */
		{0xd43e0000, ISA_PLAIN, false, false, 0},    /* brk #0xf000 */
		{0xd4400000, ISA_EXIT, false, false, 0},     /* hlt #0 */
		{0x00000000, ISA_EXIT, false, false, 0},     /* udf #0 */
		{0xd503245f, ISA_PLAIN, false, false, 0},    /* bti c */
		{0xd50323bf, ISA_PLAIN, false, false, 0},    /* autiasp */
		{0x8b020020, ISA_PLAIN, false, false, 0},    /* add x0, x1, x2 */
		{0x00010000, ISA_INVALID, false, false, 0},
		{0x02000000, ISA_INVALID, false, false, 0},
	};
	const struct isa *isa = isa_find(EM_AARCH64, 0);
	(void)unused;
	assert_non_null(isa);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char bytes[4];
		put_half(bytes, table[i].word);
		const struct expected e = {bytes,
					   4,
					   table[i].kind,
					   table[i].is_conditional,
					   table[i].has_target,
					   AT + (uint64_t)table[i].distance};
		check(isa, &e, 1);
	}
	check(isa, &(const struct expected){"\xc0\x03\x5f", 3, ISA_INVALID, false, false, 0}, 1);
}

static void check_aarch64_table(const uint32_t *words, size_t n, const struct isa_table *expected)
{
	struct tables t = {.n = 0};
	char bytes[64];
	assert_true(n <= sizeof bytes / 4);
	for (size_t i = 0; i < n; i++)
		put_half(bytes + 4 * i, words[i]);
	isa_find(EM_AARCH64, 0)->find_tables((const uint8_t *)bytes, 4 * n, AT, collect, &t);
	assert_int_equal(t.n, expected != NULL);
	if (!expected)
		return;
	assert_int_equal(t.at[0].jump, expected->jump);
	assert_int_equal(t.at[0].base, expected->base);
	assert_int_equal(t.at[0].origin, expected->origin);
	assert_int_equal(t.at[0].n_entries, expected->n_entries);
	assert_int_equal(t.at[0].entry_bytes, expected->entry_bytes);
	assert_int_equal(t.at[0].shift, expected->shift);
	assert_int_equal(t.at[0].is_signed, expected->is_signed);
}
#define WORDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

static void test_aarch64_tables(void **unused)
{
	(void)unused;
	/* gcc: cmp w0,7; b.hi; adrp x1; add x1,x1,0x100; ldrb w1,[x1,w0,uxtw]; adr x2,.+12;
	 * add x1,x2,w1,sxtb 2; br x1 */
	check_aarch64_table(
		WORDS(0x71001c1f, 0x54000108, 0x90000001, 0x91040021, 0x38604821, 0x10000062,
		      0x8b218841, 0xd61f0020),
		&(const struct isa_table){AT + 0x1c, AT + 0x100, AT + 0x20, 8, 1, 2, true});
	/* clang -O0: subs w8,w8,0; str x8,[sp,8]; subs x8,x8,9; b.hi; ldr x11,[sp,8]; adrp x10;
	 * add x10,x10,0x65c; adr x8,.; ldrsw x9,[x10,x11,lsl 2]; add x8,x8,x9; br x8 */
	check_aarch64_table(
		WORDS(0x71000108, 0xf90007e8, 0xf1002508, 0x54000108, 0xf94007eb, 0x9000000a,
		      0x9119714a, 0x10000008, 0xb8ab7949, 0x8b090108, 0xd61f0100),
		&(const struct isa_table){AT + 0x28, AT + 0x65c, AT + 0x1c, 10, 4, 0, true});
	/* the slot is overwritten after the comparison (str x3,[sp,8]): no bound */
	check_aarch64_table(
		WORDS(0x71000108, 0xf90007e8, 0xf1002508, 0x54000108, 0xf90007e3, 0xf94007eb,
		      0x9000000a, 0x9119714a, 0x10000008, 0xb8ab7949, 0x8b090108, 0xd61f0100),
		&(const struct isa_table){AT + 0x2c, AT + 0x65c, AT + 0x20, 0, 4, 0, true});
	/* clang: adrp x24; add x24,x24,0x2bc; bl; cmp w8,300; b.ls .+8; ret; adr x9,.+64;
	 * ldrh w10,[x24,x8,lsl 1]; add x9,x9,x10,lsl 2; br x9 */
	check_aarch64_table(
		WORDS(0x90000018, 0x910af318, 0x94000400, 0x7104b11f, 0x54000049, 0xd65f03c0,
		      0x10000209, 0x78687b0a, 0x8b0a0929, 0xd61f0120),
		&(const struct isa_table){AT + 0x24, AT + 0x2bc, AT + 0x58, 301, 2, 2, false});
	/* the index is overwritten after the comparison (ldr w0,[x5]): no bound */
	check_aarch64_table(
		WORDS(0x71001c1f, 0x54000108, 0xb94000a0, 0x90000001, 0x91040021, 0xb8a05821,
		      0x10000062, 0x8b010841, 0xd61f0020),
		&(const struct isa_table){AT + 0x20, AT + 0x100, AT + 0x24, 0, 4, 2, true});
	/* and w3,w3,0x1f; adrp x1; add x1,x1,0x100; ldrh w1,[x1,w3,uxtw 1]; adr x2,.+12;
	 * add x1,x2,w1,sxth 2; br x1 */
	check_aarch64_table(
		WORDS(0x12001063, 0x90000001, 0x91040021, 0x78635821, 0x10000062, 0x8b21a841,
		      0xd61f0020),
		&(const struct isa_table){AT + 0x18, AT + 0x100, AT + 0x1c, 32, 2, 2, true});
	/* page 0, in a small library: adrp x1,0; add x1,x1,0x2bc; adr x9,.+4; ldrb w8,[x1,x8];
	 * add x9,x9,x8,lsl 2; br x9 */
	check_aarch64_table(
		WORDS(0xf0ffffe1, 0x910af021, 0x10000029, 0x38686828, 0x8b080929, 0xd61f0120),
		&(const struct isa_table){AT + 0x14, 0x2bc, AT + 0xc, 0, 1, 2, false});
	/* gcc, without a register left: adrp x0; add x0,x0,0x100; str x0,[sp,112]; cmp w0,17; b.hi;
	 * ldr x1,[sp,112]; ldrh w0,[x1,w0,uxtw 1]; adr x1,.+12; add x0,x1,w0,sxth 2; br x0 */
	const uint32_t spilled[] = {0x90000000, 0x91040000, 0xf9003be0, 0x7100441f, 0x54000048,
				    0xf9403be1, 0x78605820, 0x10000061, 0x8b20a820, 0xd61f0000};
	check_aarch64_table(
		spilled, 10,
		&(const struct isa_table){AT + 0x24, AT + 0x100, AT + 0x28, 18, 2, 2, true});
	/* ... stp x0,x1,[sp,112] instead */
	uint32_t pair[10];
	memcpy(pair, spilled, sizeof pair);
	pair[2] = 0xa90707e0;
	check_aarch64_table(
		pair, 10,
		&(const struct isa_table){AT + 0x24, AT + 0x100, AT + 0x28, 18, 2, 2, true});
	/* ... and str x3,[sp,112] in the place of the comparison: something else is loaded */
	pair[3] = 0xf9003be3;
	check_aarch64_table(pair, 10, NULL);
	/* a computed goto; another exit of the function has restored x26, the table's page:
	 * adrp x26; ldp x25,x26,[sp,64]; and x3,x3,0xff; add x0,x26,0x100; ldr x4,[x0,x3,lsl 3];
	 * br x4 */
	check_aarch64_table(
		WORDS(0x9000001a, 0xa9446bf9, 0x92401c63, 0x91040340, 0xf8637804, 0xd61f0080),
		&(const struct isa_table){AT + 0x14, AT + 0x100, 0, 256, 8, 0, false});
	/* ldr x1,[x0]; br x1: a call through a pointer that is the last thing */
	check_aarch64_table(WORDS(0xf9400001, 0xd61f0020), NULL);
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
	assert_null(isa_find(EM_PPC64, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),     cmocka_unit_test(test_x86_tables),
		cmocka_unit_test(test_aarch64), cmocka_unit_test(test_aarch64_tables),
		cmocka_unit_test(test_sass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
