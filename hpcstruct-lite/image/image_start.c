/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds `main` from the code at the entry point. The C library's _start (glibc,
 * sysdeps/x86_64/start.S, sysdeps/aarch64/start.S) is the same few instructions in every program:
 * it puts the address of main into the register of the first argument and calls
 * __libc_start_main. We do not guess: if there is any other instruction, main is unknown. Tests:
 * tests/cli/struct/struct_start.sh, tests/aarch64_tools.sh.
 */
#include "hpcstruct-lite/image/image.h"

#include <elf.h>
#include <string.h>

enum { START_BYTES_MAX = 64 };

/* What an instruction of _start does. */
enum effect {
	NOTHING,
	LOAD_ADDRESS,   /* rdi = next instruction + disp32 */
	LOAD_IMMEDIATE, /* rdi = imm32 */
	LOAD_SLOT,      /* rdi = word at next instruction + disp32 */
	STACK,          /* rdx = rsp: the arguments of main */
	CALL,           /* next instruction + disp32 */
	CALL_SLOT       /* through the word at next instruction + disp32 */
};

struct form {
	uint8_t n_opcode, n_bytes; /* without and with the four bytes of the operand */
	uint8_t opcode[4];
	enum effect effect;
};

static const struct form forms[] = {
	{4, 4, {0xf3, 0x0f, 0x1e, 0xfa}, NOTHING},    /* endbr64 */
	{2, 2, {0x31, 0xed}, NOTHING},                /* xor %ebp,%ebp */
	{3, 3, {0x49, 0x89, 0xd1}, NOTHING},          /* mov %rdx,%r9 */
	{1, 1, {0x5e}, NOTHING},                      /* pop %rsi */
	{3, 3, {0x48, 0x89, 0xe2}, STACK},            /* mov %rsp,%rdx */
	{4, 4, {0x48, 0x83, 0xe4, 0xf0}, NOTHING},    /* and $-16,%rsp */
	{1, 1, {0x50}, NOTHING},                      /* push %rax */
	{1, 1, {0x54}, NOTHING},                      /* push %rsp */
	{3, 3, {0x45, 0x31, 0xc0}, NOTHING},          /* xor %r8d,%r8d */
	{2, 2, {0x31, 0xc9}, NOTHING},                /* xor %ecx,%ecx */
	{3, 7, {0x4c, 0x8d, 0x05}, NOTHING},          /* lea __libc_csu_fini(%rip),%r8 */
	{3, 7, {0x48, 0x8d, 0x0d}, NOTHING},          /* lea __libc_csu_init(%rip),%rcx */
	{3, 7, {0x49, 0xc7, 0xc0}, NOTHING},          /* mov $__libc_csu_fini,%r8 */
	{3, 7, {0x48, 0xc7, 0xc1}, NOTHING},          /* mov $__libc_csu_init,%rcx */
	{3, 7, {0x48, 0x8d, 0x3d}, LOAD_ADDRESS},     /* lea main(%rip),%rdi */
	{3, 7, {0x48, 0xc7, 0xc7}, LOAD_IMMEDIATE},   /* mov $main,%rdi */
	{1, 5, {0xbf}, LOAD_IMMEDIATE},               /* mov $main,%edi */
	{3, 7, {0x48, 0x8b, 0x3d}, LOAD_SLOT},        /* mov main@GOTPCREL(%rip),%rdi */
	{1, 5, {0xe8}, CALL},                         /* call __libc_start_main */
	/* the same; the linker made it from a call through a slot */
	{2, 6, {0x67, 0xe8}, CALL},
	{2, 6, {0xf2, 0xe8}, CALL},                   /* bnd call */
	{2, 6, {0xff, 0x15}, CALL_SLOT},              /* call *__libc_start_main@GOTPCREL(%rip) */
	{3, 7, {0xf2, 0xff, 0x15}, CALL_SLOT},        /* bnd call */
};

static const struct form *find_form(const uint8_t *code, size_t n_bytes)
{
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if (forms[i].n_bytes <= n_bytes &&
		    memcmp(code, forms[i].opcode, forms[i].n_opcode) == 0)
			return &forms[i];
	return NULL;
}

/*
 * Returns the section's contents at an address, and sets *n_bytes to how many there are. NULL: the
 * file has none there.
 */
static const uint8_t *bytes_at(const struct image *image, uint64_t link_addr, size_t *n_bytes)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (!(s->flags & SHF_ALLOC) || !s->bytes || link_addr < s->link_addr
			|| link_addr - s->link_addr >= s->n_bytes)
			continue;
		*n_bytes = s->n_bytes - (link_addr - s->link_addr);
		return s->bytes + (link_addr - s->link_addr);
	}
	return NULL;
}

