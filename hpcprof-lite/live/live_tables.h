/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the screen: functions, kernels and call paths. See live_screen.h. */
#ifndef HPCPROF_LITE_LIVE_LIVE_TABLES_H
#define HPCPROF_LITE_LIVE_LIVE_TABLES_H

#include "hpcprof-lite/live/live_screen.h"
#include "hpcprof-lite/view/view_values.h"

/* The metric of the table of functions: the first that was sampled; MODEL_NONE: none. */
uint32_t live_metric(const struct model *m);

/* Each writes an empty line, a heading and up to n rows, or nothing. False if memory is short. */
bool live_tables_functions(const struct live_screen *s, size_t n, FILE *out);
bool live_tables_kernels(const struct live_screen *s, size_t n, FILE *out);
bool live_tables_paths(const struct live_screen *s, size_t n, FILE *out);
/* "; 45.1% solve, 20.0% leaf": the hottest functions. */
bool live_tables_line(const struct model *m, FILE *out);

#endif
