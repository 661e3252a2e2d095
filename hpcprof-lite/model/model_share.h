/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the model: what this process has of it, if several processes share a job. Include
 * model.h. All of them have the same model, except for values and time lines of profiles. Only the
 * first one has times, names and ledgers of all threads.
 */
#ifndef HPCPROF_MODEL_MODEL_SHARE_H
#define HPCPROF_MODEL_MODEL_SHARE_H

#include "hpcprof-lite/model/model_metric.h"

#include <stdbool.h>
#include <stddef.h>

struct comm;

/* Values of a profile, by context, then metric. */
struct model_column {
	const struct model_value *values;
	size_t n;
};

struct model_share {
	struct comm *comm;
	bool gathers;
	bool is_split; /* each part has the time lines of its profiles, and all of their GPUs */
	/*
	 * n_parts + 1 each. Part i has the values of profiles first_profile[i] up to the next, and
	 * part 0 of all if it `gathers` them for outputs of its own. Of contexts first_context[i]
	 * up to the next, part i has the values of all profiles.
	 */
	const uint64_t *first_profile, *first_context;
	const struct model_column *columns; /* by profile: values in the part's own contexts */
};

#endif
