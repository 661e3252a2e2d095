/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the report's head about the sample source of the CPU time and its cost. Tests:
 * tests/cli/prof/prof_sampling.sh, tests/unit/sink/test_text.c.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_SAMPLING_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_SAMPLING_H

#include "hpcprof-lite/model/model.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes at most two lines. Writes nothing if no thread recorded its sample source (files of older
 * versions).
 */
void text_sampling(const struct model *m, FILE *out);

#endif
