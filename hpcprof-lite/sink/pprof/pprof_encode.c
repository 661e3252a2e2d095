/* SPDX-License-Identifier: BSD-3-Clause */
/* See pprof_encode.h. Test: tests/cli/sink/sink_pprof.sh. */
#include "hpcprof-lite/sink/pprof/pprof_encode.h"

#include "common/base/log.h"

#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void pprof_clear(struct pprof_message *m)
{
	vec_clear(&m->bytes);
}

void pprof_free(struct pprof_message *m)
{
	vec_free(&m->bytes);
}

void pprof_put_packed(struct pprof_message *m, uint64_t value)
{
	enum { LONGEST = 10 };
	uint8_t bytes[LONGEST];
	size_t n = 0;
	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	uint8_t *to = vec_extend(&m->bytes, n);
	if (to)
		memcpy(to, bytes, n);
	m->failed |= !to;
}

void pprof_put(struct pprof_message *m, unsigned field, uint64_t value)
{
	pprof_put_packed(m, field << 3 | WIRE_VARINT);
	pprof_put_packed(m, value);
}

void pprof_put_bytes(struct pprof_message *m, unsigned field, const void *bytes, size_t n_bytes)
{
	pprof_put_packed(m, field << 3 | WIRE_BYTES);
	pprof_put_packed(m, n_bytes);
	uint8_t *to = n_bytes ? vec_extend(&m->bytes, n_bytes) : NULL;
	if (to)
		memcpy(to, bytes, n_bytes);
	m->failed |= n_bytes && !to;
}

void pprof_put_message(struct pprof_message *m, unsigned field, const struct pprof_message *sub)
{
	pprof_put_bytes(m, field, sub->bytes.at, sub->bytes.n);
	m->failed |= sub->failed;
}

/* ---- the file ---- */

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

void pprof_write(struct pprof_file *f, const struct pprof_message *m)
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
