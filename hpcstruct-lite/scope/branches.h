/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the targets of indirect jumps in a cubin. The compiler lists them in .nv.info.<kernel>.
 * Nothing outside the scope room includes this file. Test: tests/cli/struct/struct_cubin.sh.
 */
#ifndef HPCSTRUCT_SCOPE_BRANCHES_H
#define HPCSTRUCT_SCOPE_BRANCHES_H

#include "hpcstruct-lite/image/image.h"

/* One target of a jump. Both are positions. */
struct branch {
	uint32_t jump, target;
};
struct branches {
	VEC(struct branch);    /* sorted by jump */
};

/*
 * Appends the branches of the image; none if it is not a cubin. Returns false when out of memory.
 */
bool branches_read(const struct image *image, struct branches *branches);
/* Returns the index of the first branch whose jump is at or after `position`. */
size_t branches_from(const struct branches *branches, uint32_t position);

#endif
