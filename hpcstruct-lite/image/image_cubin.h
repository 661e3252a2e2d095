/* SPDX-License-Identifier: BSD-3-Clause */
/* What is peculiar to cubins among ELF files. Test: tests/cli/struct_cubin.sh. */
#ifndef HPCSTRUCT_IMAGE_IMAGE_CUBIN_H
#define HPCSTRUCT_IMAGE_IMAGE_CUBIN_H

#include "hpcstruct-lite/image/image.h"

/*
 * Links a cubin whose sections have been loaded: gives each section of code an address, that of its bytes in the file, and applies the relocations of debug sections to copies of
 * them. Damaged relocations are said and left out. STATUS_NO_MEMORY has been logged.
 */
enum status image_cubin_link(struct image *image);

#endif
