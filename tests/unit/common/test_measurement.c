/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/format/measurement: the scan over extents is complete on sound files and bounded
 * on damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/format/measurement.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = MSR_HEADER_BYTES + 4096 };

struct image {
	_Alignas(64) uint8_t bytes[FILE_BYTES];
};

static void put_extent(struct image *m, size_t at, uint16_t kind, uint64_t length, uint64_t used)
{
	struct msr_extent *e = (void *)(m->bytes + at);
	memset(e, 0, sizeof *e);
	e->magic = MSR_EXTENT_MAGIC;
	e->kind = kind;
	e->length = length;
	e->used = used;
	e->check = msr_extent_check(e);
}

static void make(struct image *m)
{
	memset(m, 0, sizeof *m);
	struct msr_header *h = (void *)m->bytes;
	memcpy(h->magic, MSR_MAGIC, 8);
	h->version_major = MSR_VERSION_MAJOR;
	h->header_bytes = MSR_HEADER_BYTES;
	put_extent(m, MSR_HEADER_BYTES, MSR_THREAD, 640, sizeof(struct msr_thread));
	put_extent(m, MSR_HEADER_BYTES + 640, MSR_NODE, 1024, 160);
	put_extent(m, MSR_HEADER_BYTES + 1664, MSR_TRACE, 512, 80);
}

