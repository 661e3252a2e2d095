/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a structure file as text, for people and for golden tests. Test:
 * tests/cli/struct/struct_golden.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_PRINT_H
#define HPCSTRUCT_LITE_DRIVER_PRINT_H

#include "common/base/status.h"

#include <stdio.h>

/*
 * Prints the functions by rising entry. Below each are its ranges, other names, lines, and inlined
 * calls as a tree. The form is stable: later additions get lines of their own. Logs errors.
 */
enum status print_structure(const char *path, FILE *out);

#endif
