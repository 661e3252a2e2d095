/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes line tables of DWARF 2 to 5 (DWARF 5, section 6.2). We have our own decoder for two
 * reasons. First, libdwarf 20210528, which Debian 12 and Ubuntu 22.04 ship, starts DWARF 5
 * sequences with file 0, but the standard and gcc start with file 1 (libdwarf issue 137). Second,
 * libdwarf cannot read line tables without units, which cubins have. Pure functions on bytes; any
 * bytes are safe. Strings are borrowed from the sections.
 * Test: tests/unit/struct/test_line_program.c.
 */
#ifndef HPCSTRUCT_DEBUG_LINE_PROGRAM_H
#define HPCSTRUCT_DEBUG_LINE_PROGRAM_H

#include "common/base/vec.h"
#include "hpcstruct-lite/debug/section_bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_sections {
	struct section_bytes line, line_str, str;
};

struct line_file {
	const char *name;      /* "" if it cannot be read */
	uint64_t dir;          /* index in `dirs` */
};

/*
 * Header of one table. It owns dirs and files. Before DWARF 5, index 0 of both means the unit
 * itself and is empty here; in DWARF 5 it is an ordinary entry.
 */
struct line_header {
	unsigned version;
	uint8_t address_bytes, min_instruction_bytes, max_operations, line_range, opcode_base;
	int8_t line_base;
	VEC(const char *) dirs;
	VEC(struct line_file) files;
	/* lengths of opcodes from 1 on; there are opcode_base - 1 */
	const uint8_t *opcode_lengths;
	size_t program_start, program_end;   /* offsets in .debug_line */
	/* NVIDIA: function names in this table are offsets in .debug_str from here */
	uint32_t name_base;
};

enum line_result {
	LINE_OK,
	LINE_DAMAGED,          /* *where is the offset of the damage */
	LINE_NO_MEMORY
};

/* Reads the header at `offset` of .debug_line. On LINE_OK the caller frees *header. */
enum line_result line_header_read(const struct line_sections *sections, uint64_t offset,
	struct line_header *header, uint64_t *where);
void line_header_free(struct line_header *header);

struct line_row {
	uint64_t link_addr;
	uint64_t file;         /* index in files; may be out of bounds in a damaged table */
	uint64_t line;
	/*
	 * NVIDIA's inlined calls (extended opcodes 0x90 and 0x91). The code of this row belongs to
	 * the function `name`, an offset in .debug_str. The call is at row number `context` of the
	 * sequence, counted from 1. If context is 0, the row is not inlined and `name` is
	 * meaningless.
	 */
	uint64_t context, name;
	bool is_end;           /* first address after a sequence */
};

/*
 * Runs the program and calls `emit` for each row. `emit` returns false to stop when out of memory.
 * DW_LNE_define_file adds to header->files. Before LINE_DAMAGED is returned, all rows ahead of the
 * damage are emitted.
 */
enum line_result line_program_run(const struct line_sections *sections, struct line_header *header,
	bool (*emit)(void *arg, const struct line_row *row),
	void *arg, uint64_t *where);

#endif
