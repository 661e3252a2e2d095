/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sink perfetto. Ids of interned data are indices of the model + 1, so a sequence
 * remembers only which of them it has written. Test: tests/cli/sink/sink_perfetto.sh.
 */
#ifndef HPCPROF_LITE_SINK_PERFETTO_PERFETTO_H
#define HPCPROF_LITE_SINK_PERFETTO_PERFETTO_H

#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/sink/perfetto/perfetto_out.h"
#include "hpcprof-lite/sink/progress.h"
#include "hpcprof-lite/view/view_calls.h"

/*
 * A sequence of packets with its own interned data. Track events are one; the samples of each
 * metric are one, because a sequence has one timebase.
 */
struct perfetto_sequence {
	uint32_t id;
	uint8_t *written; /* bits: interned data that the sequence has; NULL: not begun */
};

enum { PERFETTO_EVENTS = 0, PERFETTO_FIRST_METRIC = 1 }; /* indices of sequences */

struct perfetto_writer {
	const struct model *m;
	const struct sink_options *o;
	struct view_calls calls;
	struct perfetto_out out;
	struct perfetto_sequence *sequences;       /* events, then by metric */
	struct perfetto_sequence *sequence;        /* of the packet */
	uint32_t *pids;                            /* by process: its id in the trace */
	uint32_t *tids;                            /* by profile; queues: 0 */
	uint64_t n_flows;                          /* flow ids used; the next is n_flows + 1 */
	struct protobuf_message packet, interned;  /* the packet and its new interned data */
	struct protobuf_message body, sub, entry, ids; /* scratch */
	struct progress progress;
};

/* ---- packets (perfetto_packet.c) ---- */

/* Begins a packet of the sequence. The first packet also begins the sequence. */
void perfetto_begin(struct perfetto_writer *w, uint32_t sequence);
/* Ends the packet with `body` as `field` at the time, and clears `body`. */
void perfetto_end(struct perfetto_writer *w, unsigned field, uint64_t time_ns);

/* ---- interned data (perfetto_intern.c): returns the id, written with the packet if new ---- */

/* The call stack of a node of w->calls, which is not the root. */
uint64_t perfetto_callstack(struct perfetto_writer *w, uint32_t node);
uint64_t perfetto_function_event(struct perfetto_writer *w, uint32_t function);
/* The name of a GPU operation that is not a kernel: "copy H2D", "set". */
uint64_t perfetto_kind_event(struct perfetto_writer *w, unsigned kind, unsigned detail);
/* "measurement off" or "not in the part", and "launch" of an unknown function. */
uint64_t perfetto_off_event(struct perfetto_writer *w);
uint64_t perfetto_launch_event(struct perfetto_writer *w);
/* The label of a range or mark, by its index in the model. */
uint64_t perfetto_nvtx_event(struct perfetto_writer *w, uint32_t range);
/* kind: an enum msr_gpu_kind, or one of the values below. */
uint64_t perfetto_category(struct perfetto_writer *w, unsigned kind);
enum { PERFETTO_LAUNCH = 16, PERFETTO_OFF, PERFETTO_WAIT, PERFETTO_NVTX, PERFETTO_N_CATEGORIES };

enum perfetto_annotation {
	PERFETTO_GRID,
	PERFETTO_BLOCK,
	PERFETTO_CLUSTER,
	PERFETTO_GLOBAL,
	PERFETTO_X,
	PERFETTO_Y,
	PERFETTO_Z,
	PERFETTO_REGISTERS,
	PERFETTO_STATIC_SHARED,
	PERFETTO_DYNAMIC_SHARED,
	PERFETTO_LOCAL,
	PERFETTO_WARPS,
	PERFETTO_WARPS_MOST,
	PERFETTO_GRAPH_NODE,
	PERFETTO_BYTES,
	PERFETTO_CORRELATION_ID,
	PERFETTO_ENQUEUED,
	PERFETTO_QUEUED,
	PERFETTO_SUBMITTED,
	PERFETTO_N_ANNOTATIONS
};
uint64_t perfetto_annotation(struct perfetto_writer *w, enum perfetto_annotation a);
/* The number of bits that `written` needs. */
size_t perfetto_n_interned(const struct perfetto_writer *w);

/* ---- tracks (perfetto_tracks.c) ---- */

static inline uint64_t perfetto_process_track(uint32_t process)
{
	return (uint64_t)process + 1;
}
static inline uint64_t perfetto_profile_track(const struct perfetto_writer *w, uint32_t profile)
{
	return (uint64_t)w->m->n_processes + profile + 1;
}
/* Chooses pids and tids that are unique in the trace. False if memory is short. */
bool perfetto_number_threads(struct perfetto_writer *w);
void perfetto_write_tracks(struct perfetto_writer *w);

/* ---- events ---- */

void perfetto_write_samples(struct perfetto_writer *w, uint32_t profile);
void perfetto_write_operations(struct perfetto_writer *w, uint32_t profile);
/* Tracks of NVTX and what is on them. */
void perfetto_write_nvtx(struct perfetto_writer *w);
/* Tracks of meters of energy and what is on them. */
void perfetto_write_energy(struct perfetto_writer *w);
/* Puts a track event without its name into `body`. */
void perfetto_put_event(struct perfetto_writer *w, unsigned type, uint32_t profile);

#endif
