/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the bytes of a recording and trusts none of them; see recording.h. Must not read outside
 * them. Tests: tests/unit/cupti/test_recording.c, tests/fuzz/fuzz_recording.c. */
#include "common/format/recording.h"

#include <string.h>

_Static_assert(sizeof(struct recording_header) <= RECORDING_HEADER_BYTES &&
		       offsetof(struct recording_header, measurement) == 224,
	       "the header");
_Static_assert(sizeof(struct recording_chunk) == 32 && sizeof(struct recording_event) == 24,
	       "heads");

const char *recording_check_header(const void *file, uint64_t n_bytes)
{
	const struct recording_header *h = file;
	if (n_bytes < RECORDING_HEADER_BYTES)
		return "it is shorter than its header";
	if (memcmp(h->magic, RECORDING_MAGIC, sizeof h->magic) != 0)
		return "it is no recording of a GPU back end";
	if (h->version_major != RECORDING_VERSION_MAJOR)
		return "it is a recording of another version";
	if (h->header_bytes != RECORDING_HEADER_BYTES)
		return "its header is damaged";
	if (!memchr(h->backend, 0, sizeof h->backend) ||
	    !memchr(h->options, 0, sizeof h->options) ||
	    !memchr(h->measurement, 0, sizeof h->measurement) || strchr(h->measurement, '/'))
		return "its header is damaged";
	return NULL;
}

static bool is_sound(const struct recording_chunk *c, uint64_t room)
{
	return c->magic == RECORDING_CHUNK_MAGIC && c->length >= sizeof *c &&
	       c->length % RECORDING_CHUNK_ALIGN == 0 && room >= sizeof *c;
}

static bool is_zero(const uint8_t *at, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (at[i])
			return false;
	return true;
}

const struct recording_chunk *recording_next_chunk(const uint8_t *file, uint64_t n_bytes,
						   uint64_t *offset, uint64_t *used,
						   uint64_t *n_skipped)
{
	for (; *offset + sizeof(struct recording_chunk) <= n_bytes;
	     *offset += RECORDING_CHUNK_ALIGN) {
		const struct recording_chunk *c = (const void *)(file + *offset);
		uint64_t room = n_bytes - *offset;
		if (!is_sound(c, room)) {
			uint64_t n = room < RECORDING_CHUNK_ALIGN ? room : RECORDING_CHUNK_ALIGN;
			*n_skipped += is_zero(file + *offset, n) ? 0 : n;
			continue;
		}
		uint64_t length = c->length < room ? c->length : room;
		uint64_t n = atomic_load_explicit(
			&c->used, memory_order_acquire); /* and thus the events before it */
		*used = n <= length - sizeof *c ? n : length - sizeof *c;
		*n_skipped += n - *used;
		*offset += recording_round(length, RECORDING_CHUNK_ALIGN);
		return c;
	}
	return NULL;
}

/* ---- events ---- */

static bool is_driver(const struct recording_driver *d, uint64_t n)
{
	const struct recording_memory *m = NULL;
	if (d->n_arguments > 64 || sizeof *d + 8 * (uint64_t)d->n_arguments > n)
		return false;
	uint64_t at = sizeof *d + 8 * (uint64_t)d->n_arguments;
	while (at < n) {
		m = (const void *)((const uint8_t *)d + at);
		if (n - at < sizeof *m || m->argument >= d->n_arguments ||
		    recording_round(m->n_bytes, 8) > n - at - sizeof *m)
			return false;
		at += sizeof *m + recording_round(m->n_bytes, 8);
	}
	return true;
}

static bool is_complete(const struct recording_complete *c, uint64_t n)
{
	uint64_t offsets = recording_round(4 * (uint64_t)c->n_records, 8);
	if (c->n_valid > n || sizeof *c + offsets + recording_round(c->n_valid, 8) > n ||
	    c->n_valid > c->n_bytes)
		return false;
	const uint32_t *offset = recording_offsets(c);
	for (uint32_t i = 0; i < c->n_records; i++)
		if (offset[i] % 8 || offset[i] >= c->n_valid ||
		    (i ? offset[i] <= offset[i - 1] : offset[i] != 0))
			return false;
	return true;
}

