/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ELF kind of image, which uses libelf. Only image/ includes this file. Tests:
 * tests/cli/struct/struct_golden.sh, tests/cli/struct/struct_damage.sh.
 */
#ifndef HPCSTRUCT_IMAGE_IMAGE_ELF_H
#define HPCSTRUCT_IMAGE_IMAGE_ELF_H

#include "hpcstruct-lite/image/image.h"

extern const struct image_kind image_elf;

/* Releases what load() attached. Safe on an image that was never loaded. */
void image_elf_free(struct image *image);

#endif
