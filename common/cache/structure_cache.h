/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's cache of structure files: a directory of files <key>-<fingerprint>.hpcstruct.
 * hpcstruct-lite fills it and hpcprof-lite reads it. There are no locks: files come into being by
 * rename, and a file that another process removed is one that is not there. The modification time
 * of a file says when it was last used. doc/structures.md describes it. Test:
 * tests/cli/struct_cache.sh.
 */
#ifndef COMMON_CACHE_STRUCTURE_CACHE_H
#define COMMON_CACHE_STRUCTURE_CACHE_H

#include "common/base/status.h"
#include "common/base/vec.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file in the cache. */
struct structure_cache_entry {
	char *name; /* owned */
	uint64_t n_bytes;
	uint64_t used_ns; /* since 1970 */
	bool is_draft;    /* what a process that was ended left behind, or writes right now */
};

struct structure_cache {
	char dir[PATH_MAX];
	VEC(struct structure_cache_entry) entries; /* by name */
};

/*
 * $HPCTOOLKIT_LITE_CACHE, else $XDG_CACHE_HOME/hpctoolkit-lite, else ~/.cache/hpctoolkit-lite.
 * False: there is none, as the first is empty or neither home nor XDG_CACHE_HOME is known.
 */
bool structure_cache_directory(char dir[PATH_MAX]);
/*
 * Whether this process may make files there, and the file system has room for some. The directory
 * need not be there yet. Makes nothing.
 */
bool structure_cache_is_writable(const char *dir);
/*
 * How large it may grow: $HPCTOOLKIT_LITE_CACHE_SIZE (bytes, or with K, M, G, T), else 2 GiB. Logs
 * what makes no sense.
 */
uint64_t structure_cache_limit(void);

/*
 * Lists our files in `dir`; others there are left out. A directory that is not there is empty.
 * STATUS_IO, with errno and not logged, when it cannot be read.
 */
enum status structure_cache_list(const char *dir, struct structure_cache *cache);
void structure_cache_free(struct structure_cache *cache);
uint64_t structure_cache_bytes(const struct structure_cache *cache);

/* The file for a key and a fingerprint. Empty when the name is too long. */
void structure_cache_path(
	char path[PATH_MAX], const char *dir, const char *key, uint64_t fingerprint);
/*
 * The n-th best file (from 0) for a key, whatever its fingerprint: what has lines comes before
 * what has none, what is complete before what is not, then what was used last. False: there are
 * not so many.
 */
bool structure_cache_find(
	const struct structure_cache *cache, const char *key, size_t n, char path[PATH_MAX]);
/* Notes that a file is in use. Where that may not be done it is left as it is. */
void structure_cache_touch(const char *path);

/*
 * Removes the files that were used least recently until no more than `limit` bytes are left, and
 * drafts of yesterday. Files used in the last hour stay. Returns how many it removed.
 */
size_t structure_cache_evict(const char *dir, uint64_t limit);
/* Removes all of our files. Returns how many; *n_failed of them could not be, which is logged. */
size_t structure_cache_clear(const char *dir, size_t *n_failed);

#endif
