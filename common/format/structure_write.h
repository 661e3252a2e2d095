/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the structure file. Pure: it arranges the caller's tables as a list of pieces for writev()
 * and copies nothing. Test: tests/unit/common/test_structure.c.
 */
#ifndef COMMON_FORMAT_STRUCTURE_WRITE_H
#define COMMON_FORMAT_STRUCTURE_WRITE_H

#include "common/format/structure_layout.h"

#include <sys/uio.h>

/* The tables, in the order and with the indices of the specification. All are borrowed. */
struct structure_content {
	uint64_t fingerprint;
	uint32_t flags;
	uint32_t binary, debug_file, producer; /* strings */
	const uint8_t *build_id;
	size_t build_id_bytes;
	uint64_t binary_bytes, binary_mtime_ns;
	const char *strings; /* starts and ends with NUL */
	size_t strings_bytes;
	const uint32_t *files;
	size_t n_files;
	const struct structure_definition_record *definitions;
	size_t n_definitions;
	const struct structure_scope_record *scopes;
	size_t n_scopes;
	const struct structure_region_record *regions;
	size_t n_regions;
	const struct structure_interval_record *intervals;
	size_t n_intervals;
	const struct structure_alias_record *aliases;
	size_t n_aliases;
	const struct structure_resources_record *resources;
	size_t n_resources;
	const struct structure_call_record *calls;
	size_t n_calls;
	const struct structure_wait_record *waits;
	size_t n_waits;
	const struct structure_cause_record *causes;
	size_t n_causes;
};

/*
 * The head of the file and its pieces, in order. The pieces point into this struct and into the
 * content.
 */
struct structure_pieces {
	struct structure_header header;
	struct structure_section sections[STRUCTURE_N_SECTIONS - 1];
	uint64_t padding;
	struct iovec at[2 + 2 * (STRUCTURE_N_SECTIONS - 1)];
	int n;
};

/* Fills *p. Do not move or copy *p afterwards. */
void structure_lay_out(const struct structure_content *c, struct structure_pieces *p);

#endif
