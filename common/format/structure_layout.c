/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout of the structure file, and its check value; see structure_layout.h. */
#include "common/format/structure_layout.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct structure_header) == 128, "layout");
static_assert(offsetof(struct structure_header, build_id) == 64, "layout");
static_assert(sizeof(struct structure_section) == 24, "layout");
static_assert(sizeof(struct structure_definition_record) == 16, "layout");
static_assert(sizeof(struct structure_scope_record) == 32, "layout");
static_assert(sizeof(struct structure_region_record) == 24, "layout");
static_assert(sizeof(struct structure_interval_record) == 16, "layout");
static_assert(sizeof(struct structure_alias_record) == 8, "layout");
static_assert(sizeof(struct structure_resources_record) == 40, "layout");
static_assert(sizeof(struct structure_call_record) == 16, "layout");
static_assert(sizeof(struct structure_wait_record) == 8, "layout");
static_assert(sizeof(struct structure_cause_record) == 8, "layout");

uint64_t structure_check_add(uint64_t check, const void *bytes, size_t n_bytes)
{
	const uint8_t *p = bytes;
	for (; n_bytes > 0;) {
		uint64_t word = 0;
		size_t n = n_bytes < 8 ? n_bytes : 8;
		memcpy(&word, p, n);
		check ^= word;
		check = (check << 29 | check >> 35) * UINT64_C(0xBF58476D1CE4E5B9);
		p += n;
		n_bytes -= n;
	}
	return check;
}

uint64_t structure_check_file(const uint8_t *bytes, size_t n_bytes)
{
	struct structure_header h;
	memcpy(&h, bytes, sizeof h);
	h.check = 0;
	uint64_t check = structure_check_add(STRUCTURE_CHECK_START, &h, sizeof h);
	return structure_check_add(check, bytes + sizeof h, n_bytes - sizeof h);
}
