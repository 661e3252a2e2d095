/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads cubins. Functions come from the symbol table; lines and inlined calls come from
 * .debug_line, without .debug_info. doc/notes/cubin-lines.md explains NVIDIA's line table. Tests:
 * tests/cli/struct/struct_cubin.sh, tests/fuzz/fuzz_cubin.c.
 */
#ifndef HPCSTRUCT_DEBUG_CUBIN_H
#define HPCSTRUCT_DEBUG_CUBIN_H

#include "hpcstruct-lite/debug/debug.h"

/*
 * Calls take() once for each code section, with its functions, inlined calls and rows as one unit.
 * `number` rises from 0. The unit is valid during the call; its strings live as long as the image.
 * Logs damage and sets unit->incomplete. Stops at the first status of take() that is not STATUS_OK
 * and returns it. Does not log STATUS_NO_MEMORY.
 */
enum status cubin_read(const struct image *image,
	enum status (*take)(void *arg, const struct debug_unit *unit, uint32_t number), void *arg);

#endif
