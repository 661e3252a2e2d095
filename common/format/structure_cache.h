/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's cache of structure files: a directory of files named <key>-<fingerprint>.hpcstruct.
 * hpcstruct-lite fills it and hpcprof-lite reads it. There are no locks: files are created by
 * rename, and any process may remove a file at any time. The modification time of a file is the
 * time of its last use. See doc/structures.md. Test: tests/cli/struct/struct_cache.sh.
 */
#ifndef COMMON_FORMAT_STRUCTURE_CACHE_H
#define COMMON_FORMAT_STRUCTURE_CACHE_H

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
	uint32_t owner;   /* user id */
	bool is_draft;    /* being written now, or left behind by a process that was killed */
};

struct structure_cache {
	char dir[PATH_MAX];
	VEC(struct structure_cache_entry) entries; /* by name */
};

/*
 * $HPCTOOLKIT_LITE_CACHE, else $XDG_CACHE_HOME/hpctoolkit-lite, else ~/.cache/hpctoolkit-lite.
 * Returns false if there is no cache: the first variable is set but empty, or neither the home
 * directory nor XDG_CACHE_HOME is known.
 */
bool structure_cache_directory(char dir[PATH_MAX]);
/*
 * Returns true if this process may create files there and the file system has some space left. The
 * directory need not exist yet. Creates nothing.
 */
bool structure_cache_is_writable(const char *dir);
/*
 * Maximum size of the cache in bytes: $HPCTOOLKIT_LITE_CACHE_SIZE (bytes, or with K, M, G, T), else
 * 2 GiB. Logs a value that makes no sense.
 */
uint64_t structure_cache_limit(void);

/*
 * Lists our files in `dir` and ignores others. A directory that does not exist is empty. Returns
 * STATUS_IO, with errno set and nothing logged, if the directory cannot be read.
 */
enum status structure_cache_list(const char *dir, struct structure_cache *cache);
void structure_cache_free(struct structure_cache *cache);
uint64_t structure_cache_bytes(const struct structure_cache *cache);

/*
 * Makes the path of the file for a key and a fingerprint; "" if the name is too long. If a stranger
 * has a file of this name, makes another name for the key: that of a file of ours, or one that
 * nobody can guess. structure_cache_find() finds it as well.
 */
void structure_cache_path(char path[PATH_MAX], const char *dir, const char *key,
			  uint64_t fingerprint, const char *binary);
/*
 * The n-th best file (from 0) for a key, with any fingerprint, that we may believe: see
 * inside_trusts(). Files with lines come first, then complete files, then the most recently used.
 * Returns false if there are fewer files.
 */
bool structure_cache_find(const struct structure_cache *cache, const char *key, const char *binary,
			  size_t n, char path[PATH_MAX]);
/* Marks a file as just used. Does nothing if that is not permitted. */
void structure_cache_touch(const char *path);

/*
 * Removes the least recently used files until at most `limit` bytes are left, and drafts older than
 * a day. Keeps files used in the last hour. Returns the number of files removed.
 */
size_t structure_cache_evict(const char *dir, uint64_t limit);
/*
 * Removes all our files and returns how many. *n_failed is the number of files that could not be
 * removed; each is logged.
 */
size_t structure_cache_clear(const char *dir, size_t *n_failed);

#endif
