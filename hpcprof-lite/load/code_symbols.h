/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of functions from the symbol tables of a binary, for readers that cannot wait for
 * hpcstruct-lite. Test: tests/unit/prof/test_data_symbols.c.
 */
#ifndef HPCPROF_LITE_LOAD_CODE_SYMBOLS_H
#define HPCPROF_LITE_LOAD_CODE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes a structure file of the functions around link_addrs[0 .. n-1], which ascend: names and
 * ranges, no lines, inlined calls or loops. `image` is the whole binary and may hold any bytes.
 * Without symbols the structure is empty. The caller frees the bytes. NULL: memory is short.
 */
uint8_t *code_symbols_make(const uint8_t *image, size_t n_bytes, const uint64_t *link_addrs,
			   size_t n, size_t *structure_bytes);

#endif
