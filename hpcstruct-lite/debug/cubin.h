/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cubins: functions from the symbol table, lines and inlined calls from .debug_line, which needs no .debug_info. doc/notes/cubin-lines.md tells how NVIDIA's line table works. Tests:
 * tests/cli/struct_cubin.sh, tests/fuzz/fuzz_cubin.c.
 */
#ifndef HPCSTRUCT_DEBUG_CUBIN_H
#define HPCSTRUCT_DEBUG_CUBIN_H

#include "hpcstruct-lite/debug/debug.h"

/*
 * Calls take() for each section of code, with its functions, inlined calls and rows as one unit; `number` rises from 0. The unit is borrowed for the call; its strings live as long
 * as the image. Damage is said and sets unit->incomplete. Ends with the first status of take() that is not STATUS_OK; STATUS_NO_MEMORY has not been logged.
 */
enum status cubin_read(const struct image *image, enum status (*take)(void *arg, const struct debug_unit *unit, uint32_t number), void *arg);

#endif
