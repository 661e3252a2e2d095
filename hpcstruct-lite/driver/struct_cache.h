/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles structure files on disk, in the cache (common/format/structure_cache.h) or elsewhere. A
 * file appears by rename, so any number of processes may work on the same files. Test:
 * tests/cli/struct/struct_jobs.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_STRUCT_CACHE_H
#define HPCSTRUCT_LITE_DRIVER_STRUCT_CACHE_H

#include "common/base/status.h"
#include "common/base/vec.h"
#include "hpcstruct-lite/image/image.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if `path` is an undamaged structure file with this fingerprint. Logs nothing. */
bool cache_is_current(const char *path, uint64_t fingerprint);
/* Does the same but checks only the file's header and size. The reader will check the rest. */
bool cache_seems_current(const char *path, uint64_t fingerprint);
/*
 * For a current file. Returns true if it has all functions, or if n > 0 and it covers those of the
 * link addresses that are in the image's code (NULL: all link addresses). `link_addrs` must rise.
 * Logs only damage that the check value does not show.
 */
bool cache_covers(const char *path, const struct image *image, const uint64_t *link_addrs,
		  size_t n);
/*
 * Appends the entries of all functions in a structure file with this fingerprint, if it has only
 * some of the binary's functions. Appends none for other files. Returns false when out of memory.
 */
struct cache_entries {
	VEC(uint64_t);
};
bool cache_add_entries(const char *path, uint64_t fingerprint, struct cache_entries *entries);
/*
 * Returns true if `path` is an undamaged structure file with this build id. NULL: with any build
 * id. Logs nothing.
 */
bool cache_is_of(const char *path, const uint8_t *build_id, size_t build_id_bytes);
/*
 * Makes a directory and its parents, accessible only to this user. Returns false with errno on
 * failure.
 */
bool cache_make_private(const char *dir);
/*
 * Copies the structure of a binary from `from` to `to`, unless it belongs to a stranger
 * (inside_trusts()). `is_named` is as for a draft. Returns false on failure, and logs it unless
 * `quiet`.
 */
bool cache_copy(const char *from, const char *to, bool is_named, const char *binary, bool quiet);

/* A new file next to `path`, which will replace `path`, or a file in memory, copied into it. */
struct cache_draft {
	char path[PATH_MAX];
	int fd;
	bool is_copied;
};
/*
 * Creates a draft, and the directory of `path` if needed. Logs errors. A device, FIFO or link at
 * `path` is never replaced. If the user gave this name (`is_named`), the draft is written into it.
 * Otherwise that is an error, because a link in somebody else's directory may lead anywhere.
 */
enum status cache_draft_open(const char *path, bool is_named, struct cache_draft *draft);
/* Replaces `path` by the draft. Logs errors. */
enum status cache_draft_keep(struct cache_draft *draft, const char *path);
void cache_draft_drop(struct cache_draft *draft);

#endif
