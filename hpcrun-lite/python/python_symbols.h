/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds a dynamic symbol of a loaded object by name, in the object's hash table in memory (GNU
 * hash). It works like dlsym, but with guarded loads and without the loader's lock. Signal-safe.
 * Test: tests/unit/run/test_python.c.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_SYMBOLS_H
#define HPCRUN_LITE_PYTHON_PYTHON_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* The tables of one object, as addresses in this process. */
struct symbols {
	uintptr_t bias, names, table, hash;
};

/* Returns false if the object has no hash table, or it cannot be read. */
bool symbols_open(const struct link_map *map, struct symbols *s);

/*
 * Returns the address of a symbol that the object defines; 0 if there is none. Sets its size in
 * *n_bytes unless that is NULL.
 */
uintptr_t symbols_find(const struct symbols *s, const char *name, uint64_t *n_bytes);

#endif
