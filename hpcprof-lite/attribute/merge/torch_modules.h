/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of PyTorch's modules as users know them: "layer3.2.conv1 (Conv2d)", and "ResNet" for a
 * module that no other module called. Test: tests/unit/prof_torch/test_torch_modules.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_TORCH_MODULES_H
#define HPCPROF_ATTRIBUTE_MERGE_TORCH_MODULES_H

#include "hpcprof-lite/load/load_file.h"

/*
 * Returns the names by id; NULL: there is no module with this id. The caller frees the names and
 * the array. If a name is too long, its beginning is left out. Returns NULL if memory is short.
 */
char **torch_modules_name(const struct load_file *f);

#endif
