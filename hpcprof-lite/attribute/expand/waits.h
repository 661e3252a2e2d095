/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of waits: the synthetic frames inside call paths (doc/formats/measurement.md). Test:
 * tests/unit/prof/test_expand.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_WAITS_H
#define HPCPROF_ATTRIBUTE_EXPAND_WAITS_H

#include "common/format/measurement.h"
#include "hpcprof-lite/model/model.h"

/* The model_function.wait of a synthetic frame. `synthetic` is MSR_WAIT or more. */
uint8_t waits_placeholder(uint64_t synthetic);
/* The name of a placeholder: "<blocked: futex>". `wait` is not 0. */
const char *waits_name(uint8_t wait);

#endif
