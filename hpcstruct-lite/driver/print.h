/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a structure file as text for people and for golden tests. Test: tests/cli/struct_golden.sh. */
#ifndef HPCSTRUCT_LITE_DRIVER_PRINT_H
#define HPCSTRUCT_LITE_DRIVER_PRINT_H

#include "common/base/status.h"

#include <stdio.h>

/*
 * Functions by rising entry; under each its ranges, other names, lines, and inlined calls as a tree. The form is stable: what is added later comes in lines of its own. Logs.
 */
enum status print_structure(const char *path, FILE *out);

#endif
