/* SPDX-License-Identifier: BSD-3-Clause */
/* See perfetto_out.h. Test: tests/cli/sink/sink_perfetto.sh. */
#include "hpcprof-lite/sink/perfetto/perfetto_out.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"

#include <string.h>

/* Level 6 makes a trace 1 % smaller and takes half more time, level 3 makes it 5 % larger. */
enum { BATCH_BYTES = 256 << 10, ZLIB_LEVEL = 4 };

static void fail(struct perfetto_out *out, enum status status)
{
	if (out->status == STATUS_OK && status == STATUS_NO_MEMORY)
		log_error(out->file.path, "out of memory");
	if (out->status == STATUS_OK)
		out->status = status;
}

enum status perfetto_out_open(struct perfetto_out *out, const char *directory, const char *name)
{
	*out = (struct perfetto_out){0};
	out->status = outfile_create(&out->file, directory, name);
	if (out->status != STATUS_OK)
		return out->status;
	if (deflateInit(&out->zip, ZLIB_LEVEL) == Z_OK)
		return STATUS_OK;
	fail(out, STATUS_NO_MEMORY);
	outfile_abandon(&out->file);
	return out->status;
}

static void write_bytes(struct perfetto_out *out, const struct protobuf_message *m)
{
	if (m->failed)
		fail(out, STATUS_NO_MEMORY);
	if (out->status != STATUS_OK)
		return;
	fail(out, outfile_write(&out->file, m->bytes.at, m->bytes.n, out->offset));
	out->offset += m->bytes.n;
}

/* Compresses the batch to `zipped`. False if memory is short or the batch is too large for zlib. */
static bool zip(struct perfetto_out *out)
{
	z_stream *z = &out->zip;
	uLong most = deflateBound(z, out->batch.bytes.n);
	protobuf_clear(&out->zipped);
	if (most > UINT32_MAX || !vec_reserve(&out->zipped.bytes, most))
		return false;
	z->next_in = out->batch.bytes.at;
	z->avail_in = (uInt)out->batch.bytes.n;
	z->next_out = out->zipped.bytes.at;
	z->avail_out = (uInt)most;
	bool ok = deflate(z, Z_FINISH) == Z_STREAM_END;
	out->zipped.bytes.n = most - z->avail_out;
	return deflateReset(z) == Z_OK && ok;
}

/* Writes the batch as Trace.packet.compressed_packets and clears it. */
static void flush(struct perfetto_out *out)
{
	if (out->batch.bytes.n == 0 || out->status != STATUS_OK)
		return;
	if (!zip(out)) {
		fail(out, STATUS_NO_MEMORY);
		return;
	}
	protobuf_clear(&out->batch);
	protobuf_put_message(&out->batch, PACKET_COMPRESSED_PACKETS, &out->zipped);
	protobuf_clear(&out->head);
	protobuf_put_message(&out->head, TRACE_PACKET, &out->batch);
	protobuf_clear(&out->batch);
	write_bytes(out, &out->head);
}

void perfetto_out_put(struct perfetto_out *out, struct protobuf_message *packet)
{
	if (out->status == STATUS_OK)
		protobuf_put_message(&out->batch, TRACE_PACKET, packet);
	protobuf_clear(packet);
	if (out->batch.failed)
		fail(out, STATUS_NO_MEMORY);
	else if (out->batch.bytes.n >= BATCH_BYTES)
		flush(out);
}

void perfetto_out_no_memory(struct perfetto_out *out)
{
	fail(out, STATUS_NO_MEMORY);
}

enum status perfetto_out_close(struct perfetto_out *out)
{
	flush(out);
	deflateEnd(&out->zip);
	protobuf_free(&out->batch);
	protobuf_free(&out->zipped);
	protobuf_free(&out->head);
	if (out->status == STATUS_OK)
		return outfile_close(&out->file);
	outfile_abandon(&out->file);
	return out->status;
}
