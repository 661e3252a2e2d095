/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between Zydis 3 (Ubuntu 22.04) and 4: names of the decoding functions, where operands lie, and how flags are told. Only isa/ includes this. Test: tests/unit/test_isa.c. */
#ifndef HPCSTRUCT_LITE_ISA_ZYDIS_H
#define HPCSTRUCT_LITE_ISA_ZYDIS_H

#include "config.h"

#include <Zydis/Zydis.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* For x86-64; `is_minimal`: length, mnemonic and distance alone, no operands. */
static inline void zydis_start(ZydisDecoder *decoder, bool is_minimal)
{
#ifdef HAVE_ZYDIS_4
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
#else
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_ADDRESS_WIDTH_64);
#endif
	ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_MINIMAL, is_minimal ? ZYAN_TRUE : ZYAN_FALSE);
}

/* False: these bytes are no instruction. `operands` has room for ZYDIS_MAX_OPERAND_COUNT, or is NULL where decoding is minimal. */
static inline bool zydis_decode(const ZydisDecoder *decoder, const uint8_t *bytes, size_t n_bytes, ZydisDecodedInstruction *i, ZydisDecodedOperand *operands)
{
#ifdef HAVE_ZYDIS_4
	if (operands)
		return ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, n_bytes, i, operands));
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, bytes, n_bytes, i));
#else
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeBuffer(decoder, bytes, n_bytes, i)))
		return false;
	if (operands)
		memcpy(operands, i->operands, i->operand_count * sizeof *operands);
	return true;
#endif
}

static inline bool zydis_modifies_carry(const ZydisDecodedInstruction *i)
{
#ifdef HAVE_ZYDIS_4
	return i->cpu_flags && (i->cpu_flags->modified & ZYDIS_CPUFLAG_CF);
#else
	const ZydisCPUFlagAction action = i->accessed_flags[ZYDIS_CPUFLAG_CF].action;
	return action == ZYDIS_CPUFLAG_ACTION_MODIFIED || action == ZYDIS_CPUFLAG_ACTION_TESTED_MODIFIED;
#endif
}

#endif
