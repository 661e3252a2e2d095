/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoder of line tables, DWARF 2 to 5 (DWARF 5, 6.2). Our own, because libdwarf 20210528, which Debian 12 and Ubuntu 22.04 ship, starts DWARF 5 sequences
 * with file 0 where the standard and gcc start with file 1 (its issue 137), and because line tables without units (cubins) are out of its reach.
 * Pure functions on bytes; safe on any bytes; strings are borrowed from the sections. Test: tests/unit/test_line_program.c.
 */
#ifndef HPCSTRUCT_DEBUG_LINE_PROGRAM_H
#define HPCSTRUCT_DEBUG_LINE_PROGRAM_H

#include "hpcstruct-lite/debug/section_bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_sections {
	struct section_bytes line, line_str, str;
};

struct line_file {
	const char *name;      /* "" when it cannot be read */
	uint64_t dir;          /* index in dirs */
};

/* Header of one table. dirs and files are owned; index 0 of both is used as the version says: before 5 it stands for the unit itself and is empty here. */
struct line_header {
	unsigned version;
	uint8_t address_bytes, min_instruction_bytes, max_operations, line_range, opcode_base;
	int8_t line_base;
	struct { const char **at; size_t n, capacity; } dirs;
	struct { struct line_file *at; size_t n, capacity; } files;
	const uint8_t *opcode_lengths;       /* of opcode 1 on; opcode_base - 1 of them */
	size_t program_start, program_end;   /* offsets in .debug_line */
	uint32_t name_base;    /* NVIDIA: names of functions in this table are offsets in .debug_str from here */
};

enum line_result {
	LINE_OK,
	LINE_DAMAGED,          /* *where says where */
	LINE_NO_MEMORY
};

/* Reads the header at `offset` of .debug_line. On LINE_OK the caller frees *header. */
enum line_result line_header_read(const struct line_sections *sections, uint64_t offset, struct line_header *header, uint64_t *where);
void line_header_free(struct line_header *header);

struct line_row {
	uint64_t link_addr;
	uint64_t file;         /* index in files; may be beyond them in a damaged table */
	uint64_t line;
	/*
	 * NVIDIA's inlined calls (extended opcodes 0x90 and 0x91): the row's code is that of the function `name`, an offset in .debug_str, called where row number `context` of the sequence stands, counted
	 * from 1. 0: not inlined; the name then means nothing.
	 */
	uint64_t context, name;
	bool is_end;           /* first address behind a sequence */
};

/*
 * Runs the program and calls `emit` for each row; it returns false to stop (memory is short). DW_LNE_define_file adds to header->files. On LINE_DAMAGED the rows before
 * the damage have been emitted.
 */
enum line_result line_program_run(const struct line_sections *sections, struct line_header *header, bool (*emit)(void *arg, const struct line_row *row),
	void *arg, uint64_t *where);

#endif
