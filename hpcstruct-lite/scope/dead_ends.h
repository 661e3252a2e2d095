/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions that never return: functions known by name, and functions without a way out.
 * The code after a call of one belongs to something else. Nothing outside the scope room includes
 * this file. Test: tests/cli/struct/struct_loops.sh.
 */
#ifndef HPCSTRUCT_SCOPE_DEAD_ENDS_H
#define HPCSTRUCT_SCOPE_DEAD_ENDS_H

#include "hpcstruct-lite/scope/code_ranges.h"

/* Fills c->dead_ends after all functions are decoded. Returns false when out of memory. */
bool dead_ends_find(struct code *c);
/* Returns true if a call of `position` never returns. */
bool dead_ends_has(const struct code *c, uint32_t position);

#endif
