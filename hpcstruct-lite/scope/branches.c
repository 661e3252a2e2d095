/* SPDX-License-Identifier: BSD-3-Clause */
/* Indirect jumps of cubins; see branches.h. */
#include "hpcstruct-lite/scope/branches.h"

#include "common/base/cursor.h"
#include "common/base/sorted.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_SIZED = 4, INDIRECT_BRANCH_TARGETS = 0x34 };

/*
 * Reads the payload: {offset of the jump, 0, number of targets, targets}, with offsets in the
 * section of code.
 */
static bool read_targets(const struct image *image, const struct image_section *code,
			 struct cursor *c, struct branches *branches)
{
	while (cursor_left(c) >= 12) {
		uint32_t jump = cursor_u32(c), jump_position, target_position;
		cursor_u32(c);
		uint32_t n = cursor_u32(c);
		if (n > cursor_left(c) / 4)
			return true;
		bool known = jump < code->n_bytes &&
			     image_position(image, code->link_addr + jump, &jump_position);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t target = cursor_u32(c);
			if (!known || target >= code->n_bytes ||
			    !image_position(image, code->link_addr + target, &target_position))
				continue;
			struct branch *b = vec_push(branches);
			if (!b)
				return false;
			*b = (struct branch){jump_position, target_position};
		}
	}
	return true;
}

static bool read_notes(const struct image *image, const struct image_section *notes,
		       struct branches *branches)
{
	const struct image_section *code = &image->sections.at[notes->info];
	struct cursor c = cursor_make(notes->bytes, notes->n_bytes);
	while (cursor_left(&c) >= 4) {
		uint8_t format = cursor_u8(&c), attribute = cursor_u8(&c);
		uint16_t size = cursor_u16(&c);
		struct cursor payload = cursor_sub(&c, format == FORMAT_SIZED ? size : 0);
		if (!cursor_ok(&c))
			break;
		if (format == FORMAT_SIZED && attribute == INDIRECT_BRANCH_TARGETS &&
		    !read_targets(image, code, &payload, branches))
			return false;
	}
	return true;
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;
	if (x->jump != y->jump)
		return x->jump < y->jump ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

bool branches_read(const struct image *image, struct branches *branches)
{
	for (size_t i = 0; i < image->sections.n && image->is_cubin; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (strncmp(s->name, ".nv.info.", 9) == 0 && s->bytes &&
		    s->info < image->sections.n &&
		    (image->sections.at[s->info].flags & SHF_EXECINSTR) &&
		    !read_notes(image, s, branches))
			return false;
	}
	if (branches->n > 1)
		qsort(branches->at, branches->n, sizeof *branches->at, compare_branches);
	return true;
}

size_t branches_from(const struct branches *branches, uint32_t position)
{
	return sorted_below(branches->at, branches->n, jump, position);
}
