/* SPDX-License-Identifier: BSD-3-Clause */
/* Line number programs; see line_program.h. Must not read outside the sections. Test:
 * tests/unit/struct/test_line_program.c. */
#include "hpcstruct-lite/debug/line_program.h"

#include "common/base/cursor.h"
#include "common/base/vec.h"

#include <dwarf.h>
#include <string.h>

enum { MAX_ENTRY_FORMATS = 32 };

/* Returns a string of another section; "" if the string is outside it or does not end in it. */
static const char *string_in(const struct section_bytes *s, uint64_t offset)
{
	if (offset >= s->n_bytes || !memchr(s->at + offset, '\0', s->n_bytes - offset))
		return "";
	return (const char *)s->at + offset;
}

static uint64_t read_offset(struct cursor *c, unsigned offset_bytes)
{
	return offset_bytes == 8 ? cursor_u64(c) : cursor_u32(c);
}

/*
 * Reads one value of a DWARF 5 entry: a string into *text or a number into *number. Returns false
 * for a form that is not allowed here.
 */
static bool read_form(const struct line_sections *s, struct cursor *c, uint64_t form,
		      unsigned offset_bytes, const char **text, uint64_t *number)
{
	switch (form) {
	case DW_FORM_string:
		*text = cursor_string(c);
		return true;
	case DW_FORM_line_strp:
		*text = string_in(&s->line_str, read_offset(c, offset_bytes));
		return true;
	case DW_FORM_strp:
		*text = string_in(&s->str, read_offset(c, offset_bytes));
		return true;
	case DW_FORM_udata:
	case DW_FORM_strx:
		*number = cursor_uleb(c);
		return true;
	case DW_FORM_data1:
	case DW_FORM_strx1:
		*number = cursor_u8(c);
		return true;
	case DW_FORM_data2:
	case DW_FORM_strx2:
		*number = cursor_u16(c);
		return true;
	case DW_FORM_data4:
	case DW_FORM_strx4:
		*number = cursor_u32(c);
		return true;
	case DW_FORM_strx3:
		cursor_bytes(c, 3);
		return true;
	case DW_FORM_data8:
		*number = cursor_u64(c);
		return true;
	case DW_FORM_data16:
		cursor_bytes(c, 16);
		return true;
	case DW_FORM_block:
		cursor_bytes(c, cursor_uleb(c));
		return true;
	default:
		return false;
	}
}

/* Reads a table of DWARF 5, of files (is_files) or of directories. */
static enum line_result read_entries(const struct line_sections *s, struct cursor *c,
				     unsigned offset_bytes, struct line_header *h, bool is_files)
{
	uint64_t formats[MAX_ENTRY_FORMATS][2];
	unsigned n_formats = cursor_u8(c);
	if (n_formats > MAX_ENTRY_FORMATS)
		return LINE_DAMAGED;
	for (unsigned i = 0; i < n_formats; i++) {
		formats[i][0] = cursor_uleb(c);
		formats[i][1] = cursor_uleb(c);
	}
	uint64_t n = cursor_uleb(c);
	if (!cursor_ok(c) || (n > 0 && n_formats == 0) || n > cursor_left(c))
		return LINE_DAMAGED;
	for (uint64_t i = 0; i < n; i++) {
		struct line_file entry = {"", 0};
		for (unsigned k = 0; k < n_formats; k++) {
			const char *text = "";
			uint64_t number = 0;
			if (!read_form(s, c, formats[k][1], offset_bytes, &text, &number) ||
			    !cursor_ok(c))
				return LINE_DAMAGED;
			if (formats[k][0] == DW_LNCT_path)
				entry.name = text;
			else if (formats[k][0] == DW_LNCT_directory_index)
				entry.dir = number;
		}
		struct line_file *file = is_files ? vec_push(&h->files) : NULL;
		const char **dir = is_files ? NULL : vec_push(&h->dirs);
		if (file)
			*file = entry;
		else if (dir)
			*dir = entry.name;
		else
			return LINE_NO_MEMORY;
	}
	return LINE_OK;
}

static bool add_old_file(struct cursor *c, const char *name, struct line_header *h)
{
	struct line_file *f = vec_push(&h->files);
	if (!f)
		return false;
	*f = (struct line_file){name, cursor_uleb(c)};
	cursor_uleb(c); /* time */
	cursor_uleb(c); /* size */
	return true;
}

