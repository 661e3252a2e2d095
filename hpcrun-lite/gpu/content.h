/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves the content of code objects as <run>/gpubins/<32 hex digits of its hash><suffix>, once for
 * all processes of the run. Each file is written under another name and then renamed, so a file
 * with the final name is always complete. Not signal-safe, because it is slow. No malloc. Test:
 * tests/unit/gpu/test_gpu_define.c.
 */
#ifndef HPCRUN_LITE_GPU_CONTENT_H
#define HPCRUN_LITE_GPU_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_NAME_BYTES 48u

/* The name of the file for the content; returns `name`. */
const char *content_name(char name[CONTENT_NAME_BYTES], const uint64_t hash[2], const char *suffix);
/*
 * Puts the structure of the content, as hpcstruct-lite made it for an earlier run, into
 * <run>/structs. The structure is a twentieth of the content's size, and reports need nothing else.
 * Returns false if the cache does not have it in this version; then save the content.
 */
bool content_take_structure(const char *directory, const char *cache, const uint64_t hash[2]);
/*
 * Sets `name` to the name of the file in the directory. Returns false if the file could not be
 * written (disk full, file size limit, permissions); nothing is left behind then.
 */
bool content_save(const char *directory, const uint64_t hash[2], const char *suffix,
		  const void *bytes, size_t n, char name[CONTENT_NAME_BYTES]);

#endif
