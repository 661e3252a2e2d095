/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dynamic symbol of a loaded object by its name, through its hash table in memory (GNU hash, as dlsym would, but with guarded loads and no lock of the loader). Signal-safe.
 * Test: tests/unit/test_python.c.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_SYMBOLS_H
#define HPCRUN_LITE_PYTHON_PYTHON_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* The tables of one object; addresses of this process. */
struct symbols {
	uintptr_t bias, names, table, hash;
};

/* False: it has no such tables, or they cannot be read. */
bool symbols_open(const struct link_map *map, struct symbols *s);

/* The address of a symbol that the object defines, 0 when it does not. Also the number of bytes it stands for, when `n_bytes` is not NULL. */
uintptr_t symbols_find(const struct symbols *s, const char *name, uint64_t *n_bytes);

#endif