/* Scans to the end; returns the number of sound extents and adds up what was skipped. */
static unsigned scan(const struct image *m, uint64_t n_bytes, uint64_t *total_skipped)
{
	uint64_t pos = MSR_HEADER_BYTES, skipped = 0;
	struct msr_view v;
	unsigned n = 0;
	*total_skipped = 0;
	for (enum msr_scan s;
	     (s = msr_next_extent(m->bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END;) {
		assert_true(pos <= n_bytes);
		if (s == MSR_SCAN_EXTENT) {
			assert_true(v.content + v.n_bytes <= m->bytes + n_bytes);
			n++;
		}
		*total_skipped += skipped;
	}
	return n;
}

static void packed_addresses(void **state)
{
	(void)state;
	msr_addr a = msr_addr_make(0x1234, 0x7fffffffffffu & MSR_ADDR_MASK, true);
	assert_int_equal(msr_addr_module(a), 0x1234);
	assert_true(msr_addr_link(a) == MSR_ADDR_MASK && msr_addr_marked(a));
	assert_false(msr_addr_marked(msr_addr_make(1, 0x401000, false)));
}

static void sound_file(void **state)
{
	(void)state;
	struct image m;
	unsigned major;
	uint64_t skipped;
	make(&m);
	assert_int_equal(msr_check_header(m.bytes, FILE_BYTES, &major), MSR_HEADER_SOUND);
	assert_int_equal(scan(&m, FILE_BYTES, &skipped), 3);
	assert_int_equal(skipped, 0);
	m.bytes[8] = 9;
	assert_int_equal(msr_check_header(m.bytes, FILE_BYTES, &major), MSR_HEADER_OTHER_VERSION);
	assert_int_equal(major, 9);
	m.bytes[0] = 'x';
	assert_int_equal(msr_check_header(m.bytes, FILE_BYTES, &major), MSR_HEADER_NOT_OURS);
	assert_int_equal(msr_check_header(m.bytes, 4, &major), MSR_HEADER_SHORT);
	memset(m.bytes, 0, 8); /* the rest of the header may be there already */
	assert_int_equal(msr_check_header(m.bytes, FILE_BYTES, &major), MSR_HEADER_UNWRITTEN);
	assert_int_equal(msr_check_header(m.bytes, 100, &major), MSR_HEADER_UNWRITTEN);
}

static void every_prefix_is_readable(void **state)
{
	(void)state;
	struct image m;
	uint64_t skipped;
	make(&m);
	for (uint64_t n = 0; n <= FILE_BYTES; n++)
		assert_in_range(scan(&m, n, &skipped), 0, 3);
	/* cut in the middle of the second extent: its content is clamped, not dropped */
	assert_int_equal(scan(&m, MSR_HEADER_BYTES + 640 + 64 + 32, &skipped), 2);
}

static void damage_is_skipped_and_said(void **state)
{
	(void)state;
	struct image m;
	uint64_t skipped;
	make(&m);
	m.bytes[MSR_HEADER_BYTES + 640] ^= 1;
	assert_int_equal(scan(&m, FILE_BYTES, &skipped), 2);
	assert_int_equal(skipped, 1024);
}

/* A kill may fall into the making of an extent: it has no magic, and all but that may be there. */
static void an_extent_in_the_making_is_no_damage(void **state)
{
	(void)state;
	for (size_t n_fields = 0; n_fields < 2; n_fields++) {
		struct image m;
		uint64_t skipped;
		make(&m);
		struct msr_extent *e = (void *)(m.bytes + MSR_HEADER_BYTES + 640);
		e->magic = 0;
		e->used = 0;
		if (n_fields == 0)
			e->kind = 0;
		assert_int_equal(scan(&m, FILE_BYTES, &skipped), 2);
		assert_int_equal(skipped, 0);
		m.bytes[MSR_HEADER_BYTES + 640 + 1000] = 1; /* something was in it */
		assert_int_equal(scan(&m, FILE_BYTES, &skipped), 2);
		assert_int_equal(skipped, 1024);
		m.bytes[MSR_HEADER_BYTES + 640 + 1000] = 0;
		e->used = 16;
		assert_int_equal(scan(&m, FILE_BYTES, &skipped), 2);
		assert_int_equal(skipped, 1024);
	}
	struct image last; /* and at the end of the file */
	uint64_t skipped;
	make(&last);
	struct msr_extent *e = (void *)(last.bytes + MSR_HEADER_BYTES + 1664);
	e->magic = 0;
	e->used = 0;
	e->length = FILE_BYTES - MSR_HEADER_BYTES - 1664;
	assert_int_equal(scan(&last, FILE_BYTES, &skipped), 2);
	assert_int_equal(skipped, 0);
}

static void every_byte_flipped(void **state)
{
	(void)state;
	struct image m;
	uint64_t skipped;
	for (size_t i = MSR_HEADER_BYTES; i < MSR_HEADER_BYTES + 2304; i++)
		for (int bit = 0; bit < 8; bit++) {
			make(&m);
			m.bytes[i] ^= (uint8_t)(1 << bit);
			assert_in_range(scan(&m, FILE_BYTES, &skipped), 1, 3);
		}
}

static void names_are_complete(void **state)
{
	(void)state;
	for (unsigned l = 0; l < MSR_N_LOSSES; l++) {
		assert_non_null(msr_loss_name(l));
		assert_non_null(msr_loss_description(l));
	}
	for (unsigned e = 0; e < MSR_N_PATH_ENDS; e++)
		assert_non_null(msr_path_end_name(e));
	assert_string_equal(msr_loss_name(MSR_LOSS_ROOM), "unknown");
}

/* A copy is named by the build id, else by the content, which old records do not have. */
static void kept_binaries(void **state)
{
	struct {
		struct msr_module record;
		char path[8];
		uint64_t content;
	} m = {.record = {.bytes = sizeof m, .path_bytes = 3}, .path = "/x", .content = 0x1a2b};
	const uint8_t id[] = {0xab, 0x0c};
	char name[MSR_KEPT_NAME_BYTES];
	(void)state;
	assert_int_equal(msr_module_content(&m.record), 0x1a2b);
	m.record.bytes -= 8;
	assert_int_equal(msr_module_content(&m.record), 0);
	m.record.bytes += 8;
	m.record.build_id_bytes = 2;
	assert_int_equal(msr_module_content(&m.record), 0);
	assert_true(msr_kept_name(name, id, sizeof id, 0));
	assert_string_equal(name, "ab0c");
	assert_true(msr_kept_name(name, NULL, 0, 0x1a2b));
	assert_string_equal(name, "c0000000000001a2b");
	assert_false(msr_kept_name(name, NULL, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_addresses),
		cmocka_unit_test(sound_file),
		cmocka_unit_test(every_prefix_is_readable),
		cmocka_unit_test(damage_is_skipped_and_said),
		cmocka_unit_test(an_extent_in_the_making_is_no_damage),
		cmocka_unit_test(every_byte_flipped),
		cmocka_unit_test(names_are_complete),
		cmocka_unit_test(kept_binaries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
