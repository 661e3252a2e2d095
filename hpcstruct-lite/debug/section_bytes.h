/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of a section, borrowed from the image. */
#ifndef HPCSTRUCT_DEBUG_SECTION_BYTES_H
#define HPCSTRUCT_DEBUG_SECTION_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct section_bytes {
	const uint8_t *at;     /* NULL, with n_bytes 0, if the section does not exist */
	size_t n_bytes;
};

#endif
