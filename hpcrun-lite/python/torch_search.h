/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the name of a module of PyTorch: the key under which another one on the stack has it in its
 * dictionary `_modules`, or a module that this one contains. Writes a record for a new name.
 * Signal-safe. Test: tests/cli/python/python_modules.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_TORCH_SEARCH_H
#define HPCRUN_LITE_PYTHON_TORCH_SEARCH_H

#include "hpcrun-lite/python/torch_module.h"

/* Call before the searches of a walk, which share the loads in containers. */
void torch_search_begin(struct torch_scratch *scratch);
/*
 * Finds call k of `calls`, whose further out ones have their numbers; the result is in
 * c->scratch->found. If no module has it, its name is its class, and found_class is for others of
 * the class. The number is 0 if its name cannot be read, or there is no room for a record.
 * Returns false if other searches of this walk left too few loads, so that the next walk may find
 * more. Guarded loads.
 */
bool torch_search(const struct torch_context *c, const struct torch_calls *calls, uint32_t k);

#endif
