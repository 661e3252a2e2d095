/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows the progress of long writes, from one of the working threads. log_progress() prints only to
 * a terminal, so this is checked by eye only.
 */
#ifndef HPCPROF_SINK_PROGRESS_H
#define HPCPROF_SINK_PROGRESS_H

#include "common/base/log.h"
#include "hpcprof-lite/sink/sink.h"

#include <stdatomic.h>

struct progress {
	const char *label; /* NULL: silent */
	uint64_t total;
	atomic_uint_fast64_t done;
};

/* The total is the number of trace records of all profiles. */
static inline struct progress progress_of_traces(const struct model *m,
	const struct sink_options *o, const char *label)
{
	struct progress p = {.label = o->progress ? label : NULL};
	for (uint32_t i = 0; i < m->n_profiles; i++)
		p.total += m->profiles[i].n_trace_records;
	return p;
}

/* `worker`: as in pool_run(). Only worker 0 prints. */
static inline void progress_add(struct progress *p, uint64_t n, unsigned worker)
{
	/* relaxed: the counter orders nothing */
	uint64_t done = atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed) + n;
	if (p->label && worker == 0)
		log_progress(p->label, done, p->total);
}

static inline void progress_end(const struct progress *p)
{
	if (p->label)
		log_progress(NULL, 0, 0);
}

#endif
