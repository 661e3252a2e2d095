/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names as a comparison matches them. They leave out what a rebuild changes: versions of libraries,
 * suffixes of compiler clones, addresses. All functions return a new string that the caller owns,
 * or NULL if memory is short. Test: tests/unit/compare/test_compare_names.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_NAMES_H
#define HPCPROF_COMPARE_COMPARE_NAMES_H

#include <stdbool.h>

/* The name of code that has none. */
extern const char compare_unnamed[];
/* True for "<unknown at 0x1234>". */
bool compare_is_address(const char *name);
/* False for compare_unnamed and for addresses. */
bool compare_is_named_code(const char *name);

/*
 * The name of a function without " [guessed]", suffixes of clones (".constprop.0", " [clone
 * .isra.0]") and the hash of a Rust name. If the name gives only an address and the module, the
 * address. An unknown function is compare_unnamed.
 */
char *compare_function_name(const char *name);
/* The last component of the path without versions: "libm.so.6" and "libm-2.36.so" are "libm.so". */
char *compare_module_name(const char *path);
/* The last component of a path. */
const char *compare_base_name(const char *path);
/*
 * True if `name` is `wanted`, or `wanted` followed by parameters or template arguments:
 * "ns::solve(int)" is "ns::solve".
 */
bool compare_is_named(const char *name, const char *wanted);

#endif