/* Finds the relocation that fills a slot. */
static bool find_relocation(const struct image *image, uint64_t slot, Elf64_Rela *out,
	const struct image_section **table)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (s->type != SHT_RELA || !s->bytes || !(s->flags & SHF_ALLOC)
			|| s->link >= image->sections.n)
			continue;
		for (uint64_t k = 0; k < s->n_bytes / sizeof *out; k++) {
			memcpy(out, s->bytes + k * sizeof *out, sizeof *out);
			if (out->r_offset == slot) {
				*table = &image->sections.at[s->link];
				return true;
			}
		}
	}
	return false;
}

/*
 * Finds the value of the 8-byte word at a link address in the running program, minus the load bias.
 * The value comes from the relocation of the word, else from the file. Returns false if it is an
 * address in another object or unknown.
 */
static bool word_at(const struct image *image, uint64_t slot, uint64_t *value)
{
	Elf64_Rela r;
	const struct image_section *table;
	size_t n_bytes;
	if (find_relocation(image, slot, &r, &table)) {
		*value = (uint64_t)r.r_addend;
		return ELF64_R_TYPE(r.r_info) ==
		       (image->machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE);
	}
	const uint8_t *at = bytes_at(image, slot, &n_bytes);
	if (!at || n_bytes < sizeof *value)
		return false;
	memcpy(value, at, sizeof *value);
	return true;
}

static bool slot_is_libc_start(const struct image *image, uint64_t slot)
{
	static const char wanted[] = "__libc_start_main";
	Elf64_Rela r;
	const struct image_section *symbols;
	Elf64_Sym s;
	if (!find_relocation(image, slot, &r, &symbols) || !symbols->bytes
		|| symbols->link >= image->sections.n)
		return false;
	if (ELF64_R_SYM(r.r_info) >= symbols->n_bytes / sizeof s)
		return false;
	memcpy(&s, symbols->bytes + ELF64_R_SYM(r.r_info) * sizeof s, sizeof s);
	const struct image_section *strings = &image->sections.at[symbols->link];
	return strings->bytes && s.st_name < strings->n_bytes
		&& strings->n_bytes - s.st_name >= sizeof wanted
		&& memcmp(strings->bytes + s.st_name, wanted, sizeof wanted) == 0;
}

/*
 * Returns true if a direct call goes into the program's own C library, or to the stub of
 * __libc_start_main.
 */
static bool call_is_plausible(const struct image *image, uint64_t target)
{
	struct image_stubs stubs = {0};
	bool ok = image_is_code(image, target) && image_read_stubs(image, &stubs) == STATUS_OK;
	static const char wanted[] = "__libc_start_main";
	for (size_t i = 0; ok && i < stubs.n; i++) {
		const struct image_stub *s = &stubs.at[i];
		if (target - s->link_addr < s->n_bytes)
			ok = s->target && s->target_bytes >= sizeof wanted - 1
				&& memcmp(s->target, wanted, sizeof wanted - 1) == 0;
	}
	vec_free(&stubs);
	return ok;
}

static bool find_main_x86_64(const struct image *image, const uint8_t *code, size_t left,
			     uint64_t *link_addr)
{
	uint64_t pc = image->entry, target = 0;
	bool has_target = false, has_stack = false;
	for (uint64_t end = pc + START_BYTES_MAX; pc < end;) {
		const struct form *f = find_form(code, left);
		int32_t operand = 0;
		if (!f)
			return false;
		if (f->n_bytes > f->n_opcode)
			memcpy(&operand, code + f->n_opcode, sizeof operand);
		pc += f->n_bytes;
		code += f->n_bytes;
		left -= f->n_bytes;
		const uint64_t relative = pc + (uint64_t)(int64_t)operand;
		if (f->effect == CALL || f->effect == CALL_SLOT) {
			bool calls = f->effect == CALL ? call_is_plausible(image, relative)
				: slot_is_libc_start(image, relative);
			*link_addr = target;
			return calls && has_target && has_stack && image_is_code(image, target);
		}
		has_stack |= f->effect == STACK;
		if (f->effect == LOAD_SLOT && !word_at(image, relative, &target))
			return false;
		if (f->effect == LOAD_ADDRESS || f->effect == LOAD_IMMEDIATE)
			target = f->effect == LOAD_ADDRESS ? relative : (uint64_t)(int64_t)operand;
		has_target |= f->effect == LOAD_ADDRESS || f->effect == LOAD_IMMEDIATE
			|| f->effect == LOAD_SLOT;
	}
	return false;
}

