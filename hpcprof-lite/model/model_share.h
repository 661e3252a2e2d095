/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the model that this process has, if several processes share a job. Include model.h.
 * All of them have the same model, but each has only the values, time lines, names and ledgers of
 * its own profiles, and nothing that only reports need.
 */
#ifndef HPCPROF_MODEL_MODEL_SHARE_H
#define HPCPROF_MODEL_MODEL_SHARE_H

#include "common/base/sorted.h"
#include "hpcprof-lite/model/model_metric.h"

#include <stdbool.h>
#include <stddef.h>

struct comm;

/*
 * The scopes in which a value has the same sum. A value has one of these for each different sum; in
 * scopes that none of them names it is 0. The few that it needs take 16 bytes each, where a struct
 * model_value takes 40.
 */
struct model_packed {
	uint32_t context;
	uint32_t metric : 28, scopes : MODEL_N_SCOPES; /* bit s: scope s */
	double sum;
};

/* Values of a profile, by context, then metric: either `values` or `packed`. */
struct model_column {
	const struct model_value *values;
	const struct model_packed *packed;
	size_t n;
};

/* Returns the index of the first value at or behind `context`. */
static inline size_t model_column_find(const struct model_column *c, uint32_t context)
{
	return c->packed ? sorted_below(c->packed, c->n, context, context)
			 : sorted_below(c->values, c->n, context, context);
}

/*
 * Sets *v to the value at index `i`, which is below n. A packed value is unpacked into *room.
 * Returns the index of the next value.
 */
static inline size_t model_column_read(const struct model_column *c, size_t i,
				       struct model_value *room, const struct model_value **v)
{
	if (!c->packed) {
		*v = &c->values[i];
		return i + 1;
	}
	*room = (struct model_value){.context = c->packed[i].context,
				     .metric = c->packed[i].metric};
	*v = room;
	for (; i < c->n; i++) {
		const struct model_packed *p = &c->packed[i];
		if (p->context != room->context || p->metric != room->metric)
			break;
		for (unsigned s = 0; s < MODEL_N_SCOPES; s++)
			if (p->scopes >> s & 1)
				room->at[s] = p->sum;
	}
	return i;
}

struct model_share {
	struct comm *comm;
	/*
	 * n_parts + 1 each. Part i has the values of profiles first_profile[i] up to the next. Of
	 * contexts first_context[i] up to the next, it has the values of all profiles.
	 */
	const uint64_t *first_profile, *first_context;
	const struct model_column *columns; /* by profile: the part's own contexts, packed */
};

#endif
