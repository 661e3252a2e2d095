/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_counter_replay.h. Test: tests/cli/gpu/counters.sh. */
#include "hpcrun-lite/gpu/cupti/counters/nv_counter_replay.h"

#include "hpcrun-lite/gpu/cupti/nv.h"

#define MOST_TIMES ((size_t)1 << 18)

static struct {
	pthread_mutex_t lock;
	uint64_t id;     /* of the launch in which CUPTI replays a kernel now; 0: none */
	bool has_record; /* its record has arrived */
	struct gpu_op record;
	/* launches that wait for their record: id -> time of the end, id + 1 -> duration */
	struct nv_map times;
} replay;

void nv_counter_replay_prepare(void)
{
	pthread_mutex_init(&replay.lock, NULL);
	nv_map_init(&replay.times, MOST_TIMES);
}

void nv_counter_replay_begin(uint64_t id)
{
	pthread_mutex_lock(&replay.lock);
	replay.id = id;
	replay.has_record = false;
	pthread_mutex_unlock(&replay.lock);
}

/* Delivers the kernel as one run of `ns` that ended at end_ns, the end of its launch. */
static void deliver_record(struct gpu_op *op, uint64_t id, uint64_t end_ns, uint64_t ns)
{
	op->start_ns = end_ns - ns;
	op->end_ns = end_ns;
	if (ns && ns < end_ns)
		nv.host->op_by_id(nv.host, id, op);
	else
		nv.host->lost_by_id(nv.host, id, MSR_GPU_KERNEL, MSR_GPU_LOSS_NO_TIMES);
}

void nv_counter_replay_end(uint64_t ns)
{
	const uint64_t now = nv.lib.now_ns();
	pthread_mutex_lock(&replay.lock);
	if (replay.has_record)
		deliver_record(&replay.record, replay.id, now, ns);
	else if (ns && nv_map_put(&replay.times, replay.id, now))
		nv_map_put(&replay.times, replay.id + 1, ns); /* ids of launches are even */
	replay.id = 0;
	pthread_mutex_unlock(&replay.lock);
}

bool nv_counter_replay_take_record(uint64_t id, const struct gpu_op *op)
{
	struct gpu_op record = *op;
	pthread_mutex_lock(&replay.lock);
	bool is_early = replay.id == id;
	if (is_early) {
		replay.record = record;
		replay.has_record = true;
	}
	uint64_t end_ns = is_early ? 0 : nv_map_take(&replay.times, id),
		 ns = is_early ? 0 : nv_map_take(&replay.times, id + 1);
	pthread_mutex_unlock(&replay.lock);
	if (end_ns)
		deliver_record(&record, id, end_ns, ns);
	return is_early || end_ns;
}
