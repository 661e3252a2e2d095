/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts between positions and addresses; see image.h. Test: tests/cli/struct/struct_golden.sh,
 * tests/cli/struct/struct_damage.sh.
 */
#include "hpcstruct-lite/image/image.h"

#include "common/base/sorted.h"

/* Returns the last region that starts at or before the address, or NULL. */
static const struct image_region *region_before(const struct image_region *at, size_t n,
						uint64_t link_addr)
{
	size_t n_before = sorted_up_to(at, n, start, link_addr);
	return n_before ? &at[n_before - 1] : NULL;
}

bool image_position(const struct image *image, uint64_t link_addr, uint32_t *position)
{
	const struct image_region *r =
		region_before(image->regions.at, image->regions.n, link_addr);
	if (!r || link_addr - r->start >= r->n_bytes)
		return false;
	*position = r->position + (uint32_t)(link_addr - r->start);
	return true;
}

bool image_position_end(const struct image *image, uint64_t end_addr, uint32_t *position)
{
	if (end_addr == 0 || !image_position(image, end_addr - 1, position))
		return false;
	++*position;
	return true;
}

uint64_t image_address(const struct image *image, uint32_t position)
{
	size_t n = sorted_up_to(image->regions.at, image->regions.n, position, position);
	const struct image_region *r = n ? &image->regions.at[n - 1] : NULL;
	return r ? r->start + (position - r->position) : 0;
}

uint32_t image_n_positions(const struct image *image)
{
	if (image->regions.n == 0)
		return 0;
	const struct image_region *last = &image->regions.at[image->regions.n - 1];
	return last->position + (uint32_t)last->n_bytes;
}

const struct image_region *image_code_at(const struct image *image, uint64_t link_addr)
{
	const struct image_region *c = region_before(image->code.at, image->code.n, link_addr);
	return c && link_addr - c->start < c->n_bytes ? c : NULL;
}

bool image_is_code(const struct image *image, uint64_t link_addr)
{
	return image_code_at(image, link_addr) != NULL;
}
