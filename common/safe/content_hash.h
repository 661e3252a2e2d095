/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash of the content of a binary. It distinguishes builds without a build id that have the same
 * path, size and time. It covers all of a file of up to 1 MiB. Of a larger file it covers 64 pieces
 * of 16 KiB, spread evenly from start to end, because the run time has to compute it. The value is
 * part of the measurement format (doc/formats/measurement.md, MODULE). No allocation; signal-safe
 * if `piece` is. Test: tests/unit/common/test_safe.c.
 */
#ifndef COMMON_SAFE_CONTENT_HASH_H
#define COMMON_SAFE_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { CONTENT_PIECE_BYTES = 16384 };

/*
 * Returns the n bytes at offset `at`; n is at most CONTENT_PIECE_BYTES. They stay valid until the
 * next call. Returns NULL if they cannot be read. Each call has a larger `at` than the one before.
 */
typedef const void *content_piece_fn(void *arg, uint64_t at, size_t n);

/* Returns 0 only if a piece could not be read. n_bytes: size of the file. */
uint64_t content_hash(uint64_t n_bytes, content_piece_fn *piece, void *arg);

/* The same for a file that is mapped or was read into memory. */
uint64_t content_hash_bytes(const void *bytes, uint64_t n_bytes);

#endif
