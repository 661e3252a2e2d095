/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifiers of profiles, distinct for readers; see cctdb.h. Test:
 * tests/unit/sink/test_sink_cctdb.c. */
#include "common/base/log.h"
#include "common/base/map.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"

#include <stdlib.h>

/* Numbers that are in use in the processes of one node and rank. */
struct numbering {
	uint32_t first_thread,
		next_thread; /* number of the process's thread 0; behind the largest */
	uint32_t first_context, next_context;
	uint32_t next_stream;                 /* for lanes: behind the queues of the process */
	struct map streams;                   /* (device and context, stream) of the process */
	bool failed;
};

static uint32_t next_stream(const struct model *m, uint32_t process)
{
	uint32_t next = 0;
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		const struct model_gpu_queue *q = &m->gpu_queues[i];
		if (m->gpu_contexts[q->context].process == process && q->ordinal >= next)
			next = q->ordinal + 1;
	}
	return next;
}

static void number_thread(struct numbering *n, const struct model_profile *p,
			  struct cctdb_identity *id)
{
	id->thread = n->first_thread + p->thread;
	if (id->thread >= n->next_thread)
		n->next_thread = id->thread + 1;
}

static void number_queue(struct numbering *n, const struct model *m, const struct model_profile *p,
			 struct cctdb_identity *id)
{
	const struct model_gpu_queue *q = &m->gpu_queues[p->queue];
	id->is_queue = true;
	id->device = m->gpu_devices[q->device].ordinal;
	id->context = n->first_context + m->gpu_contexts[q->context].ordinal;
	id->stream = q->ordinal;
	if (id->context >= n->next_context)
		n->next_context = id->context + 1;
	uint64_t key = (uint64_t)id->device << 32 | id->context;
	while (map_get(&n->streams, key, id->stream) !=
	       MAP_NONE) /* another lane of the queue, or two queues of one number */
		id->stream = n->next_stream++;
	n->failed |= map_put(&n->streams, key, id->stream, 1) == MAP_NONE;
}

struct cctdb_identity *cctdb_identities(const struct model *m)
{
	struct cctdb_identity *ids = calloc(m->n_profiles ? m->n_profiles : 1, sizeof *ids);
	struct numbering n = {.failed = !ids};
	bool has_ranks = false;
	struct map nodes = {0}; /* their numbers, by host */
	for (uint32_t i = 0; i < m->n_processes; i++)
		has_ranks |= m->processes[i].rank >= 0;
	for (uint32_t i = 0; i < m->n_profiles && !n.failed;
	     i++) { /* sorted by rank and host: equal (rank, node) are neighbours */
		const struct model_profile *p = &m->profiles[i];
		struct cctdb_identity *id = &ids[i], *last = i ? id - 1 : NULL;
		id->host_id = m->processes[p->process].host_id;
		id->rank = has_ranks            ? m->processes[p->process].rank
			   : m->n_processes > 1 ? (int64_t)p->process
						: -1;
		const uint64_t node = map_put(&nodes, id->host_id, 0, nodes.n);
		n.failed |= node == MAP_NONE;
		id->node = (uint32_t)node;
		bool same_group = last && last->rank == id->rank && last->node == id->node;
		if (!last || m->profiles[i - 1].process != p->process) {
			n.first_thread = same_group ? n.next_thread : 0;
			n.first_context = same_group ? n.next_context : 0;
			n.next_thread = n.first_thread;
			n.next_context = n.first_context;
			n.next_stream = next_stream(m, p->process);
			map_free(&n.streams);
		}
		if (p->kind == MODEL_PROFILE_QUEUE)
			number_queue(&n, m, p, id);
		else
			number_thread(&n, p, id);
	}
	map_free(&n.streams);
	map_free(&nodes);
	if (!n.failed)
		return ids;
	log_error(NULL, "out of memory");
	free(ids);
	return NULL;
}
