/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the report's head that says what sampled the CPU time, and what that cost. Test: tests/cli/prof_sampling.sh. */
#ifndef HPCPROF_SINK_TEXT_SAMPLING_H
#define HPCPROF_SINK_TEXT_SAMPLING_H

#include "hpcprof-lite/model/model.h"

#include <stdio.h>

/* At most two lines; nothing where no thread says what sampled it (files of older versions). */
void text_sampling(const struct model *m, FILE *out);

#endif
