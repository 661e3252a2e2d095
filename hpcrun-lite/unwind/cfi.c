/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information; see cfi.h. Parses records and interprets call frame instructions;
 * cfi_search.c finds the record. Must not read outside the source.
 */
#include "hpcrun-lite/unwind/cfi_internal.h"

#include "common/safe/load.h"

enum {
	PE_UDATA2 = 2,
	PE_UDATA4 = 3,
	PE_UDATA8 = 4,
	PE_ULEB = 1,
	PE_SIGNED = 8, /* sleb, sdata2, sdata4, sdata8 are the above with this bit */
	PE_SDATA_ABS = 8,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_ALIGNED = 0x50,
	PE_INDIRECT = 0x80,
	DWARF64_ESCAPE = 0xffffffff,
	MAX_RECORD_BYTES = 1 << 24,
};

/*
 * Reads a pointer in an encoding of the Linux Standard Base, 10.5.1. Data-relative pointers are
 * relative to `base`.
 */
uint64_t cfi_pointer(struct bytes *b, uint8_t encoding, uintptr_t base)
{
	const uintptr_t here = b->address;
	uint64_t v = 0;
	if (encoding == PE_ALIGNED) {
		bytes_take(b, -here & 7);
		return bytes_unsigned(b, 8);
	}
	switch (encoding & 0x0f) {
	case 0:
	case PE_SDATA_ABS:
	case PE_UDATA8:
	case PE_UDATA8 | PE_SIGNED: v = bytes_unsigned(b, 8); break;
	case PE_ULEB: v = bytes_uleb(b); break;
	case PE_ULEB | PE_SIGNED: v = (uint64_t)bytes_sleb(b); break;
	case PE_UDATA2:
	case PE_UDATA4: v = bytes_unsigned(b, (encoding & 0x0f) == PE_UDATA2 ? 2 : 4); break;
	case PE_UDATA2 | PE_SIGNED:
	case PE_UDATA4 | PE_SIGNED:
		v = (uint64_t)bytes_signed(b, (encoding & 7) == PE_UDATA2 ? 2 : 4);
		break;
	default: b->bad = true;
	}
	switch (encoding & 0x70) {
	case 0: return v;
	case PE_PCREL: return v + here;
	case PE_DATAREL: return v + base;
	}
	b->bad = true; /* text or function relative: no compiler generates these */
	return 0;
}

struct bytes cfi_bytes(const struct cfi_source *source, uintptr_t address, size_t n_bytes,
		       uint8_t *copy)
{
	struct bytes b = {.address = address};
	if ((address >= source->lo && address < source->hi && n_bytes <= source->hi - address) ||
	    (address >= source->frames_lo && address < source->frames_hi &&
	     n_bytes <= source->frames_hi - address)) {
		b.at = (const uint8_t *)address;
		b.end = b.at + n_bytes;
	} else if (copy && n_bytes <= CFI_COPY_BYTES && address >= source->map_lo &&
		   address < source->map_hi && n_bytes <= source->map_hi - address &&
		   load_guarded(copy, address, n_bytes) == n_bytes) {
		b.at = copy;
		b.end = copy + n_bytes;
	} else {
		b.at = b.end = copy;
		b.bad = true;
	}
	return b;
}

enum cfi_status cfi_record(const struct cfi_source *source, uintptr_t address, uint8_t *copy,
			   struct cfi_record *record)
{
	uint8_t head[12];
	struct bytes b = cfi_bytes(source, address, 4, head);
	uint64_t length = bytes_unsigned(&b, 4);
	size_t head_bytes = 4;
	if (length == DWARF64_ESCAPE) {
		b = cfi_bytes(source, address, 12, head);
		bytes_take(&b, 4);
		length = bytes_unsigned(&b, 8);
		head_bytes = 12;
	}
	if (b.bad || length > MAX_RECORD_BYTES)
		return CFI_BAD;
	record->address = address;
	record->next = address + head_bytes + length;
	if (length == 0)
		return CFI_NONE;
	record->dwarf64 = head_bytes == 12;
	record->body = cfi_bytes(source, address + head_bytes, length, copy);
	record->id_address = address + head_bytes;
	record->id = (uint32_t)bytes_unsigned(&record->body, 4);
	return record->body.bad ? CFI_BAD : CFI_OK;
}

/*
 * Parses an augmentation string that begins with z. `data` contains the operands and ends with
 * them.
 */
