/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of long writes, shown by one of the threads that work. Seen by eye only: log_progress() says nothing without a terminal. */
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

/* Counts trace records of all profiles. */
static inline struct progress progress_of_traces(const struct model *m, const struct sink_options *o, const char *label)
{
	struct progress p = {.label = o->progress ? label : NULL};
	for (uint32_t i = 0; i < m->n_profiles; i++)
		p.total += m->profiles[i].n_trace_records;
	return p;
}

/* `worker` as pool_run() gives it: worker 0 speaks for all. */
static inline void progress_add(struct progress *p, uint64_t n, unsigned worker)
{
	uint64_t done = atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed) + n; /* orders nothing */
	if (p->label && worker == 0)
		log_progress(p->label, done, p->total);
}

static inline void progress_end(const struct progress *p)
{
	if (p->label)
		log_progress(NULL, 0, 0);
}

#endif
