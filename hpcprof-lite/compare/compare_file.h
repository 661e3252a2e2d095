/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that a gate writes for continuous integration: JUnit XML and Markdown. A file is replaced
 * as a whole or stays as it was. Test: tests/cli/compare/compare_gate.sh.
 */
#ifndef HPCPROF_COMPARE_COMPARE_FILE_H
#define HPCPROF_COMPARE_COMPARE_FILE_H

#include "hpcprof-lite/compare/compare_report.h"

#include <stdio.h>

/* One test case for each condition. The stream's error indicator says if memory was short. */
void compare_junit_put(const struct compare_report *r, FILE *out);
/* The conditions, and the largest `n_rows` differences of functions and kernels. */
void compare_markdown_put(const struct compare_report *r, size_t n_rows, FILE *out);

/* Replaces the file by the bytes. Logs failures. */
enum status compare_file_replace(const char *path, const char *bytes, size_t n_bytes);

#endif
