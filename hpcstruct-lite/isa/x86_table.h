/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds jump tables of switch statements in x86-64 code from gcc and clang: tables of distances
 * (position-independent code) or of addresses. Nothing outside the isa room includes this file.
 * Tests: tests/unit/struct/test_isa.c, tests/cli/struct/struct_loops.sh.
 */
#ifndef HPCSTRUCT_ISA_X86_TABLE_H
#define HPCSTRUCT_ISA_X86_TABLE_H

#include "hpcstruct-lite/isa/isa.h"

/* Implements isa.find_tables. */
void x86_find_tables(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
	bool (*found)(void *arg, const struct isa_table *table), void *arg);

#endif