static void parse_augmentation(const char *letters, struct bytes *data, struct cfi_cie *cie)
{
	for (; *letters && !data->bad; letters++) {
		switch (*letters) {
		case 'R': cie->pointer_encoding = (uint8_t)bytes_unsigned(data, 1); break;
		case 'P': { /* the personality routine; only its size matters */
			const uint8_t encoding = (uint8_t)bytes_unsigned(data, 1);
			cfi_pointer(data, encoding & (uint8_t)~PE_INDIRECT, 0);
			break;
		}
		case 'L': bytes_take(data, 1); break;
		case 'S': cie->signal = true; break;
		case 'B':
		case 'G': break;
		default:
			/*
			 * we could skip its operands by the length, but a later R would be missed
			 */
			data->bad = true;
		}
	}
}

/* Parses the bytes of a CIE after its id. LSB 10.6.1.1.1. */
static enum cfi_status parse_cie(struct bytes b, struct cfi_cie *cie)
{
	*cie = (struct cfi_cie){0};
	uint8_t version = (uint8_t)bytes_unsigned(&b, 1);
	if (version == 0 &&
	    bytes_left(&b) > 3) { /* some tools write an id of 8 bytes in 64-bit records */
		cie->wide_id = true;
		bytes_take(&b, 3);
		version = (uint8_t)bytes_unsigned(&b, 1);
	}
	const char *letters = (const char *)b.at;
	const uint8_t *nul = b.bad ? NULL : memchr(b.at, 0, bytes_left(&b));
	if (!nul || (version != 1 && version != 3 && version != 4))
		return CFI_BAD;
	bytes_take(&b, (uint64_t)(nul - b.at) + 1);
	if (letters[0] == 'e' && letters[1] == 'h') { /* gcc 2 */
		bytes_take(&b, 8);
		letters += 2;
	}
	if (version == 4 && (bytes_unsigned(&b, 1) != 8 || bytes_unsigned(&b, 1) != 0))
		return CFI_BAD;
	cie->code_align = bytes_uleb(&b);
	cie->data_align = bytes_sleb(&b);
	cie->return_column = version == 1 ? bytes_unsigned(&b, 1) : bytes_uleb(&b);
	if (letters[0] == 'z') {
		cie->has_length = true;
		const uint64_t n = bytes_uleb(&b);
		struct bytes data = {.address = b.address, .at = b.at};
		const uint8_t *p = bytes_take(&b, n);
		data.end = p ? p + n : data.at;
		parse_augmentation(letters + 1, &data, cie);
		b.bad |= data.bad;
	} else if (letters[0] != '\0')
		return CFI_BAD;
	cie->instructions = b;
	return b.bad || cie->return_column >= CFI_N_REGS || (cie->pointer_encoding & PE_INDIRECT)
		       ? CFI_BAD
		       : CFI_OK;
}

/* The state of the interpreter of call frame instructions. */
struct program {
	struct cfi_work *work;
	const struct cfi_cie *cie;
	uintptr_t pc, location;
	uintptr_t base;
	unsigned n_remembered;
	bool in_cie;
	bool bad;
};

static void set_rule(struct program *p, uint64_t reg, struct cfi_rule rule)
{
	rule.given = true;
	if (reg < CFI_N_REGS)
		p->work->row.reg[reg] = rule;
}

static void set_offset(struct program *p, enum cfi_rule_kind kind, uint64_t reg, uint64_t factored)
{
	set_rule(p, reg,
		 (struct cfi_rule){.kind = (uint8_t)kind,
				   .value = (int64_t)(factored * (uint64_t)p->cie->data_align)});
}

static void restore_rule(struct program *p, uint64_t reg)
{
	p->bad |= p->in_cie;
	if (reg < CFI_N_REGS)
		p->work->row.reg[reg] = p->work->initial.reg[reg];
}

static struct cfi_rule expression_rule(struct program *p, struct bytes *b, enum cfi_rule_kind kind)
{
	const uint64_t n = bytes_uleb(b);
	const uint8_t *e = bytes_take(b, n);
	p->bad |= n > UINT16_MAX;
	return (struct cfi_rule){.kind = (uint8_t)kind, .n_bytes = (uint16_t)n, .expression = e};
}

