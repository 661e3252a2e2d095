/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/unwind/cfi, expr and unwind_x86_64 on bytes made by hand: rows and recipes
 * come out as written, every byte flipped in every way is survived, and so is every truncation. The
 * bytes lie at the end of a page before one that cannot be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/unwind/arch.h"
#include "hpcrun-lite/unwind/cfi.h"
#include "hpcrun-lite/unwind/recipe.h"
#include "hpcrun-lite/unwind/regs.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PC_LO = 0x1000, PC_BYTES = 0x100 };

static struct cfi_work work;
static uint8_t *pages;

/* The tables under construction. */
static uint8_t image[2048];
static size_t n_image;

static void put(const void *bytes, size_t n)
{
	if (n)
		memcpy(image + n_image, bytes, n);
	n_image += n;
}
static void put_u32(uint32_t v)
{
	put(&v, 4);
}
static void set_u32(size_t at, uint32_t v)
{
	memcpy(image + at, &v, 4);
}

enum { HDR_BYTES = 20 };

/* The header with a table of one entry, as ld writes it; pcs are relative to the header. */
static void begin(void)
{
	n_image = 0;
	put((const uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
	put_u32(HDR_BYTES - 4); /* eh_frame, pcrel */
	put_u32(1);
	put_u32(PC_LO);
	put_u32(0); /* the FDE, later */
}

/* zR, code 1, data -8, RA 16; CFA = rsp + 8, RA at CFA - 8. */
static size_t put_cie(const char *augmentation, const uint8_t *data, size_t n_data)
{
	const size_t at = n_image;
	put_u32(0);
	put_u32(0);
	put((const uint8_t[]){1}, 1);
	put(augmentation, strlen(augmentation) + 1);
	put((const uint8_t[]){1, 0x78, 16, (uint8_t)n_data}, 4);
	put(data, n_data);
	put((const uint8_t[]){0x0c, 7, 8, 0x90, 1}, 5);
	while ((n_image - at) % 8 != 4)
		put("", 1);
	set_u32(at, (uint32_t)(n_image - at - 4));
	return at;
}

static void put_fde(size_t cie, const uint8_t *program, size_t n_program)
{
	const size_t at = n_image;
	set_u32(16, (uint32_t)at);
	put_u32(0);
	put_u32((uint32_t)(at + 4 - cie));
	put_u32(PC_LO - (uint32_t)(at + 8)); /* pcrel */
	put_u32(PC_BYTES);
	put((const uint8_t[]){0}, 1);
	put(program, n_program);
	set_u32(at, (uint32_t)(n_image - at - 4));
	put_u32(0);
}

static void make(const uint8_t *program, size_t n_program)
{
	begin();
	put_fde(put_cie("zR", (const uint8_t[]){0x1b}, 1), program, n_program);
}

/* Lays the image so that its end is the end of what may be read. */
static struct cfi_source place(size_t n)
{
	uint8_t *at = pages + PAGE - n;
	memcpy(at, image, n);
	return (struct cfi_source){.lo = (uintptr_t)at,
				   .hi = (uintptr_t)at + n,
				   .map_lo = (uintptr_t)at,
				   .map_hi = (uintptr_t)at + n,
				   .hdr = (uintptr_t)at};
}

static enum cfi_status look(uintptr_t pc, struct cfi_frame *frame)
{
	const struct cfi_source source = place(n_image);
	return cfi_lookup(&source, source.hdr + pc, &work, frame);
}

static uint64_t recipe_at(uintptr_t pc)
{
	struct cfi_frame frame;
	assert_int_equal(look(pc, &frame), CFI_OK);
	return arch_recipe(&work.row, &frame, pc);
}

static void check_recipe(uint64_t recipe, enum recipe_kind kind, int64_t cfa, enum recipe_bp bp,
			 int64_t bp_offset)
{
	assert_int_equal(recipe_kind(recipe), kind);
	assert_int_equal(recipe_cfa_offset(recipe), cfa);
	assert_int_equal(recipe_bp(recipe), bp);
	assert_int_equal(recipe_bp_offset(recipe), bp_offset);
}

/* push rbp; mov rbp, rsp; ...; leave; ret; and a tail behind the ret with the state of before. */
static const uint8_t frame_program[] = {
	0x41, 0x0e, 16,   0x86, 2,     /* +1: CFA = rsp + 16, rbp at CFA - 16 */
	0x43, 0x0d, 6,                 /* +4: CFA = rbp + 16 */
	0x02, 0x50, 0x0a,              /* +0x54: remember */
	0x41, 0xc6, 0x0c, 7,    8,     /* +0x55: rbp restored, CFA = rsp + 8 */
	0x41, 0x0b, 0x2e, 16,          /* +0x56: restore state; args_size */
	0x03, 0x20, 0x00, 0x07, 16, 0, /* +0x76: RA undefined */
};

static void test_rows(void **state)
{
	(void)state;
	struct cfi_frame frame;
	make(frame_program, sizeof frame_program);
	check_recipe(recipe_at(PC_LO), RECIPE_SP, 8, RECIPE_BP_SAME, 0);
	check_recipe(recipe_at(PC_LO + 1), RECIPE_SP, 16, RECIPE_BP_AT_CFA, -16);
	check_recipe(recipe_at(PC_LO + 3), RECIPE_SP, 16, RECIPE_BP_AT_CFA, -16);
	check_recipe(recipe_at(PC_LO + 4), RECIPE_BP, 16, RECIPE_BP_AT_CFA, -16);
	check_recipe(recipe_at(PC_LO + 0x54), RECIPE_BP, 16, RECIPE_BP_AT_CFA, -16);
	check_recipe(recipe_at(PC_LO + 0x55), RECIPE_SP, 8, RECIPE_BP_SAME, 0);
	check_recipe(recipe_at(PC_LO + 0x56), RECIPE_BP, 16, RECIPE_BP_AT_CFA, -16);
	assert_int_equal(recipe_kind(recipe_at(PC_LO + 0x76)), RECIPE_ROOT);
	assert_int_equal(look(PC_LO + PC_BYTES, &frame), CFI_NONE);
	assert_int_equal(look(PC_LO - 1, &frame), CFI_NONE);
}

static void test_expressions_as_recipes(void **state)
{
	(void)state;
	/* realigned: CFA = *(rbp - 8), rbp at rbp + 0 */
	const uint8_t realigned[] = {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0};
	make(realigned, sizeof realigned);
	check_recipe(recipe_at(PC_LO), RECIPE_DEREF_BP, -8, RECIPE_BP_AT_BP, 0);
	const uint8_t plt[] = {0x0f, 11,   0x77, 8,    0x80, 0,   0x3f,
			       0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	make(plt, sizeof plt);
	assert_int_equal(recipe_cfa_offset(recipe_at(PC_LO + 10)), 8);
	assert_int_equal(recipe_cfa_offset(recipe_at(PC_LO + 11)), 16);
	const uint8_t other[] = {0x0c, 10, 0}; /* CFA = r10 */
	make(other, sizeof other);
	assert_int_equal(recipe_kind(recipe_at(PC_LO)), RECIPE_SLOW);
	const uint8_t no_ra[] = {0x08, 16}; /* RA same value */
	make(no_ra, sizeof no_ra);
	assert_int_equal(recipe_kind(recipe_at(PC_LO)), RECIPE_BAD);
	const uint8_t throws[] = {0x80, 9, 0x81, 8}; /* rax and rdx saved */
	make(throws, sizeof throws);
	assert_true(recipe_at(PC_LO) & RECIPE_REWRITES);
}

static void test_augmentations(void **state)
{
	(void)state;
	struct cfi_frame frame;
	begin();
	put_fde(put_cie("zPLR", (const uint8_t[]){0x9b, 1, 2, 3, 4, 0x1b, 0x1b}, 7), NULL, 0);
	assert_int_equal(look(PC_LO, &frame), CFI_OK);
	assert_false(frame.signal);
	begin();
	put_fde(put_cie("zRS", (const uint8_t[]){0x1b}, 1), NULL, 0);
	assert_int_equal(look(PC_LO, &frame), CFI_OK);
	assert_true(frame.signal);
	begin();
	put_fde(put_cie("zRX", (const uint8_t[]){0x1b}, 1), NULL, 0);
	assert_int_equal(look(PC_LO, &frame), CFI_BAD);
}

/* No table in the header: the records are read through. */
static void test_without_table(void **state)
{
	(void)state;
	make(frame_program, sizeof frame_program);
	image[2] = image[3] = 0xff;
	check_recipe(recipe_at(PC_LO + 4), RECIPE_BP, 16, RECIPE_BP_AT_CFA, -16);
	struct cfi_frame frame;
	assert_int_equal(look(PC_LO + PC_BYTES, &frame), CFI_NONE);
}

/* All bytes by guarded loads: the same rows. */
static void test_guarded(void **state)
{
	(void)state;
	struct cfi_frame frame;
	make(frame_program, sizeof frame_program);
	struct cfi_source source = place(n_image);
	source.lo = source.hi = 0;
	assert_int_equal(cfi_lookup(&source, source.hdr + PC_LO + 4, &work, &frame), CFI_OK);
	check_recipe(arch_recipe(&work.row, &frame, 0), RECIPE_BP, 16, RECIPE_BP_AT_CFA, -16);
	source.map_hi += PAGE; /* the page behind is not there */
	source.hdr += PAGE;
	assert_int_equal(cfi_lookup(&source, source.hdr + PC_LO, &work, &frame), CFI_BAD);
}

static uint32_t n_states;

/* One lookup at a few pcs must come back with one of the three answers. */
static void survive(size_t n)
{
	static const uintptr_t pcs[] = {PC_LO, PC_LO + 4, PC_LO + 0x76, PC_LO + PC_BYTES - 1};
	struct cfi_frame frame;
	const struct cfi_source source = place(n);
	for (size_t i = 0; i < sizeof pcs / sizeof *pcs; i++) {
		const enum cfi_status status =
			cfi_lookup(&source, source.hdr + pcs[i], &work, &frame);
		n_states |= 1U << status;
		if (status == CFI_OK)
			arch_recipe(&work.row, &frame, pcs[i]);
	}
}

static void test_every_byte_flipped(void **state)
{
	(void)state;
	make(frame_program, sizeof frame_program);
	for (size_t i = 0; i < n_image; i++) {
		const uint8_t was = image[i];
		for (unsigned v = 0; v < 256; v++) {
			image[i] = (uint8_t)v;
			survive(n_image);
		}
		image[i] = was;
	}
	assert_int_equal(n_states, 1U << CFI_OK | 1U << CFI_NONE | 1U << CFI_BAD);
}

static void test_every_truncation(void **state)
{
	(void)state;
	make(frame_program, sizeof frame_program);
	for (size_t n = 0; n < n_image; n++)
		survive(n);
}

static enum expr_status evaluate(const uint8_t *e, size_t n, uint64_t *value)
{
	static uint64_t memory[2] = {111, 222}, stack[EXPR_STACK_MAX];
	static struct mem mem;
	struct regs regs = {.known = 1U << 7 | 1U << 6};
	regs.reg[7] = (uint64_t)memory;
	regs.reg[6] = 5;
	return expr_evaluate(e, n, &regs, NULL, &mem, stack, value);
}

static void check_value(const uint8_t *e, size_t n, uint64_t want)
{
	uint64_t value;
	assert_int_equal(evaluate(e, n, &value), EXPR_OK);
	assert_int_equal(value, want);
}
#define VALUE(want, ...)                                                            \
	check_value((const uint8_t[]){__VA_ARGS__}, sizeof(uint8_t[]){__VA_ARGS__}, \
		    (uint64_t)(want))
#define STATUS(want, ...)                                                            \
	do {                                                                         \
		uint64_t ignored;                                                    \
		assert_int_equal(evaluate((const uint8_t[]){__VA_ARGS__},            \
					  sizeof(uint8_t[]){__VA_ARGS__}, &ignored), \
				 want);                                              \
	} while (0)

static void test_evaluator(void **state)
{
	(void)state;
	VALUE(222, 0x77, 8, 0x06);              /* *(rsp + 8) */
	VALUE(222, 0x77, 8, 0x94, 1);           /* one byte of it */
	VALUE(12, 0x76, 7);                     /* rbp + 7 */
	VALUE(3, 0x35, 0x32, 0x1c);             /* 5 - 2 */
	VALUE(-2, 0x09, 0xf8, 0x34, 0x1b);      /* -8 / 4 */
	VALUE(1, 0x37, 0x33, 0x1d);             /* 7 mod 3 */
	VALUE(0x80, 0x31, 0x37, 0x24);          /* 1 << 7 */
	VALUE(-1, 0x09, 0x80, 0x37, 0x26);      /* -128 >> 7 */
	VALUE(9, 0x34, 0x12, 0x22, 0x31, 0x22); /* dup plus */
	VALUE(1, 0x31, 0x32, 0x33, 0x17, 0x13); /* 1 2 3, rot: 3 1 2, drop */
	VALUE(0, 0x31, 0x2f, 1, 0, 0x35, 0x20, 0x1f, 0x13, 0x30);
	VALUE(7, 0x31, 0x28, 1, 0, 0x35, 0x37);         /* branch over lit5 */
	VALUE(130, 0x10, 0x82, 0x01);                   /* constu */
	STATUS(EXPR_BAD, 0x22);                         /* plus without operands */
	STATUS(EXPR_BAD, 0x70, 0);                      /* rax is not known */
	STATUS(EXPR_BAD, 0x31, 0x30, 0x1b);             /* by zero */
	STATUS(EXPR_BAD, 0x2f, 0xfd, 0xff);             /* for ever */
	STATUS(EXPR_BAD, 0x2f, 0x10, 0x00);             /* out of it */
	STATUS(EXPR_BAD, 0x31, 0x12, 0x2f, 0xfc, 0xff); /* until the stack is full */
	STATUS(EXPR_BAD, 0x0c, 1);                      /* cut off */
	STATUS(EXPR_BAD, 0xff);
	STATUS(EXPR_UNREADABLE, 0x38, 0x06);
}

static void test_calls(void **state)
{
	(void)state;
#define ENDS(...) arch_ends_in_call((const uint8_t[]){__VA_ARGS__}, sizeof(uint8_t[]){__VA_ARGS__})
	assert_true(ENDS(0x90, 0x90, 0xe8, 1, 2, 3, 4));
	assert_true(ENDS(0xff, 0xd0));                   /* call *rax */
	assert_true(ENDS(0x41, 0xff, 0xd4));             /* call *r12 */
	assert_true(ENDS(0xff, 0x15, 1, 2, 3, 4));       /* call *x(%rip) */
	assert_true(ENDS(0xff, 0x50, 0x10));             /* call *16(%rax) */
	assert_true(ENDS(0xff, 0x54, 0x24, 0x08));       /* call *8(%rsp) */
	assert_true(ENDS(0xff, 0x14, 0xc5, 1, 2, 3, 4)); /* call *x(, %rax, 8) */
	assert_true(ENDS(0xff, 0x94, 0xc3, 1, 2, 3, 4)); /* call *x(%rbx, %rax, 8) */
	assert_false(ENDS(0xff, 0xe0));                  /* jmp *rax */
	assert_false(ENDS(0x90, 0x90, 0x90, 0x90, 0x90, 0x90));
	assert_false(ENDS(0xe8));
#undef ENDS
}

static int set_up(void **state)
{
	(void)state;
	pages = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return pages == MAP_FAILED ? -1 : mprotect(pages, PAGE, PROT_READ | PROT_WRITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_expressions_as_recipes),
		cmocka_unit_test(test_augmentations),
		cmocka_unit_test(test_without_table),
		cmocka_unit_test(test_guarded),
		cmocka_unit_test(test_every_byte_flipped),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_evaluator),
		cmocka_unit_test(test_calls),
	};
	return cmocka_run_group_tests_name("unwind_cfi", tests, set_up, NULL);
}
