/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes range lists: .debug_ranges (DWARF 4, section 2.17.3) and .debug_rnglists (DWARF 5,
 * sections 2.17.3 and 7.25). We have our own decoder because libdwarf 20210528 frees twice and
 * reads out of bounds on damaged lists, rejects all units if one list table is damaged, and
 * searches the tables linearly. Pure functions on bytes; any bytes are safe. Test:
 * tests/unit/struct/test_range_list.c.
 */
#ifndef HPCSTRUCT_DEBUG_RANGE_LIST_H
#define HPCSTRUCT_DEBUG_RANGE_LIST_H

#include "hpcstruct-lite/debug/section_bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* What a list depends on besides its own bytes. */
struct range_context {
	struct section_bytes ranges, rnglists, addr;
	unsigned version;      /* of the unit; below 5 lists are in .debug_ranges */
	unsigned offset_bytes; /* 4, or 8 in 64-bit DWARF */
	uint64_t base;         /* low_pc of the unit */
	uint64_t rnglists_base;/* DW_AT_rnglists_base; 0: absent */
	uint64_t addr_base;    /* DW_AT_addr_base; 0: absent */
};

enum range_result {
	RANGE_OK,
	RANGE_DAMAGED,         /* *where is the offset; earlier ranges were emitted */
	RANGE_STOPPED          /* emit() returned false */
};

/*
 * Finds the offset of the list with a number (DW_FORM_rnglistx). Returns false if there is no such
 * list.
 */
bool range_list_find(const struct range_context *c, uint64_t index, uint64_t *offset);
/* Calls `emit` for each range of the list at `offset`. `end` is exclusive. */
enum range_result range_list_read(const struct range_context *c, uint64_t offset,
	bool (*emit)(void *arg, uint64_t start, uint64_t end), void *arg,
	uint64_t *where);

#endif
