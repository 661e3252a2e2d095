/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structure files on disk, in the cache (common/cache/structure_cache.h) or elsewhere. Files come
 * into being by rename, so that any number of processes may work on the same ones.
 * Test: tests/cli/struct_jobs.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_STRUCT_CACHE_H
#define HPCSTRUCT_LITE_DRIVER_STRUCT_CACHE_H

#include "common/base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True when `path` is a sound structure file with this fingerprint. Says nothing. */
bool cache_is_current(const char *path, uint64_t fingerprint);
/* The same by the file's header and size alone: what reads it will check the rest. */
bool cache_seems_current(const char *path, uint64_t fingerprint);
/* True when `path` is a sound structure file of this build id; NULL: of any. Says nothing. */
bool cache_is_of(const char *path, const uint8_t *build_id, size_t build_id_bytes);
/* Makes a directory, and those above it, for this user alone. False, with errno, on failure. */
bool cache_make_private(const char *dir);
/* Makes `to` a copy of `from`. False, said unless `quiet`, when it cannot be. */
bool cache_copy(const char *from, const char *to, bool quiet);

/* A new file beside `path`, to become it. */
struct cache_draft {
	char path[PATH_MAX];
	int fd;
};
/* Makes the directory of `path` too. Logs. */
enum status cache_draft_open(const char *path, struct cache_draft *draft);
/* Gives the draft its name, replacing what was there. Logs. */
enum status cache_draft_keep(struct cache_draft *draft, const char *path);
void cache_draft_drop(struct cache_draft *draft);

#endif
