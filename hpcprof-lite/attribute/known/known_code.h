/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the name of code says about it: interpreters, GPU vendors' runtimes, and the code that
 * compilers put between a launch in the source and these runtimes. All lists of names are here.
 * Test: tests/unit/prof/test_known_code.c.
 */
#ifndef HPCPROF_ATTRIBUTE_KNOWN_KNOWN_CODE_H
#define HPCPROF_ATTRIBUTE_KNOWN_KNOWN_CODE_H

#include "hpcprof-lite/model/model.h"

/* The role of a module, from the last component of its path. Do not call it for Python source. */
enum model_module_role known_module(const char *path);
/* True for a Python source file of importlib whose code the import statement runs. */
bool known_import(const char *file);
/* True if the function launches: it belongs to a GPU API, or a compiler made it for a launch. */
bool known_launch(const char *function);
/*
 * True if nvcc made this CPU function from `kernel<<<...>>>`: the stub, a helper of CUDA's headers,
 * or the function with the kernel's name. Call it from the innermost frame outwards. *stub keeps
 * the last stub; set it to NULL before the first call.
 */
bool known_by_nvcc(const char *function, const char **stub);

#endif
