/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scope room joins the contents of all units with symbols, PLT stubs and unwind ranges. The
 * result is functions, inlined calls and one interval map, written as a structure file. It does not
 * depend on the order in which units are added. Tests: tests/unit/struct/test_scope.c,
 * tests/cli/struct/struct_*.sh.
 */
#ifndef HPCSTRUCT_SCOPE_SCOPE_H
#define HPCSTRUCT_SCOPE_SCOPE_H

#include "common/base/status.h"
#include "hpcstruct-lite/debug/debug.h"
#include "hpcstruct-lite/image/image.h"

#include <stdint.h>

struct scope_map;

/* The image is borrowed and must outlive the map. Returns NULL when out of memory. */
struct scope_map *scope_map_new(const struct image *image);
void scope_map_free(struct scope_map *map);

/*
 * Adds one unit. `number` is its place in the file: if two units claim the same code, the lower
 * number wins. Strings are copied. Several threads may call it at the same time; `scratch` belongs
 * to the calling thread. Does not log STATUS_NO_MEMORY.
 */
struct scope_scratch;
struct scope_scratch *scope_scratch_new(void);
void scope_scratch_free(struct scope_scratch *scratch);
enum status scope_add_unit(struct scope_map *map, const struct debug_unit *unit, uint32_t number,
	struct scope_scratch *scratch);

/* Adds the call instructions of a cubin. Not thread-safe. Does not log STATUS_NO_MEMORY. */
enum status scope_read_calls(struct scope_map *map);

/*
 * Joins the units, after the last one is added. Symbols, stubs and unwind ranges then fill the
 * gaps. If `symbols_of` is not NULL, its symbol tables are read as well as those of the map's
 * image; it is the debug file of that image. If n > 0, scope_narrow() must follow with the same
 * addresses, and everything that they do not need may be left out. Does not log STATUS_NO_MEMORY.
 */
enum status scope_finish(struct scope_map *map, const struct image *symbols_of,
	const uint64_t *link_addrs, size_t n, unsigned n_workers);
/*
 * Restricts the map to the functions that hold one of these link addresses, and to the addresses
 * that no function holds. Other functions get no loops and are not written. Call it after
 * scope_finish(). Does not log STATUS_NO_MEMORY.
 */
enum status scope_narrow(struct scope_map *map, const uint64_t *link_addrs, size_t n);
/*
 * Demangles the names of functions. Call it after scope_finish() and scope_narrow(). Does not log
 * STATUS_NO_MEMORY.
 */
enum status scope_demangle_all(struct scope_map *map, unsigned n_workers);
/* Returns true if the code of the image's machine can be decoded. */
bool scope_has_loops(const struct image *image);
/*
 * Decodes the code of all functions and adds their loops. Call it after scope_finish(), and only if
 * scope_has_loops(). Does not log STATUS_NO_MEMORY.
 */
enum status scope_find_loops(struct scope_map *map, unsigned n_workers);

/* Other facts for the header of the file. */
struct scope_facts {
	const char *binary, *debug_file, *producer;
	uint64_t fingerprint;
	bool has_dwarf, incomplete;
};
/*
 * Writes the structure file to `fd`. Afterwards the map may only be passed to scope_map_free().
 * Logs and returns STATUS_IO if the operating system reports an error; messages name `path`.
 */
enum status scope_write(struct scope_map *map, const struct scope_facts *facts, int fd,
	const char *path);

#endif
