/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that never return: those known by name, and those without a way out. Needed because the code behind a call of one belongs to something else. Nothing outside the scope
 * room includes this. Test: tests/cli/struct_loops.sh.
 */
#ifndef HPCSTRUCT_SCOPE_DEAD_ENDS_H
#define HPCSTRUCT_SCOPE_DEAD_ENDS_H

#include "hpcstruct-lite/scope/code_ranges.h"

/* Fills c->dead_ends when all functions are decoded. False when memory is short. */
bool dead_ends_find(struct code *c);
/* Whether a call of `position` never comes back. */
bool dead_ends_has(const struct code *c, uint32_t position);

#endif
