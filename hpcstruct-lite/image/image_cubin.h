/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles what makes cubins different from other ELF files.
 * Test: tests/cli/struct/struct_cubin.sh. */
#ifndef HPCSTRUCT_IMAGE_IMAGE_CUBIN_H
#define HPCSTRUCT_IMAGE_IMAGE_CUBIN_H

#include "hpcstruct-lite/image/image.h"

/*
 * Links a cubin after its sections are loaded. Each code section gets the file offset of its bytes
 * as its address. The relocations of debug sections are applied to copies of the sections. Logs and
 * skips damaged relocations. Logs STATUS_NO_MEMORY.
 */
enum status image_cubin_link(struct image *image);

#endif
