/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A 128-bit hash of contents: MurmurHash3_x64_128 by Austin Appleby, who placed it in the public
 * domain (https://github.com/aappleby/smhasher, src/MurmurHash3.cpp). Fast (about 3 bytes a cycle)
 * and well mixed, but not secure against deliberate collisions. Signal-safe. Test:
 * tests/unit/gpu/test_gpu_hash.c, with the verification value of SMHasher.
 */
#ifndef HPCRUN_LITE_GPU_HASH128_H
#define HPCRUN_LITE_GPU_HASH128_H

#include <stddef.h>
#include <stdint.h>

/* hash[0] and hash[1] are the words h1 and h2 of the original. `bytes` may be NULL if n is 0. */
void hash128(const void *bytes, size_t n, uint32_t seed, uint64_t hash[2]);
/*
 * The same in pieces. The state begins as {seed, seed}. hash128_add hashes the whole 16-byte blocks
 * of a piece. hash128_end hashes the rest (n % 16 bytes); its `n` is the total number of bytes.
 */
void hash128_add(uint64_t state[2], const void *bytes, size_t n);
void hash128_end(const uint64_t state[2], const void *rest, size_t n, uint64_t hash[2]);

#endif
