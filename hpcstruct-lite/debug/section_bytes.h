/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of a section, borrowed. */
#ifndef HPCSTRUCT_DEBUG_SECTION_BYTES_H
#define HPCSTRUCT_DEBUG_SECTION_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct section_bytes {
	const uint8_t *at;     /* NULL, with n_bytes 0, when the section is not there */
	size_t n_bytes;
};

#endif
