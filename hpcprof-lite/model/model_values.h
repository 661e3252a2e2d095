/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the values of profiles, which is more than everything else in a model of many threads.
 * Above MODEL_VALUES_IN_MEMORY it comes from unlinked temporary files (common/base/space.h).
 * Only hpcprof-lite/model, attribute, filter and their tests include this file. Test:
 * tests/unit/prof/test_model.c.
 */
#ifndef HPCPROF_MODEL_MODEL_VALUES_H
#define HPCPROF_MODEL_MODEL_VALUES_H

#include "hpcprof-lite/model/model.h"

#define MODEL_VALUES_IN_MEMORY ((size_t)256 << 20)

/* Memory that one thread has taken and not used yet. Zero-initialise. */
struct model_values_room {
	struct model_value *at;
	size_t n;
};

/*
 * Room for `n` values in a row, which the model owns. Thread-safe for different rooms. NULL if
 * memory is short.
 */
struct model_value *model_values_get(struct model *m, struct model_values_room *r, size_t n);
/* Frees the values of all profiles, which then have none. */
void model_values_free(struct model *m);

#endif
