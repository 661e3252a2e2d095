/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words that one thread writes. Its signal handler and readers of the measurement file read them. A
 * reader may see any mixture of old and new words. Signal-safe.
 */
#ifndef COMMON_SAFE_ONE_WRITER_H
#define COMMON_SAFE_ONE_WRITER_H

#include <stdatomic.h>
#include <stdint.h>

static inline uint64_t one_writer_get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void one_writer_set(_Atomic uint64_t *word, uint64_t n)
{
	atomic_store_explicit(word, n, memory_order_relaxed);
}

/* Not a locked instruction: nobody else writes the word. */
static inline void one_writer_add(_Atomic uint64_t *word, uint64_t n)
{
	one_writer_set(word, one_writer_get(word) + n);
}

#endif