/* ---- aarch64 ---- */

enum { WORD_BYTES = 4, NOP = 0xd503201f, BTI_C = 0xd503245f };

/* What _start does beside loading addresses: everything but `add x2, sp, #8` is optional. */
static const uint32_t fixed_words[] = {
	NOP,        BTI_C,      0xd280001d, 0xd280001e, /* mov x29, #0; mov x30, #0 */
	0xaa0003e5,                                     /* mov x5, x0 */
	0xf94003e1,                                     /* ldr x1, [sp] */
	0x910023e2,                                     /* add x2, sp, #8: the arguments of main */
	0x910003e6,                                     /* mov x6, sp */
	0xd2800003, 0xd2800004,                         /* mov x3, #0; mov x4, #0 */
};

static bool is_fixed(uint32_t word)
{
	for (size_t i = 0; i < sizeof fixed_words / sizeof fixed_words[0]; i++)
		if (word == fixed_words[i])
			return true;
	return false;
}

static int64_t signed_field(uint32_t word, unsigned low, unsigned bits)
{
	return (int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits);
}

/* Since glibc 2.34, code with a fixed address calls main through a jump, after nop or bti c. */
static uint64_t behind_wrapper(const struct image *image, uint64_t target)
{
	uint32_t word[2];
	size_t left;
	const uint8_t *code = bytes_at(image, target, &left);
	if (!code || left < sizeof word)
		return target;
	memcpy(word, code, sizeof word);
	if ((word[0] != NOP && word[0] != BTI_C) || word[1] >> 26 != 0x05)
		return target;
	return target + WORD_BYTES + (uint64_t)(signed_field(word[1], 0, 26) * WORD_BYTES);
}

/* Follows an instruction that loads an address into x[to]. Returns false if it is another one. */
static bool load_address(const struct image *image, uint64_t pc, uint32_t word, uint64_t *x)
{
	const uint64_t to = word & 31, from = word >> 5 & 31, n = word >> 10 & 0xfff;
	if ((word & 0x1f000000) == 0x10000000) { /* adrp and adr */
		const uint64_t distance =
			(uint64_t)(signed_field(word, 5, 19) * 4 + (word >> 29 & 3));
		x[to] = word >> 31 ? (pc & ~UINT64_C(0xfff)) + distance * 4096 : pc + distance;
		return true;
	}
	if (from == to && (word & 0xffc00000) == 0x91000000) { /* add */
		x[to] += n;
		return true;
	}
	return from == to && (word & 0xffc00000) == 0xf9400000 /* ldr */
	       && (word_at(image, x[to] + n * sizeof *x, &x[to]) || to != 0);
}

static bool find_main_aarch64(const struct image *image, const uint8_t *code, size_t left,
			      uint64_t *link_addr)
{
	/* x0 for main; x3 and x4 for __libc_csu_init and __libc_csu_fini of older glibc */
	uint64_t x[5] = {0};
	bool has_target = false, has_stack = false;
	for (uint64_t at = 0; at < START_BYTES_MAX && left - at >= WORD_BYTES; at += WORD_BYTES) {
		const uint64_t pc = image->entry + at;
		uint32_t word;
		memcpy(&word, code + at, sizeof word);
		const unsigned to = word & 31;
		has_stack |= word == 0x910023e2;
		if (word >> 26 == 0x25) { /* bl */
			*link_addr = behind_wrapper(image, x[0]);
			return has_target && has_stack && image_is_code(image, *link_addr) &&
			       call_is_plausible(image, pc + (uint64_t)(signed_field(word, 0, 26) *
									WORD_BYTES));
		}
		if (is_fixed(word))
			continue;
		if ((to != 0 && to != 3 && to != 4) || !load_address(image, pc, word, x))
			return false;
		has_target |= to == 0;
	}
	return false;
}

bool image_find_main(const struct image *image, uint64_t *link_addr)
{
	size_t left = 0;
	const uint8_t *code =
		image_is_code(image, image->entry) ? bytes_at(image, image->entry, &left) : NULL;
	if (!code)
		return false;
	switch (image->machine) {
	case EM_X86_64: return find_main_x86_64(image, code, left, link_addr);
	case EM_AARCH64: return find_main_aarch64(image, code, left, link_addr);
	default: return false;
	}
}
