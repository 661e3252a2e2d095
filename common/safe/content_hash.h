/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash of the content of a binary. It tells builds without a build id apart that have one path,
 * size and time. All of a file of up to 1 MiB goes into it, and 64 pieces of 16 KiB of a larger
 * one, evenly spread from its start to its end: the run time has to compute it. The value is part
 * of the measurement format (doc/formats/measurement.md, MODULE). No allocation; signal-safe if
 * `piece` is. Test: tests/unit/common/test_safe.c.
 */
#ifndef COMMON_SAFE_CONTENT_HASH_H
#define COMMON_SAFE_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { CONTENT_PIECE_BYTES = 16384 };

/*
 * Returns the n bytes at `at`, at most CONTENT_PIECE_BYTES, which stay valid until the next call;
 * NULL: they cannot be read. `at` rises.
 */
typedef const void *content_piece_fn(void *arg, uint64_t at, size_t n);

/* Never 0, except when a piece could not be read. n_bytes: size of the file. */
uint64_t content_hash(uint64_t n_bytes, content_piece_fn *piece, void *arg);

/* The same of a file that is mapped, or read into memory. */
uint64_t content_hash_bytes(const void *bytes, uint64_t n_bytes);

#endif
