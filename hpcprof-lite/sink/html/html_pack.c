/* SPDX-License-Identifier: BSD-3-Clause */
/* See html_pack.h. RFC 1951 defines the compressed data, RFC 1952 the file around them. */
#include "hpcprof-lite/sink/html/html_pack.h"

#include "common/base/log.h"
#include "common/base/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	RAW_WINDOW = -15,
	DEFLATE_MEMORY = 8,
	DEFLATE_LEVEL = 6,
	FLUSH_BYTES = 16, /* upper bound of the flush after a piece that is not the last */
	BASE64_BYTES = 48 << 10,
	MOST_WAITING = 64 /* pieces: memory, and how evenly workers share them */
};

static const uint8_t gzip_head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};

/* ---- workers ---- */

/* Bytes that `n` plain bytes may take when they are packed. */
static size_t room_for(size_t n)
{
	return deflateBound(NULL, (uLong)n) + FLUSH_BYTES;
}

/* Packs p->plain into p->packed. Leaves n_packed 0 if memory is short. */
static void pack(struct html_piece *p)
{
	const size_t room = room_for(p->n_plain);
	z_stream z = {.next_in = p->plain,
		      .avail_in = (uInt)p->n_plain,
		      .next_out = p->packed,
		      .avail_out = (uInt)room};
	p->n_packed = 0;
	if (deflateInit2(&z, DEFLATE_LEVEL, Z_DEFLATED, RAW_WINDOW, DEFLATE_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return;
	if (deflate(&z, p->is_last ? Z_FINISH : Z_SYNC_FLUSH) == (p->is_last ? Z_STREAM_END : Z_OK))
		p->n_packed = room - z.avail_out;
	p->crc = (uint32_t)crc32(0, p->plain, (uInt)p->n_plain);
	deflateEnd(&z);
}

static void pack_one(void *arg, size_t i, unsigned worker)
{
	struct html_packer *k = arg;
	(void)worker;
	pack(&k->pieces.at[i]);
}

static bool make_room(struct html_packer *k)
{
	bool ok = true;
	for (size_t i = 0; ok && i < k->pieces.n; i++) {
		struct html_piece *p = &k->pieces.at[i];
		p->packed = malloc(room_for(p->n_plain));
		ok = p->packed;
	}
	return ok;
}

/* ---- writing, in order ---- */

static void write_base64(struct outstream *out, const uint8_t *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *to = outstream_room(out, (n + 2) / 3 * 4);
	for (size_t i = 0; i < n; i += 3, to += 4) {
		uint32_t word = (uint32_t)bytes[i] << 16;
		word |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
		word |= i + 2 < n ? bytes[i + 2] : 0;
		to[0] = (uint8_t)digits[word >> 18];
		to[1] = (uint8_t)digits[word >> 12 & 63];
		to[2] = (uint8_t)(i + 1 < n ? digits[word >> 6 & 63] : '=');
		to[3] = (uint8_t)(i + 2 < n ? digits[word & 63] : '=');
	}
}

static bool append(struct html_packer *k, const void *bytes, size_t n)
{
	if (!vec_reserve(&k->packed, k->packed.n + n))
		return false;
	memcpy(k->packed.at + k->packed.n, bytes, n);
	k->packed.n += n;
	return true;
}

/* Writes the packed bytes in whole groups of base64; at the end of a section, writes all. */
static void encode(struct html_packer *k, bool is_last)
{
	const size_t n = k->packed.n - (is_last ? 0 : k->packed.n % 3);
	for (size_t at = 0, part; at < n; at += part) {
		part = n - at < BASE64_BYTES ? n - at : BASE64_BYTES;
		write_base64(k->out, k->packed.at + at, part);
	}
	k->packed.n -= n;
	memmove(k->packed.at, k->packed.at + n, k->packed.n);
}

static bool begin_section(struct html_packer *k, const char *name)
{
	char head[128];
	int n = snprintf(head, sizeof head,
			 "<script type=\"application/octet-stream\" data-section=\"%s\">", name);
	outstream_put(k->out, head, (size_t)n);
	k->crc = k->n_bytes = 0;
	return append(k, gzip_head, sizeof gzip_head);
}

static bool append_tail(struct html_packer *k)
{
	uint8_t tail[8];
	for (unsigned i = 0; i < 4; i++) {
		tail[i] = (uint8_t)(k->crc >> 8 * i);
		tail[4 + i] = (uint8_t)(k->n_bytes >> 8 * i);
	}
	return append(k, tail, sizeof tail);
}

static bool write_piece(struct html_packer *k, const struct html_piece *p)
{
	if (!p->n_packed || (p->section && !begin_section(k, p->section)) ||
	    !append(k, p->packed, p->n_packed))
		return false;
	k->crc = (uint32_t)crc32_combine(k->crc, p->crc, (z_off_t)p->n_plain);
	k->n_bytes += (uint32_t)p->n_plain;
	if (p->is_last && !append_tail(k))
		return false;
	encode(k, p->is_last);
	if (p->is_last)
		outstream_put(k->out, "</script>\n", sizeof "</script>\n" - 1);
	return true;
}

static void fail(struct html_packer *k)
{
	if (k->status == STATUS_OK)
		log_error(NULL, "out of memory");
	k->status = STATUS_NO_MEMORY;
}

static void write_waiting(struct html_packer *k)
{
	if (k->status == STATUS_OK && make_room(k))
		pool_run(k->pieces.n, k->n_workers, pack_one, k);
	for (size_t i = 0; i < k->pieces.n; i++) {
		struct html_piece *p = &k->pieces.at[i];
		if (k->status == STATUS_OK && !write_piece(k, p))
			fail(k);
		free(p->plain);
		free(p->packed);
	}
	vec_clear(&k->pieces);
}

void html_pack(struct html_packer *k, const struct html_piece *p)
{
	struct html_piece *to = vec_push(&k->pieces);
	if (!to) {
		free(p->plain);
		fail(k);
		return;
	}
	*to = *p;
	if (k->pieces.n >= MOST_WAITING)
		write_waiting(k);
}

enum status html_pack_end(struct html_packer *k)
{
	write_waiting(k);
	vec_free(&k->pieces);
	vec_free(&k->packed);
	return k->status;
}
