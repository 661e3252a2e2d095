/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zeroed memory for large tables. Above SPACE_IN_MEMORY it is an unlinked temporary file that is
 * mapped, so that the kernel can write pages out. The file is in $TMPDIR, else /var/tmp, else /tmp.
 * If no file can be created, the memory is anonymous. One owner.
 * Test: tests/unit/common/test_space.c.
 */
#ifndef COMMON_BASE_SPACE_H
#define COMMON_BASE_SPACE_H

#include <stdbool.h>
#include <stddef.h>

struct space {
	void *at;        /* page-aligned if large; NULL: none */
	size_t n_bytes;
	bool is_mapped, is_file;
};

#define SPACE_IN_MEMORY ((size_t)64 << 20) /* up to this size, plain memory */

/*
 * Returns false if there is neither a file nor memory. Reserves the blocks of the file, so that a
 * full disk is an error here and not a SIGBUS later.
 */
bool space_get(struct space *s, size_t n_bytes);
/* The same without a file, for memory that is needed only for a moment. */
bool space_get_memory(struct space *s, size_t n_bytes);
void space_free(struct space *s);

#endif