static bool is_enter(const struct recording_event *e)
{
	static const uint16_t sizes[RECORDING_N_ENTRIES] = {
		[RECORDING_INIT] = sizeof(struct recording_enter),
		[RECORDING_DRIVER] = sizeof(struct recording_driver),
		[RECORDING_RESOURCE] = sizeof(struct recording_resource),
		[RECORDING_REQUEST] = sizeof(struct recording_enter),
		[RECORDING_COMPLETE] = sizeof(struct recording_complete),
		[RECORDING_CRC] = sizeof(struct recording_image),
		[RECORDING_RUN] = sizeof(struct recording_enter),
		[RECORDING_EXIT] = sizeof(struct recording_enter),
		[RECORDING_END] = sizeof(struct recording_number),
		[RECORDING_SWITCH] = sizeof(struct recording_number)};
	if (e->what >= RECORDING_N_ENTRIES)
		return true; /* of a later version: skip it */
	if (!e->what || e->bytes < sizes[e->what])
		return false;
	if (e->what == RECORDING_DRIVER)
		return is_driver((const void *)e, e->bytes);
	return e->what != RECORDING_COMPLETE || is_complete((const void *)e, e->bytes);
}

const struct recording_event *recording_event_at(const uint8_t *at, uint64_t n_bytes)
{
	const struct recording_event *e = (const void *)at;
	if (n_bytes < sizeof *e || e->bytes < sizeof *e || e->bytes % 8 || e->bytes > n_bytes)
		return NULL;
	uint64_t n = e->bytes;
	bool good = true;
	switch (e->type) {
	case RECORDING_STREAM:
		good = n >= sizeof(struct recording_stream);
		break;
	case RECORDING_STRING:
		good = n > sizeof(struct recording_string) && !at[n - 1];
		break;
	case RECORDING_ENTER:
		good = is_enter(e);
		break;
	case RECORDING_LEAVE:
		good = n >= sizeof(struct recording_leave) &&
		       ((const struct recording_leave *)e)->n_now <=
			       (n - sizeof(struct recording_leave)) / 8;
		break;
	case RECORDING_CALL:
		good = n >= sizeof(struct recording_call) &&
		       ((const struct recording_call *)e)->n_out <=
			       n - sizeof(struct recording_call);
		break;
	case RECORDING_NOW:
		good = n >= sizeof(struct recording_now);
		break;
	default: /* of a later version */
		break;
	}
	return good ? e : NULL;
}

const uint64_t *recording_arguments(const struct recording_driver *d)
{
	return (const void *)(d + 1);
}

bool recording_next_memory(const struct recording_driver *d, const struct recording_memory **m)
{
	const uint8_t *at = *m ? (const uint8_t *)(*m + 1) + recording_round((*m)->n_bytes, 8)
			       : (const uint8_t *)(recording_arguments(d) + d->n_arguments);
	*m = (const void *)at;
	return at < (const uint8_t *)d + d->head.bytes;
}

const uint32_t *recording_offsets(const struct recording_complete *c)
{
	return (const void *)(c + 1);
}

const uint8_t *recording_content(const struct recording_complete *c)
{
	return (const uint8_t *)(c + 1) + recording_round(4 * (uint64_t)c->n_records, 8);
}

const struct recording_pc_data *recording_pc_data(const struct recording_call *c)
{
	const uint8_t *at = (const uint8_t *)(c + 1), *end = at + c->n_out;
	const struct recording_pc_data *d = (const void *)at;
	if (c->n_out < sizeof *d)
		return NULL;
	at += sizeof *d;
	for (uint32_t i = 0; i < d->n_pcs; i++) {
		const struct recording_pc *p = (const void *)at;
		if ((size_t)(end - at) < sizeof *p ||
		    p->n_reasons >
			    ((size_t)(end - at) - sizeof *p) / sizeof(struct recording_reason))
			return NULL;
		at = (const void *)recording_next_pc(p);
	}
	return d;
}
