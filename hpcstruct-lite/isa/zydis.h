/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hides the differences between Zydis 3 (Ubuntu 22.04) and Zydis 4: names of decoding functions,
 * place of operands, form of flags. Only isa/ includes this file.
 * Test: tests/unit/struct/test_isa.c.
 */
#ifndef HPCSTRUCT_LITE_ISA_ZYDIS_H
#define HPCSTRUCT_LITE_ISA_ZYDIS_H

#include "config.h"

#include <Zydis/Zydis.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Prepares a decoder for x86-64. If `is_minimal`, it decodes only length, mnemonic and distance,
 * without operands.
 */
static inline void zydis_start(ZydisDecoder *decoder, bool is_minimal)
{
#ifdef HAVE_ZYDIS_4
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
#else
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_ADDRESS_WIDTH_64);
#endif
	ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_MINIMAL,
		is_minimal ? ZYAN_TRUE : ZYAN_FALSE);
}

/*
 * Decodes one instruction. Returns false if the bytes are not an instruction. `operands` has space
 * for ZYDIS_MAX_OPERAND_COUNT, or is NULL if decoding is minimal.
 */
static inline bool zydis_decode(const ZydisDecoder *decoder, const uint8_t *bytes, size_t n_bytes,
	ZydisDecodedInstruction *i, ZydisDecodedOperand *operands)
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
	return action == ZYDIS_CPUFLAG_ACTION_MODIFIED ||
		action == ZYDIS_CPUFLAG_ACTION_TESTED_MODIFIED;
#endif
}

#endif
