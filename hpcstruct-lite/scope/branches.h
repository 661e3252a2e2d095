/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where indirect jumps of a cubin lead: the compiler lists them in .nv.info.<kernel>. Nothing outside the scope room includes this. Test: tests/cli/struct_cubin.sh.
 */
#ifndef HPCSTRUCT_SCOPE_BRANCHES_H
#define HPCSTRUCT_SCOPE_BRANCHES_H

#include "hpcstruct-lite/image/image.h"

/* One target of a jump; positions. */
struct branch {
	uint32_t jump, target;
};
struct branches {
	struct branch *at;     /* by jump */
	size_t n, capacity;
};

/* Appends those of the image; none where it is no cubin. False when memory is short. */
bool branches_read(const struct image *image, struct branches *branches);
/* Index of the first whose jump is not below `position`. */
size_t branches_from(const struct branches *branches, uint32_t position);

#endif
