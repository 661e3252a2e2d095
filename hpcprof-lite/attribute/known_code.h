/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of code by its name: interpreters, the run times of GPU vendors, and what compilers
 * put between a launch in the source and them. All lists of names are here. Test:
 * tests/unit/test_known_code.c.
 */
#ifndef HPCPROF_ATTRIBUTE_KNOWN_CODE_H
#define HPCPROF_ATTRIBUTE_KNOWN_CODE_H

#include "hpcprof-lite/model/model.h"

/* By the last part of the module's path. Not for files of Python source. */
enum model_module_role known_module(const char *path);
/* The function launches: it belongs to the API of a GPU, or a compiler made it for a launch. */
bool known_launch(const char *function);
/*
 * nvcc made this function of the CPU from `kernel<<<...>>>`: the stub, a helper of CUDA's headers,
 * or the function that has the kernel's name. Ask from the innermost frame outwards; *stub keeps
 * the last stub, NULL at first.
 */
bool known_by_nvcc(const char *function, const char **stub);

#endif
