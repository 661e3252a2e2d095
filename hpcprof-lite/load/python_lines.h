/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads line tables of CPython's code objects, as measurements store them. The input may be any
 * bytes. Tests: tests/unit/prof/test_python_lines.c, tests/cli/python/python_lines.sh.
 */
#ifndef HPCPROF_LOAD_PYTHON_LINES_H
#define HPCPROF_LOAD_PYTHON_LINES_H

#include "common/format/measurement.h"

/*
 * Finds the line of a code unit. False: the table has no line for it (the compiler generated the
 * code), or ends before it.
 */
bool python_line(enum msr_python_lines kind, const uint8_t *table, size_t n_bytes,
	uint32_t first_line, uint32_t unit, uint32_t *line);

#endif
