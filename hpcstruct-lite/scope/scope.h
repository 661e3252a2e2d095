/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scope room: joins what debug says of each unit with symbols, PLT stubs and unwind ranges into functions, inlined calls and one interval map, and lays it
 * out as a structure file. The result does not depend on the order in which units are added. Tests: tests/unit/test_scope.c, tests/cli/struct_*.sh.
 */
#ifndef HPCSTRUCT_SCOPE_SCOPE_H
#define HPCSTRUCT_SCOPE_SCOPE_H

#include "common/base/status.h"
#include "hpcstruct-lite/debug/debug.h"
#include "hpcstruct-lite/image/image.h"

#include <stdint.h>

struct scope_map;

/* `image` is borrowed and outlives the map. NULL when memory is short. */
struct scope_map *scope_map_new(const struct image *image);
void scope_map_free(struct scope_map *map);

/*
 * Adds one unit; `number` is its place in the file, which decides between units that claim the same code: the first one wins. Strings are copied. Several
 * threads may call it at a time; `scratch` belongs to the calling thread. STATUS_NO_MEMORY has not been logged.
 */
struct scope_scratch;
struct scope_scratch *scope_scratch_new(void);
void scope_scratch_free(struct scope_scratch *scratch);
enum status scope_add_unit(struct scope_map *map, const struct debug_unit *unit, uint32_t number, struct scope_scratch *scratch);

/* Adds the call instructions of a cubin. Not for several threads. STATUS_NO_MEMORY has not been logged. */
enum status scope_read_calls(struct scope_map *map);

/*
 * After the last unit: joins them, and lets symbols, stubs and unwind ranges fill what they left open. `symbols_of` is the image whose symbol tables are read beside those
 * of the map's image (its debug file), or NULL. STATUS_NO_MEMORY has not been logged.
 */
enum status scope_finish(struct scope_map *map, const struct image *symbols_of, unsigned n_workers);
/* True when the code of the image's machine can be decoded. */
bool scope_has_loops(const struct image *image);
/* After scope_finish(), where scope_has_loops(): decodes the code of all functions and adds their loops. STATUS_NO_MEMORY has not been logged. */
enum status scope_find_loops(struct scope_map *map, unsigned n_workers);

/* What else goes into the header of the file. */
struct scope_facts {
	const char *binary, *debug_file, *producer;
	uint64_t fingerprint;
	bool has_dwarf, incomplete;
};
/*
 * Writes the structure file to `fd`; the map is good for scope_map_free() alone afterwards. Logs and returns STATUS_IO when the operating system refuses; `path` is the subject of messages.
 */
enum status scope_write(struct scope_map *map, const struct scope_facts *facts, int fd, const char *path);

#endif
