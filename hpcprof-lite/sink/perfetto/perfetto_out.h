/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a Perfetto trace. Packets are gathered in batches, and each batch is one compressed
 * packet, which readers unpack. Memory is bounded by the batch and the largest packet. Test:
 * tests/cli/sink/sink_perfetto.sh.
 */
#ifndef HPCPROF_LITE_SINK_PERFETTO_PERFETTO_OUT_H
#define HPCPROF_LITE_SINK_PERFETTO_PERFETTO_OUT_H

#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/protobuf.h"

#include <zlib.h>

/* The first failure is logged and stays in `status`; later packets are dropped. */
struct perfetto_out {
	struct outfile file;
	z_stream zip;
	uint64_t offset;               /* of the bytes written */
	struct protobuf_message batch; /* packets that are not yet compressed */
	struct protobuf_message zipped, head; /* scratch */
	enum status status;
};

/* On success the caller calls perfetto_out_close(). */
enum status perfetto_out_open(struct perfetto_out *out, const char *directory, const char *name);
/* Appends a packet and clears it. A packet that failed makes the file fail. */
void perfetto_out_put(struct perfetto_out *out, struct protobuf_message *packet);
/* Makes the file fail, because memory is short. */
void perfetto_out_no_memory(struct perfetto_out *out);
/* Ends the file. Removes it if anything failed. */
enum status perfetto_out_close(struct perfetto_out *out);

#endif
