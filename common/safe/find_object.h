/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces _dl_find_object if libc has none (glibc before 2.35). Keeps a table of the loaded
 * objects, made from the loader's list. Knows only objects of the program's own namespace. Finds an
 * object whose first segment does not begin at its load address only if it is the program.
 * Signal-safe; any thread. Test: tests/unit/common/test_find_object.c.
 */
#ifndef COMMON_SAFE_FIND_OBJECT_H
#define COMMON_SAFE_FIND_OBJECT_H

#include <dlfcn.h>
#include <link.h>

/*
 * Sets the address of the loader's list, and the program headers of the program (NULL: unknown).
 * Call once, before the first search.
 */
void find_object_start(const struct r_debug *loader, const ElfW(Phdr) *program, unsigned n_headers);

/*
 * Like _dl_find_object: returns 0 and sets *result, or returns -1. The range covers the whole
 * object, including gaps between its segments. Another thread may close the object meanwhile.
 */
int find_object(void *address, struct dl_find_object *result);

#endif
