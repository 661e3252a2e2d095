/* SPDX-License-Identifier: BSD-3-Clause */
/* See protobuf.h. Test: tests/unit/sink/test_protobuf.c. */
#include "hpcprof-lite/sink/protobuf.h"

#include "hpcprof-lite/view/names.h"

#include <stdlib.h>
#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void protobuf_clear(struct protobuf_message *m)
{
	vec_clear(&m->bytes);
}

void protobuf_free(struct protobuf_message *m)
{
	vec_free(&m->bytes);
}

void protobuf_put_packed(struct protobuf_message *m, uint64_t value)
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

void protobuf_put(struct protobuf_message *m, unsigned field, uint64_t value)
{
	protobuf_put_packed(m, field << 3 | WIRE_VARINT);
	protobuf_put_packed(m, value);
}

void protobuf_put_bytes(struct protobuf_message *m, unsigned field, const void *bytes,
	size_t n_bytes)
{
	protobuf_put_packed(m, field << 3 | WIRE_BYTES);
	protobuf_put_packed(m, n_bytes);
	uint8_t *to = n_bytes ? vec_extend(&m->bytes, n_bytes) : NULL;
	if (to)
		memcpy(to, bytes, n_bytes);
	m->failed |= n_bytes && !to;
}

void protobuf_put_message(struct protobuf_message *m, unsigned field,
	const struct protobuf_message *sub)
{
	protobuf_put_bytes(m, field, sub->bytes.at, sub->bytes.n);
	m->failed |= sub->failed;
}

void protobuf_put_fixed64(struct protobuf_message *m, unsigned field, uint64_t value)
{
	protobuf_put_packed(m, field << 3 | WIRE_FIXED64);
	uint8_t *to = vec_extend(&m->bytes, sizeof value);
	for (unsigned i = 0; to && i < sizeof value; i++)
		to[i] = (uint8_t)(value >> 8 * i);
	m->failed |= !to;
}

void protobuf_put_text(struct protobuf_message *m, unsigned field, const char *text)
{
	char *clean = names_clean(text);
	if (clean)
		protobuf_put_bytes(m, field, clean, strlen(clean));
	m->failed |= !clean;
	free(clean);
}
