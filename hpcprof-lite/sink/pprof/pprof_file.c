/* SPDX-License-Identifier: BSD-3-Clause */
/* See pprof_file.h. Test: tests/cli/sink/sink_pprof.sh. */
#include "hpcprof-lite/sink/pprof/pprof_file.h"

#include "common/base/log.h"

static void fail(struct pprof_file *f, enum status status)
{
	if (f->status == STATUS_OK && status == STATUS_NO_MEMORY)
		log_error(f->file.path, "out of memory");
	if (f->status == STATUS_OK)
		f->status = status;
}

/* zlib's memory comes from its own malloc; windowBits + 16 asks for a gzip header. */
enum status pprof_open(struct pprof_file *f, const char *directory, const char *name)
{
	enum { WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8 };
	f->zip = (z_stream){0};
	f->offset = 0;
	f->status = outfile_create(&f->file, directory, name);
	if (f->status != STATUS_OK)
		return f->status;
	if (deflateInit2(&f->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return STATUS_OK;
	fail(f, STATUS_NO_MEMORY);
	outfile_abandon(&f->file);
	return f->status;
}

static void deflate_bytes(struct pprof_file *f, const uint8_t *bytes, size_t n_bytes, int flush)
{
	f->zip.next_in = (uint8_t *)(uintptr_t)bytes; /* older headers of zlib lack the const */
	f->zip.avail_in = (uInt)n_bytes;
	do {
		f->zip.next_out = f->buffer;
		f->zip.avail_out = sizeof f->buffer;
		deflate(&f->zip, flush);
		size_t n = sizeof f->buffer - f->zip.avail_out;
		if (f->status == STATUS_OK)
			fail(f, outfile_write(&f->file, f->buffer, n, f->offset));
		f->offset += n;
	} while (f->zip.avail_out == 0 && f->status == STATUS_OK);
}

void pprof_write(struct pprof_file *f, const struct protobuf_message *m)
{
	enum { MOST = 1 << 30 };
	if (m->failed)
		fail(f, STATUS_NO_MEMORY);
	for (size_t at = 0; at < m->bytes.n && f->status == STATUS_OK; at += MOST) {
		size_t left = m->bytes.n - at;
		deflate_bytes(f, m->bytes.at + at, left < MOST ? left : MOST, Z_NO_FLUSH);
	}
}

enum status pprof_close(struct pprof_file *f, bool keep)
{
	if (f->status == STATUS_OK && keep)
		deflate_bytes(f, NULL, 0, Z_FINISH);
	deflateEnd(&f->zip);
	if (f->status != STATUS_OK || !keep) {
		outfile_abandon(&f->file);
		return f->status;
	}
	return outfile_close(&f->file);
}
