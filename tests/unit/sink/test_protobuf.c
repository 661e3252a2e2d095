/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protobuf's wire format, byte by byte. The examples are those of
 * https://protobuf.dev/programming-guides/encoding, and the limits of integers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/sink/protobuf.h"

#include <string.h>

static void expect(struct protobuf_message *m, const char *bytes, size_t n_bytes)
{
	assert_false(m->failed);
	assert_int_equal(m->bytes.n, n_bytes);
	assert_memory_equal(m->bytes.at, bytes, n_bytes);
	protobuf_clear(m);
}
#define EXPECT(m, bytes) expect((m), (bytes), sizeof(bytes) - 1)

static void integers(void **state)
{
	(void)state;
	struct protobuf_message m = {0};
	protobuf_put(&m, 1, 0);
	EXPECT(&m, "\x08\x00");
	protobuf_put(&m, 1, 150);
	EXPECT(&m, "\x08\x96\x01");
	protobuf_put(&m, 15, 127);
	EXPECT(&m, "\x78\x7f");
	protobuf_put(&m, 16, 128);
	EXPECT(&m, "\x80\x01\x80\x01");
	protobuf_put(&m, 1, UINT64_MAX);
	EXPECT(&m, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	protobuf_put_fixed64(&m, 2, 0x0102030405060708);
	EXPECT(&m, "\x11\x08\x07\x06\x05\x04\x03\x02\x01");
	protobuf_free(&m);
}

static void strings(void **state)
{
	(void)state;
	struct protobuf_message m = {0};
	protobuf_put_bytes(&m, 2, "testing", 7);
	EXPECT(&m, "\x12\x07testing");
	protobuf_put_bytes(&m, 2, NULL, 0);
	EXPECT(&m, "\x12\x00");
	protobuf_put_bytes(&m, 2, "a\0b", 3);
	EXPECT(&m, "\x12\x03"
		   "a\0b");
	protobuf_put_text(&m, 2, "\"\n\xff\xc3\xa9");
	EXPECT(&m, "\x12\x07\"\n\xef\xbf\xbd\xc3\xa9");
	protobuf_put_text(&m, 2, NULL);
	EXPECT(&m, "\x12\x00");
	protobuf_free(&m);
}

static void messages(void **state)
{
	(void)state;
	struct protobuf_message m = {0}, sub = {0};
	protobuf_put(&sub, 1, 150);
	protobuf_put_message(&m, 3, &sub);
	EXPECT(&m, "\x1a\x03\x08\x96\x01");
	protobuf_clear(&sub);
	protobuf_put_packed(&sub, 3);
	protobuf_put_packed(&sub, 270);
	protobuf_put_packed(&sub, 86942);
	protobuf_put_message(&m, 6, &sub);
	EXPECT(&m, "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
	sub.failed = true;
	protobuf_put_message(&m, 6, &sub);
	assert_true(m.failed);
	protobuf_clear(&m);
	assert_true(m.failed);
	protobuf_free(&m);
	protobuf_free(&sub);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(strings),
		cmocka_unit_test(messages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
