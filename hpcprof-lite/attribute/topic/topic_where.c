/* SPDX-License-Identifier: BSD-3-Clause */
/* See topic.h. Finds threads and nodes in the model. Test: tests/unit/prof/test_order.c. */
#include "hpcprof-lite/attribute/topic/topic.h"

void *topic_state(const struct topic_run *r, const struct topic_ops *topic)
{
	size_t i = 0;
	while (r->topics[i] != topic)
		i++;
	return r->states[i];
}

struct load_thread *topic_thread(const struct topic_run *r, size_t i)
{
	const struct topic_thread *t = &r->threads.at[i];
	return &r->job->files.at[t->file].threads.at[t->thread];
}

bool topic_is_last_of_file(const struct topic_run *r, size_t i)
{
	return i + 1 == r->threads.n || r->threads.at[i + 1].file != r->threads.at[i].file;
}

uint32_t topic_node_context(const void *run, uint32_t file, uint32_t thread, uint32_t node)
{
	const struct topic_run *r = run;
	const size_t i = r->first_thread[file] + thread;
	const uint32_t merged = topic_thread(r, i)->node_to[node];
	const uint32_t *to_whole = r->to_whole[r->threads.at[i].worker].at;
	return r->context_of[to_whole ? to_whole[merged] : merged];
}

static uint32_t profile_of(const void *arg, uint32_t file, uint32_t thread)
{
	const struct topic_run *r = arg;
	return r->threads.at[r->first_thread[file] + thread].profile;
}

static uint32_t context_of(const void *arg, uint32_t file, uint32_t thread, uint32_t node)
{
	const struct topic_run *r = arg;
	const struct model_timeline *line =
		&r->m->private_->timelines[profile_of(arg, file, thread)];
	if (node)
		return node < line->n_nodes ? line->context_of[node] : MODEL_NONE;
	for (uint32_t i = 1; i < line->n_nodes; i++)
		if (line->context_of[i] != MODEL_NONE)
			return line->context_of[i];
	return 0;
}

struct topic_where topic_where(const struct topic_run *r)
{
	return (struct topic_where){r, profile_of, context_of};
}