/* Reads the tables of DWARF 2 to 4. Entry 0 of both is the unit's own. */
static enum line_result read_old_entries(struct cursor *c, struct line_header *h)
{
	const char **dir = vec_push(&h->dirs);
	struct line_file *file = vec_push(&h->files);
	if (!dir || !file)
		return LINE_NO_MEMORY;
	*dir = "";
	*file = (struct line_file){"", 0};
	for (const char *name; *(name = cursor_string(c));) {
		dir = vec_push(&h->dirs);
		if (!dir)
			return LINE_NO_MEMORY;
		*dir = name;
	}
	for (const char *name; *(name = cursor_string(c));)
		if (!add_old_file(c, name, h))
			return LINE_NO_MEMORY;
	return cursor_ok(c) ? LINE_OK : LINE_DAMAGED;
}

static enum line_result read_header(const struct line_sections *s, struct cursor *c,
				    struct line_header *h)
{
	unsigned offset_bytes = 4;
	uint64_t n_bytes = cursor_u32(c);
	if (n_bytes == UINT32_MAX) {
		offset_bytes = 8;
		n_bytes = cursor_u64(c);
	}
	if (!cursor_ok(c) || n_bytes > cursor_left(c))
		return LINE_DAMAGED;
	h->program_end = cursor_offset(c) + n_bytes;
	c->end = c->start + h->program_end;
	h->version = cursor_u16(c);
	if (h->version < 2 || h->version > 5)
		return LINE_DAMAGED;
	h->address_bytes = 8;
	if (h->version >= 5) {
		h->address_bytes = cursor_u8(c);
		cursor_u8(c); /* size of segment selectors */
	}
	uint64_t header_bytes = read_offset(c, offset_bytes);
	if (!cursor_ok(c) || header_bytes > cursor_left(c))
		return LINE_DAMAGED;
	h->program_start = cursor_offset(c) + header_bytes;
	h->min_instruction_bytes = cursor_u8(c);
	h->max_operations = h->version >= 4 ? cursor_u8(c) : 1;
	cursor_u8(c); /* is_stmt: we use a row even if it is not recommended for breakpoints */
	h->line_base = (int8_t)cursor_u8(c);
	h->line_range = cursor_u8(c);
	h->opcode_base = cursor_u8(c);
	if (!cursor_ok(c) || h->line_range == 0 || h->opcode_base == 0 || h->max_operations == 0)
		return LINE_DAMAGED;
	h->opcode_lengths = cursor_bytes(c, h->opcode_base - 1u);
	if (h->version < 5) {
		enum line_result r = read_old_entries(c, h);
		/*
		 * NVIDIA's extension: where in .debug_str the names of this table begin, after a
		 * linker has joined several tables
		 */
		if (r == LINE_OK && h->program_start - cursor_offset(c) == 4)
			h->name_base = cursor_u32(c);
		return r;
	}
	enum line_result r = read_entries(s, c, offset_bytes, h, false);
	return r == LINE_OK ? read_entries(s, c, offset_bytes, h, true) : r;
}

enum line_result line_header_read(const struct line_sections *s, uint64_t offset,
				  struct line_header *h, uint64_t *where)
{
	*h = (struct line_header){0};
	*where = offset;
	if (!s->line.at)
		return LINE_DAMAGED;
	struct cursor c = cursor_make(s->line.at, s->line.n_bytes);
	cursor_seek(&c, offset);
	enum line_result r = cursor_ok(&c) ? read_header(s, &c, h) : LINE_DAMAGED;
	if (r == LINE_OK && !cursor_ok(&c))
		r = LINE_DAMAGED;
	if (r != LINE_OK) {
		*where = cursor_offset(&c);
		line_header_free(h);
	}
	return r;
}

void line_header_free(struct line_header *h)
{
	vec_free(&h->dirs);
	vec_free(&h->files);
}

/* The state machine. It reads with plain pointers, because this is the hottest loop of the room. */
struct machine {
	const struct line_header *header;
	const uint8_t *at, *end;
	bool failed;
	struct line_row row;
	unsigned operation;    /* of a VLIW instruction */
};

static uint64_t uleb(struct machine *m)
{
	uint64_t value = 0;
	for (unsigned shift = 0; m->at < m->end; shift += 7) {
		uint8_t byte = *m->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	m->failed = true;
	return 0;
}

static int64_t sleb(struct machine *m)
{
	uint64_t value = 0;
	for (unsigned shift = 0; m->at < m->end;) {
		uint8_t byte = *m->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift < 64)
				value |= ~UINT64_C(0) << shift;
			return (int64_t)value;
		}
	}
	m->failed = true;
	return 0;
}

static void reset(struct machine *m)
{
	m->row = (struct line_row){.file = 1, .line = 1};
	m->operation = 0;
}

