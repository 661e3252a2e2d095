/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind of image for OpenCL source text. Test: tests/cli/struct/struct_gpubins.sh. */
#ifndef HPCSTRUCT_IMAGE_IMAGE_SOURCE_H
#define HPCSTRUCT_IMAGE_IMAGE_SOURCE_H

#include "hpcstruct-lite/image/image.h"

extern const struct image_kind image_source;

#endif
