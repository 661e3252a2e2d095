/* SPDX-License-Identifier: BSD-3-Clause */
/* Writer of the structure file; see structure_write.h. No I/O, no allocation. Test:
 * tests/unit/common/test_structure.c. */
#include "common/format/structure_write.h"

#include <string.h>

static void add_piece(struct structure_pieces *p, const void *bytes, size_t n_bytes)
{
	if (n_bytes > 0)
		p->at[p->n++] = (struct iovec){(void *)(uintptr_t)bytes, n_bytes};
}

static void add_section(struct structure_pieces *p, enum structure_section_kind kind,
			const void *bytes, size_t n, size_t record_bytes)
{
	p->sections[kind - 1] = (struct structure_section){kind, (uint32_t)record_bytes,
							   p->header.file_bytes, n * record_bytes};
	add_piece(p, bytes, n * record_bytes);
	size_t padding = (8 - n * record_bytes % 8) % 8;
	add_piece(p, &p->padding, padding);
	p->header.file_bytes += n * record_bytes + padding;
}

void structure_lay_out(const struct structure_content *c, struct structure_pieces *p)
{
	memset(p, 0, sizeof *p);
	struct structure_header *h = &p->header;
	*h = (struct structure_header){
		.magic = STRUCTURE_MAGIC,
		.version_major = STRUCTURE_VERSION_MAJOR,
		.version_minor = STRUCTURE_VERSION_MINOR,
		.header_bytes = sizeof *h,
		.file_bytes = sizeof *h + sizeof p->sections,
		.fingerprint = c->fingerprint,
		.flags = c->flags,
		.n_sections = STRUCTURE_N_SECTIONS - 1,
		.binary = c->binary,
		.debug_file = c->debug_file,
		.producer = c->producer,
		.build_id_bytes = (uint32_t)(c->build_id_bytes < STRUCTURE_BUILD_ID_MAX
						     ? c->build_id_bytes
						     : STRUCTURE_BUILD_ID_MAX),
		.binary_bytes = c->binary_bytes,
		.binary_mtime_ns = c->binary_mtime_ns,
	};
	if (h->build_id_bytes > 0)
		memcpy(h->build_id, c->build_id, h->build_id_bytes);
	add_piece(p, h, sizeof *h);
	add_piece(p, p->sections, sizeof p->sections);
	add_section(p, STRUCTURE_STRINGS, c->strings, c->strings_bytes, 1);
	add_section(p, STRUCTURE_FILES, c->files, c->n_files, sizeof *c->files);
	add_section(p, STRUCTURE_DEFINITIONS, c->definitions, c->n_definitions,
		    sizeof *c->definitions);
	add_section(p, STRUCTURE_SCOPES, c->scopes, c->n_scopes, sizeof *c->scopes);
	add_section(p, STRUCTURE_REGIONS, c->regions, c->n_regions, sizeof *c->regions);
	add_section(p, STRUCTURE_INTERVALS, c->intervals, c->n_intervals, sizeof *c->intervals);
	add_section(p, STRUCTURE_ALIASES, c->aliases, c->n_aliases, sizeof *c->aliases);
	add_section(p, STRUCTURE_RESOURCES, c->resources, c->n_resources, sizeof *c->resources);
	add_section(p, STRUCTURE_CALLS, c->calls, c->n_calls, sizeof *c->calls);
	add_section(p, STRUCTURE_WAITS, c->waits, c->n_waits, sizeof *c->waits);
	add_section(p, STRUCTURE_CAUSES, c->causes, c->n_causes, sizeof *c->causes);
	uint64_t check = STRUCTURE_CHECK_START;
	for (int i = 0; i < p->n; i++)
		if (p->at[i].iov_base !=
		    (void *)&p
			    ->padding) /* it completes a word that already counts as zero-filled */
			check = structure_check_add(check, p->at[i].iov_base, p->at[i].iov_len);
	h->check = check;
}
