/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If the measurement directory is on a file server, a process writes to a file on its own node.
 * Until that file is copied, the measurement file holds a text that names it. The store writes the
 * text. If the file was copied while the process ran, the text is followed by a part, which has the
 * header page of that moment, and by the extents. doc/formats/measurement.md. Tests:
 * tests/cli/storage/storage_local.sh, tests/cli/storage/storage_follow.sh.
 */
#ifndef COMMON_FORMAT_LOCAL_DATA_H
#define COMMON_FORMAT_LOCAL_DATA_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LOCAL_DATA_HEAD "hpctoolkit-lite: this file is empty until the data are copied to it\n"
#define LOCAL_DATA_HOST "host "
#define LOCAL_DATA_FILE "file "
#define LOCAL_DATA_TIME "copied " /* when the part was copied, for people */
#define LOCAL_DATA_BYTES 4096u /* the most bytes of the text */
#define LOCAL_PART_OFFSET 3072u /* with a part, the text is shorter, and the part is here */
#define LOCAL_PART_MAGIC "HPCPART" /* 8 bytes with the terminating NUL */

struct local_data {
	char host[64];   /* as in the header of the measurement */
	char path[4096]; /* absolute, on that host */
};

struct local_part {
	char magic[8];
	uint64_t copied_mono_ns, copied_real_ns; /* the copy has everything recorded before */
	uint64_t reserved[5];     /* 0 */
	struct msr_header header; /* use it instead of the file's header page */
};

/* Returns false if the bytes, the start of a file, are not a text of this kind. */
bool local_data_read(const void *bytes, size_t n_bytes, struct local_data *l);

/* Returns the part in such a file, or NULL. The bytes are aligned to 8. */
const struct local_part *local_data_part(const void *bytes, size_t n_bytes);

/*
 * Returns where the extents of a copied part end, or those of a child of fork inside it. `h` is its
 * header. After that there may be extents of which only some pages have arrived.
 */
static inline uint64_t local_part_end(const struct msr_header *h, uint64_t n_bytes)
{
	return h->allocated < n_bytes ? h->allocated : n_bytes;
}

/* Returns true if that file is on this node and can be read. Not signal-safe. */
bool local_data_is_here(const struct local_data *l);

/*
 * Opens that file if it is on this node and belongs to `owner`, who owns the file with the text; a
 * stranger may have written the text. Returns -1 and sets errno if not. Not signal-safe.
 */
int local_data_open(const struct local_data *l, uid_t owner);

/* Returns true if that file was on this node and no longer exists. Not signal-safe. */
bool local_data_is_gone(const struct local_data *l);

#endif
