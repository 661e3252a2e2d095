/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * _dl_find_object for a libc that has none (before 2.35): a table of the loaded objects, made from
 * the loader's list. Only for objects of the program's own namespace; an object whose first segment
 * does not begin at its load address is found only if it is the program. Signal-safe; any thread.
 * Test: tests/unit/common/test_find_object.c.
 */
#ifndef COMMON_SAFE_FIND_OBJECT_H
#define COMMON_SAFE_FIND_OBJECT_H

#include <dlfcn.h>
#include <link.h>

/*
 * Sets where the loader keeps its list, and the program headers of the program (NULL: unknown).
 * Call once, before the first search.
 */
void find_object_start(const struct r_debug *loader, const ElfW(Phdr) *program, unsigned n_headers);

/*
 * As _dl_find_object: returns 0 and sets *result, or returns -1. The range is that of the whole
 * object, also if there are gaps between its segments. The object may be closed meanwhile.
 */
int find_object(void *address, struct dl_find_object *result);

#endif
