/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes x86-64 code by Zydis 3 or 4. See disassemble.h. */
#include "config.h"

#include "hpcprof-lite/code/disassemble.h"

#include <string.h>

#ifdef HAVE_ZYDIS
#include <Zydis/Zydis.h>

static bool is_x86(const struct code_binary *b)
{
	return b->header->e_machine == EM_X86_64;
}

/* Returns the length of the instruction; 0: it is none. */
static size_t decode(const ZydisDecoder *decoder, const ZydisFormatter *formatter,
		     const uint8_t *bytes, size_t n, uint64_t link_addr, char *text,
		     size_t text_bytes)
{
	ZydisDecodedInstruction i;
#ifdef HAVE_ZYDIS_4
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const bool ok = ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, n, &i, operands)) &&
			ZYAN_SUCCESS(ZydisFormatterFormatInstruction(formatter, &i, operands,
								     i.operand_count_visible, text,
								     text_bytes, link_addr, NULL));
#else
	const bool ok = ZYAN_SUCCESS(ZydisDecoderDecodeBuffer(decoder, bytes, n, &i)) &&
			ZYAN_SUCCESS(ZydisFormatterFormatInstruction(formatter, &i, text,
								     text_bytes, link_addr));
#endif
	return ok ? i.length : 0;
}

/* Numbers as objdump writes them. */
static void start(ZydisDecoder *decoder, ZydisFormatter *formatter)
{
	static const ZydisFormatterProperty paddings[] = {
		ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_DISP_PADDING,
		ZYDIS_FORMATTER_PROP_IMM_PADDING};
#ifdef HAVE_ZYDIS_4
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
#else
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_ADDRESS_WIDTH_64);
#endif
	ZydisFormatterInit(formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	for (size_t i = 0; i < sizeof paddings / sizeof *paddings; i++)
		ZydisFormatterSetProperty(formatter, paddings[i], ZYDIS_PADDING_DISABLED);
}

static bool read_range(struct disassembly *d, const struct code_range *r)
{
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	size_t left;
	const uint8_t *bytes = code_binary_at(d->binary, r->start, &left);
	if (!bytes)
		return false;
	start(&decoder, &formatter);
	left = r->end - r->start < left ? r->end - r->start : left;
	for (size_t at = 0; at < left && !d->failed;) {
		char text[256];
		const size_t n = decode(&decoder, &formatter, bytes + at, left - at, r->start + at,
					text, sizeof text);
		if (n)
			disassemble_add(d, r->start + at, text, strlen(text));
		at += n ? n : 1; /* data between code */
	}
	return true;
}

static bool read_zydis(struct disassembly *d)
{
	for (size_t i = 0; i < d->hot->ranges.n; i++)
		if (!read_range(d, &d->hot->ranges.at[i]))
			return false;
	return d->lines.n > 0;
}

const struct disassembler disassemble_zydis = {.can = is_x86, .read = read_zydis};
#else
const struct disassembler disassemble_zydis = {.can = NULL};
#endif
