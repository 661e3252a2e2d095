/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the name of a module of PyTorch: its key in the dictionary `_modules` of another module on
 * the stack, or of a module inside that one. Writes a record for a new name. Signal-safe. Test:
 * tests/cli/python/python_modules.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_TORCH_SEARCH_H
#define HPCRUN_LITE_PYTHON_TORCH_SEARCH_H

#include "hpcrun-lite/python/torch_module.h"

/* Call before the searches of a walk, which share the loads in containers. */
void torch_search_begin(struct torch_scratch *scratch);
/*
 * Finds the name of call k of `calls`; all calls further out must have their numbers already. The
 * result is in c->scratch->found. If no module contains this one, its class is its name, and
 * found_class is for other objects of the class. The number is 0 if the name cannot be read, or if
 * there is no room for a record. Returns false if other searches of this walk left too few loads,
 * so that the next walk may find more. Uses guarded loads.
 */
bool torch_search(const struct torch_context *c, const struct torch_calls *calls, uint32_t k);

#endif
