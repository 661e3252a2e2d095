/* SPDX-License-Identifier: BSD-3-Clause */
/* The complete form of the text: one record a line, for programs. Test: tests/cli/prof_all.sh. */
#ifndef HPCPROF_SINK_TEXT_ALL_H
#define HPCPROF_SINK_TEXT_ALL_H

#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

#include <stdio.h>

/*
 * Writes everything the model holds, time lines included, as lines of tab separated fields, the first of which names the kind of record; the lines that
 * begin with '#' name the fields. Numbers have full precision; tabs, newlines and backslashes in names are written as \t, \n, \\. Equal models give equal
 * bytes. STATUS_IO when `out` fails, not logged.
 */
enum status sink_text_all(const struct model *m, FILE *out);

#endif
