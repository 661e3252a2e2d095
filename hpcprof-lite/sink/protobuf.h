/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protobuf's wire format. Our messages hold integers, strings and messages only, so writing the
 * wire format takes less code than the tables and structs that protobuf-c would generate, and
 * messages go out one by one. Encoding: https://protobuf.dev/programming-guides/encoding. Test:
 * tests/unit/sink/test_protobuf.c.
 */
#ifndef HPCPROF_LITE_SINK_PROTOBUF_H
#define HPCPROF_LITE_SINK_PROTOBUF_H

#include "common/base/vec.h"

#include <stdint.h>

/* A message while it is encoded. Once memory was short, `failed` stays set until the end. */
struct protobuf_message {
	VEC(uint8_t) bytes;
	bool failed;
};

void protobuf_clear(struct protobuf_message *m);
void protobuf_free(struct protobuf_message *m);
/* An integer field of any type but sint and fixed. */
void protobuf_put(struct protobuf_message *m, unsigned field, uint64_t value);
void protobuf_put_fixed64(struct protobuf_message *m, unsigned field, uint64_t value);
/* One value of a packed field, without its field number. */
void protobuf_put_packed(struct protobuf_message *m, uint64_t value);
/* A field with a length: a string, a message, or the values of a packed field. */
void protobuf_put_bytes(struct protobuf_message *m, unsigned field, const void *bytes,
	size_t n_bytes);
/* A string, with U+FFFD for each byte that is not UTF-8. */
void protobuf_put_text(struct protobuf_message *m, unsigned field, const char *text);
void protobuf_put_message(struct protobuf_message *m, unsigned field,
	const struct protobuf_message *sub);

#endif
