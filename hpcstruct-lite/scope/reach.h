/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the part of an image that matters for some addresses: the functions that contain them, and
 * the functions that those call and jump to. A machine-learning library has 600,000 symbols, and a
 * run needs some thousand. So we first read and sort only their addresses, and read everything else
 * only for the needed ones. Nothing outside the scope room includes this file. Test:
 * tests/cli/struct/struct_needed.sh.
 */
#ifndef HPCSTRUCT_LITE_SCOPE_REACH_H
#define HPCSTRUCT_LITE_SCOPE_REACH_H

#include "hpcstruct-lite/scope/scope_internal.h"

/* The sources that fill the gaps of a map. */
struct scope_sources {
	struct image_symbols symbols;
	struct image_stubs stubs;
	struct image_ranges frames;
};
void scope_sources_free(struct scope_sources *s);

/*
 * Reads symbols and unwind ranges near the link addresses, and all stubs. The result may have more
 * than is needed. The map must be joined already; the code of its scopes counts as wanted.
 * `symbols_of` as in scope_finish(). Returns false when out of memory.
 */
bool reach_read(const struct scope_map *map, const struct image *symbols_of,
	const uint64_t *link_addrs, size_t n, unsigned n_workers, struct scope_sources *out);

#endif
