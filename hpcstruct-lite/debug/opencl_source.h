/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the kernels that OpenCL C source text defines, with their lines. Some GPU run times provide
 * only the source of a program. Comments, literals and lines of directives are skipped; macros are
 * not expanded, and no condition is evaluated. Any bytes are safe, and time is linear in them.
 * Tests: tests/unit/struct/test_opencl_source.c, tests/fuzz/fuzz_source.c.
 */
#ifndef HPCSTRUCT_DEBUG_OPENCL_SOURCE_H
#define HPCSTRUCT_DEBUG_OPENCL_SOURCE_H

#include "hpcstruct-lite/debug/debug.h"
#include "hpcstruct-lite/image/image.h"

/*
 * Fills the unit. Link addresses are offsets in the text. A kernel's range is the head of its
 * definition, from `kernel` to `{`, with the line of the name. `names` owns the strings of the
 * definitions and must outlive the unit. The unit names the image's file by its absolute path. Does
 * not log STATUS_NO_MEMORY.
 */
enum status source_read_unit(const struct image *image, struct debug_unit *unit,
	struct strtab *names);

#endif