static void set_cfa(struct program *p, uint64_t reg, uint64_t offset)
{
	p->bad |= reg >= CFI_N_REGS;
	p->work->row.cfa = (struct cfi_rule){
		.kind = CFI_REGISTER, .reg = (uint8_t)reg, .value = (int64_t)offset};
}

/*
 * Changes one half of the rule and needs the other half. gcc writes def_cfa_offset after an
 * expression, too (frames with SVE's vectors), and means the register before the expression.
 */
static void change_cfa_offset(struct program *p, int64_t offset)
{
	struct cfi_rule *cfa = &p->work->row.cfa;
	p->bad |= cfa->kind != CFI_REGISTER && cfa->kind != CFI_EXPRESSION;
	cfa->kind = CFI_REGISTER;
	cfa->value = offset;
}

static void remember(struct program *p)
{
	if (p->n_remembered == CFI_REMEMBER_MAX)
		p->bad = true;
	else
		p->work->remembered[p->n_remembered++] = p->work->row;
}

static void restore(struct program *p)
{
	if (p->n_remembered == 0)
		p->bad = true;
	else
		p->work->row = p->work->remembered[--p->n_remembered];
}

/* Runs an instruction whose two high bits are zero. DWARF 5, 7.24, and the GNU extensions. */
static void extended_instruction(struct program *p, unsigned op, struct bytes *b)
{
	const uint64_t align = (uint64_t)p->cie->data_align;
	uint64_t reg;
	switch (op) {
	case 0x00: /* nop */ break;
	case 0x01: /* set_loc */
		p->location = cfi_pointer(b, p->cie->pointer_encoding, p->base);
		break;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04: p->location += bytes_unsigned(b, 1U << (op - 2)) * p->cie->code_align; break;
	case 0x05: /* offset_extended */
		reg = bytes_uleb(b);
		set_offset(p, CFI_OFFSET, reg, bytes_uleb(b));
		break;
	case 0x06: /* restore_extended */ restore_rule(p, bytes_uleb(b)); break;
	case 0x07: /* undefined */
		set_rule(p, bytes_uleb(b), (struct cfi_rule){.kind = CFI_UNDEFINED});
		break;
	case 0x08: /* same_value */
		set_rule(p, bytes_uleb(b), (struct cfi_rule){.kind = CFI_SAME});
		break;
	case 0x09: { /* register */
		reg = bytes_uleb(b);
		const uint64_t in = bytes_uleb(b);
		p->bad |= in >= CFI_N_REGS && reg < CFI_N_REGS;
		set_rule(p, reg, (struct cfi_rule){.kind = CFI_REGISTER, .reg = (uint8_t)in});
		break;
	}
	case 0x0a: remember(p); break;
	case 0x0b: restore(p); break;
	case 0x0c: /* def_cfa */
		reg = bytes_uleb(b);
		set_cfa(p, reg, bytes_uleb(b));
		break;
	case 0x0d: /* def_cfa_register */
		reg = bytes_uleb(b);
		p->bad |= reg >= CFI_N_REGS;
		p->bad |= p->work->row.cfa.kind != CFI_REGISTER;
		p->work->row.cfa.reg = (uint8_t)reg;
		break;
	case 0x0e: /* def_cfa_offset */ change_cfa_offset(p, (int64_t)bytes_uleb(b)); break;
	case 0x0f: /* def_cfa_expression */
		reg = p->work->row.cfa.reg;
		p->work->row.cfa = expression_rule(p, b, CFI_EXPRESSION);
		p->work->row.cfa.reg = (uint8_t)reg;
		break;
	case 0x10: /* expression */
		reg = bytes_uleb(b);
		set_rule(p, reg, expression_rule(p, b, CFI_EXPRESSION));
		break;
	case 0x11: /* offset_extended_sf */
		reg = bytes_uleb(b);
		set_offset(p, CFI_OFFSET, reg, (uint64_t)bytes_sleb(b));
		break;
	case 0x12: /* def_cfa_sf */
		reg = bytes_uleb(b);
		set_cfa(p, reg, (uint64_t)bytes_sleb(b) * align);
		break;
	case 0x13: /* def_cfa_offset_sf */
		change_cfa_offset(p, (int64_t)((uint64_t)bytes_sleb(b) * align));
		break;
	case 0x14: /* val_offset */
		reg = bytes_uleb(b);
		set_offset(p, CFI_VAL_OFFSET, reg, bytes_uleb(b));
		break;
	case 0x15: /* val_offset_sf */
		reg = bytes_uleb(b);
		set_offset(p, CFI_VAL_OFFSET, reg, (uint64_t)bytes_sleb(b));
		break;
	case 0x16: /* val_expression */
		reg = bytes_uleb(b);
		set_rule(p, reg, expression_rule(p, b, CFI_VAL_EXPRESSION));
		break;
	case 0x1d: /* MIPS_advance_loc8 */
		p->location += bytes_unsigned(b, 8) * p->cie->code_align;
		break;
	case 0x2c: /* AARCH64_negate_ra_state_with_pc */
	case 0x2d: /* AARCH64_negate_ra_state: arch_strip() removes any signature */
		p->bad |= !ARCH_RETURN_BITS;
		break;
	case 0x2e: /* GNU_args_size: for landing pads only */ bytes_uleb(b); break;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = bytes_uleb(b);
		set_offset(p, CFI_OFFSET, reg, -bytes_uleb(b));
		break;
	default: p->bad = true;
	}
}

