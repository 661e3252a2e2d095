/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A comparison as a model, for outputs that show trees: the contexts of both sides, without threads
 * and time lines. Each metric appears twice: metric 2 i has the mean over the new runs, metric 2 i
 * + 1 the mean over the base runs, "before". Test: tests/unit/compare/test_compare.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_MODEL_H
#define HPCPROF_COMPARE_COMPARE_MODEL_H

#include "hpcprof-lite/compare/compare.h"

/*
 * Borrows the strings of `c`; the caller frees it with compare_model_free(). NULL if memory is
 * short.
 */
struct model *compare_model_make(const struct compare *c);
void compare_model_free(struct model *m);
/* The context of a node in the model from compare_model_make(). */
uint32_t compare_model_context(const struct model *m, uint32_t node);

#endif