static inline void advance(struct machine *m, uint64_t n_operations)
{
	const struct line_header *h = m->header;
	if (h->max_operations == 1) {
		m->row.link_addr += h->min_instruction_bytes * n_operations;
		return;
	}
	uint64_t total = m->operation + n_operations;
	m->row.link_addr += h->min_instruction_bytes * (total / h->max_operations);
	m->operation = (unsigned)(total % h->max_operations);
}

static uint64_t fixed(struct machine *m, size_t n_bytes)
{
	uint64_t value = 0;
	if (n_bytes > 8 || (size_t)(m->end - m->at) < n_bytes) {
		m->failed = true;
		return 0;
	}
	memcpy(&value, m->at, n_bytes);
	m->at += n_bytes;
	return value;
}

/* Executes NVIDIA's extended opcodes. Operands must be within the operation. */
enum { NVIDIA_INLINED_CALL = 0x90, NVIDIA_FUNCTION_NAME = 0x91 };

static void nvidia(struct machine *m, uint8_t code, const uint8_t *next)
{
	const uint8_t *end = m->end;
	m->end = next;
	if (code == NVIDIA_INLINED_CALL)
		m->row.context = uleb(m);
	m->row.name = uleb(m) + m->header->name_base;
	m->end = end;
}

/* False: emit() wants to stop. */
static bool extended(struct machine *m, struct line_header *h,
		     bool (*emit)(void *, const struct line_row *), void *arg)
{
	uint64_t n_bytes = uleb(m);
	if (m->failed || n_bytes == 0 || n_bytes > (uint64_t)(m->end - m->at)) {
		m->failed = true;
		return true;
	}
	const uint8_t *next = m->at + n_bytes;
	uint8_t code = *m->at++;
	bool go_on = true;
	if (code == DW_LNE_end_sequence) {
		m->row.is_end = true;
		go_on = emit(arg, &m->row);
		reset(m);
	} else if (code == DW_LNE_set_address) {
		m->row.link_addr = fixed(m, (size_t)n_bytes - 1);
		m->operation = 0;
	} else if (code == DW_LNE_define_file) {
		struct cursor c = cursor_make(m->at, (size_t)n_bytes - 1);
		const char *name = cursor_string(&c);
		go_on = !cursor_ok(&c) || add_old_file(&c, name, h);
	} else if (code == NVIDIA_INLINED_CALL || code == NVIDIA_FUNCTION_NAME) {
		nvidia(m, code, next);
	}
	m->at = next;
	return go_on;
}

/* False: emit() wants to stop. */
static bool standard(struct machine *m, uint8_t opcode,
		     bool (*emit)(void *, const struct line_row *), void *arg)
{
	switch (opcode) {
	case DW_LNS_copy:
		return emit(arg, &m->row);
	case DW_LNS_advance_pc:
		advance(m, uleb(m));
		return true;
	case DW_LNS_advance_line:
		m->row.line += (uint64_t)sleb(m);
		return true;
	case DW_LNS_set_file:
		m->row.file = uleb(m);
		return true;
	case DW_LNS_const_add_pc:
		advance(m, (255u - m->header->opcode_base) / m->header->line_range);
		return true;
	case DW_LNS_fixed_advance_pc:
		m->row.link_addr += fixed(m, 2);
		m->operation = 0;
		return true;
	case DW_LNS_set_column:
	case DW_LNS_set_isa:
		uleb(m);
		return true;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		return true;
	default:
		for (unsigned i = 0; i < m->header->opcode_lengths[opcode - 1] && !m->failed; i++)
			uleb(m);
		return true;
	}
}

enum line_result line_program_run(const struct line_sections *s, struct line_header *h,
				  bool (*emit)(void *arg, const struct line_row *row), void *arg,
				  uint64_t *where)
{
	struct machine m = {.header = h,
			    .at = s->line.at + h->program_start,
			    .end = s->line.at + h->program_end};
	reset(&m);
	while (m.at < m.end && !m.failed) {
		*where = (uint64_t)(m.at - s->line.at);
		uint8_t opcode = *m.at++;
		bool go_on = true;
		if (opcode >= h->opcode_base) {
			unsigned special = opcode - h->opcode_base;
			advance(&m, special / h->line_range);
			m.row.line +=
				(uint64_t)(int64_t)(h->line_base + (int)(special % h->line_range));
			go_on = emit(arg, &m.row);
		} else if (opcode == 0) {
			go_on = extended(&m, h, emit, arg);
		} else {
			go_on = standard(&m, opcode, emit, arg);
		}
		if (!go_on)
			return LINE_NO_MEMORY;
	}
	return m.failed ? LINE_DAMAGED : LINE_OK;
}
