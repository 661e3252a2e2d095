/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of the structure file, shared by its reader (structure_open.c) and its writer
 * (structure_write.c). doc/formats/structure.md is the specification; this header must agree with
 * it. Test: tests/unit/common/test_structure.c.
 */
#ifndef COMMON_FORMAT_STRUCTURE_LAYOUT_H
#define COMMON_FORMAT_STRUCTURE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define STRUCTURE_MAGIC "HPCSTRU" /* 8 bytes with the terminating NUL */
#define STRUCTURE_VERSION_MAJOR 1
#define STRUCTURE_VERSION_MINOR 3
#define STRUCTURE_BUILD_ID_MAX 32
/*
 * The revision of the analysis. Raise it whenever the analysis gives other results; files in caches
 * are then out of date. The cache's names of GPU code contain it, so that the run time finds only
 * files of this revision.
 */
#define STRUCTURE_REVISION 13

#define STRUCTURE_FLAG_LINES 1u
#define STRUCTURE_FLAG_DWARF 2u
#define STRUCTURE_FLAG_INCOMPLETE 4u
#define STRUCTURE_FLAG_PARTIAL 8u

#define STRUCTURE_SCOPE_IRREDUCIBLE 1u

enum structure_section_kind {
	STRUCTURE_STRINGS = 1,
	STRUCTURE_FILES,
	STRUCTURE_DEFINITIONS,
	STRUCTURE_SCOPES,
	STRUCTURE_REGIONS,
	STRUCTURE_INTERVALS,
	STRUCTURE_ALIASES,
	STRUCTURE_RESOURCES, /* since 1.1, as is the next */
	STRUCTURE_CALLS,
	STRUCTURE_WAITS,     /* since 1.2, as is the next */
	STRUCTURE_CAUSES,
	STRUCTURE_N_SECTIONS /* last kind + 1 */
};

struct structure_header {
	char magic[8];
	uint16_t version_major, version_minor;
	uint32_t header_bytes;
	uint64_t file_bytes;
	uint64_t check;
	uint64_t fingerprint;
	uint32_t flags;
	uint32_t n_sections;
	uint32_t binary, debug_file, producer; /* strings */
	uint32_t build_id_bytes;
	uint8_t build_id[STRUCTURE_BUILD_ID_MAX];
	uint64_t binary_bytes, binary_mtime_ns;
	uint64_t reserved[2];
};

struct structure_section {
	uint32_t kind, record_bytes;
	uint64_t offset, n_bytes;
};

struct structure_definition_record {
	uint32_t name, linkage_name; /* strings */
	uint32_t file, line;
};

struct structure_scope_record {
	uint8_t kind, origin;
	uint16_t flags;
	uint32_t parent, definition, call_file, call_line, reserved;
	uint64_t entry;
};

struct structure_region_record {
	uint64_t start, n_bytes;
	uint32_t first, n_intervals;
};

struct structure_interval_record {
	uint32_t offset, scope, file, line;
};

struct structure_alias_record {
	uint32_t scope, name;
};

struct structure_resources_record {
	uint32_t scope, flags;
	uint32_t registers, shared_bytes, frame_bytes, stack_bytes, parameter_bytes, max_threads,
		barriers, reserved;
};
#define STRUCTURE_RESOURCES_KERNEL 1u

struct structure_call_record {
	uint64_t link_addr;
	uint32_t target, flags;
};

/* The causes of a wait end where those of the next wait begin. */
struct structure_wait_record {
	uint32_t link_addr, first;
};

struct structure_cause_record {
	uint32_t link_addr;
	uint16_t cycles;
	uint8_t operation, flags; /* flags: the low bits are enum structure_wait_kind */
};
/* In `operation`. */
#define STRUCTURE_CAUSE_CHAINED 128u
/* In `flags`. */
#define STRUCTURE_CAUSE_KIND 7u
#define STRUCTURE_CAUSE_USED 8u
#define STRUCTURE_CAUSE_CARRIED 16u
/* The bits from here on: 1 + the logarithm of the bytes that a load or store moves for a thread. */
#define STRUCTURE_CAUSE_BYTES 5

#define STRUCTURE_CHECK_START UINT64_C(0x9E3779B97F4A7C15)
/* Continues a check value over `n_bytes`. The bytes count as zero-filled to a multiple of 8. */
uint64_t structure_check_add(uint64_t check, const void *bytes, size_t n_bytes);
/* The check value of a whole file in memory. n_bytes is at least the size of the header. */
uint64_t structure_check_file(const uint8_t *bytes, size_t n_bytes);

#endif
