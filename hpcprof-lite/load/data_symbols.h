/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of static data, from the symbol table of a binary (ELF specification, "Symbol Table").
 * Structure files name code only. Test: tests/unit/prof/test_data_symbols.c.
 */
#ifndef HPCPROF_LITE_LOAD_DATA_SYMBOLS_H
#define HPCPROF_LITE_LOAD_DATA_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Names the data at a link address: "queue_lock (work.c)", "table+0x40". C++ names are demangled.
 * The source file is given for static data only. `image` is the whole file; it may hold any bytes.
 * The caller frees the name. NULL: there is no symbol, the file is damaged, or memory is short.
 */
char *data_symbol_name(const uint8_t *image, size_t n_bytes, uint64_t link_addr);

#endif
