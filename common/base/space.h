/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large zeroed memory that need not stay resident: beyond a bound it is an unlinked temporary file, mapped, whose pages the system can write out. In $TMPDIR,
 * else /var/tmp, else /tmp; where no file can be had it is anonymous memory. One owner. Test: tests/unit/test_space.c.
 */
#ifndef COMMON_BASE_SPACE_H
#define COMMON_BASE_SPACE_H

#include <stdbool.h>
#include <stddef.h>

struct space {
	void *at;        /* page-aligned when large; NULL: nothing */
	size_t n_bytes;
	bool is_mapped, is_file;
};

#define SPACE_IN_MEMORY ((size_t)64 << 20) /* up to so much is plain memory */

/* False when neither file nor memory can be had. The file's blocks are reserved, so that a full disk shows here and not as SIGBUS. */
bool space_get(struct space *s, size_t n_bytes);
void space_free(struct space *s);

#endif