/*
 * Runs instructions until one moves the location beyond pc. Each has at least one byte, so the loop
 * is bounded.
 */
static bool run_program(struct program *p, struct bytes b)
{
	while (bytes_left(&b) && !b.bad && !p->bad) {
		const uint8_t op = (uint8_t)bytes_unsigned(&b, 1);
		switch (op >> 6) {
		case 0: extended_instruction(p, op, &b); break;
		case 1: /* advance_loc */ p->location += (op & 0x3f) * p->cie->code_align; break;
		case 2: /* offset */ set_offset(p, CFI_OFFSET, op & 0x3f, bytes_uleb(&b)); break;
		default: /* restore */ restore_rule(p, op & 0x3f);
		}
		if (!p->in_cie && p->location > p->pc)
			break;
	}
	return !b.bad && !p->bad;
}

/* Reads the fixed part of an FDE and its CIE; leaves record->body at the FDE's instructions. */
enum cfi_status cfi_fde(const struct cfi_source *source, uint8_t *cie_copy,
			struct cfi_record *record, struct cfi_cie *cie, struct cfi_frame *frame)
{
	struct cfi_record cie_record;
	if (record->id == 0)
		return CFI_BAD;
	if (cfi_record(source, record->id_address - record->id, cie_copy, &cie_record) != CFI_OK ||
	    cie_record.id != 0)
		return CFI_BAD;
	if (parse_cie(cie_record.body, cie) != CFI_OK)
		return CFI_BAD;
	struct bytes *b = &record->body;
	if (cie->wide_id)
		bytes_take(b, 4);
	frame->pc_lo = cfi_pointer(b, cie->pointer_encoding, source->hdr);
	const uint64_t n = cfi_pointer(b, cie->pointer_encoding & 0x0f, 0);
	frame->pc_hi = frame->pc_lo + n < frame->pc_lo ? UINTPTR_MAX : frame->pc_lo + n;
	frame->return_column = (uint8_t)cie->return_column;
	frame->signal = cie->signal;
	if (cie->has_length)
		bytes_take(b, bytes_uleb(b));
	return b->bad ? CFI_BAD : CFI_OK;
}

enum cfi_status cfi_row_at(const struct cfi_source *source, uintptr_t fde, uintptr_t pc,
			   struct cfi_work *work, struct cfi_frame *frame)
{
	struct cfi_record record;
	struct cfi_cie cie;
	struct cfi_frame found;
	const enum cfi_status status = cfi_record(source, fde, work->fde_copy, &record);
	if (status != CFI_OK)
		return status;
	if (cfi_fde(source, work->cie_copy, &record, &cie, &found) != CFI_OK)
		return CFI_BAD;
	if (pc < found.pc_lo || pc >= found.pc_hi)
		return CFI_NONE;
	memset(&work->row, 0, sizeof work->row);
	struct program p = {.work = work,
			    .cie = &cie,
			    .pc = pc,
			    .location = found.pc_lo,
			    .base = source->hdr,
			    .in_cie = true};
	if (!run_program(&p, cie.instructions))
		return CFI_BAD;
	work->initial = work->row;
	p.in_cie = false;
	p.location = found.pc_lo;
	if (!run_program(&p, record.body))
		return CFI_BAD;
	if (work->row.cfa.kind != CFI_REGISTER && work->row.cfa.kind != CFI_EXPRESSION)
		return CFI_BAD;
	*frame = found;
	return CFI_OK;
}
