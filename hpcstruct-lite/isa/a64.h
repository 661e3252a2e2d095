/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the decoders of AArch64 code share: the fields of instructions, and the jump tables of
 * switch statements from gcc and clang. Tests: tests/unit/struct/test_isa.c,
 * tests/cli/struct/struct_golden.sh.
 */
#ifndef HPCSTRUCT_ISA_A64_H
#define HPCSTRUCT_ISA_A64_H

#include "hpcstruct-lite/isa/isa.h"

/* Reads an instruction, which is little-endian. */
static inline uint32_t aarch64_word(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* Returns `n` bits of a word, from bit `first` on. n < 32. */
static inline uint32_t aarch64_bits(uint32_t word, unsigned first, unsigned n)
{
	return word >> first & ((UINT32_C(1) << n) - 1);
}

static inline int64_t aarch64_signed(uint32_t word, unsigned first, unsigned n)
{
	int64_t sign = INT64_C(1) << (n - 1);
	return ((int64_t)aarch64_bits(word, first, n) ^ sign) - sign;
}

static inline bool aarch64_is_adr(uint32_t word)
{
	return (word & 0x1f000000) == 0x10000000;
}

/* Returns the address that ADR, or the page that ADRP puts into a register. */
static inline uint64_t aarch64_adr(uint32_t word, uint64_t link_addr)
{
	int64_t n = aarch64_signed(word, 5, 19) * 4 + (int64_t)aarch64_bits(word, 29, 2);
	return word >> 31 ? (link_addr & ~UINT64_C(4095)) + (uint64_t)n * 4096
			  : link_addr + (uint64_t)n;
}

/* Implements isa.find_tables. */
void aarch64_find_tables(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
			 bool (*found)(void *arg, const struct isa_table *table), void *arg);

#endif
