/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The row of NVTX in the table of topics. If several parts share the job, they write only cctdb, so
 * data that is in no file of cctdb is left out. Tests: tests/cli/nvtx/nvtx_ranges.sh and others
 * there.
 */
#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/attribute/merge/nvtx_labels.h"
#include "hpcprof-lite/attribute/nvtx/nvtx_attribute.h"
#include "hpcprof-lite/attribute/nvtx/nvtx_events.h"
#include "hpcprof-lite/attribute/nvtx/nvtx_others.h"

static bool name_ranges(void *state, struct topic_run *r)
{
	return !r->ranges || nvtx_labels_unify(state, r->job, &r->m->private_->strings);
}

static void take_file(const void *state, size_t file, struct merge_names *names)
{
	names->ranges = nvtx_labels_of_file(state, file);
}

static bool sum_ranges(void *state, struct topic_run *r)
{
	(void)state;
	return r->comm || nvtx_attribute(r->job, topic_state(r, &topic_gpu), r->m);
}

static bool list_events(void *state, struct topic_run *r)
{
	const struct topic_where where = topic_where(r);
	(void)state;
	return r->comm || (nvtx_events_attribute(r->job, &where, r->m) &&
			   nvtx_others_attribute(r->job, &where, r->m));
}

static void close_ranges(void *state)
{
	nvtx_labels_free(state);
}

const struct topic_ops topic_nvtx = {.state_bytes = sizeof(struct nvtx_labels),
				     .steps = {[TOPIC_NAME] = name_ranges,
					       [TOPIC_JOIN] = sum_ranges,
					       [TOPIC_ATTRIBUTE] = list_events},
				     .take_file = take_file,
				     .close = close_ranges};
